// Package usage keeps a line for each use of the service, and sums of the requests that it refused,
// from which operators see what is used and how, and users what they used. It holds no pictures and
// no addresses.
package usage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Use is one request for a picture to be cleaned.
type Use struct {
	At       time.Time
	Entry    string // web or developer
	Caller   string // user, guest, anonymous, pdf-guest, customer or open
	Owner    string // the user or customer as in user:…; empty for guests
	PageSlug string
	Bulk     bool
	PDF      bool
	Outcome  string // OK, Cancelled, or the error's name or code
	Charged  int    // credits
	Millis   int64  // from the request's first byte to its answer
}

// Refused reports whether nothing came of a use and nothing was paid for it.
func (u Use) Refused() bool { return u.Outcome != OK && u.Charged == 0 }

// Refusal is what requests have in common that were refused alike within a minute.
type Refusal struct {
	Minute  time.Time // when it began, in UTC
	Entry   string
	Caller  string
	Owner   string
	Bulk    bool
	PDF     bool
	Outcome string
}

// Refusals counts them.
type Refusals struct {
	Refusal
	Requests int
	Millis   int64 // of all together
}

// Place is where a history goes on: with the uses before a moment, and those at it whose ids come
// before one. The zero Place is before the newest.
type Place struct {
	At time.Time
	ID string
}

// By is what [Service.Stats] can count by.
var By = []string{"day", "entry", "caller", "page_slug", "bulk", "pdf", "outcome"}

// Row counts the uses that have the same values of what is counted by.
type Row struct {
	// in the order asked for; a day as 2006-01-02 (UTC), a flag as true or false
	Values     []string `json:"values"`
	Uses       int      `json:"uses"`
	Charged    int      `json:"charged"`
	MeanMillis float64  `json:"meanMillis"`
}

// Day counts an owner's uses of one day.
type Day struct {
	Day     string `json:"day"` // 2006-01-02 (UTC)
	Uses    int    `json:"uses"`
	Cleaned int    `json:"cleaned"` // those whose outcome is ok
	Charged int    `json:"charged"`
}

// Active counts what callers of a kind used, and how many they were. Guests are nobody in
// particular.
type Active struct {
	Caller string `json:"caller"`
	Uses   int    `json:"uses"`
	Owners int    `json:"owners"` // 0 for guests and open services
}

// Took counts the cleaned pages of an entry point that took a time.
type Took struct {
	Entry  string
	Millis int64 // rounded down to [TookStep]
	Uses   int
}

// Times of pages are counted in steps, and all above the most together, which bounds how many there
// are.
const (
	TookStep = 10      // milliseconds
	TookMost = 300_000 // milliseconds
)

// Latency says how long an entry point's cleaned pages took, in milliseconds rounded down to 10:
// half of them no longer than P50, and so on.
type Latency struct {
	Entry string `json:"entry"`
	Pages int    `json:"pages"`
	P50   int64  `json:"p50"`
	P90   int64  `json:"p90"`
	P99   int64  `json:"p99"`
}

// Cancelled is the outcome of a use whose caller went away before there was an answer.
const Cancelled = "CANCELLED"

// OK is the outcome of a use whose page was cleaned.
const OK = "ok"

// Store keeps uses. Its Stats takes columns of [By] only, each once, and returns at most limit rows
// in any order; from is inclusive, to is not.
type Store interface {
	// Add keeps uses that were not refused.
	Add(ctx context.Context, uses []Use) error
	// Count adds refusals to those that are known.
	Count(ctx context.Context, refusals []Refusals) error
	// Refusals returns at most limit of an owner's, newest first.
	Refusals(ctx context.Context, owner string, limit int) ([]Refusals, error)
	Stats(ctx context.Context, from, to time.Time, by []string, limit int) ([]Row, error)
	// History returns an owner's uses from a place on, newest first, and the place of those that are
	// left, the zero one for none.
	History(ctx context.Context, owner string, from Place, limit int) ([]Use, Place, error)
	// Days returns an owner's days with uses, in their order.
	Days(ctx context.Context, owner string, from, to time.Time) ([]Day, error)
	// Active counts by caller, in the callers' order.
	Active(ctx context.Context, from, to time.Time) ([]Active, error)
	// Took counts the uses with the outcome [OK], by entry point and rising time.
	Took(ctx context.Context, from, to time.Time) ([]Took, error)
	Forget(ctx context.Context, owner string) error
	// Prune deletes at most limit uses before a time that have no owner, and all refusals before it.
	// It returns how many uses went.
	Prune(ctx context.Context, before time.Time, limit int) (int, error)
}

// Service reads what a [Recorder] wrote.
type Service struct {
	store Store
}

// New makes a service on a store.
func New(store Store) *Service { return &Service{store: store} }

// maxRows bounds what [Service.Stats] returns, as callers choose how many page slugs there are.
const maxRows = 10_000

// Stats counts the uses from a moment until just before another by columns of [By], in the order
// of their values. Without a column it returns one row, or none where there was no use.
func (s *Service) Stats(ctx context.Context, from, to time.Time, by []string) ([]Row, error) {
	for i, column := range by {
		if !slices.Contains(By, column) {
			return nil, fmt.Errorf("usage: cannot count by %q, only by %s", column, strings.Join(By, ", "))
		}
		if slices.Contains(by[:i], column) {
			return nil, fmt.Errorf("usage: %s is named twice", column)
		}
	}
	rows, err := s.store.Stats(ctx, from, to, by, maxRows+1)
	if err != nil {
		return nil, err
	}
	if len(rows) > maxRows {
		return nil, fmt.Errorf("usage: more than %d rows: choose a shorter time or fewer columns",
			maxRows)
	}
	slices.SortFunc(rows, func(a, b Row) int { return slices.Compare(a.Values, b.Values) })
	return rows, nil
}

// History returns an owner's uses from a place on, newest first: at most limit, which is 1 to
// 10,000. Next is where those that are left begin, the zero [Place] when there are none.
func (s *Service) History(ctx context.Context, owner string, from Place,
	limit int) (uses []Use, next Place, err error) {
	if owner == "" {
		return nil, next, errors.New("usage: a history needs an owner")
	}
	if limit < 1 || limit > maxRows {
		return nil, next, fmt.Errorf("usage: limit must be from 1 to %d, not %d", maxRows, limit)
	}
	return s.store.History(ctx, owner, from, limit)
}

// Refusals returns what an owner was refused, newest first: at most limit, which is 1 to 10,000.
func (s *Service) Refusals(ctx context.Context, owner string, limit int) ([]Refusals, error) {
	if owner == "" {
		return nil, errors.New("usage: refusals need an owner")
	}
	if limit < 1 || limit > maxRows {
		return nil, fmt.Errorf("usage: limit must be from 1 to %d, not %d", maxRows, limit)
	}
	return s.store.Refusals(ctx, owner, limit)
}

// Days returns the days on which an owner used something from a moment until just before another,
// in their order.
func (s *Service) Days(ctx context.Context, owner string, from, to time.Time) ([]Day, error) {
	if owner == "" {
		return nil, errors.New("usage: days need an owner")
	}
	return s.store.Days(ctx, owner, from, to)
}

// Active counts who used something from a moment until just before another, by kind of caller.
func (s *Service) Active(ctx context.Context, from, to time.Time) ([]Active, error) {
	return s.store.Active(ctx, from, to)
}

// Latencies says how long cleaned pages took from a moment until just before another, by entry
// point. The percentiles are by nearest rank.
func (s *Service) Latencies(ctx context.Context, from, to time.Time) ([]Latency, error) {
	times, err := s.store.Took(ctx, from, to)
	if err != nil {
		return nil, err
	}
	all := []Latency{}
	for len(times) > 0 {
		entry := times[0].Entry
		n := slices.IndexFunc(times, func(t Took) bool { return t.Entry != entry })
		if n < 0 {
			n = len(times)
		}
		all = append(all, latency(entry, times[:n]))
		times = times[n:]
	}
	return all, nil
}

// latency is made of one entry point's times, which rise.
func latency(entry string, times []Took) Latency {
	l := Latency{Entry: entry}
	for _, t := range times {
		l.Pages += t.Uses
	}
	rank := func(percent int) int64 {
		left := (l.Pages*percent + 99) / 100
		for _, t := range times {
			if left -= t.Uses; left <= 0 {
				return t.Millis
			}
		}
		return 0
	}
	l.P50, l.P90, l.P99 = rank(50), rank(90), rank(99)
	return l
}

// Forget takes a deleted account's name from its uses and refusals, which stay in the statistics.
func (s *Service) Forget(ctx context.Context, owner string) error {
	return s.store.Forget(ctx, owner)
}

// Prune deletes the uses before a time that belong to nobody: guests' and those of deleted
// accounts; and everybody's refusals before it. It returns how many uses went.
func (s *Service) Prune(ctx context.Context, before time.Time) (pruned int, err error) {
	const batch = 1000 // so that nobody waits long for the end of a statement
	for {
		n, err := s.store.Prune(ctx, before, batch)
		pruned += n
		if err != nil || n < batch {
			return pruned, err
		}
	}
}
