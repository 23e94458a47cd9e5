package resilience

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"unink/internal/credit"
	"unink/internal/store"
	"unink/internal/store/storetest"
)

// TestLedgerClockJumps has every use of the ledger read a clock that jumps by up to three days
// either way.
func TestLedgerClockJumps(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		const owner, granted, callers, pages = "customer:1", 40, 8, 12 // fewer credits than pages
		var wrong atomic.Int64
		now := func() time.Time { return time.Now().Round(0).Add(time.Duration(wrong.Load())) }
		credits := must(credit.New(store.NewCredits(db), credit.DefaultConfig(), now))(t)
		ctx := context.Background()
		if _, _, err := credits.Grant(
			ctx, credit.Grant{Owner: owner, Credits: granted, Expires: now().Add(1000 * time.Hour),
				Source: "test"},
		); err != nil {
			t.Fatal(err)
		}
		var charged atomic.Int64
		page := func(rng *rand.Rand) error {
			wrong.Store(rng.Int64N(int64(144*time.Hour)) - int64(72*time.Hour))
			h, err := credits.Reserve(ctx, credit.Reservation{Owners: []string{owner}, Lease: time.Minute})
			var none *credit.InsufficientError
			if errors.As(err, &none) {
				return nil
			}
			if err != nil {
				return err
			}
			if h.Remaining < 0 {
				return fmt.Errorf("%d credits are left", h.Remaining)
			}
			if rng.IntN(4) == 0 {
				_, err = credits.Sweep(ctx) // may give back what others hold, whose lease seems to have ended
				return err
			}
			if rng.IntN(3) == 0 {
				err = credits.Release(ctx, h.ID)
			} else if err = credits.Settle(ctx, h.ID); err == nil {
				charged.Add(1)
			}
			if errors.Is(err, credit.ErrNotHeld) {
				return nil
			}
			return err
		}
		var running sync.WaitGroup
		for range callers {
			rng := rand.New(rand.NewPCG(rand.Uint64(), 0))
			running.Go(func() {
				for range pages {
					if err := page(rng); err != nil {
						t.Error(err)
					}
				}
			})
		}
		running.Wait()
		wrong.Store(int64(200 * time.Hour)) // after every lease
		must(credits.Sweep(ctx))(t)
		left := must(credits.Balance(ctx, owner))(t)
		if wrong := must(credits.Audit(ctx))(t); len(wrong) > 0 || left != granted-int(charged.Load()) {
			t.Errorf("%d charged, %d left of %d; audit: %v", charged.Load(), left, granted, wrong)
		}
		if open := must(credits.Outstanding(ctx))(t); open.Held != 0 {
			t.Errorf("%d credits are held for ever", open.Held)
		}
	})
}

// TestClockJumps has the clocks of services and workers go wrong by hours and days, forward and
// back, while pages are cleaned. PostgreSQL and Redis have clocks of their own, which are right.
func TestClockJumps(t *testing.T) {
	t.Parallel()
	needsWhole(t)
	c := newClock(t)
	s := start(t, func(config *Config) {
		config.Program, config.Env = c.program, []string{"UNINK_TEST_CLOCK=" + c.file}
	})
	var callers []*Caller
	for range 2 {
		callers = append(callers, must(s.Customer(10_000))(t), must(s.User(10_000))(t))
	}
	short := must(s.Customer(1))(t) // its packages end after three months
	l := begin(t, s, callers, func(time.Duration) time.Duration { return 100 * time.Millisecond })
	jumps := []time.Duration{3 * time.Hour, -2 * time.Hour, 26 * time.Hour, 0, -50 * time.Hour, 0}
	for _, wrong := range jumps {
		c.set(t, wrong)
		l.pass()
		only(t, "wrong by "+wrong.String(), l.look(), bounded(), cleanedDeveloper)
	}
	answers := l.end()
	only(t, "at the end", answers, bounded(), cleanedDeveloper)

	const expired = "402 1008"
	for _, at := range []struct {
		wrong time.Duration
		want  string
	}{{0, cleanedDeveloper}, {400 * 24 * time.Hour, expired}, {0, cleanedDeveloper}} {
		c.set(t, at.wrong)
		if a := short.Clean(Page); a.String() != at.want {
			t.Errorf("a package of three months, with the clock wrong by %v: %v %s", at.wrong, a, a.Text)
		}
	}
	for _, caller := range callers { // also sessions
		l.note(caller, caller.Clean(Page))
	}
	only(t, "after all", l.look(), bounded(), cleanedDeveloper)
	l.audit(len(jumps) * len(callers))
}

// clock is a clock that can be wrong, and a program that goes by it.
type clock struct{ program, file string }

// newClock builds the program with one change to Go's own time.Now: it adds so many seconds as a
// file says. As when an operator sets a machine's clock, the monotonic clock and all timers go on
// as they were.
func newClock(t *testing.T) *clock {
	t.Helper()
	folder := t.TempDir()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	std := filepath.Join(strings.TrimSpace(string(out)), "src", "time")
	now, err := os.ReadFile(filepath.Join(std, "time.go"))
	if err != nil {
		t.Fatal(err)
	}
	const before = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	if strings.Count(string(now), before) != 1 {
		t.Fatal("time.Now is not what it was: look at the new one")
	}
	changed := strings.Replace(string(now), before, before+"\tsec += *wrong\n", 1)
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(std, "time.go"):  filepath.Join(folder, "time.go"),
		filepath.Join(std, "wrong.go"): filepath.Join(folder, "wrong.go"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	c := &clock{file: filepath.Join(folder, "clock")}
	for name, text := range map[string]string{
		filepath.Join(folder, "time.go"): changed, filepath.Join(folder, "wrong.go"): wrong,
		filepath.Join(folder, "overlay.json"): string(overlay),
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.set(t, 0)
	c.program = must(Build(root, folder, "-overlay", filepath.Join(folder, "overlay.json")))(t)
	return c
}

// wrong is what is added to Go's package time.
const wrong = `package time

import (
	"syscall"
	"unsafe"
)

// wrong is by how many seconds the clock is, in a file that others write.
var wrong = func() *int64 {
	if name, given := syscall.Getenv("UNINK_TEST_CLOCK"); given {
		if file, err := syscall.Open(name, syscall.O_RDONLY, 0); err == nil {
			if m, err := syscall.Mmap(file, 0, 8, syscall.PROT_READ, syscall.MAP_SHARED); err == nil {
				return (*int64)(unsafe.Pointer(&m[0]))
			}
		}
	}
	return new(int64)
}()
`

// set makes the clock wrong from now on.
func (c *clock) set(t *testing.T, by time.Duration) {
	t.Helper()
	f, err := os.OpenFile(c.file, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(int64(by/time.Second))),
		0); err != nil {
		t.Fatal(err)
	}
}
