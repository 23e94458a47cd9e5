package pause_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"unink/internal/pause"
)

func TestFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if err := pause.For(t.Context(), time.Hour); err != nil || time.Since(begun) != time.Hour {
			t.Errorf("an hour's pause took %v: %v", time.Since(begun), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun = time.Now()
		if err := pause.For(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(begun) != time.Minute {
			t.Errorf("in a context of a minute it took %v: %v", time.Since(begun), err)
		}
	})
}
