package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"unink/internal/account"
	"unink/internal/operator"
	"unink/internal/store"
	"unink/internal/store/storetest"
)

// TestActs is what operator.Store promises and the rules of package operator do not all need.
func TestActs(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		a, accounts, ctx := store.NewActs(db), store.NewAccounts(db), t.Context()
		now := time.Date(2026, 11, 21, 9, 0, 0, 123_000, time.UTC)
		customer := func(id, slug string) account.Customer {
			return account.Customer{
				ID: id, Slug: slug, AppCode: "code-" + id, Email: id + "@example.com", Created: now,
			}
		}
		want := operator.Entry{
			ID: "act_1", At: now, Actor: "user:1", Kind: operator.CustomerAdded,
			Target: "customer:cus_1",
			Object: "starter", Credits: 500, Reason: "paid by invoice",
		}
		// What is refused inside an act is no obstacle to what follows, and leaves nothing.
		err := a.Do(ctx, func(ctx context.Context) (operator.Entry, error) {
			_, err := accounts.CreateCustomer(ctx, customer("cus_1", "shop"), "", nil)
			_, refused := accounts.CreateCustomer(ctx, customer("cus_2", "shop"), "", nil)
			if !errors.Is(refused, account.ErrExists) {
				t.Errorf("error is %v", refused)
			}
			return want, err
		})
		if err != nil {
			t.Fatal(err)
		}
		want.TargetName = "shop"
		if all, err := a.Entries(ctx, "", 10); err != nil || len(all) != 1 || all[0] != want {
			t.Errorf("the log is %+v, %v, want %+v", all, err, want)
		}
		if all, err := accounts.Customers(ctx, 10, ""); err != nil || len(all) != 1 ||
			all[0].ID != "cus_1" {
			t.Errorf("customers are %+v, %v", all, err)
		}
		// An entry that cannot be written undoes its act.
		err = a.Do(ctx, func(ctx context.Context) (operator.Entry, error) {
			return want, accounts.RevokeCustomer(ctx, "cus_1", now)
		})
		if c, found := accounts.FindCustomer(ctx, "cus_1"); err == nil || found != nil ||
			!c.Revoked.IsZero() {
			t.Errorf("the customer is %+v, %v, after %v", c, found, err)
		}
	})
}
