package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"unink/internal/account"
	"unink/internal/credit"
	"unink/internal/store"
	"unink/internal/store/storetest"
	"unink/internal/usage"
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
		ann := account.User{ID: "usr_1", Kind: account.Registered, Email: "ann@example.com",
			Role: account.Operator, Verified: true, Created: now}
		made, err := a.CreateUser(ctx, ann, "hash")
		want("create", err, nil)
		got, password, err := a.FindUser(ctx, ann.Email)
		want("find", err, nil)
		if made != ann || got != ann || password != "hash" {
			t.Errorf("made %+v, found %+v, %q, want %+v", made, got, password, ann)
		}
		verified, err := a.SignUp(ctx, account.User{
			ID: "usr_2", Kind: account.Registered, Email: ann.Email, Created: now,
		}, account.OneTime{Hash: "v", Purpose: account.NoticeVerify, Expires: now})
		want("sign-up", err, nil)
		if _, err := a.Verify(ctx, "v", now.Add(-time.Hour)); !verified ||
			!errors.Is(err, account.ErrNotFound) {
			t.Errorf("a verified user got a token: %v, %v", verified, err)
		}

		want("session of an old password", a.OpenSession(ctx, "s", ann.ID, "old", "here", "curl", now),
			account.ErrNotFound)
		want("session of nobody", a.OpenSession(ctx, "s", "usr_0", "", "here", "curl", now),
			account.ErrNotFound)
		want("session", a.OpenSession(ctx, "s", ann.ID, "hash", "here", "curl", now), nil)
		want("touch too soon", a.Touch(ctx, "s", now.Add(time.Hour), now.Add(-1*time.Microsecond)), nil)
		if _, s, err := a.Session(ctx, "s"); err != nil ||
			s != (account.Session{ID: "s", Agent: "curl", Created: now, Seen: now}) {
			t.Errorf("session is %+v, %v", s, err)
		}
		want("touch", a.Touch(ctx, "s", now.Add(time.Hour), now), nil)
		if u, s, err := a.Session(ctx, "s"); err != nil || u != ann || !s.Seen.Equal(now.Add(time.Hour)) {
			t.Errorf("session is %+v of %+v, %v", s, u, err)
		}
		want("change of an old password", a.ChangePassword(ctx, ann.ID, "old", "new"),
			account.ErrNotFound)

		known, err := a.AddReset(ctx, ann.Email,
			account.OneTime{Hash: "r", Purpose: account.NoticeReset, Expires: now.Add(1)}, now)
		if err != nil || !known {
			t.Errorf("reset: %v, %v", known, err)
		}
		if known, err := a.AddReset(ctx, "nobody@example.com",
			account.OneTime{Hash: "n", Purpose: account.NoticeReset}, now); err != nil || known {
			t.Errorf("reset of nobody: %v, %v", known, err)
		}
		_, err = a.OneTimeUser(ctx, "r", account.NoticeVerify, now.Add(-time.Hour))
		want("token for another purpose", err, account.ErrNotFound)

		for name, err := range map[string]error{
			"bought": a.SetBought(ctx, "usr_0"), "role": a.SetRole(ctx, "usr_0", ""),
			"delete": a.DeleteUser(ctx, "usr_0", ""), "seen": a.SetSeen(ctx, "usr_0", now),
			"customer": a.RevokeCustomer(ctx, "cus_0", now), "token": a.RevokeToken(ctx, "tok_0", now),
			"add token": a.AddToken(ctx, account.Token{CustomerID: "cus_0"}, now),
			"reset":     a.Reset(ctx, "0", "", "here", now),
		} {
			want(name, err, account.ErrNotFound)
		}
		_, _, err = a.UserOn(ctx, "")
		want("user on no device", err, account.ErrNotFound)
		_, _, err = a.FindUser(ctx, "")
		want("user without an address", err, account.ErrNotFound)
		want("end", errors.Join(a.EndSession(ctx, "0"), a.EndSessions(ctx, "usr_0"),
			a.Prune(ctx, now, now, now)), nil)

		// Who comes with an identity ends what would verify its address for another.
		bea := account.User{ID: "usr_3", Kind: account.Registered, Email: "bea@example.com", Created: now}
		_, err = a.SignUp(ctx, bea, account.OneTime{
			Hash: "b", Purpose: account.NoticeVerify, Password: "stranger's", Expires: now.Add(time.Hour),
		})
		want("sign-up", err, nil)
		_, err = a.OneTimeUser(ctx, "b", account.NoticeVerify, now)
		want("token", err, nil)
		who, password, err := a.Identify(ctx, account.Identity{Issuer: "i", Subject: "s", Linked: now},
			account.User{ID: "usr_4", Kind: account.Registered, Email: bea.Email, Verified: true,
				Created: now})
		want("identify", err, nil)
		if who.ID != bea.ID || !who.Verified || password != "" {
			t.Errorf("identified %+v, %q", who, password)
		}
		_, err = a.OneTimeUser(ctx, "b", account.NoticeVerify, now)
		want("token after the identity", err, account.ErrNotFound)

		var slugs []string
		for i := range 4 {
			c := account.Customer{ID: fmt.Sprint("cus_", i), Slug: fmt.Sprint("slug-", i),
				AppCode: fmt.Sprint("CODE", i), Email: fmt.Sprint(i, "@example.com"), Created: now}
			if got, err := a.CreateCustomer(ctx, c, "", nil); err != nil || got != c {
				t.Errorf("made %+v, %v, want %+v", got, err, c)
			}
			slugs = append(slugs, c.Slug)
		}
		for _, taken := range []account.Customer{
			{ID: "cus_8", Slug: "slug-1", AppCode: "CODE8", Email: "8@example.com"},
			{ID: "cus_9", Slug: "slug-9", AppCode: "CODE1", Email: "9@example.com"},
		} {
			_, err := a.CreateCustomer(ctx, taken, "ref", nil)
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

// Accounts are pruned with the credits that they began with, and with nothing else.
func TestPruneUsers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		a, uses, ctx := store.NewAccounts(db), store.NewUsage(db), t.Context()
		now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
		credits, err := credit.New(store.NewCredits(db), credit.DefaultConfig(), func() time.Time {
			return now
		})
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(err)
		give := func(id, source string) {
			t.Helper()
			_, _, err := credits.Grant(
				ctx, credit.Grant{Owner: account.OwnerPrefix + id, Plan: "p", Credits: 3, Expires: credit.Never,
					Source: source},
			)
			must(err)
		}
		for i, id := range []string{"usr_1", "usr_2", "usr_gift", "usr_held"} {
			_, err := a.Establish(ctx, account.User{
				ID: id, Kind: account.Anonymous, Created: now.Add(time.Duration(i)),
			}, "device "+id, "network", 9)
			must(err)
			give(id, account.WelcomePrefix+id)
		}
		give("usr_gift", "admin:1")
		hold, err := credits.Reserve(
			ctx, credit.Reservation{Owners: []string{"user:usr_held"}, Lease: time.Minute},
		)
		must(err)
		must(credits.Settle(ctx, hold.ID))
		must(
			uses.Add(ctx, []usage.Use{
				{At: now, Entry: "web", Caller: "anonymous", Owner: "user:usr_1", Outcome: "ok"},
			}),
		)

		prune := func(kind account.Kind, before time.Time, limit, want int) {
			t.Helper()
			if n, err := a.PruneUsers(ctx, kind, before, limit); err != nil || n != want {
				t.Errorf("pruned %d until %v, %v, want %d", n, before, err, want)
			}
			wrong, err := credits.Audit(ctx)
			if err != nil || len(wrong) != 0 {
				t.Errorf("audit: %v, %v", wrong, err)
			}
		}
		later := now.Add(time.Hour)
		prune(account.Registered, later, 9, 0)
		prune(account.Anonymous, now.Add(-time.Microsecond), 9, 0)
		prune(account.Anonymous, now, 1, 1)
		if _, _, err := a.FindUser(ctx, "usr_1"); !errors.Is(err, account.ErrNotFound) {
			t.Errorf("the first is found: %v", err)
		}
		prune(account.Anonymous, later, 9, 1)
		must(store.NewCredits(db).Forget(ctx, later, later))
		prune(account.Anonymous, later, 9, 1) // of whom a hold was remembered
		prune(account.Anonymous, later, 9, 0)
		users, err := a.Users(ctx, 9, "")
		if err != nil || len(users) != 1 || users[0].ID != "usr_gift" {
			t.Errorf("left are %+v, %v", users, err)
		}
		entries, err := credits.Entries(ctx, credit.Filter{})
		if err != nil || len(entries) != 2 {
			t.Errorf("the ledger is %+v, %v", entries, err)
		}
		if got, err := credits.Packages(ctx, "user:usr_1"); err != nil || len(got) != 0 {
			t.Errorf("packages of nobody are %+v, %v", got, err)
		}
		if got, _, err := uses.History(ctx, "user:usr_1", usage.Place{}, 9); err != nil || len(got) != 0 {
			t.Errorf("uses of nobody are %+v, %v", got, err)
		}
		if n, err := uses.Prune(ctx, later, 9); err != nil || n != 1 {
			t.Errorf("pruned %d uses, %v", n, err)
		}
	})
}
