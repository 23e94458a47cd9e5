package fleet

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// roster is what this service knows of the workers, and of the other services that it shares them
// with. It learns that from the messages in which each says regularly how it is.
type roster struct {
	mu      sync.Mutex
	self    string        // names the service whose roster it is
	silence time.Duration // after which one is forgotten
	log     *slog.Logger
	known   map[string]member    // workers, by their ids
	rivals  map[string]time.Time // other services, and when they last said that they have pages
	report  func(pages int)      // is told the share whenever it changes
}

type member struct {
	status
	heard time.Time
}

// Bounds of the roster.
const (
	mostWorkers = 10_000
	mostRivals  = 1000
)

func newRoster(self string, silence time.Duration, log *slog.Logger) *roster {
	return &roster{self: self, silence: silence, log: log, known: map[string]member{},
		rivals: map[string]time.Time{}, report: func(int) {}}
}

func (r *roster) onCapacity(report func(pages int)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report = report
	report(r.share())
}

// note takes down what a worker says.
func (r *roster) note(s status, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.share()
	switch _, known := r.known[s.Worker]; {
	case s.Leaving:
		if known {
			r.forget(s.Worker, "a worker left")
		}
	case known || len(r.known) < mostWorkers:
		if !known {
			r.log.Info("a worker came", "worker", s.Worker, "slots", s.Slots, "version", s.Build.Version,
				"model", shortModel(s.Build.Model))
		}
		r.known[s.Worker] = member{s, now}
	}
	r.tell(before)
}

// rival takes down that a service, perhaps this one, has pages.
func (r *roster) rival(id string, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.share()
	if _, known := r.rivals[id]; id != r.self && (known || len(r.rivals) < mostRivals) {
		r.rivals[id] = now
	}
	r.tell(before)
}

// expire forgets who has said nothing for too long.
func (r *roster) expire(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.share()
	maps.DeleteFunc(r.rivals, func(_ string, heard time.Time) bool {
		return now.Sub(heard) > r.silence
	})
	for id, m := range r.known {
		if now.Sub(m.heard) > r.silence {
			r.forget(id, "a worker is silent")
		}
	}
	r.tell(before)
}

func (r *roster) forget(id, message string) {
	delete(r.known, id)
	r.log.Info(message, "worker", id, "left", len(r.known))
}

func (r *roster) tell(before int) {
	if now := r.share(); now != before {
		r.report(now)
	}
}

func (r *roster) sum() int {
	n := 0
	for _, m := range r.known {
		n += m.Slots
	}
	return n
}

// share is how many pages this service may have on their way at once. The fleet's slots are divided
// evenly among the services that have pages; a remainder goes to the first of them in the order of
// their names, one slot each. While there are slots at all, every service has at least one.
func (r *roster) share() int {
	slots := r.sum()
	if slots == 0 {
		return 0
	}
	services, before := len(r.rivals)+1, 0
	for id := range r.rivals {
		if id < r.self {
			before++
		}
	}
	return max(1, (slots+services-1-before)/services)
}

func (r *roster) slots() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sum()
}

// any reports whether a worker is known that may have a page.
func (r *roster) any(p *page) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, m := range r.known {
		if m.Slots > 0 && id != p.Not && !p.declined[id] {
			return true
		}
	}
	return false
}

// builds counts the workers of each build.
func (r *roster) builds() map[Build]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := map[Build]int{}
	for _, m := range r.known {
		n[m.Build]++
	}
	return n
}

// turnstile lets pages that wait for a free slot try again: the oldest first, bulk
// ones after all others.
type turnstile struct {
	mu      sync.Mutex
	tickets uint64
	waiting []waiter // by ticket
}

type waiter struct {
	ticket uint64
	woken  chan struct{}
}

func (t *turnstile) ticket(bulk bool) uint64 {
	const afterOthers = 1 << 62
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tickets++
	if bulk {
		return t.tickets + afterOthers
	}
	return t.tickets
}

// wait returns when it is worth trying again: a slot became free, or some time has passed.
func (t *turnstile) wait(ctx context.Context, ticket uint64, most time.Duration) {
	w := waiter{ticket, make(chan struct{})}
	t.mu.Lock()
	i, _ := slices.BinarySearchFunc(t.waiting, ticket, func(w waiter, ticket uint64) int {
		return int(int64(w.ticket - ticket))
	})
	t.waiting = slices.Insert(t.waiting, i, w)
	t.mu.Unlock()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-w.woken:
		return
	case <-timer.C:
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting = slices.DeleteFunc(t.waiting, func(other waiter) bool { return other == w })
}

// wake lets the oldest n try.
func (t *turnstile) wake(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n = max(0, min(n, len(t.waiting)))
	for _, w := range t.waiting[:n] {
		close(w.woken)
	}
	t.waiting = slices.Delete(t.waiting, 0, n)
}

func (t *turnstile) len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waiting)
}
