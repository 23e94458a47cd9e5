package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"unink/internal/misuse"
)

func TestExitCodes(t *testing.T) {
	for want, err := range map[int]error{
		exitDone:        nil,
		exitFailed:      errors.New("anything"),
		exitUsage:       misuse.Errorf("wrong"),
		exitSomeFailed:  errSomeFailed,
		exitInterrupted: fmt.Errorf("stopped: %w", context.Canceled),
	} {
		var b bytes.Buffer
		if got := (&environment{stderr: &b}).exit(err); got != want {
			t.Errorf("%v: exit code %d, want %d", err, got, want)
		}
	}
}
