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
	"math"
	"slices"
	"sync"
	"time"
)

// The reasons for which [Gate.Do] refuses work without starting it.
var (
	ErrFull   = errors.New("gate: all places are taken")
	ErrClosed = errors.New("gate: closed")
	// ErrNoWorker says that there is no worker at all, and none to wait for.
	ErrNoWorker = errors.New("gate: there is no worker")
	// ErrLate says that a task cannot be done within its time because of those before it.
	ErrLate = errors.New("gate: too much work is before the task")
)

// ErrWorker is what a cleaner on other machines returns, wrapped with its cause, when the worker
// that had a page failed or vanished, and a second one did as well. Cleaners of this process never
// do.
var ErrWorker = errors.New("gate: the remote worker failed")

// Config sizes a [Gate].
type Config struct {
	Workers int // tasks that run at once; at least 1
	// Queue is how long a task may have to wait, in times of what a task of the usual size takes: so
	// many may wait for each worker, or fewer larger ones, the last of them for the fraction. 0 lets
	// none wait.
	Queue float64
}

// maxQueue bounds the places for each worker.
const maxQueue = 1_000_000

// Validate says which field is out of range.
func (c Config) Validate() error {
	switch {
	case c.Workers < 1:
		return fmt.Errorf("workers must be at least 1, not %d", c.Workers)
	case !(c.Queue >= 0 && c.Queue <= maxQueue):
		return fmt.Errorf("queue must be between 0 and %d, not %g", maxQueue, c.Queue)
	}
	return nil
}

// Turn says whose a task is and whether it may wait for others. The zero value is a task of nobody
// in particular.
type Turn struct {
	Caller string        // tasks of one caller wait for each other
	Bulk   bool          // waits until nothing else does
	Size   float64       // how much work it is, in times of the usual; 0 is 1
	Within time.Duration // it must be done by then, waiting included; 0 is at any time
}

func (t Turn) size() float64 {
	if t.Size == 0 {
		return 1
	}
	return t.Size
}

// Gate lets tasks through to a bounded number of workers. It is safe for concurrent use and owns
// no goroutine: a task runs on its caller's.
type Gate struct {
	queue float64

	mu      sync.Mutex
	workers int
	running []*visit // longest first
	waiting int
	load    float64 // sizes of those that wait
	// what a task of size 1 takes: mean of the last ones; 0 before the first is done
	usual       time.Duration
	interactive line
	bulk        line
	closed      bool
	drained     chan struct{} // closed when the gate is, and nothing is inside
}

// New opens a gate.
func New(c Config) (*Gate, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Gate{queue: c.Queue, workers: c.Workers, interactive: newLine(), bulk: newLine(),
		drained: make(chan struct{})}, nil
}

// Do is [Gate.DoAs] for a task of nobody in particular.
func (g *Gate) Do(ctx context.Context, task func() error) error {
	return g.DoAs(ctx, Turn{}, task)
}

// DoAs runs task as soon as a worker is free and it is its turn, and returns its error. It returns
// one of the errors above at once when the task may not even wait, ErrFull and ErrNoWorker also
// when it has to leave the queue, and the context's error when that ends first.
func (g *Gate) DoAs(ctx context.Context, turn Turn, task func() error) error {
	v, err := g.enter(turn)
	if err != nil {
		return err
	}
	if err := g.wait(ctx, v); err != nil {
		return err
	}
	defer g.quit(v)
	err = task()
	if err == nil || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		g.learn(v)
	}
	return err
}

// enter takes a worker or a place in the queue.
func (g *Gate) enter(turn Turn) (*visit, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.refusal(turn); err != nil {
		return nil, err
	}
	v := &visit{turn: turn, verdict: make(chan error, 1)}
	if len(g.running) < g.workers {
		g.run(v)
		return v, nil
	}
	if g.full() {
		g.drop(turn)
	}
	g.queued(v, 1)
	g.lineOf(turn).push(v)
	return v, nil
}

// queued counts a task that begins (1) or ends (-1) to wait.
func (g *Gate) queued(v *visit, by int) {
	g.waiting += by
	g.load += float64(by) * v.turn.size()
	if g.waiting == 0 {
		g.load = 0 // without what rounding left
	}
}

// Refusal is the error with which [Gate.DoAs] would refuse a task at once now, nil if it would not.
// The next call may decide otherwise, since other tasks come and end.
func (g *Gate) Refusal(turn Turn) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refusal(turn)
}

// refusal is [Gate.Refusal] for who holds the lock.
func (g *Gate) refusal(turn Turn) error {
	switch {
	case g.closed:
		return ErrClosed
	case g.workers == 0:
		return ErrNoWorker
	case turn.Within > 0 && len(g.running) >= g.workers &&
		times(g.usual, g.foreseen(g.before(turn))+turn.size()) > turn.Within:
		return ErrLate
	case g.full() && g.yielding(turn) == nil:
		return ErrFull
	}
	return nil
}

// wait returns nil when it is the visit's turn: a worker is taken.
func (g *Gate) wait(ctx context.Context, v *visit) error {
	select {
	case err := <-v.verdict:
		return err
	case <-ctx.Done():
	}
	g.mu.Lock()
	if g.lineOf(v.turn).remove(v) {
		g.queued(v, -1)
		g.noteDrained()
		g.mu.Unlock()
		return ctx.Err()
	}
	g.mu.Unlock()
	if err := <-v.verdict; err != nil { // it was told in the same moment
		return err
	}
	g.quit(v)
	return ctx.Err()
}

// run gives a visit a worker.
func (g *Gate) run(v *visit) {
	v.began = time.Now()
	g.running = append(g.running, v)
	v.verdict <- nil
}

// learn notes how long a task took.
func (g *Gate) learn(v *visit) {
	g.mu.Lock()
	defer g.mu.Unlock()
	took := times(time.Since(v.began), 1/v.turn.size())
	if g.usual == 0 {
		g.usual = took
	}
	g.usual += (took - g.usual) / 8
}

func times(d time.Duration, factor float64) time.Duration {
	return time.Duration(float64(d) * factor)
}

// quit gives a worker back.
func (g *Gate) quit(v *visit) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running = slices.DeleteFunc(g.running, func(other *visit) bool { return other == v })
	g.admit()
	g.noteDrained()
}

// admit lets in whose turn it is while workers are free.
func (g *Gate) admit() {
	for len(g.running) < g.workers && g.waiting > 0 {
		v := g.interactive.pop()
		if v == nil {
			v = g.bulk.pop()
		}
		g.queued(v, -1)
		g.run(v)
	}
}

// yielding is the waiting task that a full queue drops to make room for a new one: the newest of
// the caller who has most waiting, among bulk tasks if any wait. It is nil when the new task is the
// one to refuse, because it is bulk itself or its caller would have as many waiting.
func (g *Gate) yielding(turn Turn) *visit {
	line := &g.bulk
	if !turn.Bulk && line.empty() {
		line = &g.interactive
	}
	longest := line.longest()
	if longest == nil || turn.Bulk == longest.bulk &&
		len(longest.waiting) <= line.count(turn.Caller)+1 {
		return nil
	}
	return longest.waiting[len(longest.waiting)-1]
}

// drop removes the yielding task from the queue, and refuses it with [ErrFull]. There must be one.
func (g *Gate) drop(turn Turn) {
	v := g.yielding(turn)
	g.lineOf(v.turn).remove(v)
	g.queued(v, -1)
	v.verdict <- ErrFull
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
		for v := line.pop(); v != nil; v = line.pop() {
			g.queued(v, -1)
			v.verdict <- ErrNoWorker
		}
	}
	g.noteDrained()
}

// Close refuses new tasks from now on. Those that are inside, waiting ones too, are done.
func (g *Gate) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	g.noteDrained()
}

// Drained is closed when the gate is closed and all that was inside is done.
func (g *Gate) Drained() <-chan struct{} { return g.drained }

func (g *Gate) noteDrained() {
	if !g.closed || len(g.running)+g.waiting > 0 {
		return
	}
	select {
	case <-g.drained:
	default:
		close(g.drained)
	}
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

func (g *Gate) full() bool {
	return len(g.running) >= g.workers &&
		(g.load >= g.queue*float64(g.workers) || g.foreseen(g.everybody()) > g.queue)
}

func (g *Gate) places() int { return int(math.Ceil(g.queue * float64(g.workers))) }

// foreseen is how long a task has to wait while all workers are busy and others are before it, in
// times of what a task of size 1 takes: each of them goes to the worker that is free first.
func (g *Gate) foreseen(before []*visit) float64 {
	free := make([]float64, len(g.running))
	for i, v := range g.running {
		if g.usual > 0 {
			free[i] = max(0, v.turn.size()-float64(time.Since(v.began))/float64(g.usual))
		}
	}
	slices.Sort(free)
	// without workers that were taken away and still have a task
	free = free[len(g.running)-g.workers:]
	for _, v := range before {
		next := free[0] + v.turn.size()
		at, _ := slices.BinarySearch(free[1:], next)
		copy(free, free[1:1+at])
		free[at] = next
	}
	return free[0]
}

// before are the waiting tasks whose turn is before that of one more.
func (g *Gate) before(turn Turn) []*visit {
	if !turn.Bulk {
		return g.interactive.before(turn.Caller)
	}
	return append(g.interactive.all(), g.bulk.before(turn.Caller)...)
}

func (g *Gate) everybody() []*visit { return append(g.interactive.all(), g.bulk.all()...) }

// Places is how many tasks of the usual size may wait.
func (g *Gate) Places() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.places()
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
	return len(g.running)
}

// Waiting is the number of tasks that wait for a worker now.
func (g *Gate) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waiting
}
