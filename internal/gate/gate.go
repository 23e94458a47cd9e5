// Package gate bounds how much work runs at once and how much may wait for it. Both bounds are
// finite: what does not fit is refused at once, so that a caller hears "later" early instead of
// waiting in a line that only grows.
//
// Who waits is served fairly: callers take turns, however much each has waiting, and bulk work goes
// when nothing else waits. A full queue drops the newest task of the longest line rather than the
// first of somebody who has none there (longest queue drop).
package gate

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// The reasons for which [Gate.Do] refuses work without starting it.
var (
	ErrFull   = errors.New("gate: all places are taken")
	ErrClosed = errors.New("gate: closed")
	// ErrNoWorker says that there is no worker at all, and none to wait for.
	ErrNoWorker = errors.New("gate: there is no worker")
)

// ErrWorker is what a cleaner on other machines returns, wrapped with its cause, when the worker that
// had a page failed or vanished, and a second one did as well. Cleaners of this process never do.
var ErrWorker = errors.New("gate: the remote worker failed")

// Config sizes a [Gate].
type Config struct {
	Workers int // tasks that run at once; at least 1
	Queue   int // tasks that may wait for each worker, so that none waits longer than they take; 0 lets none wait
}

// Validate says which field is out of range.
func (c Config) Validate() error {
	switch {
	case c.Workers < 1:
		return fmt.Errorf("workers must be at least 1, not %d", c.Workers)
	case c.Queue < 0:
		return fmt.Errorf("queue must not be negative, not %d", c.Queue)
	}
	return nil
}

// Turn says whose a task is and whether it may wait for others. The zero value is a task of nobody in
// particular.
type Turn struct {
	Caller string // tasks of one caller wait for each other
	Bulk   bool   // waits until nothing else does
}

// Gate lets tasks through to a bounded number of workers. It is safe for concurrent use and owns
// no goroutine: a task runs on its caller's.
type Gate struct {
	queue int

	mu          sync.Mutex
	workers     int
	running     int
	waiting     int
	interactive line
	bulk        line
	closed      bool
}

// New opens a gate.
func New(c Config) (*Gate, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Gate{queue: c.Queue, workers: c.Workers, interactive: newLine(), bulk: newLine()}, nil
}

// Do is [Gate.DoAs] for a task of nobody in particular.
func (g *Gate) Do(ctx context.Context, task func() error) error {
	return g.DoAs(ctx, Turn{}, task)
}

// DoAs runs task as soon as a worker is free and it is its turn, and returns its error. It returns
// [ErrFull], [ErrClosed] or [ErrNoWorker] at once when the task may not even wait, ErrFull and
// ErrNoWorker also when it has to leave the queue, and the context's error when that ends first.
func (g *Gate) DoAs(ctx context.Context, turn Turn, task func() error) error {
	w, err := g.enter(turn)
	if err != nil {
		return err
	}
	if err := g.wait(ctx, w); err != nil {
		return err
	}
	defer g.leave()
	return task()
}

// enter takes a worker, in which case it returns nil, or a place in the queue.
func (g *Gate) enter(turn Turn) (*waiter, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.refusal(turn); err != nil {
		return nil, err
	}
	if g.running < g.workers {
		g.running++
		return nil, nil
	}
	if g.full() {
		g.drop(turn)
	}
	w := &waiter{turn: turn, verdict: make(chan error, 1)}
	g.waiting++
	g.lineOf(turn).push(w)
	return w, nil
}

// Refusal is the error with which [Gate.DoAs] would refuse a task at once now, nil if it would not.
func (g *Gate) Refusal(turn Turn) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refusal(turn)
}

func (g *Gate) refusal(turn Turn) error {
	switch {
	case g.closed:
		return ErrClosed
	case g.workers == 0:
		return ErrNoWorker
	case g.full() && g.yielding(turn) == nil:
		return ErrFull
	}
	return nil
}

// wait returns nil when it is the waiter's turn: a worker is taken.
func (g *Gate) wait(ctx context.Context, w *waiter) error {
	if w == nil {
		return nil
	}
	select {
	case err := <-w.verdict:
		return err
	case <-ctx.Done():
	}
	g.mu.Lock()
	if g.lineOf(w.turn).remove(w) {
		g.waiting--
		g.mu.Unlock()
		return ctx.Err()
	}
	g.mu.Unlock()
	if err := <-w.verdict; err != nil { // it was told in the same moment
		return err
	}
	g.leave()
	return ctx.Err()
}

func (g *Gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running--
	g.admit()
}

// admit lets in whose turn it is while workers are free.
func (g *Gate) admit() {
	for g.running < g.workers && g.waiting > 0 {
		w := g.interactive.pop()
		if w == nil {
			w = g.bulk.pop()
		}
		g.waiting--
		g.running++
		w.verdict <- nil
	}
}

// yielding is the newest task of the longest line, if it ought to wait behind the one that comes;
// otherwise nil.
func (g *Gate) yielding(turn Turn) *waiter {
	line := &g.bulk
	if !turn.Bulk && line.empty() {
		line = &g.interactive
	}
	longest := line.longest()
	if longest == nil || turn.Bulk == longest.bulk && len(longest.waiters) <= line.count(turn.Caller)+1 {
		return nil
	}
	return longest.waiters[len(longest.waiters)-1]
}

// drop takes the task that yields to the one that comes out of the queue.
func (g *Gate) drop(turn Turn) {
	w := g.yielding(turn)
	g.lineOf(w.turn).remove(w)
	g.waiting--
	w.verdict <- ErrFull
}

func (g *Gate) lineOf(t Turn) *line {
	if t.Bulk {
		return &g.bulk
	}
	return &g.interactive
}

// Resize sets how many tasks run at once from now on. With 0 those that wait are refused with
// [ErrNoWorker]; those that run are not touched.
func (g *Gate) Resize(workers int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.workers = workers
	if workers > 0 {
		g.admit()
		return
	}
	for _, line := range []*line{&g.interactive, &g.bulk} {
		for w := line.pop(); w != nil; w = line.pop() {
			g.waiting--
			w.verdict <- ErrNoWorker
		}
	}
}

// Close refuses new tasks from now on. Those that are inside, waiting ones too, are done.
func (g *Gate) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// Closed reports whether Close was called.
func (g *Gate) Closed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}

// Full reports whether a task of somebody new would be refused now, or push another one out.
func (g *Gate) Full() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.full()
}

func (g *Gate) full() bool { return g.running >= g.workers && g.waiting >= g.queue*g.workers }

// Places is how many tasks may wait.
func (g *Gate) Places() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.queue * g.workers
}

// Workers is how many tasks may run at once.
func (g *Gate) Workers() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.workers
}

// Running is the number of tasks that run now.
func (g *Gate) Running() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.running
}

// Waiting is the number of tasks that wait for a worker now.
func (g *Gate) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waiting
}
