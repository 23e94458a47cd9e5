package httpapi

import (
	"net/http"
	"time"

	"unink/internal/credit"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/developer"
	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/web"
	"unink/internal/usage"
)

// record adds a request for a page to the statistics.
func (s *Server) record(r *http.Request, c *call.Call, took time.Duration) {
	if s.Services == nil || c.Caller == nil {
		return
	}
	entry, outcome := outcomeOf(r, c)
	if entry == "" {
		return
	}
	charged := 0
	if c.Charged {
		charged = 1
	}
	s.Services.Uses.Record(usage.Use{
		At: s.Now(), Entry: entry, Caller: c.Caller.Kind, Owner: c.Caller.Owner,
		PageSlug: c.PageSlug,
		Bulk:     c.Bulk, PDF: c.PDF, Outcome: outcome, Charged: charged,
		Millis: took.Milliseconds(),
	})
}

// outcomeOf names the entry point of a request for a page, and how it ended: [usage.OK],
// [usage.Cancelled], or the error's name or code there. Other requests have no entry point.
func outcomeOf(r *http.Request, c *call.Call) (entry, outcome string) {
	var named func(failure.Kind) string
	switch r.Pattern {
	case "POST /api/process-image":
		entry, named = credit.Web, web.Outcome
	case "POST /cleanup":
		entry, named = credit.Developer, developer.Outcome
	default:
		return "", ""
	}
	switch {
	case c.Failure == nil:
		return entry, usage.OK
	case c.Failure.Kind == failure.Gone:
		return entry, usage.Cancelled
	}
	return entry, named(c.Failure.Kind)
}
