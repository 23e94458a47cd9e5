package resilience

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestOverload sends five times as many pages as can be cleaned: most are refused, and at once; the
// others come back; memory stays; and it is over when it is over.
func TestOverload(t *testing.T) {
	s := start(t, patient)
	var callers []*Caller
	for range 4 {
		callers = append(callers, must(s.Customer(10_000))(t))
	}
	l := begin(t, s, callers, func(time.Duration) time.Duration { return 0 })
	const measured = 3 * time.Second
	time.Sleep(measured)
	calm := l.end()
	only(t, "before", calm, patience, cleanedDeveloper)
	if len(calm) == 0 {
		t.Fatal("no page came back: there is no capacity")
	}
	before := memory(t, s)

	began := time.Now()
	arrivals := time.NewTicker(measured / time.Duration(5*len(calm)))
	defer arrivals.Stop()
	over := time.NewTicker(lasting(6*time.Second, 5*time.Minute))
	defer over.Stop()
	var inside sync.WaitGroup
	var waiting atomic.Int64
	for n, going := 0, true; going; n++ {
		select {
		case <-arrivals.C:
			c := callers[n%len(callers)]
			waiting.Add(1)
			inside.Go(func() {
				defer waiting.Add(-1)
				l.note(c, c.Clean(Page))
			})
		case <-over.C: // until the queue, which takes many small pages, has been full for long
			going = !l.mostlyRefused(waiting.Load()) && time.Since(began) < patience
		}
	}
	during := memory(t, s)
	ended := time.Now()
	// what waits then is cleaned first
	limit := recovery + time.Duration(waiting.Load())*measured/time.Duration(len(calm))
	var recovered sync.WaitGroup
	recovered.Go(func() {
		for a := callers[0].Clean(Page); ; a = callers[0].Clean(Page) {
			l.note(callers[0], a)
			if a.Cleaned() {
				break
			}
			if time.Since(ended) > patience {
				t.Error("no page is cleaned any more")
				return
			}
		}
		if took := time.Since(ended); took > limit {
			t.Errorf("%v until a page was cleaned again, not %v", took, limit)
		}
	})
	recovered.Wait()
	inside.Wait()
	answers := l.look()
	only(t, "overload", answers, patience, cleanedDeveloper, busyDeveloper)
	var accepted, refused []time.Duration
	for _, a := range answers {
		if a.Cleaned() {
			accepted = append(accepted, a.Took)
		} else {
			refused = append(refused, a.Took)
		}
	}
	if len(refused) < len(accepted) {
		t.Errorf("%d refused and %d accepted: that was no overload", len(refused), len(accepted))
	} else if slow, quick := median(accepted), median(refused); quick > slow/2 {
		t.Errorf("who was refused waited %v, and who was not %v", quick, slow)
	}
	const most = 200 << 20
	for name, bytes := range during {
		if bytes > before[name]+most {
			t.Errorf("%s grew from %d to %d MiB", name, before[name]>>20, bytes>>20)
		}
	}
	l.audit(0)
}

// mostlyRefused reports whether more pages were refused than came back or wait, since the last
// look.
func (l *load) mostlyRefused(waiting int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	cleaned := 0
	for _, a := range l.answers {
		if a.Cleaned() {
			cleaned++
		}
	}
	return len(l.answers)-cleaned > cleaned+int(waiting)
}

func median[T int64 | float64 | time.Duration](of []T) T {
	return slices.Sorted(slices.Values(of))[len(of)/2]
}
