// Package pause waits for a time, and no longer than a context lasts.
package pause

import (
	"context"
	"time"
)

// For returns nil after the time, or the context's error when that ends first.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
