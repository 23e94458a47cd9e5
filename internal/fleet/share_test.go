package fleet

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"unink"
	"unink/internal/gate"
)

// Whichever services have pages and whatever workers there are, the shares add up to the slots;
// only where there are fewer slots than services has each of them one.
func TestSharesAddUpProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		slots := rapid.IntRange(0, 40).Draw(rt, "slots")
		ids := rapid.SliceOfNDistinct(rapid.StringMatching("[A-Z]{1,3}"), 1, 12,
			rapid.ID[string]).Draw(rt, "services")
		now := time.Now()
		sum, least, most := 0, slots, 0
		for _, id := range ids {
			r := newRoster(id, time.Second, newLog(t))
			r.note(status{Worker: "w", Slots: slots}, now)
			for _, other := range ids {
				r.rival(other, now)
			}
			share := 0
			r.onCapacity(func(pages int) { share = pages })
			sum, least, most = sum+share, min(least, share), max(most, share)
			r.expire(now.Add(time.Millisecond))
			r.note(status{Worker: "w", Slots: slots}, now.Add(2*time.Second))
			if r.expire(now.Add(2 * time.Second)); share != slots {
				rt.Errorf("%s has %d of %d slots when the others have no pages any more", id, share, slots)
			}
		}
		want := slots
		if slots > 0 {
			want = max(slots, len(ids))
		}
		if sum != want || most-least > 1 {
			rt.Errorf("%d services have %d of %d slots, from %d to %d each", len(ids), sum, slots,
				least, most)
		}
	})
}

// front is a service: a client behind a gate with one place for each page that it may have on its
// way.
type front struct {
	*Client
	*gate.Gate
	pages sync.WaitGroup
}

func (w *world) front(c *Client) *front {
	w.t.Helper()
	g, err := gate.New(gate.Config{Workers: 1, Queue: 1})
	if err != nil {
		w.t.Fatal(err)
	}
	c.OnCapacity(g.Resize)
	return &front{Client: c, Gate: g}
}

// flood has many pages come at once.
func (f *front) flood(w *world, pages int) {
	ctx := w.context()
	for n := range pages {
		f.pages.Go(func() {
			err := f.DoAs(ctx, gate.Turn{}, func() error {
				_, err := f.Clean(ctx, fmt.Append(nil, n), unink.Options{})
				return err
			})
			if err != nil && !errors.Is(err, gate.ErrFull) {
				w.t.Error(err)
			}
		})
	}
}

// Two services with more pages than a fleet can do have together no more on their way than it has
// slots, and no more waiting than one for each of these; and one alone has all.
func TestServicesShareTheSlots(t *testing.T) {
	w := newWorld(t, nil)
	b := newBlocked()
	a := w.front(w.Client)
	other := w.front(w.client())
	w.worker(3, b.clean)
	w.until("a service without pages hinders nobody", func() bool {
		return a.Workers() == 3 && other.Workers() == 3
	})
	a.flood(w, 1)
	w.until("the other one leaves it its share", func() bool { return other.Workers() < 3 })
	other.flood(w, 1)
	w.until("both have their share", func() bool { return a.Workers()+other.Workers() == 3 })
	a.flood(w, 20)
	other.flood(w, 20)
	w.until("both are full", func() bool { return a.Full() && other.Full() })
	if running, waiting := a.Running()+other.Running(), a.Waiting()+other.Waiting(); running != 3 ||
		waiting != 3 {
		t.Errorf("%d are on their way and %d wait for 3 slots", running, waiting)
	}
	w.until("no slot is idle", func() bool { return len(b.pages) == 3 })
	close(b.release)
	a.pages.Wait()
	other.pages.Wait()
	w.until("the shares are given back", func() bool {
		return a.Workers() == 3 && other.Workers() == 3
	})
}
