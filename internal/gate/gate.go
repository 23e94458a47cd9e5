// Package gate bounds how much work runs at once and how much may wait for it. Both bounds are
// finite: what does not fit is refused at once, so that a caller hears "later" early instead of
// waiting in a line that only grows.
package gate

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

// The reasons for which [Gate.Do] refuses work without starting it.
var (
	ErrFull   = errors.New("gate: all places are taken")
	ErrClosed = errors.New("gate: closed")
)

// ErrWorker is what a cleaner on other machines returns, wrapped with its cause, when the worker that
// had a page failed or vanished, and a second one did as well. Cleaners of this process never do.
var ErrWorker = errors.New("gate: the remote worker failed")

// Config sizes a [Gate].
type Config struct {
	Workers int // tasks that run at once; at least 1
	Queue   int // tasks that may wait for a worker; 0 lets none wait
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

// Gate lets tasks through to a bounded number of workers. It is safe for concurrent use and owns
// no goroutine: a task runs on its caller's.
type Gate struct {
	places  chan struct{} // one for each task inside, running or waiting
	workers chan struct{} // one for each task that runs
	closed  atomic.Bool
}

// New opens a gate.
func New(c Config) (*Gate, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Gate{
		places:  make(chan struct{}, c.Workers+c.Queue),
		workers: make(chan struct{}, c.Workers),
	}, nil
}

// Do runs task as soon as a worker is free, first come first served, and returns its error.
// It returns [ErrFull] or [ErrClosed] at once when the task may not even wait, and the
// context's error when that ends before a worker is free.
func (g *Gate) Do(ctx context.Context, task func() error) error {
	if g.closed.Load() {
		return ErrClosed
	}
	select {
	case g.places <- struct{}{}:
	default:
		return ErrFull
	}
	defer func() { <-g.places }()
	select {
	case g.workers <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-g.workers }()
	return task()
}

// Close refuses new tasks from now on. Those that are inside, waiting ones too, are done.
func (g *Gate) Close() { g.closed.Store(true) }

// Closed reports whether Close was called.
func (g *Gate) Closed() bool { return g.closed.Load() }

// Full reports whether a task would be refused now for want of a place.
func (g *Gate) Full() bool { return len(g.places) == cap(g.places) }

// Running is the number of tasks that run now.
func (g *Gate) Running() int { return len(g.workers) }

// Waiting is the number of tasks that wait for a worker now.
func (g *Gate) Waiting() int { return max(0, len(g.places)-len(g.workers)) }
