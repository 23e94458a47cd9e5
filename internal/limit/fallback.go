package limit

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// pause is how long Redis is left alone after it failed.
const pause = 2 * time.Second

// Fallback is a Limiter that asks a primary one, [Redis], and decides in memory when that fails. No
// request passes uncounted:
//
//   - What the primary lets pass is recorded in memory as well, so that when it fails, the windows
//     hold for what this process knows. Of several processes each then counts for itself; n of them
//     may let pass n times the limit while Redis is away. Requests that the primary is just letting
//     pass in the moment in which it fails may be missing in memory.
//   - When the primary is back, it does not know what passed meanwhile. Until the windows have
//     outlived that, a request must be inside the windows of both. Only then may RetryAfter be too
//     short: when memory refuses, the primary is not asked how long it would.
//
// After a failure the primary is left alone for 2 seconds, then one request tries it again.
type Fallback struct {
	primary Limiter
	memory  *Memory
	now     func() time.Time
	log     *slog.Logger
	count   atomic.Uint64

	mu         sync.Mutex
	degraded   bool
	nextTry    time.Time // of the primary, while degraded
	missingTil time.Time // until then, windows count requests that the primary does not know
}

// NewFallback makes a Fallback. The clock is that of the memory.
func NewFallback(primary Limiter, memory *Memory, log *slog.Logger) *Fallback {
	return &Fallback{primary: primary, memory: memory, now: memory.now, log: log}
}

// Degraded reports whether the primary failed when it was last asked, so that memory decides.
func (f *Fallback) Degraded() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.degraded
}

// Fallbacks is the number of requests that memory decided alone since the start.
func (f *Fallback) Fallbacks() uint64 { return f.count.Load() }

// Allow implements [Limiter]. Its errors are the context's, or name a bad window.
func (f *Fallback) Allow(ctx context.Context, keys []string, windows []Window) (Verdict, error) {
	if err := validate(windows); err != nil {
		return Verdict{}, err
	}
	if !f.informed(windows) {
		return f.both(ctx, keys, windows)
	}
	v, err := f.ask(ctx, keys, windows)
	switch {
	case ctx.Err() != nil:
		return Verdict{}, ctx.Err()
	case err != nil:
		return f.memory.Allow(ctx, keys, windows)
	case v.OK:
		f.memory.Record(keys, windows)
	}
	return v, nil
}

// both lets a request pass that is inside the windows of memory, and of the primary if that
// answers.
func (f *Fallback) both(ctx context.Context, keys []string, windows []Window) (Verdict, error) {
	ids := identify(keys)
	inMemory, at := f.memory.reserve(ids, windows)
	if !inMemory.OK || !f.mayTry() {
		f.count.Add(1)
		return inMemory, nil
	}
	v, err := f.ask(ctx, keys, windows)
	switch {
	case ctx.Err() != nil:
		f.memory.forget(ids, at)
		return Verdict{}, ctx.Err()
	case err != nil:
		return inMemory, nil
	case !v.OK:
		f.memory.forget(ids, at)
	}
	return v, nil
}

// informed reports whether the primary works and knows all that its windows count.
func (f *Fallback) informed(windows []Window) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	if f.degraded {
		f.missing(now, windows)
		return false
	}
	return !now.Before(f.missingTil)
}

// mayTry reports whether the caller may ask the primary now. While that is degraded, it is one
// caller in each pause.
func (f *Fallback) mayTry() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	if f.degraded && now.Before(f.nextTry) {
		return false
	}
	f.nextTry = now.Add(pause)
	return true
}

// ask asks the primary, and notes how it is.
func (f *Fallback) ask(ctx context.Context, keys []string, windows []Window) (Verdict, error) {
	v, err := f.primary.Allow(ctx, keys, windows)
	if ctx.Err() != nil {
		return v, err // says nothing about the primary
	}
	if err != nil {
		f.count.Add(1)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		now := f.now()
		f.nextTry = now.Add(pause)
		f.missing(now, windows)
	}
	if failed := err != nil; failed != f.degraded {
		f.degraded = failed
		if failed {
			f.log.WarnContext(ctx, "rate limits are counted in memory", "error", err)
		} else {
			f.log.InfoContext(ctx, "rate limits are counted in Redis again")
		}
	}
	return v, err
}

// missing notes that a request may pass now that the primary does not learn of.
func (f *Fallback) missing(now time.Time, windows []Window) {
	if til := now.Add(longest(windows).Every); til.After(f.missingTil) {
		f.missingTil = til
	}
}
