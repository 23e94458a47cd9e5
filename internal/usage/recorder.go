package usage

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Config tunes a [Recorder].
type Config struct {
	Buffer int           // uses, and sums of refusals, that may wait to be written; more are dropped
	Batch  int           // uses written at once
	Every  time.Duration // how long a use waits at most for others to be written with
	Flush  time.Duration // how long writing the rest may take at the end
}

// DefaultConfig lets 4096 uses wait for at most a second, and takes 5 s at the end.
func DefaultConfig() Config {
	return Config{Buffer: 4096, Batch: 256, Every: time.Second, Flush: 5 * time.Second}
}

// Validate says which field is out of range.
func (c Config) Validate() error {
	switch {
	case c.Buffer < 1:
		return fmt.Errorf("the buffer of uses must be at least 1, not %d", c.Buffer)
	case c.Batch < 1 || c.Batch > 1000:
		return fmt.Errorf("a batch of uses must be from 1 to 1000, not %d", c.Batch)
	case c.Every <= 0:
		return fmt.Errorf("the time between writes of uses must be more than 0, not %v", c.Every)
	case c.Flush <= 0:
		return fmt.Errorf("the time to write the last uses must be more than 0, not %v", c.Flush)
	}
	return nil
}

// Recorder writes uses down beside the requests: no request waits for it or fails with it. When
// the store is slow or away, what does not fit the buffer is dropped and counted. Refused uses are
// summed by minute before they are written, apart from the others, whose places they cannot take.
type Recorder struct {
	store   Store
	config  Config
	log     *slog.Logger
	uses    chan Use
	dropped atomic.Uint64

	mu       sync.Mutex
	refusals map[Refusal]Refusals
}

// NewRecorder makes a recorder. It writes while [Recorder.Run] runs.
func NewRecorder(store Store, c Config, log *slog.Logger) (*Recorder, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Recorder{store: store, config: c, log: log, uses: make(chan Use, c.Buffer),
		refusals: map[Refusal]Refusals{}}, nil
}

// Record notes a use. It returns at once.
func (r *Recorder) Record(u Use) {
	if u.Refused() {
		r.count(Refusals{Refusal{
			Minute: u.At.UTC().Truncate(time.Minute), Entry: u.Entry, Caller: u.Caller, Owner: u.Owner,
			Bulk: u.Bulk, PDF: u.PDF, Outcome: u.Outcome,
		}, 1, u.Millis})
		return
	}
	select {
	case r.uses <- u:
	default:
		r.dropped.Add(1)
	}
}

// count adds to what waits of the same refusal.
func (r *Recorder) count(more Refusals) {
	r.mu.Lock()
	defer r.mu.Unlock()
	sum, known := r.refusals[more.Refusal]
	if !known && len(r.refusals) == r.config.Buffer {
		r.dropped.Add(uint64(more.Requests))
		return
	}
	r.refusals[more.Refusal] = Refusals{more.Refusal, sum.Requests + more.Requests,
		sum.Millis + more.Millis}
}

// counted are the refusals that wait, which do so no longer.
func (r *Recorder) counted() []Refusals {
	r.mu.Lock()
	defer r.mu.Unlock()
	waiting := slices.Collect(maps.Values(r.refusals))
	clear(r.refusals)
	return waiting
}

// Dropped is how many uses were not written down.
func (r *Recorder) Dropped() uint64 { return r.dropped.Load() }

// Run writes uses until the context ends, then what is left of them; end the context after the
// last request. A batch that the store refuses is tried again.
func (r *Recorder) Run(ctx context.Context) {
	tick := time.NewTicker(r.config.Every)
	defer tick.Stop()
	batch := make([]Use, 0, r.config.Batch)
	for {
		uses := r.uses
		if len(batch) == r.config.Batch {
			uses = nil // the store refused it: wait for the next tick
		}
		select {
		case u := <-uses:
			if batch = append(batch, u); len(batch) < r.config.Batch {
				continue
			}
		case <-tick.C:
			r.writeRefusals(ctx)
		case <-ctx.Done():
			r.flush(ctx, batch)
			return
		}
		if r.write(ctx, batch) {
			batch = batch[:0]
		}
	}
}

// flush writes a batch and all that wait, as far as its time goes.
func (r *Recorder) flush(ctx context.Context, batch []Use) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.config.Flush)
	defer cancel()
	r.writeRefusals(ctx)
	for _, left := range r.counted() {
		r.dropped.Add(uint64(left.Requests))
	}
	for {
		for len(batch) < r.config.Batch && len(r.uses) > 0 {
			batch = append(batch, <-r.uses)
		}
		if len(batch) == 0 {
			return
		}
		if !r.write(ctx, batch) {
			r.dropped.Add(uint64(len(batch)))
		}
		batch = batch[:0]
	}
}

// write reports whether the batch is in the store.
func (r *Recorder) write(ctx context.Context, batch []Use) bool {
	if len(batch) == 0 {
		return true
	}
	if err := r.store.Add(ctx, batch); err != nil {
		if ctx.Err() == nil {
			r.log.Error("uses could not be written", "uses", len(batch), "error", err)
		}
		return false
	}
	return true
}

// writeRefusals writes what was refused since it last did. What the store does not take waits on.
func (r *Recorder) writeRefusals(ctx context.Context) {
	refusals := r.counted()
	for len(refusals) > 0 {
		part := refusals[:min(r.config.Batch, len(refusals))]
		if err := r.store.Count(ctx, part); err != nil {
			if ctx.Err() == nil {
				r.log.Error("refusals could not be written", "refusals", len(refusals), "error", err)
			}
			break
		}
		refusals = refusals[len(part):]
	}
	for _, left := range refusals {
		r.count(left)
	}
}
