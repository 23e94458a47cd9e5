package account

import (
	"context"
	"errors"
	"time"
)

const (
	keepTokens = 365 * 24 * time.Hour // customers' tokens that have ended
	batch      = 200                  // so that nobody waits long for the end of a transaction
)

// Keep says how long accounts are kept that nobody uses.
type Keep struct {
	// since somebody last signed up with the address; at least as long as a link is good
	Unconfirmed time.Duration
	Anonymous   time.Duration // since the app last used the account
}

// Prune deletes sessions and one-time tokens that have ended, and customers' tokens that ended over
// a year ago. With the credits that they began with, it deletes accounts whose e-mail address was
// not confirmed in time, and anonymous ones that were not used for too long; who ever bought
// something, or was given other credits, stays.
func (s *Service) Prune(ctx context.Context, keep Keep) error {
	now := s.now()
	unconfirmed := now.Add(-max(keep.Unconfirmed, verifyFor))
	return errors.Join(
		s.store.Prune(ctx, now.Add(-sessionLife), now.Add(-sessionIdle), now),
		inBatches(func() (int, error) { return s.store.PruneTokens(ctx, now.Add(-keepTokens), batch) }),
		s.pruneUsers(ctx, Registered, unconfirmed),
		s.pruneUsers(ctx, Anonymous, now.Add(-keep.Anonymous)),
	)
}

func (s *Service) pruneUsers(ctx context.Context, kind Kind, before time.Time) error {
	all := 0
	err := inBatches(func() (int, error) {
		n, err := s.store.PruneUsers(ctx, kind, before, batch)
		all += n
		return n, err
	})
	if all > 0 {
		s.log.InfoContext(ctx, "unused accounts were deleted", "kind", kind, "accounts", all)
	}
	return err
}

// inBatches deletes until a batch is not full.
func inBatches(prune func() (int, error)) error {
	for {
		if n, err := prune(); err != nil || n < batch {
			return err
		}
	}
}
