//go:build !race

// One goroutine only: the race detector would find nothing here and slow SQLite some ten times.

package credit_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"unink/internal/credit"
	"unink/internal/store/storetest"
)

// model is what credits are, with everything that the database must get right left out.
type model struct {
	packages []*modelPackage
	holds    []*modelHold
}

type modelPackage struct {
	owner, source string
	remaining     int
	expires       time.Time
	revoked       bool
}

type modelHold struct {
	id    string
	from  []*modelPackage
	lease time.Time
	open  bool
}

func (m *model) find(source string) *modelPackage {
	i := slices.IndexFunc(m.packages, func(p *modelPackage) bool { return p.source == source })
	if i < 0 {
		return nil
	}
	return m.packages[i]
}

// next is the package that the owner's next credit comes from.
func (m *model) next(owner string, now time.Time) (next *modelPackage) {
	for _, p := range m.packages {
		if p.owner == owner && p.usable(now) > 0 && (next == nil || p.expires.Before(next.expires)) {
			next = p
		}
	}
	return next
}

func (p *modelPackage) usable(now time.Time) int {
	if p.revoked || !p.expires.After(now) {
		return 0
	}
	return p.remaining
}

func (m *model) balance(owner string, now time.Time) (n int) {
	for _, p := range m.packages {
		if p.owner == owner {
			n += p.usable(now)
		}
	}
	return n
}

func (h *modelHold) release() {
	h.open = false
	for _, p := range h.from {
		p.remaining++
	}
}

// sweep releases what is overdue, and returns how many holds that is.
func (m *model) sweep(now time.Time) (n int) {
	for _, h := range m.holds {
		if h.open && !h.lease.After(now) {
			h.release()
			n++
		}
	}
	return n
}

func TestAnythingAddsUp(t *testing.T) {
	b := newBench(t, storetest.Open(t, storetest.SQLite(t)))
	check := 0
	rapid.Check(t, func(t *rapid.T) {
		// Every check has owners and sources of its own, and begins with no open hold.
		check++
		b.now = b.now.Add(time.Hour)
		if _, err := b.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		m := &model{}
		owner := func(name string) string { return fmt.Sprintf("user:%d%s", check, name) }
		owners := []string{owner("a"), owner("b")}
		source := func(t *rapid.T) string {
			return fmt.Sprintf("%d:%d", check, rapid.IntRange(0, 5).Draw(t, "source"))
		}
		grants := 0
		endHold := func(t *rapid.T, end func(h *modelHold) error, effect func(*modelHold)) {
			if len(m.holds) == 0 {
				t.Skip("nothing was held")
			}
			h := rapid.SampledFrom(m.holds).Draw(t, "hold")
			err := end(h)
			if h.open != (err == nil) || err != nil && !errors.Is(err, credit.ErrNotHeld) {
				t.Fatalf("ending a hold that is open=%v: %v", h.open, err)
			}
			if h.open {
				effect(h)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"grant": func(t *rapid.T) {
				grants++ // makes each end another one, so that the model knows the order
				p := &modelPackage{
					owner:     rapid.SampledFrom(owners).Draw(t, "owner"),
					source:    source(t),
					remaining: rapid.IntRange(1, 3).Draw(t, "credits"),
					expires: b.now.Add(time.Duration(rapid.IntRange(0, 4).Draw(t, "minutes"))*time.Minute +
						time.Duration(grants)*time.Microsecond),
				}
				_, granted, err := b.Grant(
					ctx, credit.Grant{Owner: p.owner, Credits: p.remaining, Expires: p.expires, Source: p.source},
				)
				if err != nil || granted != (m.find(p.source) == nil) {
					t.Fatalf("granted %v, %v", granted, err)
				}
				if granted {
					m.packages = append(m.packages, p)
				}
			},
			"reserve": func(t *rapid.T) {
				lease := time.Duration(rapid.IntRange(1, 3).Draw(t, "lease")) * time.Minute
				from := rapid.Permutation(owners).Draw(t, "owners")[:rapid.IntRange(1, 2).Draw(t, "how many")]
				want := &modelHold{lease: b.now.Add(lease), open: true}
				short := ""
				for _, o := range from {
					p := m.next(o, b.now)
					if p == nil {
						short = o
						break
					}
					want.from = append(want.from, p)
				}
				h, err := b.Reserve(ctx, credit.Reservation{Owners: from, Lease: lease})
				var none *credit.InsufficientError
				switch {
				case short != "":
					if !errors.As(err, &none) || none.Owner != short {
						t.Fatalf("error is %v, want an InsufficientError of %s", err, short)
					}
					return
				case err != nil:
					t.Fatal(err)
				}
				for _, p := range want.from {
					p.remaining--
				}
				want.id = h.ID
				m.holds = append(m.holds, want)
				if n := m.balance(from[0], b.now); h.Remaining != n {
					t.Fatalf("hold says %d remain, want %d", h.Remaining, n)
				}
			},
			"settle": func(t *rapid.T) {
				endHold(t, func(h *modelHold) error { return b.Settle(ctx, h.id) }, func(h *modelHold) {
					h.open = false
				})
			},
			"release": func(t *rapid.T) {
				endHold(t, func(h *modelHold) error { return b.Release(ctx, h.id) }, (*modelHold).release)
			},
			"revoke": func(t *rapid.T) {
				s, want := source(t), 0
				if p := m.find(s); p != nil {
					want, p.remaining, p.revoked = p.remaining, 0, true
				} else {
					m.packages = append(m.packages, &modelPackage{source: s, revoked: true})
				}
				if n, err := b.Revoke(ctx, s, ""); err != nil || n != want {
					t.Fatalf("revoked %d, %v, want %d", n, err, want)
				}
			},
			"wait": func(t *rapid.T) {
				b.now = b.now.Add(time.Duration(rapid.IntRange(1, 120).Draw(t, "seconds")) * time.Second)
			},
			"sweep": func(t *rapid.T) {
				want := m.sweep(b.now)
				if n, err := b.Sweep(ctx); err != nil || n != want {
					t.Fatalf("swept %d, %v, want %d", n, err, want)
				}
			},
			"prune": func(t *rapid.T) { // these packages are no guests'
				if n, err := b.Prune(ctx, b.now); err != nil || n != 0 {
					t.Fatalf("pruned %d, %v", n, err)
				}
			},
			"": func(t *rapid.T) {
				for _, o := range owners {
					if n, err := b.Balance(ctx, o); err != nil || n != m.balance(o, b.now) {
						t.Fatalf("balance of %s is %d, %v, want %d", o, n, err, m.balance(o, b.now))
					}
				}
			},
		})
		compare(t, b, m, owners)
	})
	b.clean()
}

// compare fails unless every package has what the model says, and the ledger adds up to that.
func compare(t *rapid.T, b *bench, m *model, owners []string) {
	for _, o := range owners {
		sum, left := b.ledgerSum(o), 0
		packages, err := b.Packages(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range packages {
			if want := m.find(p.Source).remaining; p.Remaining != want {
				t.Fatalf("package %s has %d left, want %d", p.Source, p.Remaining, want)
			}
			left += p.Remaining
		}
		if sum != left {
			t.Fatalf("the ledger of %s adds up to %d, its packages have %d", o, sum, left)
		}
	}
}
