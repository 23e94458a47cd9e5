package gate

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, workers int, queue float64) *Gate {
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
		if err := g.Do(t.Context(), func() error {
			t.Error("ran")
			return nil
		}); !errors.Is(err, ErrFull) {
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
				t.Errorf("%d run and %d wait in %d places with %d workers", g.Running(), g.Waiting(),
					g.Places(), workers)
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
		if err := g.Do(t.Context(), func() error { return nil }); !errors.Is(err, ErrClosed) ||
			!g.Closed() {
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
	for _, c := range []Config{{Workers: 0}, {Workers: 1, Queue: -1}, {Workers: 1, Queue: math.NaN()},
		{Workers: 1, Queue: math.Inf(1)}} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
}

// Half a task's time is all that one may wait: whoever comes while the one that runs is in its
// first half is refused, and nobody waits longer.
func TestWaitsOnlyForAWorkerThatIsSoonFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := open(t, 1, 0.5)
		second := func() error { time.Sleep(time.Second); return nil }
		if err := g.Do(t.Context(), second); err != nil { // tells the gate what a task takes
			t.Fatal(err)
		}
		var mu sync.Mutex
		var longest time.Duration
		var ran, refused int
		for range 100 { // ten tasks' time
			go func() {
				came := time.Now()
				err := g.Do(t.Context(), second)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case errors.Is(err, ErrFull):
					refused++
					if waited := time.Since(came); waited > 0 {
						t.Errorf("refused after %v", waited)
					}
				case err != nil:
					t.Error(err)
				default:
					ran++
					longest = max(longest, time.Since(came))
				}
			}()
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if ran < 10 || refused == 0 || longest > 1500*time.Millisecond {
			t.Errorf("%d ran, %d were refused, the longest took %v; want a worker that is never idle and "+
				"at most half a task's wait", ran, refused, longest)
		}
	})
}

// With two workers whose tasks began apart, the one to wait for is the older.
func TestWaitsForTheWorkerThatIsFreeFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := open(t, 2, 0.5)
		task := func() { _ = g.Do(t.Context(), func() error { time.Sleep(time.Second); return nil }) }
		task()
		go task()
		time.Sleep(600 * time.Millisecond)
		go task()
		synctest.Wait()
		if err := g.Refusal(Turn{}); err != nil {
			t.Errorf("%v, though a worker is free in 400 ms", err)
		}
		go task()
		synctest.Wait()
		if err := g.Refusal(Turn{}); !errors.Is(err, ErrFull) {
			t.Errorf("%v for a second one, whose worker is free in 1 s", err)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
	})
}
