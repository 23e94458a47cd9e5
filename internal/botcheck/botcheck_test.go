package botcheck_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"unink/internal/botcheck"
	"unink/internal/store"
	"unink/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a time that tests set.
type clock struct{ t time.Time }

func newClock() *clock { return &clock{time.Unix(1_800_000_000, 0)} }

func (c *clock) now() time.Time { return c.t }

// fresh is a Replay to which everything is new.
type fresh struct{}

func (fresh) Use(context.Context, string, time.Time) (bool, error) { return true, nil }

// broken is a Replay whose database is away.
type broken struct{}

func (broken) Use(context.Context, string, time.Time) (bool, error) {
	return false, errors.New("database is away")
}

// expect checks a token, and what the error is and says.
func expect(t *testing.T, c botcheck.Checker, token string, want error, says string) {
	t.Helper()
	err := c.Check(context.Background(), token, "192.0.2.1")
	if !errors.Is(err, want) || err != nil && !strings.Contains(err.Error(), says) {
		t.Errorf("error is %v, want %v with %q", err, want, says)
	}
}

// eachReplay runs a test with the real Replay, on each database.
func eachReplay(t *testing.T, test func(t *testing.T, r botcheck.Replay, prune func(time.Time))) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		nonces := store.NewNonces(db)
		test(t, nonces, func(now time.Time) {
			if err := nonces.Prune(context.Background(), now); err != nil {
				t.Fatal(err)
			}
		})
	})
}

// onceAmongMany checks a good token in many places at once: one of them lets it pass.
func onceAmongMany(t *testing.T, c botcheck.Checker, token string) {
	t.Helper()
	var passed atomic.Int64
	var group sync.WaitGroup
	for range 30 {
		group.Go(func() {
			switch err := c.Check(context.Background(), token, ""); {
			case err == nil:
				passed.Add(1)
			case !errors.Is(err, botcheck.ErrInvalid):
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := passed.Load(); n != 1 {
		t.Errorf("the token passed %d times", n)
	}
}
