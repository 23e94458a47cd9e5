// Package limit bounds how often a caller may ask, in exact rolling windows, and how much of a
// caller's work may run at once.
//
// A [Limiter] counts in this process ([Memory]), in Redis for several processes ([Redis]), or in
// Redis with memory to fall back on ([Fallback]).
package limit

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"
)

// Window is a rule: at most Limit requests in any span of length Every. A span is half open: a
// request at t counts until just before t+Every.
type Window struct {
	Name  string // what a refusal calls it, such as "minute"
	Limit int    // requests; at least 1
	Every time.Duration
}

// Validate says which field is out of range.
func (w Window) Validate() error {
	switch {
	case w.Limit < 1:
		return fmt.Errorf("limit of window %q must be at least 1, not %d", w.Name, w.Limit)
	case w.Every < time.Millisecond:
		return fmt.Errorf("length of window %q must be at least 1ms, not %v", w.Name, w.Every)
	}
	return nil
}

// Verdict is a Limiter's answer to one request.
type Verdict struct {
	OK bool
	// Window names what refuses the request: of several, the one that makes the caller wait longest.
	Window string
	// RetryAfter is how long it takes until the request would pass, if no other one passes meanwhile.
	RetryAfter time.Duration
}

// Limiter decides whether a request may pass now. It is safe for concurrent use.
type Limiter interface {
	// Allow lets a request pass, and counts it, when each of its keys is inside each of the windows.
	// A request that is refused counts nowhere. A key is always to be asked with the same windows.
	// An error means that there is no verdict: the request must not pass.
	Allow(ctx context.Context, keys []string, windows []Window) (Verdict, error)
}

// orWorse is the verdict v, or a refusal by a window when that takes longer. A wait of 0 refuses
// nothing.
func (v Verdict) orWorse(window string, wait time.Duration) Verdict {
	if wait <= v.RetryAfter {
		return v
	}
	return Verdict{Window: window, RetryAfter: wait}
}

// id stands for a key: of a fixed size, and telling no address or account.
type id [16]byte

// identify returns the ids of keys, each one once.
func identify(keys []string) []id {
	ids := make([]id, 0, len(keys))
	for _, key := range keys {
		sum := sha256.Sum256([]byte(key))
		if short := id(sum[:16]); !slices.Contains(ids, short) {
			ids = append(ids, short)
		}
	}
	return ids
}

func validate(windows []Window) error {
	for _, w := range windows {
		if err := w.Validate(); err != nil {
			return fmt.Errorf("limit: %w", err)
		}
	}
	return nil
}

// longest is the window of the greatest length; the zero window when there is none.
func longest(windows []Window) (long Window) {
	for _, w := range windows {
		if w.Every > long.Every {
			long = w
		}
	}
	return long
}

// most is the greatest limit.
func most(windows []Window) (n int) {
	for _, w := range windows {
		n = max(n, w.Limit)
	}
	return n
}
