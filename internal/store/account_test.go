package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"unink/internal/account"
	"unink/internal/store"
	"unink/internal/store/storetest"
)

// TestAccounts is what account.Store promises and the rules of package account do not all need.
func TestAccounts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		a, ctx := store.NewAccounts(db), t.Context()
		now := time.Date(2026, 11, 21, 9, 0, 0, 123_000, time.UTC)
		want := func(what string, err, want error) {
			t.Helper()
			if !errors.Is(err, want) {
				t.Fatalf("%s: error is %v, want %v", what, err, want)
			}
		}
		ann := account.User{ID: "usr_1", Kind: account.Registered, Email: "ann@example.com", Role: account.Operator, Verified: true, Created: now}
		made, err := a.CreateUser(ctx, ann, "hash")
		want("create", err, nil)
		got, password, err := a.FindUser(ctx, ann.Email)
		want("find", err, nil)
		if made != ann || got != ann || password != "hash" {
			t.Errorf("made %+v, found %+v, %q, want %+v", made, got, password, ann)
		}
		verified, err := a.SignUp(ctx, account.User{ID: "usr_2", Kind: account.Registered, Email: ann.Email, Created: now}, account.OneTime{Hash: "v", Purpose: account.NoticeVerify, Expires: now})
		want("sign-up", err, nil)
		if _, err := a.Verify(ctx, "v", now.Add(-time.Hour)); !verified || !errors.Is(err, account.ErrNotFound) {
			t.Errorf("a verified user got a token: %v, %v", verified, err)
		}

		want("session of an old password", a.OpenSession(ctx, "s", ann.ID, "old", now), account.ErrNotFound)
		want("session of nobody", a.OpenSession(ctx, "s", "usr_0", "", now), account.ErrNotFound)
		want("session", a.OpenSession(ctx, "s", ann.ID, "hash", now), nil)
		want("touch too soon", a.Touch(ctx, "s", now.Add(time.Hour), now.Add(-1*time.Microsecond)), nil)
		if _, s, err := a.Session(ctx, "s"); err != nil || s != (account.Session{Created: now, Seen: now}) {
			t.Errorf("session is %+v, %v", s, err)
		}
		want("touch", a.Touch(ctx, "s", now.Add(time.Hour), now), nil)
		if u, s, err := a.Session(ctx, "s"); err != nil || u != ann || !s.Seen.Equal(now.Add(time.Hour)) {
			t.Errorf("session is %+v of %+v, %v", s, u, err)
		}
		want("change of an old password", a.ChangePassword(ctx, ann.ID, "old", "new"), account.ErrNotFound)

		known, err := a.AddReset(ctx, ann.Email, account.OneTime{Hash: "r", Purpose: account.NoticeReset, Expires: now.Add(1)})
		if err != nil || !known {
			t.Errorf("reset: %v, %v", known, err)
		}
		if known, err := a.AddReset(ctx, "nobody@example.com", account.OneTime{Hash: "n", Purpose: account.NoticeReset}); err != nil || known {
			t.Errorf("reset of nobody: %v, %v", known, err)
		}
		_, err = a.OneTimeUser(ctx, "r", account.NoticeVerify, now.Add(-time.Hour))
		want("token for another purpose", err, account.ErrNotFound)

		for name, err := range map[string]error{
			"bought": a.SetBought(ctx, "usr_0"), "role": a.SetRole(ctx, "usr_0", ""), "delete": a.DeleteUser(ctx, "usr_0"),
			"customer": a.RevokeCustomer(ctx, "cus_0", now), "token": a.RevokeToken(ctx, "tok_0", now),
			"add token": a.AddToken(ctx, account.Token{CustomerID: "cus_0"}, now), "reset": a.Reset(ctx, "0", "", now),
		} {
			want(name, err, account.ErrNotFound)
		}
		_, err = a.UserOn(ctx, "")
		want("user on no device", err, account.ErrNotFound)
		_, _, err = a.FindUser(ctx, "")
		want("user without an address", err, account.ErrNotFound)
		want("end", errors.Join(a.EndSession(ctx, "0"), a.EndSessions(ctx, "usr_0"), a.Prune(ctx, now, now, now)), nil)

		// Who comes with an identity ends what would verify its address for another.
		bea := account.User{ID: "usr_3", Kind: account.Registered, Email: "bea@example.com", Created: now}
		_, err = a.SignUp(ctx, bea, account.OneTime{Hash: "b", Purpose: account.NoticeVerify, Password: "stranger's", Expires: now.Add(time.Hour)})
		want("sign-up", err, nil)
		_, err = a.OneTimeUser(ctx, "b", account.NoticeVerify, now)
		want("token", err, nil)
		who, password, err := a.Identify(ctx, account.Identity{Issuer: "i", Subject: "s", Linked: now}, account.User{ID: "usr_4", Kind: account.Registered, Email: bea.Email, Verified: true, Created: now})
		want("identify", err, nil)
		if who.ID != bea.ID || !who.Verified || password != "" {
			t.Errorf("identified %+v, %q", who, password)
		}
		_, err = a.OneTimeUser(ctx, "b", account.NoticeVerify, now)
		want("token after the identity", err, account.ErrNotFound)

		var slugs []string
		for i := range 4 {
			c := account.Customer{ID: fmt.Sprint("cus_", i), Slug: fmt.Sprint("slug-", i), AppCode: fmt.Sprint("CODE", i), Email: fmt.Sprint(i, "@example.com"), Created: now}
			if got, err := a.CreateCustomer(ctx, c, ""); err != nil || got != c {
				t.Errorf("made %+v, %v, want %+v", got, err, c)
			}
			slugs = append(slugs, c.Slug)
		}
		for _, taken := range []account.Customer{
			{ID: "cus_8", Slug: "slug-1", AppCode: "CODE8", Email: "8@example.com"},
			{ID: "cus_9", Slug: "slug-9", AppCode: "CODE1", Email: "9@example.com"},
		} {
			_, err := a.CreateCustomer(ctx, taken, "ref")
			want("taken", err, account.ErrExists)
		}
		page, err := a.Customers(ctx, 2, "cus_0")
		want("customers", err, nil)
		if len(page) != 2 || !slices.Equal(slugs[1:3], []string{page[0].Slug, page[1].Slug}) {
			t.Errorf("page is %v", page)
		}
		token := account.Token{ID: "tok_1", Hash: "t", CustomerID: "cus_1", Created: now}
		want("add token", a.AddToken(ctx, token, now), nil)
		if got, c, err := a.FindToken(ctx, "t"); err != nil || got != token || c.ID != "cus_1" {
			t.Errorf("token is %+v of %+v, %v", got, c, err)
		}
		_, _, err = a.FindToken(ctx, "")
		want("no token", err, account.ErrNotFound)
	})
}
