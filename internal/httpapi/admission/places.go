package admission

import (
	"context"
	"slices"
	"sync"
	"time"
)

// places are what requests need to be worked on, of which strangers may have half. Who finds none
// free waits a little. Holders take turns then, however many requests each has waiting, so that
// nobody is kept out by those who ask again and again. They are safe for concurrent use.
type places struct {
	most, forStrangers int

	mu                 sync.Mutex
	taken, byStrangers int
	lines              map[string][]*waiter // of each holder, the first who came first
	turns              []string             // holders with a line, the next first
}

// waiter is a request that waits for a place.
type waiter struct {
	known  bool
	placed chan struct{} // closed when it has its place
}

// placeWait is how long a request waits for a place. One that is only answered has its place for
// milliseconds.
const placeWait = 2 * time.Second

func newPlaces(most int) *places {
	return &places{most: most, forStrangers: max(1, most/2), lines: map[string][]*waiter{}}
}

// take takes a place. It waits for one at most placeWait, and until the context ends.
func (p *places) take(ctx context.Context, who Holder) error {
	w := p.enter(who)
	if w == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, placeWait)
	defer cancel()
	select {
	case <-w.placed:
		return nil
	case <-ctx.Done():
	}
	return p.abandon(who, w)
}

// enter takes a place, or joins the holder's line.
func (p *places) enter(who Holder) *waiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.lines[who.Name]) == 0 && p.free(who.Known) {
		p.add(who.Known, 1)
		return nil
	}
	if len(p.lines[who.Name]) == 0 {
		p.turns = append(p.turns, who.Name)
	}
	w := &waiter{who.Known, make(chan struct{})}
	p.lines[who.Name] = append(p.lines[who.Name], w)
	return w
}

// abandon ends the wait, unless there is a place after all, and says whose too much it was.
func (p *places) abandon(who Holder, w *waiter) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.Index(p.lines[who.Name], w)
	if at < 0 {
		return nil // it was given one just now
	}
	p.lines[who.Name] = slices.Delete(p.lines[who.Name], at, at+1)
	p.forget(who.Name)
	if p.taken < p.most {
		return errStrangers()
	}
	return errFull()
}

// give gives a place back, and gives one to those who wait and for whom there is one now.
func (p *places) give(known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.add(known, -1)
	for {
		at := slices.IndexFunc(p.turns, func(name string) bool { return p.free(p.lines[name][0].known) })
		if at < 0 {
			return
		}
		name := p.turns[at]
		w := p.lines[name][0]
		p.lines[name] = p.lines[name][1:]
		p.turns = append(slices.Delete(p.turns, at, at+1), name)
		p.forget(name)
		p.add(w.known, 1)
		close(w.placed)
	}
}

// forget ends a line in which nobody is left.
func (p *places) forget(name string) {
	if len(p.lines[name]) == 0 {
		delete(p.lines, name)
		p.turns = slices.DeleteFunc(p.turns, func(n string) bool { return n == name })
	}
}

func (p *places) free(known bool) bool {
	return p.taken < p.most && (known || p.byStrangers < p.forStrangers)
}

func (p *places) add(known bool, n int) {
	p.taken += n
	if !known {
		p.byStrangers += n
	}
}
