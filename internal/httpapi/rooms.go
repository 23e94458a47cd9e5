package httpapi

import (
	"net/netip"
	"sync"

	"unink/internal/limit"
)

// holder is on whose account a request is there: a customer or somebody who is logged in, by the
// name of its credits, or else a stranger, by its network address.
type holder struct {
	name  string
	known bool
}

// stranger is the holder of what comes from an address: of one IPv4 address, and of the /64 of
// IPv6, which is the least that a household gets.
func stranger(a netip.Addr) holder {
	bits := 32
	if a.Is6() {
		bits = 64
	}
	network, err := a.Prefix(bits)
	if err != nil {
		return holder{name: "nowhere"}
	}
	return holder{name: network.String()}
}

// rooms bound what requests hold, so that nobody shuts out others: each holder has a part of the
// requests, and all strangers together have half of everything.
type rooms struct {
	accounts, networks *limit.Slots // requests of each holder
	open               *allotment   // requests, from their headers to the end of their answers
	bytes              *allotment   // of their bodies
	places             *allotment   // requests but for the time in which their bodies come
}

// openForEach is how many requests may be open for each place: one that waits for its body holds
// little more than its connection.
const openForEach = 64

func newRooms(requests int) *rooms {
	n := int64(requests)
	return &rooms{
		accounts: limit.NewSlots(max(1, requests/2)),
		networks: limit.NewSlots(max(1, requests/4)),
		open:     newAllotment(n*openForEach, 1),
		bytes:    newAllotment(n*maxDeveloperBody, maxDeveloperBody),
		places:   newAllotment(n, 1),
	}
}

// admit lets a request in, and says who has too much when it does not.
func (r *rooms) admit(who holder) (*stay, error) {
	of, crowd := r.networks, "too many requests from your network address are under way; wait for "+
		"one to end, or log in or send a token"
	if who.known {
		of, crowd = r.accounts, "too many requests of your account are under way; wait for one to end"
	}
	free, ok := of.Acquire(who.name)
	if !ok {
		return nil, busy(nil, crowd)
	}
	if err := r.open.take(who.known, 1); err != nil {
		free()
		return nil, err
	}
	return &stay{rooms: r, known: who.known, free: free}, nil
}

// stay is what one request holds of the rooms. It is not for concurrent use.
type stay struct {
	rooms  *rooms
	known  bool
	free   func()
	seated bool  // has a place
	bytes  int64 // of its body so far
}

// sit takes a place.
func (s *stay) sit() error {
	err := s.rooms.places.take(s.known, 1)
	s.seated = err == nil
	return err
}

// rise gives the place back.
func (s *stay) rise() {
	if s.seated {
		s.rooms.places.give(s.known, 1)
	}
	s.seated = false
}

// hold counts bytes of the body.
func (s *stay) hold(n int) error {
	err := s.rooms.bytes.take(s.known, int64(n))
	if err == nil {
		s.bytes += int64(n)
	}
	return err
}

// leave gives everything back.
func (s *stay) leave() {
	s.rise()
	s.rooms.bytes.give(s.known, s.bytes)
	s.rooms.open.give(s.known, 1)
	s.free()
}

// allotment is an amount of something, of which strangers may take half. It is safe for concurrent
// use.
type allotment struct {
	most, forStrangers int64

	mu                 sync.Mutex
	taken, byStrangers int64
}

// newAllotment makes one in which strangers may have half, and least at any rate.
func newAllotment(most, least int64) *allotment {
	return &allotment{most: most, forStrangers: max(least, most/2)}
}

// take takes n, unless there are not so many left.
func (a *allotment) take(known bool, n int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.taken+n > a.most {
		return busy(nil, "the service has as many requests under way as it can hold; try again later")
	}
	if !known && a.byStrangers+n > a.forStrangers {
		return busy(nil, "too many people who are not known here use the service now; try again later, "+
			"or log in or send a token")
	}
	a.add(known, n)
	return nil
}

func (a *allotment) give(known bool, n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.add(known, -n)
}

func (a *allotment) add(known bool, n int64) {
	a.taken += n
	if !known {
		a.byStrangers += n
	}
}
