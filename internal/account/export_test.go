package account

import (
	"context"
	"sync/atomic"
)

// Hashing watches a service's computations of argon2id.
type Hashing struct {
	passwords
	Count   atomic.Int64
	Matched func() // called when a password was compared, before the result is used
}

// WatchHashing makes a service tell its computations.
func (s *Service) WatchHashing() *Hashing {
	h := &Hashing{passwords: s.passwords, Matched: func() {}}
	s.passwords = h
	return h
}

func (h *Hashing) hash(ctx context.Context, password string) (string, error) {
	h.Count.Add(1)
	return h.passwords.hash(ctx, password)
}

func (h *Hashing) matches(ctx context.Context, password, hash string) (bool, error) {
	h.Count.Add(1)
	ok, err := h.passwords.matches(ctx, password, hash)
	h.Matched()
	return ok, err
}

// HoldHashing takes all computations that may run at once, until released.
func (s *Service) HoldHashing() (release func()) {
	places := s.passwords.(*argon).places
	for range cap(places) {
		places <- struct{}{}
	}
	return func() {
		for range cap(places) {
			<-places
		}
	}
}
