package cleaning

import (
	"context"
	"sync"
	"time"
)

const (
	probeFor     = 5 * time.Second // how long a probe's answer, or a cleaned page, stands
	probeTimeout = 5 * time.Second
)

// readiness knows whether the engine works, from a probe or from a page that it cleaned.
type readiness struct {
	probe func(context.Context) error
	mu    sync.Mutex
	until time.Time // err stands until then
	err   error
}

// check probes the engine unless the last answer still stands. One probe runs at a time, and
// it goes on when its caller leaves: the next one wants the answer too.
func (r *readiness) check(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Now().Before(r.until) {
		return r.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout)
	defer cancel()
	r.err = r.probe(ctx)
	r.until = time.Now().Add(probeFor)
	return r.err
}

// proven notes that the engine has just done its work. It does not wait for a probe that runs.
func (r *readiness) proven() {
	if !r.mu.TryLock() {
		return
	}
	defer r.mu.Unlock()
	r.err, r.until = nil, time.Now().Add(probeFor)
}
