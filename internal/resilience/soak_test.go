package resilience

import (
	"fmt"
	"testing"
	"time"

	"unink/internal/certs/certstest"
	"unink/internal/mail/mailtest"
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

// TestSoak is the whole service as it is deployed: two services with certificates of an authority,
// workers, PostgreSQL, Redis, NATS and a mail server. It works at four fifths of what the workers
// can do while newcomers sign up, and wants nothing to grow: the median of the last fifth of the
// time against that of the second.
func TestSoak(t *testing.T) {
	needsWhole(t)
	authority, mails := certstest.New(t, 90*24*time.Hour), mailtest.Serve(t)
	s := start(t, patient, func(c *Config) {
		c.Mail = "smtp+plain://" + mails.Address
		c.ACME = &ACME{authority.Directory, authority.Trust, authority.Roots, authority.HTTP,
			authority.TLS}
	})
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
	newcomers := 0
	for n := range samples {
		<-tick.C
		if n%5 == 0 {
			arrives(t, s, mails)
			newcomers++
		}
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
	if got, want := len(mails.Recipients()), len(callers)+newcomers; got != want {
		t.Errorf("%d people got mail, not %d", got, want)
	}
	if want := int64(1 + len(callers)); authority.Orders() != want {
		t.Errorf("%d certificates were ordered, not %d", authority.Orders(), want)
	}
}
