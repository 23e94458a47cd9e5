package operator_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"unink/internal/account"
	"unink/internal/credit"
	"unink/internal/operator"
	"unink/internal/store"
	"unink/internal/store/storetest"
	"unink/internal/usage"
)

// world is a database with the rules on it.
type world struct {
	*operator.Service
	t        *testing.T
	acts     *breaking
	accounts *account.Service
	credits  *credit.Service
}

// breaking is a log that can be made to fail between an act and its entry.
type breaking struct {
	operator.Store
	fault error
}

func (b *breaking) Do(ctx context.Context,
	act func(context.Context) (operator.Entry, error)) error {
	return b.Store.Do(ctx, func(ctx context.Context) (operator.Entry, error) {
		e, err := act(ctx)
		return e, errors.Join(err, b.fault)
	})
}

type noMail struct{}

func (noMail) Send(context.Context, account.Notice) error { return nil }

var (
	now   = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	order = operator.Order{Actor: "user:op", Reason: "she asked"}
)

func eachWorld(t *testing.T, test func(t *testing.T, w *world)) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		clock := func() time.Time { return now }
		config := account.DefaultConfig()
		config.Secret = bytes.Repeat([]byte("k"), 32)
		accounts, err := account.New(config, store.NewAccounts(db), noMail{}, nil, clock,
			slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		credits, err := credit.New(store.NewCredits(db), credit.DefaultConfig(), clock)
		if err != nil {
			t.Fatal(err)
		}
		acts := &breaking{Store: store.NewActs(db)}
		s := operator.New(acts, accounts, credits, usage.New(store.NewUsage(db)), clock)
		test(t, &world{s, t, acts, accounts, credits})
	})
}

// must fails a test on an error.
func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) user(email string) account.User {
	w.t.Helper()
	u, err := w.accounts.CreateUser(w.t.Context(), email, "a l0ng passphrase", "")
	w.must(err)
	return u
}

func (w *world) customer(email, slug string) account.Customer {
	w.t.Helper()
	c, _, err := w.accounts.CreateCustomer(w.t.Context(), email, "Dev", slug, "")
	w.must(err)
	return c
}

// log wants the log's newest entries to be these, but for ids and times; none is the whole log's.
func (w *world) log(want ...operator.Entry) {
	w.t.Helper()
	got, err := w.Entries(w.t.Context(), "", 100)
	w.must(err)
	for i, e := range got {
		if e.ID == "" || !e.At.Equal(now) {
			w.t.Errorf("entry %+v", e)
		}
		got[i].ID, got[i].At, got[i].TargetName = "", time.Time{}, ""
	}
	if len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
		w.t.Errorf("the log is %+v\nwant %+v", got, want)
	}
}

func (w *world) has(owner string, want int) {
	w.t.Helper()
	if got, err := w.credits.Balance(w.t.Context(), owner); err != nil || got != want {
		w.t.Errorf("%s has %d credits, %v, want %d", owner, got, err, want)
	}
}

func gift(owner, source string, credits int) credit.Grant {
	return credit.Grant{
		Owner: owner, Plan: "grant", Credits: credits, Expires: credit.Never, Source: source,
	}
}

// Each act has its line, with who did it to whom and why.
func TestActsAreWrittenDown(t *testing.T) {
	line := func(kind operator.Kind, target, object string, credits int) operator.Entry {
		return operator.Entry{
			Actor: order.Actor, Kind: kind, Target: target, Object: object, Credits: credits,
			Reason: order.Reason,
		}
	}
	for name, act := range map[string]func(t *testing.T, w *world) operator.Entry{
		"grant": func(t *testing.T, w *world) operator.Entry {
			owner := "user:" + w.user("ann@example.com").ID
			_, err := w.Grant(t.Context(), order, gift(owner, "s", 7), false)
			w.must(err)
			w.has(owner, 7)
			return line(operator.Granted, owner, "s", 7)
		},
		"take back": func(t *testing.T, w *world) operator.Entry {
			owner := "user:" + w.user("ann@example.com").ID
			_, _, err := w.credits.Grant(t.Context(), gift(owner, "s", 7))
			w.must(err)
			if n, err := w.TakeBack(t.Context(), order, "s"); err != nil || n != 7 {
				t.Errorf("took back %d, %v", n, err)
			}
			w.has(owner, 0)
			return line(operator.TookBack, owner, "s", -7)
		},
		"take back before the grant": func(t *testing.T, w *world) operator.Entry {
			_, err := w.TakeBack(t.Context(), order, "s")
			w.must(err)
			return line(operator.TookBack, "", "s", 0)
		},
		"rotate": func(t *testing.T, w *world) operator.Entry {
			c := w.customer("dev@example.com", "dev-shop")
			token, id, _, err := w.Rotate(t.Context(), order, "dev-shop", 0)
			w.must(err)
			if got, err := w.accounts.Authenticate(t.Context(), token); err != nil ||
				got.ID != c.ID {
				t.Errorf("the token is of %+v, %v", got, err)
			}
			return line(operator.Rotated, "customer:"+c.ID, id, 0)
		},
		"end a token": func(t *testing.T, w *world) operator.Entry {
			c := w.customer("dev@example.com", "dev-shop")
			token, id, err := w.accounts.NewToken(t.Context(), c.ID, 0)
			w.must(err)
			w.must(w.EndToken(t.Context(), order, c.ID, id))
			_, err = w.accounts.Authenticate(t.Context(), token)
			if !errors.Is(err, account.ErrToken) {
				t.Errorf("the token is still good: %v", err)
			}
			return line(operator.TokenEnded, "customer:"+c.ID, id, 0)
		},
		"close": func(t *testing.T, w *world) operator.Entry {
			c := w.customer("dev@example.com", "dev-shop")
			for range 2 { // the second finds nothing to do
				_, err := w.Close(t.Context(), order, c.ID)
				w.must(err)
			}
			return line(operator.Closed, "customer:"+c.ID, "", 0)
		},
		"add a user": func(t *testing.T, w *world) operator.Entry {
			u, err := w.AddUser(t.Context(), order, "ann@example.com", "a l0ng passphrase",
				account.Operator, 5)
			w.must(err)
			w.has("user:"+u.ID, 5)
			return line(operator.UserAdded, "user:"+u.ID, account.Operator, 5)
		},
		"role": func(t *testing.T, w *world) operator.Entry {
			u, err := w.SetRole(t.Context(), order, w.user("ann@example.com").ID, account.Operator)
			w.must(err)
			return line(operator.RoleSet, "user:"+u.ID, account.Operator, 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachWorld(t, func(t *testing.T, w *world) { w.log(act(t, w)) })
		})
	}
}

var errFault = errors.New("the machine stops here")

// Whatever stops between an act and its entry, neither is there.
func TestNoActWithoutItsEntry(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		ann, dev := w.user("ann@example.com"), w.customer("dev@example.com", "dev-shop")
		owner := "user:" + ann.ID
		_, _, err := w.credits.Grant(ctx, gift(owner, "before", 3))
		w.must(err)
		token, id, err := w.accounts.NewToken(ctx, dev.ID, 0)
		w.must(err)

		w.acts.fault = errFault
		var faults []error
		fails := func(err error) { faults = append(faults, err) }
		_, err = w.Grant(ctx, order, gift(owner, "s", 7), true)
		fails(err)
		_, err = w.TakeBack(ctx, order, "before")
		fails(err)
		_, _, _, err = w.Rotate(ctx, order, dev.ID, 0)
		fails(err)
		fails(w.EndToken(ctx, order, dev.ID, id))
		_, err = w.Close(ctx, order, dev.ID)
		fails(err)
		_, err = w.AddUser(ctx, order, "bob@example.com", "a l0ng passphrase", "", 5)
		fails(err)
		_, err = w.SetRole(ctx, order, ann.ID, account.Operator)
		fails(err)
		_, _, err = w.DeleteUser(ctx, order, ann.ID)
		fails(err)
		for i, err := range faults {
			if !errors.Is(err, errFault) {
				t.Errorf("act %d: %v", i, err)
			}
		}

		w.log()
		w.has(owner, 3)
		if got, err := w.accounts.FindUser(ctx, ann.ID); err != nil || got != ann {
			t.Errorf("the user is %+v, %v, want %+v", got, err, ann)
		}
		_, err = w.accounts.FindUser(ctx, "bob@example.com")
		if !errors.Is(err, account.ErrNotFound) {
			t.Errorf("a user was added: %v", err)
		}
		if c, err := w.accounts.Authenticate(ctx, token); err != nil || c != dev {
			t.Errorf("the token is of %+v, %v, want %+v", c, err, dev)
		}
	})
}

// Nor is an entry there whose act was refused.
func TestRefusedActsAreNotWrittenDown(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		c := w.customer("dev@example.com", "dev-shop")
		other := w.customer("ann@example.com", "ann-shop")
		_, id, err := w.accounts.NewToken(ctx, other.ID, 0)
		w.must(err)
		unknown := func(err error) {
			t.Helper()
			if !errors.Is(err, account.ErrNotFound) {
				t.Errorf("error is %v", err)
			}
		}
		_, _, _, err = w.Rotate(ctx, order, "nobody", 0)
		unknown(err)
		_, err = w.Close(ctx, order, "nobody")
		unknown(err)
		unknown(w.EndToken(ctx, order, c.ID, id)) // another's
		_, err = w.SetRole(ctx, order, "nobody", "")
		unknown(err)
		_, _, err = w.DeleteUser(ctx, order, "nobody")
		unknown(err)
		_, err = w.Grant(ctx, order, gift("user:nobody", "s", 1), true) // sold to nobody
		unknown(err)
		var input *account.InputError
		long := strings.Repeat("é", operator.MaxReason+1)
		for _, reason := range []string{long, "two\nlines", "\xff"} {
			o := operator.Order{Actor: order.Actor, Reason: reason}
			if _, err := w.Close(ctx, o, c.ID); !errors.As(err, &input) {
				t.Errorf("reason %.10q: %v", reason, err)
			}
		}
		w.log()
	})
}

// However often and however fast it is asked for, a source gives once, and is written down once.
func TestAGrantIsGivenOnce(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		owner := "user:" + w.user("ann@example.com").ID
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if p, err := w.Grant(t.Context(), order, gift(owner, "s", 7), false); err != nil ||
					p.Credits != 7 {
					t.Errorf("%+v, %v", p, err)
				}
			})
		}
		all.Wait()
		w.has(owner, 7)
		w.log(operator.Entry{
			Actor: order.Actor, Kind: operator.Granted, Target: owner, Object: "s", Credits: 7,
			Reason: order.Reason,
		})
		for _, other := range []credit.Grant{gift(owner, "s", 8), gift("user:other", "s", 7)} {
			_, err := w.Grant(t.Context(), order, other, false)
			if !errors.Is(err, credit.ErrKeyReused) {
				t.Errorf("error is %v", err)
			}
		}
		w.has(owner, 7)
	})
}

// The log goes on naming who is gone.
func TestTheLogOutlivesAUser(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		owner := "user:" + w.user("ann@example.com").ID
		_, err := w.Grant(ctx, order, gift(owner, "s", 7), true)
		w.must(err)
		if all, err := w.Entries(ctx, "", 1); err != nil || all[0].TargetName != "ann@example.com" {
			t.Errorf("the log is %+v, %v", all, err)
		}
		if _, left, err := w.DeleteUser(ctx, order, "ann@example.com"); err != nil || left != 7 {
			t.Errorf("%d credits were left, %v", left, err)
		}
		_, err = w.accounts.FindUser(ctx, "ann@example.com")
		if !errors.Is(err, account.ErrNotFound) {
			t.Errorf("the user is still there: %v", err)
		}
		w.has(owner, 0)
		got, err := w.Entries(ctx, "", 100)
		w.must(err)
		if len(got) != 2 || got[0].Target != owner || got[1].Target != owner ||
			got[1].TargetName != "" {
			t.Errorf("the log is %+v", got)
		}
	})
}

func TestTheLogIsPaged(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		owner := "user:" + w.user("ann@example.com").ID
		const all = 5
		for i := range all {
			_, err := w.Grant(ctx, order, gift(owner, strings.Repeat("s", i+1), 1), false)
			w.must(err)
		}
		seen := map[string]bool{}
		last := ""
		for {
			page, err := w.Entries(ctx, last, 2)
			w.must(err)
			if len(page) == 0 {
				break
			}
			for _, e := range page {
				if last != "" && e.ID >= last || seen[e.Object] {
					t.Errorf("after %s comes %s", last, e.ID)
				}
				last, seen[e.Object] = e.ID, true
			}
		}
		if len(seen) != all {
			t.Errorf("saw %v", seen)
		}
	})
}

func TestFind(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		ann, c := w.user("ann@example.com"), w.customer("dev@example.com", "ann-shop")
		w.user("an_other@example.com")
		_, _, err := w.credits.Grant(ctx, gift("user:"+ann.ID, "s", 3))
		w.must(err)
		_, id, err := w.accounts.NewToken(ctx, c.ID, 0)
		w.must(err)
		for text, want := range map[string][2]int{
			"an": {2, 1}, "ANN": {1, 1}, "ann@": {1, 0}, "an_": {1, 0}, "%a": {0, 0},
			"nn@example": {0, 0},
			"dev@":       {0, 1}, "ann-shop": {0, 1}, ann.ID: {1, 0}, c.ID: {0, 1}, c.AppCode: {0,
				1},
			"usr_": {0, 0},
		} {
			f, err := w.Find(ctx, text)
			if err != nil || len(f.Users) != want[0] || len(f.Customers) != want[1] || f.More {
				t.Errorf("%q finds %+v, %v, want %v", text, f, err, want)
			}
		}
		f, err := w.Find(ctx, "ann")
		w.must(err)
		if got := f.Users[0]; got.User != ann || got.Credits != 3 {
			t.Errorf("found %+v", got)
		}
		if got := f.Customers[0]; got.Customer != c || len(got.Tokens) != 1 ||
			got.Tokens[0].ID != id {
			t.Errorf("found %+v", got)
		}
		for _, text := range []string{"", "a", strings.Repeat("a", operator.MaxFind+1)} {
			var input *account.InputError
			if _, err := w.Find(ctx, text); !errors.As(err, &input) {
				t.Errorf("%.10q: %v", text, err)
			}
		}
	})
}

func TestFindIsBounded(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		for i := range operator.MaxHits + 1 {
			tail := strings.Repeat("x", i+1)
			w.customer("dev"+tail+"@example.com", "shop-"+tail)
		}
		f, err := w.Find(t.Context(), "shop-")
		if err != nil || len(f.Customers) != operator.MaxHits || !f.More {
			t.Errorf("found %d, more %v, %v", len(f.Customers), f.More, err)
		}
	})
}
