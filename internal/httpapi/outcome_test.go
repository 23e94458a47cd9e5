package httpapi

import (
	"net/http"
	"testing"

	"unink/internal/credit"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/failure"
	"unink/internal/usage"
)

// Who closes the window is no error of the service's.
func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		pattern        string
		failure        *failure.Failure
		entry, outcome string
	}{
		{"POST /cleanup", nil, credit.Developer, usage.OK},
		{"POST /cleanup", failure.New(failure.Gone, "the client went away"), credit.Developer, usage.Cancelled},
		{"POST /cleanup", failure.New(failure.BrokenImage, "no picture"), credit.Developer, "1005"},
		{"POST /api/process-image", nil, credit.Web, usage.OK},
		{"POST /api/process-image", failure.New(failure.Gone, "the client went away"), credit.Web, usage.Cancelled},
		{"POST /api/process-image", failure.New(failure.Unexpected, "a fault"), credit.Web, "INTERNAL_ERROR"},
		{"GET /api/me", failure.New(failure.Unexpected, "a fault"), "", ""},
	} {
		entry, outcome := outcomeOf(&http.Request{Pattern: c.pattern}, &call.Call{Failure: c.failure})
		if entry != c.entry || outcome != c.outcome {
			t.Errorf("%s, %v: %s %s, want %s %s", c.pattern, c.failure, entry, outcome, c.entry, c.outcome)
		}
	}
}
