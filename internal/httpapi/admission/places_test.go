package admission

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"unink/internal/httpapi/failure"
)

// Who asks again and again keeps nobody out: holders take turns.
func TestPlacesAreTakenInTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlaces(2)
		flood, ann := Holder{"flood", true}, Holder{"ann", true}
		placed := make(chan string, 100)
		sit := func(who Holder) {
			go func() {
				if err := p.take(t.Context(), who); err == nil {
					placed <- who.Name
				}
			}()
			synctest.Wait()
		}
		for range 20 {
			sit(flood)
		}
		sit(ann)
		sit(Holder{"bob", false})
		for range 4 {
			p.give(true)
			synctest.Wait()
		}
		var got []string
		for len(placed) > 0 {
			got = append(got, <-placed)
		}
		if want := []string{"flood", "flood", "flood", "ann", "bob", "flood"}; !slices.Equal(got, want) {
			t.Errorf("placed were %v, want %v", got, want)
		}
		time.Sleep(placeWait) // all others have given up
		synctest.Wait()
		if len(p.lines) != 0 || len(p.turns) != 0 {
			t.Errorf("nobody waits any more, and there are lines: %v", p.turns)
		}
	})
}

// A place is waited for only so long, and as long as its caller does.
func TestWaitForAPlaceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlaces(1)
		if err := p.take(t.Context(), Holder{"ann", true}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		err := p.take(t.Context(), Holder{"bob", true})
		if failure.Of(err).Kind != failure.Of(errFull()).Kind {
			t.Errorf("%v", err)
		}
		if took := time.Since(began); took != placeWait {
			t.Errorf("the wait took %v", took)
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		if p.take(gone, Holder{"bob", true}) == nil || time.Since(began) != placeWait {
			t.Error("somebody who left waits on")
		}
		p.give(true)
		if err := p.take(t.Context(), Holder{"cas", false}); err != nil {
			t.Errorf("a place that was given back: %v", err)
		}
	})
}
