package resilience

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"
)

// TestWorkersKilled kills a worker every two seconds under load and starts another: each page ends
// in its result or in an honest error, and only results are paid for.
func TestWorkersKilled(t *testing.T) {
	t.Parallel()
	s := start(t, patient)
	var callers []*Caller
	for range slots {
		callers = append(callers, must(s.Customer(10_000))(t), must(s.User(10_000))(t))
	}
	l := begin(t, s, callers, func(time.Duration) time.Duration { return 0 })
	l.pass()
	only(t, "before", l.look(), patience, cleanedDeveloper, busyDeveloper, busyWeb)
	next := time.NewTicker(2 * time.Second)
	defer next.Stop()
	kills := 0
	for over := time.Now().Add(
		lasting(8*time.Second, 2*time.Minute),
	); time.Now().Before(over); kills++ {
		<-next.C
		if err := s.Replace(rand.IntN(len(s.Workers))); err != nil {
			t.Fatal(err)
		}
	}
	if took, err := s.Ready(context.Background()); err != nil || took > recovery {
		t.Errorf("ready %v after the last kill, not within %v (%v)", took, recovery, err)
	}
	l.pass()
	only(t, "kills", l.end(), patience, cleanedDeveloper, busyDeveloper, busyWeb,
		lostDeveloper, lostWeb)
	again := 0.0
	for _, service := range s.Services {
		again += must(s.Metric(service, "unink_fleet_retries_total"))(t)
	}
	if t.Logf("%d kills, %v pages were given to another worker", kills, again); again == 0 {
		t.Error("no killed worker had a page")
	}
	l.audit(0)
}
