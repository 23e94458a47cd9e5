package resilience

import (
	"fmt"
	"testing"
	"time"
)

// memory is the resident memory of each service and worker, in bytes.
func memory(t *testing.T, s *System) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	for i, p := range s.Processes() {
		all[fmt.Sprint(p.Name, " ", i)] = must(p.RSS())(t)
	}
	return all
}

// TestSoak works at four fifths of what the workers can do, and wants nothing to grow: the median
// of the last fifth of the time against that of the second.
func TestSoak(t *testing.T) {
	t.Parallel()
	s := start(t, patient)
	var callers []*Caller
	for range slots {
		callers = append(callers, must(s.Customer(1_000_000))(t))
	}
	l := begin(t, s, callers, func(took time.Duration) time.Duration { return took / 4 })
	for range 5 { // the first pages are what workers make their room for
		l.pass()
	}
	const samples = 50
	tick := time.NewTicker(*soakFor / samples)
	defer tick.Stop()
	seen := map[string][]float64{} // by what is watched
	for range samples {
		<-tick.C
		for name, bytes := range memory(t, s) {
			seen["MiB of "+name] = append(seen["MiB of "+name], float64(bytes)/(1<<20))
		}
		for i, service := range s.Services {
			name := fmt.Sprint("goroutines of service ", i)
			seen[name] = append(seen[name], must(s.Metric(service, "go_goroutines"))(t))
		}
	}
	only(t, "soak", l.end(), patience, cleanedDeveloper)
	const fifth = samples / 5
	const grown, allowance = 1.1, 16 // a tenth, and what comes and goes
	for name, values := range seen {
		early, late := median(values[fifth:2*fifth]), median(values[4*fifth:])
		t.Logf("%s: %.0f, then %.0f", name, early, late)
		if late > grown*early+allowance {
			t.Errorf("%s: %.0f grew to %.0f", name, early, late)
		}
	}
	l.audit(0)
}
