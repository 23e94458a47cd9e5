package limit

import (
	"context"
	"time"
)

// Throttle holds back whoever tries again and again, as with passwords: attempts with one key stay
// inside fixed windows.
type Throttle struct {
	limiter      Limiter
	stop, slower []Window
}

// NewThrottle makes a Throttle that counts with a Limiter, with windows that stop who tries for too
// long, and others that only make slower. The keys are the caller's to tell apart from those of
// other uses of that Limiter.
func NewThrottle(limiter Limiter, stop, slower []Window) *Throttle {
	return &Throttle{limiter: limiter, stop: stop, slower: slower}
}

// Allow counts an attempt and returns 0, or returns how long to wait before the next one. An error
// means that the attempt must not be made.
func (t *Throttle) Allow(ctx context.Context, key string) (wait time.Duration, err error) {
	return t.attempt(ctx, key, t.stop)
}

// Slow is Allow with the windows that only make slower.
func (t *Throttle) Slow(ctx context.Context, key string) (wait time.Duration, err error) {
	return t.attempt(ctx, key, t.slower)
}

func (t *Throttle) attempt(ctx context.Context, key string,
	windows []Window) (wait time.Duration, err error) {
	v, err := t.limiter.Allow(ctx, []string{key}, windows)
	if err != nil {
		return 0, err
	}
	return v.RetryAfter, nil
}
