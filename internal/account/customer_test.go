package account_test

import (
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"unink/internal/account"
	"unink/internal/store/storetest"
)

func (w *world) customer() account.Customer {
	w.t.Helper()
	c, created, err := w.CreateCustomer(w.ctx, "dev@example.com", "Acme, Inc.", "acme", "cs_1")
	w.must(err)
	if !created {
		w.t.Fatalf("found %+v, want a new customer", c)
	}
	return c
}

func (w *world) token(c account.Customer, grace time.Duration) (token, id string) {
	w.t.Helper()
	token, id, err := w.NewToken(w.ctx, c.ID, grace)
	w.must(err)
	return token, id
}

// authenticate is Authenticate's error.
func (w *world) authenticate(token string) error {
	_, err := w.Authenticate(w.ctx, token)
	return err
}

// A person begins once: not at another address with a +, and not after the customer was closed.
func TestBegin(t *testing.T) {
	each(t, func(w *world) {
		ann, _ := w.user()
		c, err := w.Begin(w.ctx, ann)
		w.must(err)
		if again, err := w.Begin(w.ctx, ann); err != nil || again != c || c.Email != ann.Email {
			t.Errorf("begun %+v, then %+v, %v", c, again, err)
		}
		other := ann
		other.ID, other.Email = "usr_other", strings.Replace(ann.Email, "@", "+two@", 1)
		_, err = w.Begin(w.ctx, other)
		w.refused(err, account.ErrTooMany)
		other.Verified = false
		_, err = w.Begin(w.ctx, other)
		w.refused(err, account.ErrNotFound)
		w.must(w.RevokeCustomer(w.ctx, c.ID))
		_, err = w.Begin(w.ctx, ann)
		w.refused(err, account.ErrTooMany)
	})
}

func TestCreateCustomer(t *testing.T) {
	each(t, func(w *world) {
		c := w.customer()
		if c.Slug != "acme" || !regexp.MustCompile(`^[A-Z0-9]{10}$`).MatchString(c.AppCode) ||
			c.Email != "dev@example.com" || c.Name != "Acme, Inc." || !c.Created.Equal(began) ||
			!c.Revoked.IsZero() {
			t.Errorf("made %+v", c)
		}
		for what, again := range map[string][4]string{
			"the same purchase":    {"dev@example.com", "Acme, Inc.", "acme", "cs_1"},
			"its address changed":  {"new@example.com", "New", "", "cs_1"},
			"a second purchase":    {"DEV@example.com", "Other name", "other-slug", "cs_2"},
			"that purchase again":  {"dev@example.com", "", "", "cs_2"},
			"without any purchase": {"dev@example.com", "", "", ""},
		} {
			got, created, err := w.CreateCustomer(w.ctx, again[0], again[1], again[2], again[3])
			if err != nil || created || got != c {
				t.Errorf("%s: %+v, %v, %v", what, got, created, err)
			}
		}
		_, _, err := w.CreateCustomer(w.ctx, "bea@example.com", "Bea", "acme", "cs_3")
		w.refused(err, account.ErrExists)
		for _, name := range []string{c.ID, c.Slug, c.AppCode} {
			if got, err := w.FindCustomer(w.ctx, name); err != nil || got != c {
				t.Errorf("%s is %+v, %v", name, got, err)
			}
		}
		for _, name := range []string{"", "nobody", "ac\x00me", strings.ToLower(c.AppCode)} {
			_, err := w.FindCustomer(w.ctx, name)
			w.refused(err, account.ErrNotFound)
		}
	})
}

func TestSlugs(t *testing.T) {
	each(t, func(w *world) {
		for _, bad := range []string{"ab", strings.Repeat("a", 41), "Acme", "-acme", "acme-", "ac.me",
			"ac me", "äcme", "www", "api", "admin", "mail", "xn--acme", "a\x00cme"} {
			var input *account.InputError
			if _, _, err := w.CreateCustomer(w.ctx, email, "", bad, ""); !errors.As(err, &input) ||
				input.Field != "slug" {
				t.Errorf("slug %q: error is %v", bad, err)
			}
		}
		for name, want := range map[string]string{
			"Acme, Inc. & Sons":              `^acme-inc-sons-[a-z0-9]{6}$`,
			"":                               `^customer-[a-z0-9]{6}$`,
			"株式会社":                           `^customer-[a-z0-9]{6}$`,
			"XN--bad":                        `^xn-bad-[a-z0-9]{6}$`,
			"Müller":                         `^m-ller-[a-z0-9]{6}$`,
			strings.Repeat("long name ", 12): `^long-name-long-name-long-name-[a-z0-9]{6}$`,
		} {
			c, _, err := w.CreateCustomer(w.ctx, want[1:4]+string(rune('a'+len(name)%26))+"@example.com",
				name, "", "")
			if err != nil || !regexp.MustCompile(want).MatchString(c.Slug) {
				t.Errorf("name %q: slug %q, %v", name, c.Slug, err)
			}
		}
		var input *account.InputError
		for _, bad := range []string{"two\nlines", strings.Repeat("x", 201), "\xff"} {
			if _, _, err := w.CreateCustomer(w.ctx, email, bad, "", ""); !errors.As(err, &input) ||
				input.Field != "name" {
				t.Errorf("name %q: error is %v", bad, err)
			}
		}
		if _, _, err := w.CreateCustomer(w.ctx, "nobody", "", "", ""); !errors.As(err, &input) ||
			input.Field != "e-mail address" {
			t.Errorf("error is %v", err)
		}
	})
}

func TestOnePurchaseTwiceAtOnce(t *testing.T) {
	each(t, func(w *world) {
		got := w.atOnce(8, account.ErrNotFound, func(i int) error {
			_, created, err := w.CreateCustomer(w.ctx, "dev@example.com", "Acme", "acme",
				"cs_"+string(rune('0'+i/2)))
			if err == nil && !created {
				err = account.ErrNotFound
			}
			return err
		})
		if customers, err := w.Customers(w.ctx, 10, ""); err != nil || got != 1 || len(customers) != 1 {
			t.Errorf("made %d, there are %v, %v", got, customers, err)
		}
		got = w.atOnce(8, account.ErrNotFound, func(i int) error {
			_, created, err := w.CreateCustomer(w.ctx, string(rune('a'+i))+"@example.com", "Acme",
				"", "cs_same")
			if err == nil && !created {
				err = account.ErrNotFound
			}
			return err
		})
		if customers, err := w.Customers(w.ctx, 10, ""); err != nil || got != 1 || len(customers) != 2 {
			t.Errorf("made %d, there are %v, %v", got, customers, err)
		}
	})
}

func TestAuthenticate(t *testing.T) {
	each(t, func(w *world) {
		c := w.customer()
		token, id := w.token(c, 0)
		if !regexp.MustCompile(`^unk_`+c.AppCode+`_[a-z0-9]{26}_[0-9a-f]{32}$`).MatchString(token) ||
			id == "" {
			t.Errorf("token %q, id %q", token, id)
		}
		if got, err := w.Authenticate(w.ctx, token); err != nil || got != c {
			t.Errorf("the token is of %+v, %v", got, err)
		}
		_, _, err := w.NewToken(w.ctx, "cus_nobody", 0)
		w.refused(err, account.ErrNotFound)
		_, _, err = w.NewToken(w.ctx, c.ID, -time.Second)
		var input *account.InputError
		if !errors.As(err, &input) {
			t.Errorf("error is %v", err)
		}
		w.must(w.authenticate(token))
		// Signed by the same key, never handed out here.
		elsewhere := newWorld(t, storetest.Open(t, storetest.SQLite(t)), quick())
		unknown, _ := elsewhere.token(elsewhere.customer(), 0)
		w.refused(w.authenticate(unknown), account.ErrToken)
	})
}

func TestRotation(t *testing.T) {
	each(t, func(w *world) {
		c := w.customer()
		first, _ := w.token(c, 0)
		second, _ := w.token(c, time.Hour)
		w.pass(time.Hour - time.Microsecond)
		w.must(w.authenticate(first))
		third, _ := w.token(c, 24*time.Hour) // does not prolong the first
		w.pass(time.Microsecond)
		w.refused(w.authenticate(first), account.ErrToken)
		w.must(w.authenticate(second))
		fourth, _ := w.token(c, 0)
		for _, token := range []string{first, second, third} {
			w.refused(w.authenticate(token), account.ErrToken)
		}
		w.must(w.authenticate(fourth))
	})
}

func TestRotationAtOnce(t *testing.T) {
	each(t, func(w *world) {
		c := w.customer()
		tokens := make([]string, 6)
		w.atOnce(len(tokens), nil, func(i int) (err error) {
			tokens[i], _, err = w.NewToken(w.ctx, c.ID, 0)
			return err
		})
		if good := w.atOnce(len(tokens), account.ErrToken, func(i int) error {
			return w.authenticate(tokens[i])
		}); good != 1 {
			t.Errorf("%d tokens are good, want 1", good)
		}
	})
}

func TestRevocation(t *testing.T) {
	each(t, func(w *world) {
		c := w.customer()
		first, id := w.token(c, 0)
		second, _ := w.token(c, time.Hour)
		w.must(w.RevokeToken(w.ctx, id))
		w.refused(w.authenticate(first), account.ErrToken)
		w.must(w.authenticate(second))
		w.pass(time.Minute)
		w.must(w.RevokeToken(w.ctx, id))
		w.refused(w.authenticate(first), account.ErrToken)
		w.refused(w.RevokeToken(w.ctx, "tok_nobody"), account.ErrNotFound)

		revoked := w.now()
		w.must(w.RevokeCustomer(w.ctx, c.ID))
		w.pass(time.Minute)
		w.must(w.RevokeCustomer(w.ctx, c.ID))
		w.refused(w.RevokeCustomer(w.ctx, "cus_nobody"), account.ErrNotFound)
		w.refused(w.authenticate(second), account.ErrToken)
		_, _, err := w.NewToken(w.ctx, c.ID, 0)
		w.refused(err, account.ErrNotFound)
		if got, err := w.FindCustomer(w.ctx, c.ID); err != nil || !got.Revoked.Equal(revoked) {
			t.Errorf("customer is %+v, %v", got, err)
		}
		// Who was revoked is not let in again by buying, but may begin anew.
		same, created, err := w.CreateCustomer(w.ctx, c.Email, "", "", "cs_1")
		if err != nil || created || same.ID != c.ID {
			t.Errorf("the old purchase gives %+v, %v, %v", same, created, err)
		}
		anew, created, err := w.CreateCustomer(w.ctx, c.Email, "", "", "cs_2")
		if err != nil || !created || anew.ID == c.ID {
			t.Errorf("a new purchase gives %+v, %v, %v", anew, created, err)
		}
	})
}

// forged are tokens that were never made by the server that made token.
func forged(token string) map[string]string {
	flip := func(at int) string {
		other := byte('x')
		if token[at] == other {
			other = 'y'
		}
		return token[:at] + string(other) + token[at+1:]
	}
	return map[string]string{
		"empty": "", "prefix": "unk_", "truncated": token[:len(token)-1], "half": token[:len(token)/2],
		"longer": token + "0",
		"space":  " " + token, "newline": token + "\n", "upper case": strings.ToUpper(token),
		"AppCode": flip(6), "secret": flip(20),
		"signature": flip(len(token) - 3), "underscore": flip(41),
		"no signature": token[:len(token)-32] + strings.Repeat("0", 32),
		"huge":         strings.Repeat(token, 10_000), "NUL": strings.Repeat("\x00", len(token)),
		"SQL": "' OR 1=1 --",
	}
}

// without is a service without a database: whatever asks that, panics.
func without(t testing.TB, secret []byte) *account.Service {
	t.Helper()
	c := quick()
	c.Secret = secret
	s, err := account.New(c, nil, nil, nil, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestForgedTokensNeverReachTheDatabase(t *testing.T) {
	each(t, func(w *world) {
		token, _ := w.token(w.customer(), 0)
		s := without(t, secret)
		for what, bad := range forged(token) {
			// nolint:errorlint // not even wrapped
			if _, err := s.Authenticate(w.ctx, bad); err != account.ErrSignature {
				t.Errorf("%s: error is %v", what, err)
			}
		}
		foreign := without(t, []byte(strings.Repeat("another secret ", 3)))
		if _, err := foreign.Authenticate(w.ctx, token); !errors.Is(err, account.ErrSignature) {
			t.Errorf("a token of another server: error is %v", err)
		}
	})
}

func FuzzAuthenticate(f *testing.F) {
	token := "unk_ABCDEFGHIJ_abcdefghijklmnopqrstuvwxyz_0123456789abcdef0123456789abcdef"
	f.Add(token)
	for _, bad := range forged(token) {
		f.Add(bad[:min(len(bad), 1000)])
	}
	s := without(f, secret)
	f.Fuzz(func(t *testing.T, token string) {
		if _, err := s.Authenticate(t.Context(), token); !errors.Is(err, account.ErrSignature) {
			t.Errorf("%q: error is %v", token, err)
		}
	})
}

func TestRotateIsForTheCustomersUser(t *testing.T) {
	each(t, func(w *world) {
		u, _ := w.user()
		_, _, err := w.Rotate(w.ctx, u, "acme", 0)
		w.refused(err, account.ErrNotFound)
		c, _, err := w.CreateCustomer(w.ctx, email, "Acme", "acme", "")
		w.must(err)
		_, _, err = w.CreateCustomer(w.ctx, "bob@example.com", "Bob", "bobs", "")
		w.must(err)
		_, _, err = w.Rotate(w.ctx, u, "bobs", 0)
		w.refused(err, account.ErrNotFound)
		unconfirmed := u
		unconfirmed.Verified = false
		_, err = w.CustomerOf(w.ctx, unconfirmed)
		w.refused(err, account.ErrNotFound)

		token, got, err := w.Rotate(w.ctx, u, "acme", 0)
		w.must(err)
		if who, err := w.Authenticate(w.ctx, token); err != nil || who != c || got != c {
			t.Errorf("the token is %+v's, %v; rotated %+v's", who, err, got)
		}
		w.pass(time.Second)
		_, _, err = w.Rotate(w.ctx, u, "acme", time.Hour)
		w.must(err)
		tokens, err := w.Tokens(w.ctx, c.ID)
		w.must(err)
		if len(tokens) != 2 || !tokens[0].Ends.IsZero() ||
			!tokens[1].Ends.Equal(began.Add(time.Hour+time.Second)) {
			t.Errorf("tokens are %+v", tokens)
		}
		w.pass(time.Hour)
		if tokens, err = w.Tokens(w.ctx, c.ID); err != nil || len(tokens) != 1 {
			t.Errorf("after the grace period tokens are %+v, %v", tokens, err)
		}
		w.wait["rotate-account:"] = time.Minute
		var throttled *account.ThrottledError
		if _, _, err := w.Rotate(w.ctx, u, "acme", 0); !errors.As(err, &throttled) {
			t.Errorf("got %v", err)
		}
	})
}
