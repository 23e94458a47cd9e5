package gate

import (
	"slices"
	"time"
)

// visit is a task at the gate: one that waits, or runs.
type visit struct {
	turn    Turn
	verdict chan error // gets one value: nil to run, or why not
	began   time.Time  // when it was told to run
}

// caller is somebody's tasks, oldest first.
type caller struct {
	name    string
	bulk    bool
	waiting []*visit
}

// line is the tasks of one priority. Callers stand in a ring and give one task each time round.
type line struct {
	ring   []*caller // none is empty; the first is next
	byName map[string]*caller
}

func newLine() line { return line{byName: map[string]*caller{}} }

func (l *line) empty() bool { return len(l.ring) == 0 }

func (l *line) push(w *visit) {
	c := l.byName[w.turn.Caller]
	if c == nil {
		c = &caller{name: w.turn.Caller, bulk: w.turn.Bulk}
		l.byName[c.name] = c
		l.ring = append(l.ring, c)
	}
	c.waiting = append(c.waiting, w)
}

// pop takes the next task, nil if there is none.
func (l *line) pop() *visit {
	if l.empty() {
		return nil
	}
	c := l.ring[0]
	w := c.waiting[0]
	c.waiting = c.waiting[1:]
	l.ring = l.ring[1:]
	if len(c.waiting) == 0 {
		delete(l.byName, c.name)
	} else {
		l.ring = append(l.ring, c)
	}
	return w
}

// remove takes a task out, and reports whether it was there.
func (l *line) remove(w *visit) bool {
	c := l.byName[w.turn.Caller]
	if c == nil {
		return false
	}
	i := slices.Index(c.waiting, w)
	if i < 0 {
		return false
	}
	c.waiting = slices.Delete(c.waiting, i, i+1)
	if len(c.waiting) == 0 {
		delete(l.byName, c.name)
		l.ring = slices.DeleteFunc(l.ring, func(other *caller) bool { return other == c })
	}
	return true
}

// longest is who has most tasks waiting, nil if nobody has any.
func (l *line) longest() *caller {
	var most *caller
	for _, c := range l.ring {
		if most == nil || len(c.waiting) > len(most.waiting) {
			most = c
		}
	}
	return most
}

// all are the tasks that wait.
func (l *line) all() (tasks []*visit) {
	for _, c := range l.ring {
		tasks = append(tasks, c.waiting...)
	}
	return tasks
}

// before are the tasks whose turn is before that of a caller's next one.
func (l *line) before(name string) (tasks []*visit) {
	rounds := l.count(name) + 1
	for _, c := range l.ring {
		tasks = append(tasks, c.waiting[:min(len(c.waiting), rounds)]...)
	}
	return tasks
}

func (l *line) count(name string) int {
	if c := l.byName[name]; c != nil {
		return len(c.waiting)
	}
	return 0
}
