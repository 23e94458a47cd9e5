package limit

import (
	"container/heap"
	"context"
	"slices"
	"sync"
	"time"
)

// DefaultKeys is a bound for [NewMemory] that keeps it below about 50 MB with limits up to 30.
const DefaultKeys = 1 << 17

// Memory is a Limiter for one process: a log of times for each key.
//
// It keeps a key only as long as one of its windows still counts a request, and of each key at most
// as many times as its greatest limit. When it holds its greatest number of keys it forgets none of
// them, which would open the door to a caller who makes up keys. Instead it refuses requests with a
// new key until the first place comes free, so under such an attack new callers wait, and known
// ones do not notice.
type Memory struct {
	now   func() time.Time
	start time.Time
	room  int

	mu   sync.Mutex
	logs map[id]*history
	ends byEnd // the same histories, the one that ends first in front
}

// history is when the requests of a key passed; times count from Memory.start.
type history struct {
	id    id
	times []time.Duration // ascending
	end   time.Duration   // from here on no window counts any of them
	place int             // in Memory.ends
}

// NewMemory makes a Memory for at most so many keys at a time. The clock must not run backwards;
// [time.Now] does not.
func NewMemory(keys int, now func() time.Time) *Memory {
	return &Memory{now: now, start: now(), room: keys, logs: make(map[id]*history)}
}

// Allow implements [Limiter].
func (m *Memory) Allow(_ context.Context, keys []string, windows []Window) (Verdict, error) {
	if err := validate(windows); err != nil {
		return Verdict{}, err
	}
	v, _ := m.reserve(identify(keys), windows)
	return v, nil
}

// Record counts a request that another Limiter let pass, even when it is outside a window here. New
// keys are not counted when there is no room for them; requests with such a key do not pass here.
func (m *Memory) Record(keys []string, windows []Window) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.tick()
	for _, id := range identify(keys) {
		if m.logs[id] != nil || len(m.logs) < m.room {
			m.add(id, at, windows)
		}
	}
}

// Keys is the number of keys that are held now.
func (m *Memory) Keys() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tick()
	return len(m.logs)
}

// reserve is Allow; a request that passed can be taken back with [Memory.forget] and its time.
func (m *Memory) reserve(ids []id, windows []Window) (Verdict, time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.tick()
	v := m.verdict(at, ids, windows)
	if v.OK && len(windows) > 0 {
		for _, id := range ids {
			m.add(id, at, windows)
		}
	}
	return v, at
}

// forget takes back what reserve counted.
func (m *Memory) forget(ids []id, at time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range ids {
		h := m.logs[id]
		if h == nil {
			continue
		}
		if i, found := slices.BinarySearch(h.times, at); found {
			h.times = slices.Delete(h.times, i, i+1)
		}
		if len(h.times) == 0 {
			heap.Remove(&m.ends, h.place)
			delete(m.logs, id)
		}
	}
}

// tick returns the time, and drops the keys that no window counts any more.
func (m *Memory) tick() time.Duration {
	at := m.now().Sub(m.start)
	for len(m.ends) > 0 && m.ends[0].end <= at {
		delete(m.logs, heap.Pop(&m.ends).(*history).id)
	}
	return at
}

func (m *Memory) verdict(at time.Duration, ids []id, windows []Window) Verdict {
	v := Verdict{OK: true}
	fresh := 0
	for _, id := range ids {
		h := m.logs[id]
		if h == nil {
			fresh++
			continue
		}
		for _, w := range windows {
			v = v.orWorse(w.Name, h.wait(at, w))
		}
	}
	if fresh > 0 && len(m.logs)+fresh > m.room {
		long := longest(windows)
		wait := long.Every
		if len(m.ends) > 0 {
			wait = m.ends[0].end - at
		}
		v = v.orWorse(long.Name, wait)
	}
	return v
}

func (m *Memory) add(id id, at time.Duration, windows []Window) {
	h := m.logs[id]
	if h == nil {
		h = &history{id: id}
		m.logs[id] = h
		heap.Push(&m.ends, h)
	}
	if excess := len(h.times) + 1 - most(windows); excess > 0 {
		h.times = slices.Delete(h.times, 0, excess)
	}
	h.times = append(h.times, at)
	h.end = max(h.end, at+longest(windows).Every)
	heap.Fix(&m.ends, h.place)
}

// wait is how long after a time a request stays outside a window; 0 or less when it is inside.
func (h *history) wait(at time.Duration, w Window) time.Duration {
	if len(h.times) < w.Limit {
		return 0
	}
	return h.times[len(h.times)-w.Limit] + w.Every - at
}

// byEnd is a heap.
type byEnd []*history

func (b byEnd) Len() int           { return len(b) }
func (b byEnd) Less(i, j int) bool { return b[i].end < b[j].end }
func (b byEnd) Swap(i, j int) {
	b[i], b[j] = b[j], b[i]
	b[i].place, b[j].place = i, j
}

func (b *byEnd) Push(x any) {
	h := x.(*history)
	h.place = len(*b)
	*b = append(*b, h)
}

func (b *byEnd) Pop() any {
	last := len(*b) - 1
	h := (*b)[last]
	(*b)[last] = nil
	*b = (*b)[:last]
	return h
}
