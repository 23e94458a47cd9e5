package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"unink/internal/account"
	"unink/internal/credit"
	"unink/internal/store"
	"unink/internal/store/storetest"
)

// What belongs to a new customer is done with it, once, or neither is.
func TestNewCustomer(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		accounts, credits, ctx := store.NewAccounts(db), store.NewCredits(db), t.Context()
		now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
		customer := func(n int) account.Customer {
			return account.Customer{ID: fmt.Sprint("cus_", n), Slug: fmt.Sprint("slug-", n),
				AppCode: fmt.Sprint("CODE", n), Email: "dev@example.com", Created: now}
		}
		give := func(ctx context.Context, c account.Customer) error {
			_, _, err := credits.Grant(ctx, credit.Grant{Owner: account.CustomerPrefix + c.ID, Plan: "test",
				Credits: 10, Expires: now.AddDate(0, 1, 0), Source: account.TestPrefix + c.ID}, now)
			return err
		}
		given := func() int {
			t.Helper()
			entries, err := credits.Entries(ctx, credit.Filter{Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			return len(entries)
		}

		refused := errors.New("refused")
		_, err := accounts.CreateCustomer(ctx, customer(0), "ref", func(ctx context.Context,
			c account.Customer) error {
			return errors.Join(give(ctx, c), refused)
		})
		if !errors.Is(err, refused) || given() != 0 {
			t.Errorf("after %v, %d entries", err, given())
		}
		if c, err := accounts.FindCustomer(ctx, "cus_0"); !errors.Is(err, account.ErrNotFound) {
			t.Errorf("there is %+v, %v", c, err)
		}

		var all sync.WaitGroup
		for n := range 16 { // half of one purchase, half of others
			all.Go(func() {
				reference := ""
				if n%2 == 0 {
					reference = "ref"
				}
				if _, err := accounts.CreateCustomer(ctx, customer(n), reference, give); err != nil {
					t.Errorf("customer %d: %v", n, err)
				}
			})
		}
		all.Wait()
		if n := given(); n != 1 {
			t.Errorf("one customer was given credits %d times", n)
		}
		if wrong, err := credits.Audit(ctx, 10); err != nil || len(wrong) > 0 {
			t.Errorf("audit: %+v, %v", wrong, err)
		}
	})
}
