package limit

import "sync"

// Slots bounds how many requests of a key run at once, in this process: of several processes each
// counts for itself. It is safe for concurrent use.
type Slots struct {
	limit int
	mu    sync.Mutex
	taken map[string]int
}

// NewSlots makes Slots for at most limit requests at once for each key.
func NewSlots(limit int) *Slots {
	return &Slots{limit: limit, taken: make(map[string]int)}
}

// Acquire takes a slot, if one is free. The request calls release when it is done; calling it again
// does nothing, and neither does the release of a request that got no slot.
func (s *Slots) Acquire(key string) (release func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[key] >= s.limit {
		return func() {}, false
	}
	s.taken[key]++
	return sync.OnceFunc(func() { s.release(key) }), true
}

func (s *Slots) release(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken[key]--
	if s.taken[key] == 0 {
		delete(s.taken, key)
	}
}
