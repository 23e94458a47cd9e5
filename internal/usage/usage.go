// Package usage keeps a line for each use of the service, from which operators see what is used
// and how, and users what they used. It holds no pictures and no addresses.
package usage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Use is one request for a picture to be cleaned, whatever came of it.
type Use struct {
	At       time.Time
	Entry    string // web or developer
	Caller   string // user, guest, anonymous, pdf-guest, customer or open
	Owner    string // the user or customer as in user:…; empty for guests
	PageSlug string
	Bulk     bool
	PDF      bool
	Outcome  string // ok, or the error's name or code
	Charged  int    // credits
	Millis   int64  // from the request's first byte to its answer
}

// By is what [Service.Stats] can count by.
var By = []string{"day", "entry", "caller", "page_slug", "bulk", "pdf", "outcome"}

// Row counts the uses that have the same values of what is counted by.
type Row struct {
	Values     []string `json:"values"` // in the order asked for; a day as 2006-01-02 (UTC), a flag as true or false
	Uses       int      `json:"uses"`
	Charged    int      `json:"charged"`
	MeanMillis float64  `json:"meanMillis"`
}

// Store keeps uses. Its Stats takes columns of [By] only, each once, and returns at most limit rows
// in any order; from is inclusive, to is not.
type Store interface {
	Add(ctx context.Context, uses []Use) error
	Stats(ctx context.Context, from, to time.Time, by []string, limit int) ([]Row, error)
	History(ctx context.Context, owner string, limit int) ([]Use, error)
	Forget(ctx context.Context, owner string) error
	// Prune deletes at most limit uses before a time that have no owner, and returns how many.
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
		return nil, fmt.Errorf("usage: more than %d rows: choose a shorter time or fewer columns", maxRows)
	}
	slices.SortFunc(rows, func(a, b Row) int { return slices.Compare(a.Values, b.Values) })
	return rows, nil
}

// History returns an owner's uses, newest first: at most limit, which is 1 to 10,000.
func (s *Service) History(ctx context.Context, owner string, limit int) ([]Use, error) {
	if owner == "" {
		return nil, errors.New("usage: a history needs an owner")
	}
	if limit < 1 || limit > maxRows {
		return nil, fmt.Errorf("usage: limit must be from 1 to %d, not %d", maxRows, limit)
	}
	return s.store.History(ctx, owner, limit)
}

// Forget takes a deleted account's name from its uses, which stay in the statistics.
func (s *Service) Forget(ctx context.Context, owner string) error {
	return s.store.Forget(ctx, owner)
}

// Prune deletes the uses before a time that belong to nobody: guests' and those of deleted
// accounts. It returns how many.
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
