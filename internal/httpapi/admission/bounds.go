// Package admission bounds what requests hold, so that nobody shuts out others. It knows holders
// and bytes, and no route.
package admission

import (
	"context"
	"net/netip"
	"sync"

	"unink/internal/httpapi/failure"
	"unink/internal/limit"
)

// Holder is on whose account a request is there: a customer or somebody who is logged in, by the
// name of its credits, or else a stranger, by its network address.
type Holder struct {
	Name  string
	Known bool
}

// Stranger is the holder of what comes from an address: of one IPv4 address, and of the /64 of
// IPv6, which is the least that a household gets.
func Stranger(a netip.Addr) Holder {
	bits := 32
	if a.Is6() {
		bits = 64
	}
	network, err := a.Prefix(bits)
	if err != nil {
		return Holder{Name: "nowhere"}
	}
	return Holder{Name: network.String()}
}

// Bounds are of what requests hold, so that nobody shuts out others: each holder has a part of the
// requests, and all strangers together have half of everything.
type Bounds struct {
	body               int64        // bytes of a usual body, at most
	accounts, networks *limit.Slots // requests of each holder
	open               *allotment   // requests, from their headers to the end of their answers
	bytes              *allotment   // of their bodies
	places             *places      // requests but for the time in which their bodies and answers pass
	answers            *shares      // bytes of answers that wait to be taken
}

// answerRoom is how many bodies' bytes of answers may wait to be taken for each place.
const answerRoom = 2

// openForEach is how many requests may be open for each place: one that waits for its body holds
// little more than its connection.
const openForEach = 64

// New makes bounds for so many requests, whose bodies have at most so many bytes as a rule.
func New(requests int, body int64) *Bounds {
	n := int64(requests)
	return &Bounds{
		body:     body,
		accounts: limit.NewSlots(max(1, requests/2)),
		networks: limit.NewSlots(max(1, requests/4)),
		open:     newAllotment(n*openForEach, 1),
		bytes:    newAllotment(n*body, body),
		places:   newPlaces(requests),
		answers:  newShares(n * answerRoom * body),
	}
}

// Admit lets a request in, and says who has too much when it does not.
func (r *Bounds) Admit(who Holder) (*Ticket, error) {
	of, crowd := r.networks, "too many requests from your network address are under way; wait for "+
		"one to end, or log in or send a token"
	if who.Known {
		of, crowd = r.accounts, "too many requests of your account are under way; wait for one to end"
	}
	free, ok := of.Acquire(who.Name)
	if !ok {
		return nil, failure.Busy(nil, crowd)
	}
	if err := r.open.take(who.Known, 1); err != nil {
		free()
		return nil, err
	}
	return &Ticket{bounds: r, who: who, free: free}, nil
}

// Ticket is what one request holds of [Bounds], from its admission to the end of its answer. It is
// not for concurrent use.
type Ticket struct {
	bounds  *Bounds
	who     Holder
	free    func()
	placed  bool  // has a place
	bytes   int64 // of its body so far
	waiting int64 // bytes of its answer
}

// TakePlace takes one of the places for requests that are worked on. It waits up to two seconds for
// one.
func (t *Ticket) TakePlace(ctx context.Context) error {
	err := t.bounds.places.take(ctx, t.who)
	t.placed = err == nil
	return err
}

// GivePlace gives the place back, if the request has one; it is still admitted.
func (t *Ticket) GivePlace() {
	if t.placed {
		t.bounds.places.give(t.who.Known)
	}
	t.placed = false
}

// hold counts bytes of the body.
func (t *Ticket) hold(n int) error {
	err := t.bounds.bytes.take(t.who.Known, int64(n))
	if err == nil {
		t.bytes += int64(n)
	}
	return err
}

// Answer gives the place back, and counts the bytes of the answer, which its client may take long
// to read.
func (t *Ticket) Answer(n int) error {
	t.GivePlace()
	err := t.bounds.answers.take(t.who, int64(n))
	if err == nil {
		t.waiting += int64(n)
	}
	return err
}

// Leave gives everything back that the request holds: it is over.
func (t *Ticket) Leave() {
	t.GivePlace()
	t.bounds.answers.give(t.who, t.waiting)
	t.bounds.bytes.give(t.who.Known, t.bytes)
	t.bounds.open.give(t.who.Known, 1)
	t.free()
}

// shares are an allotment of which no holder may have more than a quarter.
type shares struct {
	whole *allotment
	each  int64

	mu sync.Mutex
	of map[string]int64
}

func newShares(most int64) *shares {
	return &shares{whole: newAllotment(most, most/4), each: most / 4, of: map[string]int64{}}
}

// take takes n for a holder. One answer is never too much for who has no other.
func (s *shares) take(who Holder, n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if has := s.of[who.Name]; has > 0 && has+n > s.each {
		return failure.Busy(nil, "too many answers to you are not read yet; read them, then try again")
	}
	if err := s.whole.take(who.Known, n); err != nil {
		return err
	}
	s.of[who.Name] += n
	return nil
}

func (s *shares) give(who Holder, n int64) {
	if n == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.whole.give(who.Known, n)
	if s.of[who.Name] -= n; s.of[who.Name] == 0 {
		delete(s.of, who.Name)
	}
}

func errFull() error {
	return failure.Busy(nil,
		"the service has as many requests under way as it can hold; try again later")
}

func errStrangers() error {
	return failure.Busy(nil,
		"too many people who are not known here use the service now; try again later, "+
			"or log in or send a token")
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
		return errFull()
	}
	if !known && a.byStrangers+n > a.forStrangers {
		return errStrangers()
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
