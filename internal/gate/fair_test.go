package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// queued is a gate of one worker that is busy, and what ran after it.
type queued struct {
	*Gate
	t       *testing.T
	release chan struct{}
	ran     []string // only the one that runs writes it
	refused map[string]error
}

func busy(t *testing.T, queue float64) *queued {
	q := &queued{Gate: open(t, 1, queue), t: t, release: make(chan struct{}),
		refused: map[string]error{}}
	q.add("running", Turn{})
	return q
}

// add waits with a task until it runs, waits in the queue or was refused.
func (q *queued) add(name string, turn Turn) {
	go func() {
		err := q.DoAs(q.t.Context(), turn, func() error {
			q.ran = append(q.ran, name)
			<-q.release
			return nil
		})
		if err != nil {
			q.refused[name] = err
		}
	}()
	synctest.Wait()
}

func (q *queued) finish() []string {
	close(q.release)
	synctest.Wait()
	return q.ran[1:]
}

func TestCallersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := busy(t, 20)
		for i := range 4 {
			q.add(fmt.Sprint("burst", i), Turn{Caller: "burst"})
		}
		q.add("one", Turn{Caller: "one"})
		q.add("two", Turn{Caller: "two"})
		q.add("two again", Turn{Caller: "two"})
		want := []string{"burst0", "one", "two", "burst1", "two again", "burst2", "burst3"}
		if got := q.finish(); !slices.Equal(got, want) {
			t.Errorf("ran %v, want %v", got, want)
		}
	})
}

func TestInteractiveBeforeBulk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := busy(t, 20)
		q.add("bulk", Turn{Caller: "a", Bulk: true})
		q.add("bulk of b", Turn{Caller: "b", Bulk: true})
		q.add("page", Turn{Caller: "a"})
		q.add("page of c", Turn{Caller: "c"})
		want := []string{"page", "page of c", "bulk", "bulk of b"}
		if got := q.finish(); !slices.Equal(got, want) {
			t.Errorf("ran %v, want %v", got, want)
		}
	})
}

func TestFullQueueDropsFromTheLongestLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := busy(t, 4)
		q.add("bulk", Turn{Caller: "a", Bulk: true})
		for i := range 3 {
			q.add(fmt.Sprint("burst", i), Turn{Caller: "burst"})
		}
		// refused: bulk pushes nothing out but longer bulk
		q.add("late bulk", Turn{Caller: "a", Bulk: true})
		q.add("burst3", Turn{Caller: "burst"})  // pushes the bulk page out
		q.add("other", Turn{Caller: "other"})   // pushes burst3 out
		q.add("burst4", Turn{Caller: "burst"})  // refused: its own line is the longest
		q.add("third", Turn{Caller: "third"})   // pushes burst2 out
		q.add("fourth", Turn{Caller: "fourth"}) // pushes burst1 out
		q.add("fifth", Turn{Caller: "fifth"})   // refused: everybody has one
		if q.Waiting() != 4 || !q.Full() {
			t.Errorf("%d wait, full %t; want 4 in a full queue", q.Waiting(), q.Full())
		}
		want := []string{"burst0", "other", "third", "fourth"}
		if got := q.finish(); !slices.Equal(got, want) {
			t.Errorf("ran %v, want %v", got, want)
		}
		for _, name := range []string{"bulk", "late bulk", "burst1", "burst2", "burst3",
			"burst4", "fifth"} {
			if !errors.Is(q.refused[name], ErrFull) {
				t.Errorf("%s: %v, want ErrFull", name, q.refused[name])
			}
		}
	})
}

func TestResize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := busy(t, 4)
		q.add("a", Turn{Caller: "a"})
		q.add("b", Turn{Caller: "b"})
		q.Resize(2)
		synctest.Wait()
		if q.Running() != 2 || q.Waiting() != 1 || q.Workers() != 2 {
			t.Errorf("%d run and %d wait with 2 workers", q.Running(), q.Waiting())
		}
		q.Resize(0)
		synctest.Wait()
		if !errors.Is(q.refused["b"], ErrNoWorker) || q.Running() != 2 || !q.Full() {
			t.Errorf("who waited has %v, %d run, full %t", q.refused["b"], q.Running(), q.Full())
		}
		if err := q.Do(t.Context(), func() error { return nil }); !errors.Is(err, ErrNoWorker) {
			t.Errorf("got %v, want ErrNoWorker", err)
		}
		q.Resize(1)
		q.add("c", Turn{Caller: "c"}) // two still run
		if got := q.finish(); !slices.Equal(got, []string{"a", "c"}) {
			t.Errorf("ran %v", got)
		}
	})
}

// Whatever happens, no more run than workers, no more wait than the queue holds, and at the end
// everybody has run or been told why not.
func TestNothingIsLostProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			queue := rapid.SampledFrom([]float64{0, 0.3, 0.5, 1, 1.7, 5}).Draw(rt, "queue")
			g := open(t, rapid.IntRange(1, 3).Draw(rt, "workers"), queue)
			var cancels []context.CancelFunc
			step, told := make(chan struct{}), make(chan error, 100)
			for range rapid.IntRange(1, 40).Draw(rt, "steps") {
				switch rapid.IntRange(0, 9).Draw(rt, "what") {
				case 0:
					g.Resize(rapid.IntRange(0, 3).Draw(rt, "resize"))
				case 1:
					if len(cancels) > 0 {
						cancels[rapid.IntRange(0, len(cancels)-1).Draw(rt, "who")]()
					}
				case 2, 3:
					select {
					case step <- struct{}{}:
					default:
					}
				default:
					ctx, cancel := context.WithCancel(t.Context())
					cancels = append(cancels, cancel)
					turn := Turn{Caller: rapid.StringMatching("[a-c]").Draw(rt, "caller"),
						Bulk: rapid.Bool().Draw(rt, "bulk")}
					foretold, inside := g.Refusal(turn), g.Running()+g.Waiting()
					go func() { told <- g.DoAs(ctx, turn, func() error { <-step; return nil }) }()
					synctest.Wait()
					if came := g.Running()+g.Waiting() > inside; came && foretold != nil {
						rt.Fatalf("came in where %v was foretold", foretold)
					}
				}
				synctest.Wait()
				if g.Waiting() < 0 || float64(g.Waiting()) >= 3*queue+1 || g.Running() > 3 {
					rt.Fatalf("%d run, %d wait in a queue of %g for each", g.Running(), g.Waiting(), queue)
				}
				if g.Running() < g.Workers() && g.Waiting() > 0 {
					rt.Fatalf("%d wait though a worker is free", g.Waiting())
				}
			}
			g.Resize(3)
			close(step)
			synctest.Wait()
			if len(told) != len(cancels) || g.Running() != 0 || g.Waiting() != 0 ||
				len(g.interactive.byName)+len(g.bulk.byName) != 0 {
				rt.Fatalf("%d of %d were told; %d run, %d wait", len(told), len(cancels), g.Running(),
					g.Waiting())
			}
			for _, cancel := range cancels {
				cancel()
			}
		})
	})
}
