package account_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"unink/internal/account"
)

func TestSignUpVerifyLogIn(t *testing.T) {
	each(t, func(w *world) {
		w.must(w.SignUp(w.ctx, "  Ann@Example.COM ", password, address))
		m := w.mail(account.NoticeVerify)
		if m.To != email || len(m.Token) < 26 {
			t.Errorf("mail is %+v", m)
		}
		w.refused(w.logIn(email, password), account.ErrCredentials)
		u, err := w.Verify(w.ctx, m.Token)
		w.must(err)
		if u.Email != email || u.Kind != account.Registered || !u.Verified || u.Role != "" || u.Bought ||
			!u.Created.Equal(began) {
			t.Errorf("user is %+v", u)
		}
		token, again, err := w.LogIn(w.ctx, "ANN@example.com", password, address, agent)
		w.must(err)
		if again != u {
			t.Errorf("logged in as %+v, want %+v", again, u)
		}
		if seen, err := w.Session(w.ctx, token); err != nil || seen != u {
			t.Errorf("session is of %+v, %v", seen, err)
		}
		_, err = w.Verify(w.ctx, m.Token)
		w.refused(err, account.ErrOneTimeToken)
	})
}

func TestVerifyEndsAfterADay(t *testing.T) {
	each(t, func(w *world) {
		w.must(w.SignUp(w.ctx, email, password, address))
		w.pass(24 * time.Hour)
		_, err := w.Verify(w.ctx, w.mail(account.NoticeVerify).Token)
		w.refused(err, account.ErrOneTimeToken)
		w.must(w.SignUp(w.ctx, email, password, address))
		w.pass(24*time.Hour - time.Microsecond)
		_, err = w.Verify(w.ctx, w.mail(account.NoticeVerify).Token)
		w.must(err)
	})
}

// Unknown, known but not verified, verified: the caller sees the same, at the same price.
func TestSignUpNeverTells(t *testing.T) {
	each(t, func(w *world) {
		for i, kind := range []string{account.NoticeVerify, account.NoticeVerify,
			account.NoticeAlreadyRegistered} {
			before := w.hashing.Count.Load()
			w.must(w.SignUp(w.ctx, email, password, address))
			m := w.mail(kind)
			if n := w.hashing.Count.Load() - before; n != 1 || len(w.mails) != i+1 ||
				(m.Token == "") != (i == 2) {
				t.Errorf("sign-up %d: %d computations, mails %v", i, n, w.mails)
			}
			if i == 1 {
				_, err := w.Verify(w.ctx, m.Token)
				w.must(err)
			}
		}
		w.must(w.SignUp(w.ctx, email, other, address))
		w.refused(w.logIn(email, other), account.ErrCredentials)
		w.must(w.logIn(email, password))
	})
}

// Somebody who signs up with another's address does not choose the password of its account.
func TestPasswordIsOfTheSignUpThatWasAnswered(t *testing.T) {
	each(t, func(w *world) {
		w.must(w.SignUp(w.ctx, email, password, address))
		owner := w.mail(account.NoticeVerify).Token
		w.must(w.SignUp(w.ctx, email, other, address))
		stranger := w.mail(account.NoticeVerify).Token
		_, err := w.Verify(w.ctx, owner)
		w.must(err)
		w.refused(w.logIn(email, other), account.ErrCredentials)
		w.must(w.logIn(email, password))
		_, err = w.Verify(w.ctx, stranger)
		w.refused(err, account.ErrOneTimeToken)
	})
}

func TestSignUpAtOnce(t *testing.T) {
	each(t, func(w *world) {
		const n = 8
		if got := w.atOnce(n, nil, func(int) error {
			return w.SignUp(w.ctx, email, password, address)
		}); got != n {
			t.Fatalf("%d of %d succeeded", got, n)
		}
		users, err := w.Users(w.ctx, 10, "")
		w.must(err)
		if len(users) != 1 || len(w.mails) != n {
			t.Fatalf("%d users, %d mails", len(users), len(w.mails))
		}
		mails := w.mails
		verify := func(i int) error { _, err := w.Verify(w.ctx, mails[i].Token); return err }
		if got := w.atOnce(n, account.ErrOneTimeToken, verify); got != 1 {
			t.Errorf("%d of %d tokens verified the address, want 1", got, n)
		}
	})
}

func TestOneTimeTokensAtOnce(t *testing.T) {
	each(t, func(w *world) {
		w.must(w.SignUp(w.ctx, email, password, address))
		token := w.mail(account.NoticeVerify).Token
		verify := func(int) error { _, err := w.Verify(w.ctx, token); return err }
		if got := w.atOnce(6, account.ErrOneTimeToken, verify); got != 1 {
			t.Errorf("verified %d times", got)
		}
		w.must(w.RequestReset(w.ctx, email, address))
		token = w.mail(account.NoticeReset).Token
		if got := w.atOnce(6, account.ErrOneTimeToken, func(int) error {
			return w.reset(token, other)
		}); got != 1 {
			t.Errorf("reset %d times", got)
		}
	})
}

func TestInputIsChecked(t *testing.T) {
	each(t, func(w *world) {
		long := strings.Repeat("a", 243) + "@example.com" // 255
		for _, bad := range []string{"", "ann", "Ann <ann@example.com>", "a@b, c@d", "ann@",
			"ann@[127.0.0.1]", "a b@example.com", "ann@example.com\r\nBcc: x@y", "a\x00@example.com", long} {
			var input *account.InputError
			if err := w.SignUp(w.ctx, bad, password, address); !errors.As(err, &input) ||
				input.Field != "e-mail address" {
				t.Errorf("address %q: error is %v", bad, err)
			}
			if err := w.RequestReset(w.ctx, bad, address); !errors.As(err, &input) {
				t.Errorf("reset of %q: error is %v", bad, err)
			}
		}
		for _, bad := range []string{"", "ninechars", strings.Repeat("ab", 100) + "c", "Password123",
			" 1234567890 ", "aaaaaaaaaaaa", "ääääääääää", "          ",
			"ANN@example.com", "broken \xff text"} {
			var input *account.InputError
			if err := w.SignUp(w.ctx, email, bad, address); !errors.As(err, &input) ||
				input.Field != "password" {
				t.Errorf("password %q: error is %v", bad, err)
			}
		}
		if len(w.mails) != 0 || w.hashing.Count.Load() != 0 {
			t.Errorf("%d mails, %d computations for bad input", len(w.mails), w.hashing.Count.Load())
		}
		w.must(w.SignUp(w.ctx, long[1:], strings.Repeat("äb", 100), address))
		w.must(w.SignUp(w.ctx, "o'hara--{x}@example.com", "ten chars!", address))
	})
}

func TestReset(t *testing.T) {
	each(t, func(w *world) {
		u, session := w.user()
		w.must(w.RequestReset(w.ctx, "Nobody@example.com", address))
		if len(w.mails) != 0 {
			t.Fatalf("an unknown address got %v", w.mails)
		}
		w.must(w.RequestReset(w.ctx, "ANN@example.com", address))
		late := w.mail(account.NoticeReset).Token
		w.pass(time.Hour)
		w.refused(w.reset(late, other), account.ErrOneTimeToken)

		w.must(w.RequestReset(w.ctx, email, address))
		spare := w.mail(account.NoticeReset).Token
		w.must(w.RequestReset(w.ctx, email, address))
		token := w.mail(account.NoticeReset).Token
		_, err := w.Verify(w.ctx, token)
		w.refused(err, account.ErrOneTimeToken)
		var input *account.InputError
		if err := w.reset(token, email); !errors.As(err, &input) {
			t.Errorf("error is %v, want that the password is the address", err)
		}
		w.must(w.session(session))
		w.must(w.reset(token, other))
		w.refused(w.session(session), account.ErrNoSession)
		w.refused(w.reset(token, password), account.ErrOneTimeToken)
		w.refused(w.reset(spare, password), account.ErrOneTimeToken)
		w.refused(w.logIn(email, password), account.ErrCredentials)
		_, again, err := w.LogIn(w.ctx, email, other, address, agent)
		w.must(err)
		if again != u {
			t.Errorf("user is %+v, want %+v", again, u)
		}
	})
}

func TestResetVerifiesTheAddress(t *testing.T) {
	each(t, func(w *world) {
		w.must(w.SignUp(w.ctx, email, password, address))
		verify := w.mail(account.NoticeVerify).Token
		w.must(w.RequestReset(w.ctx, email, address))
		w.must(w.reset(w.mail(account.NoticeReset).Token, other))
		w.must(w.logIn(email, other))
		_, err := w.Verify(w.ctx, verify)
		w.refused(err, account.ErrOneTimeToken)
	})
}

// An error that only known addresses see would tell.
func TestRequestResetHidesThatMailFails(t *testing.T) {
	each(t, func(w *world) {
		w.user()
		w.mailDown = errors.New("outbox is full")
		w.must(w.RequestReset(w.ctx, email, address))
		w.refused(w.SignUp(w.ctx, email, password, address), w.mailDown)
		w.refused(w.SignUp(w.ctx, "new@example.com", password, address), w.mailDown)
	})
}

func TestChangePassword(t *testing.T) {
	each(t, func(w *world) {
		u, session := w.user()
		w.refused(w.ChangePassword(w.ctx, u.ID, other, "yet another one"), account.ErrCredentials)
		w.refused(w.ChangePassword(w.ctx, "usr_nobody", password, other), account.ErrCredentials)
		var input *account.InputError
		if err := w.ChangePassword(w.ctx, u.ID, password, "short"); !errors.As(err, &input) {
			t.Errorf("error is %v", err)
		}
		w.must(w.session(session))
		w.must(w.RequestReset(w.ctx, email, address))
		w.must(w.ChangePassword(w.ctx, u.ID, password, other))
		w.refused(w.session(session), account.ErrNoSession)
		w.refused(w.reset(w.mail(account.NoticeReset).Token, password), account.ErrOneTimeToken)
		w.refused(w.logIn(email, password), account.ErrCredentials)
		w.must(w.logIn(email, other))
	})
}

func TestAnonymous(t *testing.T) {
	each(t, func(w *world) {
		u, created, err := w.anonymous("device-0001", address)
		w.must(err)
		if !created || u.Kind != account.Anonymous || u.Email != "" || u.Verified {
			t.Errorf("made %+v, %v", u, created)
		}
		again, created, err := w.anonymous("device-0001", address)
		w.must(err)
		if created || again != u {
			t.Errorf("the same device got %+v, %v", again, created)
		}
		another, _, err := w.anonymous("device-0002", address)
		w.must(err)
		if got, err := w.AnonymousOn(w.ctx, "device-0001", u.ID); err != nil || got != u {
			t.Errorf("on the device is %+v, %v", got, err)
		}
		for device, id := range map[string]string{
			"device-0001": another.ID, "device-0003": u.ID, "short": u.ID, "device-0002": "",
		} {
			_, err := w.AnonymousOn(w.ctx, device, id)
			w.refused(err, account.ErrNotEstablished)
		}
		for _, bad := range []string{"", "1234567", strings.Repeat("x", 201), "device\x00one",
			"device-é001"} {
			var input *account.InputError
			if _, _, err := w.anonymous(bad, address); !errors.As(err, &input) {
				t.Errorf("device %q: error is %v", bad, err)
			}
		}
		w.refused(w.SetRole(w.ctx, u.ID, account.Operator), account.ErrNotFound)
		w.wait["anonymous-address:"] = time.Second
		var throttled *account.ThrottledError
		if _, _, err := w.anonymous("device-0004", address); !errors.As(err, &throttled) {
			t.Errorf("error is %v", err)
		}
	})
}

func TestAnonymousAtOnce(t *testing.T) {
	each(t, func(w *world) {
		got := w.atOnce(8, account.ErrExists, func(int) error {
			_, created, err := w.anonymous("device-0001", address)
			if err == nil && !created {
				err = account.ErrExists
			}
			return err
		})
		if got != 1 {
			t.Errorf("made %d accounts for one device", got)
		}
	})
}

// A network address makes so many accounts a day; devices that have one find it all the same.
func TestAnonymousAccountsOfADay(t *testing.T) {
	each(t, func(w *world) {
		made := w.atOnce(8, account.ErrTooMany, func(i int) error {
			_, _, err := w.anonymous(fmt.Sprint("device-", i), address)
			if throttled := new(account.ThrottledError); errors.As(err, &throttled) {
				err = account.ErrTooMany
			}
			return err
		})
		if made != 3 {
			t.Errorf("made %d accounts, want 3", made)
		}
		var throttled *account.ThrottledError
		established := 0
		for i := range 8 {
			_, created, err := w.anonymous(fmt.Sprint("device-", i), address)
			switch {
			case err == nil && !created:
				established++
			case !errors.As(err, &throttled) || throttled.Wait != 15*time.Hour: // until midnight
				t.Errorf("created %v, error is %v", created, err)
			}
		}
		if established != 3 {
			t.Errorf("%d devices found their account, want 3", established)
		}
		_, _, err := w.anonymous("device-elsewhere", "203.0.113.9")
		w.must(err)
		w.pass(15 * time.Hour)
		w.must(w.Prune(w.ctx, keep))
		_, created, err := w.anonymous("device-tomorrow", address)
		w.must(err)
		if !created {
			t.Error("no account on the next day")
		}
	})
}

// A person is welcomed as one account, and not again after that was deleted.
func TestAPersonIsWelcomedOnce(t *testing.T) {
	each(t, func(w *world) {
		welcome := func(u account.User, want bool) {
			t.Helper()
			for range 2 {
				if first, err := w.Welcome(w.ctx, u); first != want || err != nil {
					t.Errorf("%s is welcomed: %v, %v, want %v", u.Email, first, err, want)
				}
			}
		}
		create := func(email string) account.User {
			t.Helper()
			u, err := w.CreateUser(w.ctx, email, password, "")
			w.must(err)
			return u
		}
		ann := create("ann@example.com")
		welcome(ann, true)
		welcome(create("ann+2@example.com"), false)
		welcome(create("ann@elsewhere.example"), true)
		w.must(w.Delete(w.ctx, ann.ID))
		welcome(create("Ann@Example.com"), false)

		// One that earlier versions welcomed is known from when it is deleted.
		bea := create("bea@example.com")
		w.must(w.Delete(w.ctx, bea.ID))
		welcome(create("bea@example.com"), false)

		for _, device := range []string{"device-0001", "device-0002"} {
			u, _, err := w.anonymous(device, address)
			w.must(err)
			welcome(u, true)
		}
	})
}

func TestHashes(t *testing.T) {
	each(t, func(w *world) {
		hash := func(a string) string { return w.HashAddress(netip.MustParseAddr(a)) }
		if hash("192.0.2.7") != hash("::ffff:192.0.2.7") || hash("192.0.2.7") == hash("192.0.2.8") ||
			strings.Contains(hash("192.0.2.7"), "192") {
			t.Error("IPv4 addresses must be told apart, and found when mapped")
		}
		if hash("2001:db8::1") != hash("2001:db8::ffff:1:2") ||
			hash("2001:db8::1") == hash("2001:db8:0:1::1") || hash("fe80::1%eth0") != hash("fe80::2") {
			t.Error("IPv6 addresses must be told apart by their /64")
		}
		device, err := w.HashDevice("192.0.2.7")
		if err != nil || device == hash("192.0.2.7") {
			t.Errorf("a device's key must be its own: %q, %v", device, err)
		}
	})
}

func TestExportAndDelete(t *testing.T) {
	each(t, func(w *world) {
		u, session := w.user()
		w.must(w.RequestReset(w.ctx, email, address))
		e, err := w.Export(w.ctx, u.ID)
		w.must(err)
		text, err := json.Marshal(e)
		w.must(err)
		want := `{"user":{"id":"` + u.ID +
			`","kind":"registered","email":"ann@example.com","verified":true,"created":"2026-11-21T09:00:00Z","bought":false},` +
			`"sessions":[{"id":"` + account.SessionID(session) + `","agent":"` + agent +
			`","created":"2026-11-21T09:00:00Z","seen":"2026-11-21T09:00:00Z"}],"identities":[]}`
		if string(text) != want {
			t.Errorf("export is %s\nwant %s", text, want)
		}
		w.must(w.Delete(w.ctx, u.ID))
		w.refused(w.session(session), account.ErrNoSession)
		w.refused(w.logIn(email, password), account.ErrCredentials)
		w.refused(w.reset(w.mail(account.NoticeReset).Token, other), account.ErrOneTimeToken)
		w.refused(w.Delete(w.ctx, u.ID), account.ErrNotFound)
		_, err = w.Export(w.ctx, u.ID)
		w.refused(err, account.ErrNotFound)
		again, err := w.CreateUser(w.ctx, email, password, "")
		w.must(err)
		if again.ID == u.ID {
			t.Error("the address's new account is the old one")
		}
	})
}

func TestOperatorFunctions(t *testing.T) {
	each(t, func(w *world) {
		w.must(w.SignUp(w.ctx, email, other, address)) // not verified: whoever it was
		w.pass(time.Second)
		u, err := w.CreateUser(w.ctx, "Ann@example.com", password, account.Operator)
		w.must(err)
		if !u.Verified || u.Role != account.Operator {
			t.Errorf("made %+v", u)
		}
		_, err = w.Verify(w.ctx, w.mail(account.NoticeVerify).Token)
		w.refused(err, account.ErrOneTimeToken)
		w.must(w.logIn(email, password))
		_, err = w.CreateUser(w.ctx, email, other, "")
		w.refused(err, account.ErrExists)
		w.must(w.logIn(email, password))

		w.must(w.SetBought(w.ctx, u.ID))
		w.must(w.SetRole(w.ctx, u.ID, ""))
		for _, name := range []string{u.ID, " ANN@example.com"} {
			if got, err := w.FindUser(w.ctx, name); err != nil || !got.Bought || got.Role != "" ||
				got.ID != u.ID {
				t.Errorf("%s is %+v, %v", name, got, err)
			}
		}
		for _, name := range []string{"", "nobody@example.com", "a\x00b", "\xff"} {
			_, err := w.FindUser(w.ctx, name)
			w.refused(err, account.ErrNotFound)
		}
		w.refused(w.SetBought(w.ctx, "usr_nobody"), account.ErrNotFound)
		w.refused(w.SetRole(w.ctx, "usr_nobody", ""), account.ErrNotFound)
		var input *account.InputError
		if err := w.SetRole(w.ctx, u.ID, "king"); !errors.As(err, &input) {
			t.Errorf("error is %v", err)
		}
		if _, err := w.CreateUser(w.ctx, "bea@example.com", password, "king"); !errors.As(err, &input) {
			t.Errorf("error is %v", err)
		}
	})
}

func TestUsersByPages(t *testing.T) {
	each(t, func(w *world) {
		made := map[string]bool{}
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			u, err := w.CreateUser(w.ctx, name+"@example.com", password, "")
			w.must(err)
			made[u.ID] = true
		}
		last := ""
		for _, want := range []int{2, 2, 1, 0} {
			users, err := w.Users(w.ctx, 2, last)
			w.must(err)
			if len(users) != want {
				t.Fatalf("a page of %d, want %d", len(users), want)
			}
			for _, u := range users {
				delete(made, u.ID)
				last = u.ID
			}
		}
		if len(made) != 0 {
			t.Errorf("not listed: %v", made)
		}
		if users, err := w.Users(w.ctx, -1, ""); err != nil || len(users) != 1 {
			t.Errorf("limit -1 lists %d, %v", len(users), err)
		}
	})
}
