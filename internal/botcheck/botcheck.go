// Package botcheck tells people from programs: by a proof of work of its own ([ALTCHA]), which
// needs no other service, or by Cloudflare's ([Turnstile]). Either way the visitor's browser gets a
// token, which works once.
package botcheck

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Both errors come wrapped, with what is wrong.
var (
	// ErrInvalid means that the token is missing, wrong, expired or used.
	ErrInvalid = errors.New("bot check failed")
	// ErrUnavailable means that the token could not be checked. The request must not pass.
	ErrUnavailable = errors.New("bot check unavailable")
)

// Checker checks a token, and uses it up. It returns nil, [ErrInvalid], or [ErrUnavailable]. It is
// safe for concurrent use.
type Checker interface {
	Check(ctx context.Context, token, remoteIP string) error
}

// Replay remembers used tokens for all instances of the service.
type Replay interface {
	// Use uses a key, and reports whether that was the first time. The key may be forgotten once it
	// has expired.
	Use(ctx context.Context, key string, expires time.Time) (fresh bool, err error)
}

// skew is how far the clocks of instances may be apart: used tokens are remembered longer by this.
const skew = time.Minute

// useOnce uses up a valid token.
func useOnce(ctx context.Context, replay Replay, key string, expires time.Time) error {
	fresh, err := replay.Use(ctx, key, expires.Add(skew))
	switch {
	case err != nil:
		return fmt.Errorf("%w: used tokens cannot be looked up: %w", ErrUnavailable, err)
	case !fresh:
		return invalid("used before")
	}
	return nil
}

// bounded refuses a token by its length, before anything is done with it.
func bounded(token string, limit int) error {
	switch {
	case token == "":
		return invalid("the token is missing")
	case len(token) > limit:
		return invalid(fmt.Sprintf("the token is longer than %d bytes", limit))
	}
	return nil
}

func invalid(why string) error { return fmt.Errorf("%w: %s", ErrInvalid, why) }
