package admission

import (
	"net/netip"
	"testing"
	"testing/synctest"
)

// body is how many bytes a body has as a rule.
const body = 7 << 20

func TestStrangersAreTheirNetworks(t *testing.T) {
	for a, b := range map[string]string{
		"192.0.2.1": "192.0.2.1/32", "2001:db8:1:2::1": "2001:db8:1:2::/64",
		"2001:db8:1:2:ffff::": "2001:db8:1:2::/64", "2001:db8:1:3::1": "2001:db8:1:3::/64",
	} {
		if got := Stranger(netip.MustParseAddr(a)); got != (Holder{Name: b}) {
			t.Errorf("%s is %+v, want %s", a, got, b)
		}
	}
}

// Strangers have no more than half of anything, and one of them a quarter of it; what they leave is
// anybody's who is known.
func TestBoundsAreShared(t *testing.T) { synctest.Test(t, boundsAreShared) }

func boundsAreShared(t *testing.T) {
	const requests = 8
	r := New(requests, body)
	enter := func(name string, known bool) *Ticket {
		s, err := r.Admit(Holder{name, known})
		if err != nil {
			return nil
		}
		return s
	}
	one := []*Ticket{enter("a", false), enter("a", false)}
	if enter("a", false) != nil {
		t.Error("a third request of one address, where a quarter is two, got in")
	}
	other := []*Ticket{enter("b", false), enter("b", false)}
	late := enter("c", false)
	for _, s := range append(one, other...) {
		if err := s.TakePlace(t.Context()); err != nil {
			t.Errorf("a stranger within half of the places: %v", err)
		}
	}
	if late.TakePlace(t.Context()) == nil {
		t.Error("strangers have more than half of the places")
	}
	if err := late.hold(body * requests / 2); err != nil || one[0].hold(1) == nil {
		t.Errorf("half of the bytes: %v; and one more got in", err)
	}
	for i := range requests / 2 {
		s := enter("ann", true)
		if err := s.TakePlace(t.Context()); err != nil {
			t.Errorf("a place of her own: %v", err)
		}
		if err := s.hold(body); err != nil {
			t.Errorf("bytes of her own: %v", err)
		}
		if i == 0 {
			defer s.Leave()
		}
	}
	if enter("ann", true) != nil {
		t.Error("one account has more than half of the requests")
	}
	if bob := enter("bob", true); bob == nil || bob.TakePlace(t.Context()) == nil ||
		bob.hold(1) == nil {
		t.Error("all was taken, and somebody got in")
	}
	late.Leave()
	one[0].Leave()
	if again := enter("a", false); again == nil || again.TakePlace(t.Context()) != nil ||
		again.hold(body) != nil {
		t.Error("what was given back is not there")
	}
}

// An answer that is not read takes no place, and no holder has more than a quarter of what may
// wait.
func TestAnswersTakeNoPlaces(t *testing.T) {
	r := New(2, body)
	tickets := map[string]*Ticket{}
	for _, name := range []string{"ann", "bob"} {
		s, err := r.Admit(Holder{name, true})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.TakePlace(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Answer(answerRoom * body / 2); err != nil {
			t.Fatal(err)
		}
		tickets[name] = s
	}
	for range 2 {
		if err := r.places.take(t.Context(), Holder{"cas", true}); err != nil {
			t.Errorf("answers that wait hold places: %v", err)
		}
	}
	if tickets["ann"].Answer(1) == nil {
		t.Error("a holder has more than a quarter of what may wait")
	}
	tickets["ann"].Leave()
	if len(r.answers.of) != 1 || r.answers.whole.taken != answerRoom*body/2 {
		t.Errorf("what was read still counts: %v, %d bytes", r.answers.of, r.answers.whole.taken)
	}
}
