package account_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"unink/internal/account"
)

// Whatever is wrong looks the same, and costs one computation.
func TestLogInNeverTells(t *testing.T) {
	each(t, func(w *world) {
		w.user()
		w.must(w.SignUp(w.ctx, "unverified@example.com", password, address))
		for what, try := range map[string][2]string{
			"unknown":     {"nobody@example.com", password},
			"wrong":       {email, other},
			"empty":       {email, ""},
			"huge":        {email, strings.Repeat("x", 10_000)},
			"unverified":  {"unverified@example.com", password},
			"no password": {"unverified@example.com", ""},
			"no address":  {"", password},
			"bad address": {"Ann <ann@example.com>", password},
			"SQL":         {"' OR 1=1 --", "' OR 1=1 --"},
			"NUL":         {"ann\x00@example.com", "\x00"},
		} {
			before := w.hashing.Count.Load()
			token, u, err := w.LogIn(w.ctx, try[0], try[1], address, agent)
			// nolint:errorlint // not even wrapped
			if err != account.ErrCredentials || token != "" || u != (account.User{}) {
				t.Errorf("%s: %q, %+v, %v", what, token, u, err)
			}
			if n := w.hashing.Count.Load() - before; n != 1 {
				t.Errorf("%s: %d computations, want 1", what, n)
			}
		}
		before := w.hashing.Count.Load()
		w.must(w.logIn(email, password))
		if n := w.hashing.Count.Load() - before; n != 1 {
			t.Errorf("success: %d computations, want 1", n)
		}
	})
}

func TestEachLogInHasItsOwnSession(t *testing.T) {
	each(t, func(w *world) {
		u, first := w.user()
		second, _, err := w.LogIn(w.ctx, email, password, address, agent)
		w.must(err)
		if first == second || len(first) < 26 {
			t.Fatalf("tokens are %q and %q", first, second)
		}
		w.must(w.LogOut(w.ctx, first))
		w.must(w.LogOut(w.ctx, first))
		w.refused(w.session(first), account.ErrNoSession)
		w.must(w.session(second))
		third, _, err := w.LogIn(w.ctx, email, password, address, agent)
		w.must(err)
		w.must(w.LogOutEverywhere(w.ctx, u.ID))
		for _, token := range []string{"", "x", first, second, third} {
			w.refused(w.session(token), account.ErrNoSession)
		}
	})
}

func TestSessionEndsThirtyDaysAfterUse(t *testing.T) {
	each(t, func(w *world) {
		_, token := w.user()
		w.pass(30*24*time.Hour - time.Second)
		w.must(w.session(token))
		w.pass(30*24*time.Hour - time.Second)
		w.must(w.session(token))
		w.pass(30 * 24 * time.Hour)
		w.refused(w.session(token), account.ErrNoSession)
	})
}

func TestSessionEndsNinetyDaysAfterLogIn(t *testing.T) {
	each(t, func(w *world) {
		u, token := w.user()
		for range 4 {
			w.pass(20 * 24 * time.Hour)
			w.must(w.session(token))
		}
		w.pass(10*24*time.Hour - time.Microsecond)
		w.must(w.session(token))
		if sessions, err := w.Sessions(w.ctx, u.ID); err != nil || len(sessions) != 1 {
			t.Errorf("sessions are %v, %v", sessions, err)
		}
		w.pass(time.Microsecond)
		w.refused(w.session(token), account.ErrNoSession)
		if sessions, err := w.Sessions(w.ctx, u.ID); err != nil || len(sessions) != 0 {
			t.Errorf("sessions are %v, %v", sessions, err)
		}
	})
}

func TestUseIsRecordedOnceAnHour(t *testing.T) {
	each(t, func(w *world) {
		u, token := w.user()
		for _, step := range []struct{ pass, seen time.Duration }{
			{59 * time.Minute, 0},
			{time.Minute, time.Hour},
			{30 * time.Minute, time.Hour},
			{40 * time.Minute, 130 * time.Minute},
		} {
			w.pass(step.pass)
			w.must(w.session(token))
			sessions, err := w.Sessions(w.ctx, u.ID)
			w.must(err)
			if got := sessions[0].Seen.Sub(began); got != step.seen {
				t.Errorf("seen after %s, want %s", got, step.seen)
			}
		}
	})
}

// A password that is replaced while it is compared opens no session.
func TestLogInDuringReset(t *testing.T) {
	each(t, func(w *world) {
		u, _ := w.user()
		w.must(w.RequestReset(w.ctx, email, address))
		reset := w.mail(account.NoticeReset).Token
		w.hashing.Matched = func() { w.must(w.reset(reset, other)) }
		w.refused(w.logIn(email, password), account.ErrCredentials)
		if sessions, err := w.Sessions(w.ctx, u.ID); err != nil || len(sessions) != 0 {
			t.Errorf("sessions are %v, %v", sessions, err)
		}
	})
}

func TestAttemptsAreThrottled(t *testing.T) {
	each(t, func(w *world) {
		u, _ := w.user()
		for _, attempt := range []struct {
			keys []string
			try  func() error
		}{
			{[]string{"login-pair:"}, func() error { return w.logIn(email, password) }},
			{[]string{"login-address:", "login-account:"}, func() error { return w.logIn("bea@example.com", password) }},
			{[]string{"mail-address:", "sign-up-account:"}, func() error { return w.SignUp(w.ctx, email, password, address) }},
			{[]string{"reset-pair:"}, func() error { return w.RequestReset(w.ctx, email, address) }},
			{[]string{"mail-address:"}, func() error { return w.RequestReset(w.ctx, email, "203.0.113.9") }},
			{[]string{"password-account:"}, func() error { return w.ChangePassword(w.ctx, u.ID, other, password) }},
		} {
			try := attempt.try
			for _, key := range attempt.keys {
				before, mails := w.hashing.Count.Load(), len(w.mails)
				w.wait = map[string]time.Duration{key: 90 * time.Second}
				var throttled *account.ThrottledError
				if err := try(); !errors.As(err, &throttled) || throttled.Wait != 90*time.Second {
					t.Errorf("%s: error is %v", key, err)
				}
				if w.hashing.Count.Load() != before || len(w.mails) != mails {
					t.Errorf("%s: work was done for a refused attempt", key)
				}
			}
			w.wait = nil
			w.down = errors.New("limits are away")
			w.refused(try(), w.down)
			w.down = nil
		}
	})
}

// Where the owner of an account logged in before, nothing that others try elsewhere keeps it out.
func TestNobodyElsewhereLocksOut(t *testing.T) {
	each(t, func(w *world) {
		_, _ = w.user()
		from := func(address, password string) error {
			_, _, err := w.LogIn(w.ctx, email, password, address, agent)
			return err
		}
		w.wait = map[string]time.Duration{"login-account:": time.Minute, "login-address:": time.Hour}
		var throttled *account.ThrottledError
		if err := from("203.0.113.9", password); !errors.As(err, &throttled) {
			t.Errorf("elsewhere: error is %v", err)
		}
		w.must(from(address, password))
		w.refused(from(address, "wrong password"), account.ErrCredentials)

		// A reset makes a place familiar, but leads nowhere by itself.
		w.must(w.RequestReset(w.ctx, email, "203.0.113.9"))
		_, err := w.Reset(w.ctx, w.mail(account.NoticeReset).Token, other, "203.0.113.9")
		w.must(err)
		w.must(from("203.0.113.9", other))

		w.pass(90*24*time.Hour + time.Second)
		w.must(w.Prune(w.ctx, keep))
		if err := from(address, other); !errors.As(err, &throttled) {
			t.Errorf("after 90 days: error is %v", err)
		}
	})
}

// Whatever mails strangers have sent to an account, its owner gets one where it was before; and
// elsewhere one of those that were sent leads to a new password.
func TestStrangersCannotKeepTheOwnerFromAReset(t *testing.T) {
	each(t, func(w *world) {
		w.user()
		w.must(w.RequestReset(w.ctx, email, "203.0.113.9"))
		strangers := w.mail(account.NoticeReset).Token
		w.wait = map[string]time.Duration{"reset-account:": time.Hour, "sign-up-account:": time.Hour,
			"mail-address:": time.Hour}
		w.must(w.RequestReset(w.ctx, email, address))
		if len(w.mails) != 2 {
			t.Errorf("%d mails, want one for the owner besides the stranger's", len(w.mails))
		}
		delete(w.wait, "mail-address:")
		w.must(w.RequestReset(w.ctx, email, "198.51.100.4"))
		if len(w.mails) != 2 {
			t.Errorf("%d mails, want no more at the wish of strangers", len(w.mails))
		}
		w.must(w.reset(strangers, other))
	})
}

func TestThrottleKeys(t *testing.T) {
	each(t, func(w *world) {
		keys := func(email, address string) []string {
			w.attempts = nil
			_, _, _ = w.LogIn(w.ctx, email, password, address, agent)
			return w.attempts
		}
		base := keys(email, "2001:db8::1")
		if len(base) != 2 || !strings.HasPrefix(base[0], "login-address:") ||
			!strings.HasPrefix(base[1], "login-account:") ||
			strings.Contains(strings.Join(base, ""), "ann") {
			t.Errorf("keys are %v", base)
		}
		if same := keys(" ANN@example.com", "2001:db8::2"); !slices.Equal(same, base) {
			t.Errorf("another spelling has the keys %v, want %v", same, base)
		}
		if others := keys("bea@example.com", "2001:db9::1"); others[0] == base[0] ||
			others[1] == base[1] {
			t.Errorf("others share keys: %v", others)
		}
		w.wait = map[string]time.Duration{"login-address:": time.Second}
		if refused := keys(email, address); len(refused) != 1 {
			t.Errorf("an address that is refused used up the account's attempts: %v", refused)
		}
	})
}

func TestPrune(t *testing.T) {
	each(t, func(w *world) {
		u, idle := w.user()
		w.must(w.SignUp(w.ctx, "bea@example.com", password, address))
		verify := w.mail(account.NoticeVerify).Token
		w.pass(24*time.Hour - time.Second)
		w.must(w.Prune(w.ctx, keep))
		_, err := w.Verify(w.ctx, verify)
		w.must(err)
		w.must(w.RequestReset(w.ctx, email, address))
		w.pass(29 * 24 * time.Hour)
		live, _, err := w.LogIn(w.ctx, email, password, address, agent)
		w.must(err)
		w.pass(time.Hour)
		w.must(w.Prune(w.ctx, keep))
		w.must(w.session(live))
		// What was deleted stays away even for a clock that goes back.
		w.pass(-29 * 24 * time.Hour)
		w.refused(w.session(idle), account.ErrNoSession)
		w.refused(w.reset(w.mail(account.NoticeReset).Token, other), account.ErrOneTimeToken)
		if e, err := w.Export(w.ctx, u.ID); err != nil || len(e.Sessions) != 1 {
			t.Errorf("export is %+v, %v", e, err)
		}
	})
}

func TestSessionsEndOneByOne(t *testing.T) {
	each(t, func(w *world) {
		u, first := w.user()
		second, _, err := w.LogIn(w.ctx, email, password, address, agent)
		w.must(err)
		stranger, err := w.CreateUser(w.ctx, "bob@example.com", password, "")
		w.must(err)
		id := account.SessionID(first)
		w.refused(w.EndSession(w.ctx, stranger.ID, id), account.ErrNotFound)
		for _, no := range []string{"", "%", id[:31], id + "0", id[:31] + "\x00"} {
			w.refused(w.EndSession(w.ctx, u.ID, no), account.ErrNotFound)
		}
		w.must(w.session(first))
		w.must(w.EndSession(w.ctx, u.ID, id))
		w.refused(w.session(first), account.ErrNoSession)
		w.refused(w.EndSession(w.ctx, u.ID, id), account.ErrNotFound)
		w.must(w.session(second))
	})
}
