package gate

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// takes is a task of a size that takes a second for each unit.
func takes(g *Gate, turn Turn) error {
	ctx := context.Background()
	if turn.Within > 0 {
		within, cancel := context.WithTimeout(ctx, turn.Within)
		defer cancel()
		ctx = within
	}
	return g.DoAs(ctx, turn, func() error { time.Sleep(times(time.Second, turn.size())); return nil })
}

// learned is a gate that has seen what a task takes.
func learned(t *testing.T, workers int, queue float64) *Gate {
	t.Helper()
	g := open(t, workers, queue)
	if err := takes(g, Turn{Size: 0.5}); err != nil {
		t.Fatal(err)
	}
	return g
}

// The queue is bounded by the work that waits, not by the number of tasks.
func TestQueueCountsSizes(t *testing.T) {
	for size, places := range map[float64]int{0.5: 8, 1: 4, 2: 2} {
		synctest.Test(t, func(t *testing.T) {
			g := learned(t, 1, 4)
			for range 20 {
				go func() { _ = takes(g, Turn{Size: size}) }()
			}
			synctest.Wait()
			if waiting := g.Waiting(); waiting != places {
				t.Errorf("%d tasks of size %g wait, not %d", waiting, size, places)
			}
			time.Sleep(time.Minute)
		})
	}
}

// What cannot be done in time is refused at once, and the reason tells whether to come again.
func TestRefusesWhatWouldBeLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const within = 10 * time.Second
		g := learned(t, 1, 100)
		want := func(err error, turn Turn) {
			t.Helper()
			turn.Within = within
			if got := g.Refusal(turn); !errors.Is(got, err) {
				t.Errorf("%+v: got %v, want %v", turn, got, err)
			}
		}
		want(nil, Turn{Size: 10})
		want(nil, Turn{Size: 1000}) // a worker is free: what the page really takes will be seen
		for range 4 {
			go func() { _ = takes(g, Turn{Caller: "burst", Size: 2}) }()
			synctest.Wait()
		}
		time.Sleep(time.Second)
		want(nil, Turn{Caller: "burst", Size: 3}) // behind 1 + 3·2
		want(ErrLate, Turn{Caller: "burst", Size: 3.5})
		want(nil, Turn{Caller: "other", Size: 7}) // behind 1 + 2: the others have had their turn
		want(ErrLate, Turn{Caller: "other", Size: 7.5})
		want(ErrLate, Turn{Caller: "other", Size: 3.5, Bulk: true})
		time.Sleep(time.Minute)
		want(nil, Turn{Size: 10})
	})
}

// An estimate that was made in a bad hour refuses nothing while a worker is free.
func TestSlowPageRefusesNoneAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := open(t, 1, 1)
		_ = g.Do(t.Context(), func() error { time.Sleep(30 * time.Second); return nil })
		if err := takes(g, Turn{Size: 4, Within: 10 * time.Second}); err != nil {
			t.Errorf("a task of four seconds in ten: %v", err)
		}
	})
}
