package resilience

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// A fault is something that happens to one of the servers behind the service.
type fault struct {
	name  string
	begin func(*Link) error
	end   func(context.Context, *Link) error
	bites bool          // some pages must be refused
	short time.Duration // how long it lasts unless long ones are asked for
	want  []string      // answers, besides pages
}

func spoil(toxics ...string) func(*Link) error {
	return func(l *Link) error {
		for _, toxic := range toxics {
			if err := l.Spoil(toxic); err != nil {
				return err
			}
		}
		return nil
	}
}

func heal(ctx context.Context, l *Link) error {
	l.Heal(ctx)
	return nil
}

// What can happen to any server. Toxics act on what comes back from the server unless they say
// otherwise.
var (
	stopped = fault{name: "stopped", begin: (*Link).Stop,
		end: func(ctx context.Context, l *Link) error { return l.Start(ctx) }}
	silent = fault{name: "silent", begin: spoil(`{"type": "timeout", "attributes": {"timeout": 0}}`),
		end: heal}
	slow = fault{name: "slow", end: heal, begin: spoil(
		`{"name": "there", "type": "latency", "stream": "upstream", "attributes": {"latency": 150, "jitter": 50}}`,
		`{"name": "back", "type": "latency", "attributes": {"latency": 150, "jitter": 50}}`)}
	cut = fault{name: "cut", begin: spoil(`{"type": "limit_data", "attributes": {"bytes": 4000}}`),
		end: heal}
	reset = fault{name: "reset", begin: spoil(`{"type": "reset_peer", "attributes": {"timeout": 50}}`),
		end: heal}
)

// lasts completes a fault that refuses no page, or none surely.
func (f fault) lasts(short time.Duration, want ...string) fault {
	f.short, f.want = short, want
	return f
}

// refuses completes a fault that refuses some.
func (f fault) refuses(short time.Duration, want ...string) fault {
	f = f.lasts(short, want...)
	f.bites = true
	return f
}

const (
	cleanedDeveloper, cleanedWeb = "200 0", "200 0"
	busyDeveloper, busyWeb       = "503 4000", "503 SERVICE_UNAVAILABLE"
	lateDeveloper, lateWeb       = "504 2001", "408 REQUEST_TIMEOUT"
	lostDeveloper, lostWeb       = "502 3000", "500 INTERNAL_ERROR"
)

// databasePatience is how long the service waits for its database, once a statement or transaction.
const databasePatience = 5 * time.Second

// bounded is the longest that an answer may take: the page's deadline, and one wait for the
// database before and after it began.
func bounded() time.Duration { return deadline + 2*databasePatience }

// breakServer does one fault after the other to a server, under light load of both entry points.
func breakServer(t *testing.T, of func(*System) *Link, given int, faults ...fault) {
	t.Helper()
	s := start(t)
	ctx := context.Background()
	var callers []*Caller
	for range 2 {
		callers = append(callers, must(s.Customer(10_000))(t), must(s.User(10_000))(t))
	}
	l := begin(t, s, callers, func(time.Duration) time.Duration { return 200 * time.Millisecond })
	l.pass()
	only(t, "before", l.look(), bounded(), cleanedDeveloper)
	free := 0
	for _, f := range faults {
		if err := f.begin(of(s)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(lasting(f.short, 20*time.Second))
		during := l.look()
		if err := f.end(ctx, of(s)); err != nil {
			t.Fatal(err)
		}
		took, err := s.Ready(ctx)
		if err != nil || took > recovery {
			t.Errorf("%s: ready %v after it, not within %v (%v)", f.name, took, recovery, err)
		}
		l.pass() // what was under way
		during = append(during, l.look()...)
		only(t, f.name, during, bounded(), append(f.want, cleanedDeveloper)...)
		if refused := len(during) - kinds(during)[cleanedDeveloper]; f.bites && refused == 0 {
			t.Errorf("%s: no page was refused: this fault is none", f.name)
		}
		l.pass()
		only(t, fmt.Sprintf("after it was %s (ready after %v)", f.name, took.Round(time.Millisecond)),
			l.look(), bounded(), cleanedDeveloper)
		free += given * len(callers)
	}
	l.end()
	l.audit(free)
}

// TestDatabaseFails: pages are refused as long as nobody can pay for them.
func TestDatabaseFails(t *testing.T) {
	t.Parallel()
	busy := []string{busyDeveloper, busyWeb}
	breakServer(t, func(s *System) *Link { return s.Database }, 1,
		stopped.refuses(3*time.Second, busy...), silent.refuses(databasePatience+2*time.Second, busy...),
		slow.lasts(3*time.Second, busy...),
		cut.lasts(2*time.Second, busy...), reset.refuses(2*time.Second, busy...))
}

// TestRedisFails: windows are counted in each process, and nobody notices.
func TestRedisFails(t *testing.T) {
	t.Parallel()
	breakServer(t, func(s *System) *Link { return s.Redis }, 0,
		stopped.lasts(2*time.Second), silent.lasts(2*time.Second), slow.lasts(time.Second), cut.lasts(
			time.Second,
		), reset.lasts(time.Second))
}

// TestMessagesFail: pages are refused as long as no worker can have them; those that one has may be
// lost, and are not charged.
func TestMessagesFail(t *testing.T) {
	t.Parallel()
	const long = 6 * time.Second // workers are missed after 4
	lost := []string{busyDeveloper, busyWeb, lateDeveloper, lateWeb, lostDeveloper, lostWeb}
	breakServer(t, func(s *System) *Link { return s.NATS }, 0,
		stopped.refuses(long, lost...), silent.refuses(long,
			lost...), slow.lasts(3*time.Second), cut.lasts(
			3*time.Second, lost...,
		), reset.refuses(long, lost...))
}
