package unink

import (
	"errors"
	"strings"
	"testing"
)

// Who builds the program without its networks is told so, and what to do.
func TestSaysWhyNetworksAreMissing(t *testing.T) {
	missing := errors.New(`the networks are not built in: run "make deps"`)
	err := whyNot(missing)
	if !errors.Is(err, ErrInternal) || !strings.Contains(err.Error(), "make deps") {
		t.Errorf("the answer is %v", err)
	}
}
