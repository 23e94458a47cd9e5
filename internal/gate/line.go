package gate

import "slices"

// waiter is a task that waits.
type waiter struct {
	turn    Turn
	verdict chan error // gets one value: nil to run, or why not
}

// caller is somebody's tasks, oldest first.
type caller struct {
	name    string
	bulk    bool
	waiters []*waiter
}

// line is the tasks of one priority. Callers stand in a ring and give one task each time round.
type line struct {
	ring   []*caller // none is empty; the first is next
	byName map[string]*caller
}

func newLine() line { return line{byName: map[string]*caller{}} }

func (l *line) empty() bool { return len(l.ring) == 0 }

func (l *line) push(w *waiter) {
	c := l.byName[w.turn.Caller]
	if c == nil {
		c = &caller{name: w.turn.Caller, bulk: w.turn.Bulk}
		l.byName[c.name] = c
		l.ring = append(l.ring, c)
	}
	c.waiters = append(c.waiters, w)
}

// pop takes the next task, nil if there is none.
func (l *line) pop() *waiter {
	if l.empty() {
		return nil
	}
	c := l.ring[0]
	w := c.waiters[0]
	c.waiters = c.waiters[1:]
	l.ring = l.ring[1:]
	if len(c.waiters) == 0 {
		delete(l.byName, c.name)
	} else {
		l.ring = append(l.ring, c)
	}
	return w
}

// remove takes a task out, and reports whether it was there.
func (l *line) remove(w *waiter) bool {
	c := l.byName[w.turn.Caller]
	if c == nil {
		return false
	}
	i := slices.Index(c.waiters, w)
	if i < 0 {
		return false
	}
	c.waiters = slices.Delete(c.waiters, i, i+1)
	if len(c.waiters) == 0 {
		delete(l.byName, c.name)
		l.ring = slices.DeleteFunc(l.ring, func(other *caller) bool { return other == c })
	}
	return true
}

// longest is who has most tasks waiting, nil if nobody has any.
func (l *line) longest() *caller {
	var most *caller
	for _, c := range l.ring {
		if most == nil || len(c.waiters) > len(most.waiters) {
			most = c
		}
	}
	return most
}

func (l *line) count(name string) int {
	if c := l.byName[name]; c != nil {
		return len(c.waiters)
	}
	return 0
}
