package gate

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, workers, queue int) *Gate {
	t.Helper()
	g, err := New(Config{Workers: workers, Queue: queue})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestRunsNoMoreThanWorkersAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := open(t, 2, 10)
		step := make(chan struct{})
		var running, most, done atomic.Int32
		for range 10 {
			go func() {
				err := g.Do(t.Context(), func() error {
					if now := running.Add(1); now > most.Load() {
						most.Store(now)
					}
					<-step
					running.Add(-1)
					done.Add(1)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		if g.Running() != 2 || g.Waiting() != 8 {
			t.Errorf("running %d, waiting %d; want 2 and 8", g.Running(), g.Waiting())
		}
		for range 10 {
			step <- struct{}{}
			synctest.Wait()
		}
		if most.Load() != 2 || done.Load() != 10 {
			t.Errorf("%d at once, %d done; want 2 and 10", most.Load(), done.Load())
		}
	})
}

func TestRefusesAtOnceWhenFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := open(t, 1, 1)
		release := make(chan struct{})
		for range 2 {
			go func() {
				if err := g.Do(t.Context(), func() error { <-release; return nil }); err != nil {
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		if !g.Full() {
			t.Error("not full with one running and one waiting")
		}
		if err := g.Do(t.Context(), func() error { t.Error("ran"); return nil }); !errors.Is(err, ErrFull) {
			t.Errorf("got %v, want ErrFull", err)
		}
		close(release)
		synctest.Wait()
		if g.Full() {
			t.Error("still full when all was done")
		}
	})
}

// The longest wait is so many tasks' time, however many workers there are.
func TestQueueIsForEachWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := open(t, 1, 2)
		release := make(chan struct{})
		fill := func() {
			for range 20 {
				go func() { _ = g.Do(t.Context(), func() error { <-release; return nil }) }()
			}
			synctest.Wait()
		}
		for _, workers := range []int{1, 3, 4} {
			g.Resize(workers)
			fill()
			if g.Running() != workers || g.Waiting() != 2*workers || g.Places() != 2*workers || !g.Full() {
				t.Errorf("%d run and %d wait in %d places with %d workers", g.Running(), g.Waiting(), g.Places(), workers)
			}
		}
		close(release)
	})
}

func TestRefusalForetellsWithoutEntering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := busy(t, 2)
		want := func(err error, turn Turn) {
			t.Helper()
			if got := q.Refusal(turn); !errors.Is(got, err) {
				t.Errorf("%+v: got %v, want %v", turn, got, err)
			}
		}
		want(nil, Turn{Caller: "burst"})
		q.add("burst0", Turn{Caller: "burst"})
		q.add("burst1", Turn{Caller: "burst"})
		want(ErrFull, Turn{Caller: "burst"})
		want(ErrFull, Turn{Caller: "other", Bulk: true})
		want(nil, Turn{Caller: "other"}) // the longest line has to give a place up
		if len(q.refused) != 0 || q.Waiting() != 2 {
			t.Errorf("asking changed something: %d wait, refused %v", q.Waiting(), q.refused)
		}
		q.Close()
		want(ErrClosed, Turn{Caller: "other"})
		q.finish()
	})
}

func TestWaitEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := open(t, 1, 1)
		release := make(chan struct{})
		go func() { _ = g.Do(t.Context(), func() error { <-release; return nil }) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := g.Do(ctx, func() error { t.Error("ran"); return nil })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the deadline", err)
		}
		if g.Waiting() != 0 {
			t.Error("its place was not given back")
		}
		close(release)
	})
}

func TestCloseLetsThoseInsideFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := open(t, 1, 1)
		release := make(chan struct{})
		var done atomic.Int32
		for range 2 {
			go func() {
				if err := g.Do(t.Context(), func() error { <-release; done.Add(1); return nil }); err != nil {
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		g.Close()
		if err := g.Do(t.Context(), func() error { return nil }); !errors.Is(err, ErrClosed) || !g.Closed() {
			t.Errorf("got %v, want ErrClosed", err)
		}
		close(release)
		synctest.Wait()
		if done.Load() != 2 {
			t.Errorf("%d of 2 finished", done.Load())
		}
	})
}

func TestPlaceComesBackAfterAPanic(t *testing.T) {
	g := open(t, 1, 0)
	func() {
		defer func() { _ = recover() }()
		_ = g.Do(t.Context(), func() error { panic("defect") })
	}()
	if err := g.Do(t.Context(), func() error { return nil }); err != nil {
		t.Errorf("after a panic: %v", err)
	}
}

func TestConfigOutOfRange(t *testing.T) {
	for _, c := range []Config{{Workers: 0}, {Workers: 1, Queue: -1}} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
}
