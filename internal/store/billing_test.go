package store_test

import (
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"unink/internal/billing"
	"unink/internal/store"
	"unink/internal/store/storetest"
)

var _ billing.Store = store.Purchases{}

func TestPurchases(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx, purchases := t.Context(), store.NewPurchases(db)
		at := func(seconds int) time.Time { return time.Unix(1_800_000_000+int64(seconds), 0).UTC() }
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		begin := func(p billing.Purchase, now, lease int, want billing.Record) {
			t.Helper()
			if got, err := purchases.Begin(ctx, p, at(now), at(lease)); err != nil || got != want {
				t.Fatalf("began %+v, %v, want %+v", got, err, want)
			}
		}
		note := func(reference string, attempt int, token string, want bool) {
			t.Helper()
			if noted, err := purchases.Note(ctx, reference, attempt, "cus_1", token); noted != want ||
				err != nil {
				t.Fatal(noted, err)
			}
		}
		sole := func(reference string, want bool) {
			t.Helper()
			if got, err := purchases.Sole(ctx, reference, "cus_1"); got != want || err != nil {
				t.Fatal(got, err)
			}
		}
		unfinished := func(now, since, limit int, want ...billing.Purchase) {
			t.Helper()
			if got, err := purchases.Unfinished(ctx, at(now), at(since), limit); err != nil ||
				!reflect.DeepEqual(got, want) {
				t.Fatalf("unfinished are %+v, %v, want %+v", got, err, want)
			}
		}

		if r, err := purchases.Find(ctx, "pi_1"); err != nil || r != (billing.Record{}) {
			t.Fatal(r, err)
		}
		p := billing.Purchase{Reference: "pi_1", Plan: "plan", Email: "e", Name: "n", Slug: "s",
			UserID: "u"}
		begin(p, 0, 10, billing.Record{Purchase: p, Attempt: 1})
		other := p
		other.Email = "other" // what was remembered first stays
		begin(other, 9, 20, billing.Record{Purchase: p})
		unfinished(9, 0, 10)
		unfinished(10, 0, 10, p)
		unfinished(10, 1, 10)
		begin(p, 10, 20, billing.Record{Purchase: p, Attempt: 2})

		// Only the attempt under way is heeded.
		note("pi_1", 1, "tok_1", false)
		note("pi_1", 2, "tok_2", true)
		must(purchases.Abandon(ctx, "pi_1", 1))
		must(purchases.Finish(ctx, "pi_1", 1, at(11)))
		begin(p, 11, 20, billing.Record{Purchase: p, Token: "tok_2"})
		must(purchases.Abandon(ctx, "pi_1", 2))
		begin(p, 11, 20, billing.Record{Purchase: p, Token: "tok_2", Attempt: 3})

		second := billing.Purchase{Reference: "pi_2", Plan: "plan", Email: "e"}
		begin(second, 12, 12, billing.Record{Purchase: second, Attempt: 1})
		sole("pi_1", true)
		sole("pi_2", false)
		note("pi_2", 1, "?", true)
		sole("pi_1", false)
		unfinished(20, 0, 1, p)
		unfinished(20, 0, 10, p, second)

		must(purchases.Finish(ctx, "pi_1", 3, at(13)))
		note("pi_1", 3, "tok_3", false)
		begin(p, 30, 40, billing.Record{Purchase: p, Token: "tok_2", Delivered: true})
		must(purchases.Revoke(ctx, "pi_1", "refunded", at(31)))
		begin(p, 32, 40, billing.Record{Purchase: p, Token: "tok_2", Delivered: true, Revoked: true})
		must(purchases.Revoke(ctx, "pi_2", "refunded", at(31)))
		note("pi_2", 1, "tok", false)
		unfinished(40, 0, 10)

		// A refund may come first, and twice.
		must(purchases.Revoke(ctx, "pi_3", "refunded", at(31)))
		must(purchases.Revoke(ctx, "pi_3", "disputed", at(32)))
		third := billing.Purchase{Reference: "pi_3", Plan: "plan", Email: "e"}
		begin(third, 33, 40, billing.Record{Purchase: third, Revoked: true})
		unfinished(50, 0, 10)

		fourth := billing.Purchase{Reference: "pi_4", Plan: "plan", UserID: "gone", Cents: 490,
			Currency: "usd"}
		begin(fourth, 34, 40, billing.Record{Purchase: fourth, Attempt: 1})
		unfinished(50, 0, 10, fourth)
		parked := billing.Parked{Reference: "pi_4", Plan: "plan", UserID: "gone", Cents: 490,
			Currency: "usd", Why: "nobody", Since: at(35)}
		for _, want := range []bool{true, false} {
			if fresh, err := purchases.Park(ctx, parked); fresh != want || err != nil {
				t.Fatal(fresh, err)
			}
		}
		unfinished(50, 0, 10)
		if got, err := purchases.Parked(ctx, 2); err != nil ||
			!reflect.DeepEqual(got, []billing.Parked{parked}) {
			t.Fatalf("parked are %+v, %v", got, err)
		}

		heard := func(event string, want bool) {
			t.Helper()
			if got, err := purchases.Heard(ctx, event); got != want || err != nil {
				t.Fatal(event, got, err)
			}
		}
		heard("evt_1", false)
		for range 2 {
			must(purchases.Hear(ctx, "evt_1", at(1)))
		}
		must(purchases.Hear(ctx, "evt_2", at(2)))
		if n, err := purchases.Forget(ctx, at(2)); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		heard("evt_1", false)
		heard("evt_2", true)
	})
}

// Of many that begin at the same time, one does.
func TestPurchaseIsBegunOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		purchases, now := store.NewPurchases(db), time.Now()
		var begun atomic.Int32
		var wait sync.WaitGroup
		for range 20 {
			wait.Go(func() {
				r, err := purchases.Begin(t.Context(), billing.Purchase{Reference: "pi_1", Plan: "plan"}, now,
					now.Add(time.Minute))
				if err != nil {
					t.Error(err)
				}
				if r.Attempt != 0 {
					begun.Add(1)
				}
			})
		}
		wait.Wait()
		if n := begun.Load(); n != 1 {
			t.Errorf("%d attempts", n)
		}
	})
}

func TestRevenue(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx, purchases := t.Context(), store.NewPurchases(db)
		midnight := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
		buy := func(reference string, at time.Time, cents int64, currency string) {
			t.Helper()
			p := billing.Purchase{Reference: reference, Plan: "plan", Email: "ann@example.com", Cents: cents,
				Currency: currency}
			if r, err := purchases.Begin(ctx, p, at, at.Add(time.Minute)); err != nil || r.Purchase != p {
				t.Fatalf("began %+v, %v", r, err)
			}
		}
		buy("before", midnight.Add(-time.Microsecond), 100, "usd")
		buy("a", midnight, 490, "usd")
		buy("b", midnight.Add(23*time.Hour), 1490, "usd")
		buy("c", midnight, 200, "eur")
		buy("granted", midnight, 0, "")
		buy("after", midnight.AddDate(0, 0, 1), 100, "usd")
		for _, reference := range []string{"b", "unknown"} {
			if err := purchases.Revoke(ctx, reference, "refunded", midnight.AddDate(0, 0, 2)); err != nil {
				t.Fatal(err)
			}
		}
		got, err := purchases.Revenue(ctx, midnight, midnight.AddDate(0, 0, 1))
		if want := []billing.Revenue{
			{Day: "2026-11-22", Currency: "eur", Purchases: 1, Cents: 200},
			{Day: "2026-11-22", Currency: "usd", Purchases: 2, Cents: 1980, Returned: 1490},
		}; err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("revenue is %+v, %v, want %+v", got, err, want)
		}
		if got, err := purchases.Unfinished(ctx, midnight.AddDate(0, 0, 2), midnight, 1); err != nil ||
			len(got) != 1 || got[0].Cents == 0 {
			t.Errorf("unfinished are %+v, %v", got, err)
		}
	})
}
