package limit

import (
	"context"
	"time"
)

// Throttle slows down whoever tries again and again, as with passwords: attempts with one key stay
// inside fixed windows.
type Throttle struct {
	limiter Limiter
	windows []Window
}

// NewThrottle makes a Throttle that counts with a Limiter. The keys are the caller's to tell apart
// from those of other uses of that Limiter.
func NewThrottle(limiter Limiter, windows []Window) *Throttle {
	return &Throttle{limiter: limiter, windows: windows}
}

// Allow counts an attempt and returns 0, or returns how long to wait before the next one. An error
// means that the attempt must not be made.
func (t *Throttle) Allow(ctx context.Context, key string) (wait time.Duration, err error) {
	v, err := t.limiter.Allow(ctx, []string{key}, t.windows)
	if err != nil {
		return 0, err
	}
	return v.RetryAfter, nil
}
