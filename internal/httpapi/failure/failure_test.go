package failure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
)

// away is an error as the store has it when the database does not answer.
type away struct{ error }

func (away) Unavailable() bool { return true }

func (a away) Unwrap() error { return a.error }

// Whatever kept the database from answering, callers hear that they may come again: not that their
// upload or their page was too slow.
func TestDatabaseAwayIsToldAsSuch(t *testing.T) {
	for _, cause := range []error{context.DeadlineExceeded, os.ErrDeadlineExceeded,
		errors.New("connection refused")} {
		f := Of(fmt.Errorf("reserve: %w", away{cause}))
		if f.Kind != Overloaded || f.RetryAfter <= 0 || !errors.Is(f, cause) {
			t.Errorf("%v became %+v", cause, f)
		}
	}
}
