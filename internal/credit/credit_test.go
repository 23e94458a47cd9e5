package credit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"unink/internal/credit"
	"unink/internal/store"
	"unink/internal/store/storetest"
)

var ctx = context.Background()

// bench is a service on a real database with a clock that stands until it is moved.
type bench struct {
	*credit.Service
	t   testing.TB
	now time.Time
}

func newBench(t testing.TB, db *store.DB) *bench {
	t.Helper()
	b := &bench{t: t, now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	var err error
	b.Service, err = credit.New(store.NewCredits(db), credit.DefaultConfig(), func() time.Time {
		return b.now
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// each runs a test on both databases, and audits the ledger after it.
func each(t *testing.T, test func(t *testing.T, b *bench)) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newBench(t, db)
		test(t, b)
		b.clean()
	})
}

func (b *bench) clean() {
	b.t.Helper()
	problems, err := b.Audit(ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, p := range problems {
		b.t.Errorf("audit: %+v", p)
	}
}

func (b *bench) grant(owner, source string, credits int, validity time.Duration) credit.Package {
	b.t.Helper()
	p, granted, err := b.Grant(ctx, credit.Grant{
		Owner: owner, Plan: "test", Credits: credits, Expires: b.now.Add(validity), Source: source,
	})
	if err != nil || !granted {
		b.t.Fatalf("grant %s: %v, %v", source, granted, err)
	}
	return p
}

func (b *bench) reserve(owners ...string) credit.Hold {
	b.t.Helper()
	h, err := b.Reserve(ctx, credit.Reservation{Owners: owners, Lease: time.Minute})
	if err != nil {
		b.t.Fatal(err)
	}
	if h.ID == "" || !h.Charged {
		b.t.Fatalf("hold is %+v", h)
	}
	return h
}

func (b *bench) wantBalance(owner string, want int) {
	b.t.Helper()
	got, err := b.Balance(ctx, owner)
	if err != nil || got != want {
		b.t.Errorf("balance of %s is %d, %v, want %d", owner, got, err, want)
	}
}

func (b *bench) wantLeft(owner string, want map[string]int) {
	b.t.Helper()
	packages, err := b.Packages(ctx, owner)
	if err != nil || len(packages) != len(want) {
		b.t.Fatalf("%s has packages %+v, %v, want %v", owner, packages, err, want)
	}
	for _, p := range packages {
		if p.Remaining != want[p.Source] {
			b.t.Errorf("package %s has %d left, want %d", p.Source, p.Remaining, want[p.Source])
		}
	}
}

func (b *bench) wantInsufficient(owner string, err error) {
	b.t.Helper()
	var none *credit.InsufficientError
	if !errors.As(err, &none) || none.Owner != owner {
		b.t.Errorf("error is %v, want an InsufficientError of %s", err, owner)
	}
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) wantErr(err, want error) {
	b.t.Helper()
	if !errors.Is(err, want) {
		b.t.Errorf("error is %v, want %v", err, want)
	}
}

// foretold is Reserve after a Check, which has to say the same without changing anything.
func (b *bench) foretold(r credit.Reservation) (credit.Hold, error) {
	b.t.Helper()
	written := func() string {
		entries, err := b.Entries(ctx, credit.Filter{Limit: 10_000})
		b.must(err)
		open, err := b.Outstanding(ctx)
		b.must(err)
		return fmt.Sprint(len(entries), open)
	}
	before := written()
	said := b.Check(ctx, r)
	if after := written(); after != before {
		b.t.Errorf("a check changed %s to %s", before, after)
	}
	h, err := b.Reserve(ctx, r)
	if fmt.Sprint(said) != fmt.Sprint(err) {
		b.t.Errorf("%v was foretold, and it was %v", said, err)
	}
	return h, err
}

func TestGrantOnce(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		first := b.grant("user:1", "stripe:cs_1", 10, time.Hour)
		want := credit.Package{ID: first.ID, Owner: "user:1", Plan: "test", Source: "stripe:cs_1",
			Credits: 10, Remaining: 10, Created: b.now, Expires: b.now.Add(time.Hour)}
		if first != want || first.ID == "" {
			t.Errorf("package is %+v, want %+v", first, want)
		}
		b.now = b.now.Add(time.Minute)
		again, granted, err := b.Grant(
			ctx, credit.Grant{Owner: "user:2", Plan: "other", Credits: 99, Expires: b.now.Add(2 * time.Hour),
				Source: "stripe:cs_1"},
		)
		if err != nil || granted || again != first {
			t.Errorf("the same source again gives %+v, %v, %v", again, granted, err)
		}
		b.wantBalance("user:1", 10)
		b.wantBalance("user:2", 0)
	})
}

func TestGrantOnceConcurrently(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		var mu sync.Mutex
		var gave int
		crowd(20, func(int) {
			_, granted, err := b.Grant(
				ctx, credit.Grant{Owner: "user:1", Plan: "test", Credits: 10, Expires: b.now.Add(time.Hour),
					Source: "stripe:cs_1"},
			)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if granted {
				gave++
			}
		})
		if gave != 1 {
			t.Errorf("granted %d times", gave)
		}
		b.wantBalance("user:1", 10)
	})
}

// crowd runs do n times at once, with the numbers from 0.
func crowd(n int, do func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
	}
	all.Wait()
}

func TestTooManyAtOnce(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.grant("customer:1", "a", 5, time.Hour)
		b.grant("customer:1", "b", 15, 2*time.Hour)
		b.grant("customer:1", "c", 30, 3*time.Hour)
		var mu sync.Mutex
		var charged, refused int
		crowd(200, func(int) {
			h, err := b.Reserve(ctx, credit.Reservation{Owners: []string{"customer:1"}, Lease: time.Minute})
			if err == nil {
				err = b.Settle(ctx, h.ID)
			}
			mu.Lock()
			defer mu.Unlock()
			var none *credit.InsufficientError
			switch {
			case err == nil:
				charged++
			case errors.As(err, &none):
				refused++
			default:
				t.Error(err)
			}
		})
		if charged != 50 || refused != 150 {
			t.Errorf("%d charged and %d refused, want 50 and 150", charged, refused)
		}
		b.wantBalance("customer:1", 0)
		if sum := b.ledgerSum("customer:1"); sum != 0 {
			t.Errorf("the ledger's sum is %d", sum)
		}
	})
}

func TestLosersOfARaceTakeTheNextPackage(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		const many = 30 // all want the same package first, and each finds one
		for i := range many {
			b.grant("user:1", fmt.Sprint(i), 1, time.Hour+time.Duration(i)*time.Second)
		}
		crowd(many, func(int) {
			if _, err := b.Reserve(ctx, credit.Reservation{
				Owners: []string{"user:1"}, Lease: time.Minute,
			}); err != nil {
				t.Error(err)
			}
		})
		b.wantBalance("user:1", 0)
	})
}

func (b *bench) ledgerSum(owner string) (sum int) {
	b.t.Helper()
	entries, err := b.Entries(ctx, credit.Filter{Owner: owner, Limit: 10_000})
	b.must(err)
	for _, e := range entries {
		sum += e.Amount
	}
	return sum
}

func TestHeldIsGivenBackConcurrently(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.grant("user:1", "a", 20, time.Hour)
		b.grant("user:2", "b", 20, time.Hour)
		var settled [20]bool
		crowd(20, func(i int) {
			h, err := b.Reserve(ctx, credit.Reservation{
				Owners: []string{"user:1", "user:2"}, Lease: time.Minute,
			})
			if err != nil {
				t.Error(err)
				return
			}
			crowd(2, func(which int) { // both at once: one wins
				end := b.Release
				if which == 0 {
					end = b.Settle
				}
				switch err := end(ctx, h.ID); {
				case err == nil && which == 0:
					settled[i] = true
				case err != nil && !errors.Is(err, credit.ErrNotHeld):
					t.Error(err)
				}
			})
		})
		left := 20
		for _, s := range settled {
			if s {
				left--
			}
		}
		b.wantBalance("user:1", left)
		b.wantBalance("user:2", left)
	})
}

func TestSoonestExpiringFirst(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.grant("user:1", "late", 2, 3*time.Hour)
		b.grant("user:1", "soon", 2, time.Hour)
		b.grant("user:1", "next", 1, 2*time.Hour)
		for _, want := range []map[string]int{
			{"soon": 1, "next": 1, "late": 2},
			{"soon": 0, "next": 1, "late": 2},
			{"soon": 0, "next": 0, "late": 2},
			{"soon": 0, "next": 0, "late": 1},
		} {
			h := b.reserve("user:1")
			b.wantLeft("user:1", want)
			if sum := want["soon"] + want["next"] + want["late"]; h.Remaining != sum {
				t.Errorf("hold says %d remain, want %d", h.Remaining, sum)
			}
		}
	})
}

func TestExpiry(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		p := b.grant("user:1", "a", 2, time.Hour)
		b.now = p.Expires.Add(-time.Microsecond)
		b.wantBalance("user:1", 2)
		h := b.reserve("user:1")
		if p.Usable(b.now) != 2 {
			t.Error("the package is not usable just before its end")
		}

		b.now = p.Expires
		b.wantBalance("user:1", 0)
		if p.Usable(b.now) != 0 {
			t.Error("the package is usable at its end")
		}
		_, err := b.Reserve(ctx, credit.Reservation{Owners: []string{"user:1"}, Lease: time.Minute})
		b.wantInsufficient("user:1", err)

		// What is held when it ends may still be settled, or goes back and is of no use.
		b.must(b.Release(ctx, h.ID))
		b.wantBalance("user:1", 0)
		b.wantLeft("user:1", map[string]int{"a": 2})
	})
}

func TestEndsOnce(t *testing.T) {
	each(t, func(_ *testing.T, b *bench) {
		b.grant("user:1", "a", 5, time.Hour)
		settled, released := b.reserve("user:1"), b.reserve("user:1")
		b.must(b.Settle(ctx, settled.ID))
		b.must(b.Release(ctx, released.ID))
		for _, hold := range []string{settled.ID, released.ID, "hold_none", ""} {
			b.wantErr(b.Settle(ctx, hold), credit.ErrNotHeld)
			b.wantErr(b.Release(ctx, hold), credit.ErrNotHeld)
		}
		b.wantBalance("user:1", 4)
	})
}

func TestAllOwnersOrNone(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.grant("device:d", "a", 2, time.Hour)
		b.grant("address:a", "b", 1, time.Hour)
		b.must(b.Settle(ctx, b.reserve("device:d", "address:a").ID))
		b.wantBalance("device:d", 1)
		b.wantBalance("address:a", 0)
		_, err := b.Reserve(ctx, credit.Reservation{
			Owners: []string{"device:d", "address:a"}, Lease: time.Minute,
		})
		b.wantInsufficient("address:a", err)
		b.wantBalance("device:d", 1)
		if o, err := b.Outstanding(ctx); err != nil || o != (credit.Outstanding{Held: 0, Packages: 1}) {
			t.Errorf("outstanding is %+v, %v", o, err)
		}
	})
}

func TestAllowances(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		midnight := b.now.Truncate(24 * time.Hour).Add(24 * time.Hour)
		guest := func(device string) credit.Reservation {
			day := func(owner string, n int) credit.Grant {
				return credit.Grant{Owner: owner, Plan: "guest", Credits: n, Expires: midnight,
					Source: "day:2026-11-21:" + owner}
			}
			return credit.Reservation{
				Owners:     []string{"device:" + device, "address:a"},
				Allowances: []credit.Grant{day("device:"+device, 2), day("address:a", 3)},
				Lease:      time.Minute,
			}
		}
		for _, want := range []struct {
			device    string
			remaining int
			short     string
		}{
			{"1", 1, ""}, {"1", 0, ""}, {"1", 0, "device:1"}, {"2", 1, ""}, {"3", 0, "address:a"},
		} {
			h, err := b.foretold(guest(want.device))
			if want.short != "" {
				b.wantInsufficient(want.short, err)
				continue
			}
			b.must(err)
			if h.Remaining != want.remaining {
				t.Errorf("device %s has %d left, want %d", want.device, h.Remaining, want.remaining)
			}
			b.must(b.Settle(ctx, h.ID))
		}
		if packages, err := b.Packages(ctx, "device:3"); err != nil || len(packages) != 0 {
			t.Errorf("a refused guest left %+v, %v", packages, err)
		}
	})
}

func TestAllowancesConcurrently(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		var mu sync.Mutex
		var served int
		crowd(40, func(i int) {
			device := fmt.Sprintf("device:%d", i%10)
			grant := func(owner string, n int) credit.Grant {
				return credit.Grant{Owner: owner, Plan: "guest", Credits: n, Expires: b.now.Add(time.Hour),
					Source: "day:" + owner}
			}
			_, err := b.Reserve(ctx, credit.Reservation{
				Owners:     []string{device, "address:a"},
				Allowances: []credit.Grant{grant(device, 3), grant("address:a", 10)},
				Lease:      time.Minute,
			})
			mu.Lock()
			defer mu.Unlock()
			var none *credit.InsufficientError
			if err == nil {
				served++
			} else if !errors.As(err, &none) {
				t.Error(err)
			}
		})
		if served != 10 {
			t.Errorf("%d guests of one address were served, want 10", served)
		}
		b.wantBalance("address:a", 0)
	})
}

func TestRevoke(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.grant("user:1", "a", 5, time.Hour)
		b.grant("user:1", "b", 1, 2*time.Hour)
		b.must(b.Settle(ctx, b.reserve("user:1").ID))
		held := b.reserve("user:1")
		for _, want := range []int{3, 0} { // the second time there is nothing left
			if n, err := b.Revoke(ctx, "a", "refund"); err != nil || n != want {
				t.Errorf("revoked %d, %v, want %d", n, err, want)
			}
		}
		b.wantBalance("user:1", 1)
		b.must(b.Release(ctx, held.ID)) // back to what was revoked
		b.wantBalance("user:1", 1)
		if _, granted, err := b.Grant(
			ctx, credit.Grant{Owner: "user:1", Credits: 5, Expires: b.now.Add(time.Hour), Source: "a"},
		); granted || err != nil {
			t.Errorf("a revoked source gave again: %v, %v", granted, err)
		}
		b.wantBalance("user:1", 1)
	})
}

func TestRevokeBeforeGrant(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for range 2 {
			if n, err := b.Revoke(ctx, "stripe:cs_1", "dispute"); err != nil || n != 0 {
				t.Errorf("revoked %d, %v", n, err)
			}
		}
		g := credit.Grant{Owner: "user:1", Credits: 5, Expires: b.now.Add(time.Hour),
			Source: "stripe:cs_1"}
		if p, granted, err := b.Grant(ctx, g); err != nil || granted || p.Revoked.IsZero() {
			t.Errorf("the grant after its revocation gave %+v, %v, %v", p, granted, err)
		}
		_, err := b.Reserve(ctx, credit.Reservation{
			Owners: []string{"user:1"}, Allowances: []credit.Grant{g}, Lease: time.Minute,
		})
		b.wantInsufficient("user:1", err)
		b.wantBalance("user:1", 0)
		entries, err := b.Entries(ctx, credit.Filter{})
		if err != nil || len(entries) != 1 || entries[0].Kind != credit.Revoked ||
			entries[0].Note != "dispute" {
			t.Errorf("the ledger has %+v, %v", entries, err)
		}
	})
}

func TestRevokeAndGrantAtOnce(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		for i := range 10 {
			source := fmt.Sprint("stripe:", i)
			crowd(2, func(which int) {
				var err error
				if which == 0 {
					_, err = b.Revoke(ctx, source, "refund")
				} else {
					_, _, err = b.Grant(ctx, credit.Grant{
						Owner: "user:1", Credits: 5, Expires: b.now.Add(time.Hour), Source: source,
					})
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		b.wantBalance("user:1", 0)
	})
}

func TestRevokeWhileReserving(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.grant("user:1", "a", 30, time.Hour)
		var mu sync.Mutex
		var held, revoked int
		crowd(31, func(i int) {
			if i == 15 {
				n, err := b.Revoke(ctx, "a", "refund")
				mu.Lock()
				defer mu.Unlock()
				revoked = n
				if err != nil {
					t.Error(err)
				}
				return
			}
			_, err := b.Reserve(ctx, credit.Reservation{Owners: []string{"user:1"}, Lease: time.Minute})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				held++
			}
		})
		if held+revoked != 30 {
			t.Errorf("%d held and %d revoked of 30", held, revoked)
		}
	})
}

func TestRevokeOwner(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.grant("user:1", "a", 5, time.Hour)
		b.grant("user:1", "b", 2, 2*time.Hour)
		b.grant("user:2", "c", 3, time.Hour)
		if n, err := b.RevokeOwner(ctx, "user:1", "account deleted"); err != nil || n != 7 {
			t.Errorf("revoked %d, %v, want 7", n, err)
		}
		b.wantBalance("user:1", 0)
		b.wantBalance("user:2", 3)
		if _, err := b.RevokeOwner(ctx, "", "everybody's"); err == nil {
			t.Error("the marks of revocations, which have no owner, can be revoked")
		}
	})
}

func TestIdempotency(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.grant("customer:1", "a", 10, 100*time.Hour)
		reserve := func(owner, body string) (credit.Hold, error) {
			return b.foretold(credit.Reservation{
				Owners: []string{"customer:1"}, Lease: time.Minute,
				Idempotency: &credit.Key{Owner: owner, Key: "k", BodyHash: body},
			})
		}
		first, err := reserve("customer:1", "body")
		b.must(err)
		_, err = reserve("customer:1", "body")
		b.wantErr(err, credit.ErrKeyBusy)
		_, err = reserve("customer:1", "other")
		b.wantErr(err, credit.ErrKeyReused)
		b.wantBalance("customer:1", 9)

		b.must(b.Release(ctx, first.ID)) // the work failed: the key is free for another try
		_, err = reserve("customer:1", "other")
		b.wantErr(err, credit.ErrKeyReused)
		second, err := reserve("customer:1", "body")
		b.must(err)
		b.wantBalance("customer:1", 9)

		b.now = b.now.Add(time.Minute) // the second try died
		if n, err := b.Sweep(ctx); err != nil || n != 1 {
			t.Errorf("swept %d, %v", n, err)
		}
		b.wantErr(b.Settle(ctx, second.ID), credit.ErrNotHeld)
		third, err := reserve("customer:1", "body")
		b.must(err)
		b.now = b.now.Add(time.Minute) // as did the third, and nobody has swept
		fourth, err := reserve("customer:1", "body")
		b.must(err)
		b.wantErr(b.Settle(ctx, third.ID), credit.ErrNotHeld)
		b.must(b.Settle(ctx, fourth.ID))
		again, err := reserve("customer:1", "body")
		if err != nil || again != (credit.Hold{Remaining: 9}) {
			t.Errorf("the same work again holds %+v, %v", again, err)
		}
		_, err = reserve("customer:1", "other")
		b.wantErr(err, credit.ErrKeyReused)

		if h, err := reserve("customer:2", "other"); err != nil || !h.Charged {
			t.Errorf("another's equal key holds %+v, %v", h, err)
		}

		b.now = b.now.Add(credit.KeyLife - time.Microsecond)
		if h, err := reserve("customer:1", "body"); err != nil || h.Charged {
			t.Errorf("just before its end the key holds %+v, %v", h, err)
		}
		b.now = b.now.Add(time.Microsecond)
		if h, err := reserve("customer:1", "other"); err != nil || !h.Charged {
			t.Errorf("after its end the key holds %+v, %v", h, err)
		}
	})
}

func TestIdempotencyConcurrently(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.grant("customer:1", "a", 100, time.Hour)
		for round := range 5 {
			var mu sync.Mutex
			var charged int
			crowd(20, func(int) {
				h, err := b.Reserve(ctx, credit.Reservation{
					Owners: []string{"customer:1"}, Lease: time.Minute,
					Idempotency: &credit.Key{Owner: "customer:1", Key: fmt.Sprint(round), BodyHash: "body"},
				})
				if err == nil && h.Charged {
					err = b.Settle(ctx, h.ID)
				}
				mu.Lock()
				defer mu.Unlock()
				if err == nil && h.Charged {
					charged++
				}
				if err != nil && !errors.Is(err, credit.ErrKeyBusy) {
					t.Error(err)
				}
			})
			if charged != 1 {
				t.Errorf("charged %d times", charged)
			}
		}
		b.wantBalance("customer:1", 95)
	})
}

func TestKeyOfRefusedReservationIsFree(t *testing.T) {
	each(t, func(_ *testing.T, b *bench) {
		reserve := func(body string) error {
			_, err := b.foretold(credit.Reservation{
				Owners: []string{"customer:1"}, Lease: time.Minute,
				Idempotency: &credit.Key{Owner: "customer:1", Key: "k", BodyHash: body},
			})
			return err
		}
		b.wantInsufficient("customer:1", reserve("body"))
		b.grant("customer:1", "a", 1, time.Hour)
		b.must(reserve("other"))
	})
}

func TestSweep(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.grant("device:1", "a", 9, 100*24*time.Hour)
		b.grant("address:1", "b", 9, 100*24*time.Hour)
		b.reserve("device:1", "address:1")
		b.now = b.now.Add(30 * time.Second)
		later := b.reserve("device:1", "address:1")
		b.must(b.Settle(ctx, b.reserve("device:1").ID))

		b.now = b.now.Add(30*time.Second - time.Microsecond)
		if n, err := b.Sweep(ctx); err != nil || n != 0 {
			t.Errorf("swept %d before the lease's end, %v", n, err)
		}
		b.now = b.now.Add(time.Microsecond)
		if n, err := b.Sweep(ctx); err != nil || n != 1 {
			t.Errorf("swept %d at the lease's end, %v", n, err)
		}
		b.wantBalance("device:1", 7)
		b.wantBalance("address:1", 8)
		if o, err := b.Outstanding(ctx); err != nil || o != (credit.Outstanding{Held: 2, Packages: 2}) {
			t.Errorf("outstanding is %+v, %v", o, err)
		}
		b.must(b.Settle(ctx, later.ID))

		b.now = b.now.Add(31 * 24 * time.Hour) // the holds are forgotten, the ledger is not
		if n, err := b.Sweep(ctx); err != nil || n != 0 {
			t.Errorf("swept %d, %v", n, err)
		}
		if entries, err := b.Entries(ctx, credit.Filter{}); err != nil || len(entries) != 2+4+3+1+2 {
			t.Errorf("the ledger has %d entries, %v", len(entries), err)
		}
	})
}

// What guests leave goes when it is old. Everybody else's packages and entries stay for ever, and
// the balances stay the ledger's sums.
func TestPrune(t *testing.T) {
	const year = 365 * 24 * time.Hour
	each(t, func(t *testing.T, b *bench) {
		payers := []string{"user:1", "customer:1"}
		for _, owner := range payers {
			b.grant(owner, "purchase:"+owner, 5, time.Hour)
			b.grant(owner, "welcome:"+owner, 5, 10*year)
			b.must(b.Settle(ctx, b.reserve(owner).ID))
			b.must(b.Release(ctx, b.reserve(owner).ID))
			if _, err := b.Revoke(ctx, "purchase:"+owner, "refunded"); err != nil {
				t.Fatal(err)
			}
		}
		guest := func(day string) credit.Hold {
			t.Helper()
			r := credit.Reservation{Owners: []string{"device:1", "address:1"}, Lease: time.Minute}
			for _, owner := range r.Owners {
				r.Allowances = append(r.Allowances,
					credit.Grant{Owner: owner, Plan: "guest", Credits: 3, Expires: b.now.Add(time.Hour),
						Source: credit.AllowancePrefix + day + ":" + owner})
			}
			h, err := b.Reserve(ctx, r)
			b.must(err)
			return h
		}
		b.must(b.Settle(ctx, guest("1").ID))
		b.must(b.Release(ctx, guest("1").ID))
		before := b.now.Add(time.Hour) // when the first day's allowances end
		b.now = before.Add(year)
		b.must(b.Settle(ctx, guest("2").ID))
		held := guest("2")

		prune := func(before time.Time, want int) {
			t.Helper()
			if n, err := b.Prune(ctx, before); err != nil || n != want {
				t.Errorf("pruned %d, %v, want %d", n, err, want)
			}
			b.clean()
		}
		paid := b.paid(payers)
		prune(before, 0) // the holds are not forgotten
		if _, err := b.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		prune(before.Add(-time.Microsecond), 0)
		prune(before, 2)
		prune(before, 0)
		if entries, err := b.Entries(ctx, credit.Filter{Owner: "device:1"}); err != nil ||
			len(entries) != 4 || !entries[0].At.Equal(b.now) {
			t.Errorf("of the second day there is %+v, %v", entries, err)
		}
		b.must(b.Release(ctx, held.ID))
		b.wantBalance("device:1", 2)

		b.now = b.now.Add(year)
		if _, err := b.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		prune(b.now, 2)
		if got := b.paid(payers); got != paid {
			t.Errorf("others have\n%s\nwant\n%s", got, paid)
		}
		for _, owner := range payers {
			b.wantBalance(owner, 5)
			if sum := b.ledgerSum(owner); sum != 5 {
				t.Errorf("the ledger of %s adds up to %d", owner, sum)
			}
		}
	})
}

// paid is all that is known of some owners.
func (b *bench) paid(owners []string) (all string) {
	b.t.Helper()
	for _, owner := range owners {
		packages, err := b.Packages(ctx, owner)
		b.must(err)
		entries, err := b.Entries(ctx, credit.Filter{Owner: owner})
		b.must(err)
		all += fmt.Sprintf("%+v\n%+v\n", packages, entries)
	}
	return all
}

func TestPruneLeavesWhatIsHeldOrCanBeUsed(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.grant("device:1", credit.AllowancePrefix+"1", 3, time.Second)
		h := b.reserve("device:1")
		b.now = b.now.Add(1000 * time.Hour)
		if n, err := b.Prune(ctx, b.now); err != nil || n != 0 {
			t.Errorf("pruned %d, %v", n, err)
		}
		b.must(b.Release(ctx, h.ID))

		b.grant("device:2", credit.AllowancePrefix+"2", 3, time.Second)
		if n, err := b.Prune(ctx, b.now.Add(time.Hour)); err != nil || n != 0 {
			t.Errorf("pruned %d, %v", n, err)
		}
		b.wantBalance("device:2", 3)
	})
}

// Several processes may prune at once, until nothing is left.
func TestPruneConcurrently(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		const many = 210 // more than are pruned at a time
		for i := range many {
			b.grant("device:1", fmt.Sprint(credit.AllowancePrefix, i), 1, time.Second)
		}
		b.now = b.now.Add(time.Hour)
		crowd(3, func(int) {
			if _, err := b.Prune(ctx, b.now); err != nil {
				t.Error(err)
			}
		})
		b.wantLeft("device:1", nil)
	})
}

func TestManyOverdue(t *testing.T) {
	db := storetest.Open(t, storetest.SQLite(t))
	b := newBench(t, db)
	const many = 110 // more than are looked up at a time
	b.grant("user:1", "a", many, time.Hour)
	for range many {
		b.reserve("user:1")
	}
	b.now = b.now.Add(time.Minute)
	if n, err := b.Sweep(ctx); err != nil || n != many {
		t.Errorf("swept %d, %v", n, err)
	}
	b.clean()
}

func TestRunSweepsAtOnceAndEnds(t *testing.T) {
	b := newBench(t, storetest.Open(t, storetest.SQLite(t)))
	b.grant("user:1", "a", 1, time.Hour)
	b.reserve("user:1")
	b.now = b.now.Add(time.Minute)
	var out lineWriter
	running, stop := context.WithCancel(ctx)
	out.wrote = stop
	b.Run(running, time.Hour, slog.New(slog.NewTextHandler(&out, nil)))
	if !strings.Contains(out.String(), "holds=1") {
		t.Errorf("log is %q", out.String())
	}
	b.wantBalance("user:1", 1)
}

// lineWriter calls wrote after each write.
type lineWriter struct {
	bytes.Buffer
	wrote func()
}

func (w *lineWriter) Write(p []byte) (int, error) {
	defer w.wrote()
	return w.Buffer.Write(p)
}

func TestEntries(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		start := b.now
		p := b.grant("user:1", "a", 5, time.Hour)
		b.grant("user:2", "b", 5, time.Hour)
		b.now = b.now.Add(time.Second)
		h := b.reserve("user:1", "user:2")
		b.now = b.now.Add(time.Second)
		b.must(b.Release(ctx, h.ID))
		b.now = b.now.Add(time.Second)
		_, err := b.Revoke(ctx, "a", "refund")
		b.must(err)

		entries, err := b.Entries(ctx, credit.Filter{Owner: "user:1"})
		b.must(err)
		want := []credit.Entry{
			{At: start.Add(3 * time.Second), Kind: credit.Revoked, Amount: -5, Note: "refund"},
			{At: start.Add(2 * time.Second), Kind: credit.Released, Amount: 1, Hold: h.ID},
			{At: start.Add(time.Second), Kind: credit.Reserved, Amount: -1, Hold: h.ID},
			{At: start, Kind: credit.Granted, Amount: 5},
		}
		if len(entries) != len(want) {
			t.Fatalf("entries are %+v", entries)
		}
		for i, w := range want {
			w.ID, w.Owner, w.Package = entries[i].ID, "user:1", p.ID
			if entries[i] != w || w.ID == "" {
				t.Errorf("entry is %+v, want %+v", entries[i], w)
			}
		}
		since, err := b.Entries(ctx, credit.Filter{Since: start.Add(time.Second), Limit: 4})
		if err != nil || len(since) != 4 || since[0].ID != entries[0].ID {
			t.Errorf("entries since are %+v, %v", since, err)
		}
		// One transaction's entries keep their order: newest first, so the second owner's comes first.
		if since[1].Owner != "user:2" || since[2].Owner != "user:1" || since[3].Owner != "user:2" {
			t.Errorf("owners are %s, %s, %s", since[1].Owner, since[2].Owner, since[3].Owner)
		}
		if _, err := b.Entries(ctx, credit.Filter{Limit: 10_001}); err == nil {
			t.Error("the limit is not limited")
		}
	})
}

func TestRefusesNonsense(t *testing.T) {
	b := newBench(t, storetest.Open(t, storetest.SQLite(t)))
	good := credit.Grant{Owner: "user:1", Credits: 1, Expires: b.now.Add(time.Hour), Source: "a"}
	for want, change := range map[string]func(*credit.Grant){
		"source":   func(g *credit.Grant) { g.Source = "" },
		"credits":  func(g *credit.Grant) { g.Credits = 0 },
		"validity": func(g *credit.Grant) { g.Expires = time.Time{} },
		"owner":    func(g *credit.Grant) { g.Owner = "user:" },
	} {
		g := good
		change(&g)
		_, _, err := b.Grant(ctx, g)
		_, asAllowance := b.Reserve(ctx, credit.Reservation{
			Owners: []string{"user:1"}, Lease: 1, Allowances: []credit.Grant{g},
		})
		for _, err := range []error{err, asAllowance} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error is %v, want one with %q", err, want)
			}
		}
	}
	for want, r := range map[string]credit.Reservation{
		"an owner":    {Lease: 1},
		"a lease":     {Owners: []string{"user:1"}},
		"twice":       {Owners: []string{"user:1", "user:1"}, Lease: 1},
		"colon":       {Owners: []string{"user"}, Lease: 1},
		"idempotency": {Owners: []string{"user:1"}, Lease: 1, Idempotency: &credit.Key{Owner: "user:1", Key: "k"}},
	} {
		if _, err := b.Reserve(ctx, r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one with %q", err, want)
		}
	}
	if _, err := b.Revoke(ctx, "", ""); err == nil {
		t.Error("a revocation of nothing was done")
	}
	if _, err := credit.New(nil, credit.Config{KeepHolds: time.Hour}, time.Now); err == nil ||
		!strings.Contains(err.Error(), "24h") {
		t.Errorf("error is %v", err)
	}
}
