package httpapi

import (
	"context"
	"net/http"

	"unink/internal/httpapi/call"
	"unink/internal/httpapi/failure"
)

// status is the answer of /healthz and /readyz.
type status struct {
	Status string `json:"status"`
	Reason string `json:"reason,omitempty"`
}

// healthz says that the process answers.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	_ = call.WriteJSON(w, http.StatusOK, status{Status: "ok"})
}

// readyz says whether a page sent now would be cleaned.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	reason := ""
	switch {
	case s.engine.Gate.Closed():
		reason = "shutting down"
	case s.engine.Gate.Workers() == 0:
		reason = "there are no workers"
	case s.engine.Gate.Full():
		reason = "the queue is full"
	default:
		if err := s.engine.Ready(r.Context()); err != nil {
			s.Log.Error("probe failed", "err", err)
			reason = "the engine does not answer"
		} else if err := s.databaseAnswers(r.Context()); err != nil {
			s.Log.Error("the database does not answer", "err", err)
			reason = "the database does not answer"
		}
	}
	if reason != "" {
		call.WriteFailure(w, http.StatusServiceUnavailable,
			&failure.Failure{RetryAfter: failure.RetryAfter},
			status{"unavailable", reason})
		return
	}
	_ = call.WriteJSON(w, http.StatusOK, status{Status: "ready"})
}

// databaseAnswers asks the database, where there is one, for its presence.
func (s *Server) databaseAnswers(ctx context.Context) error {
	if s.Services == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, scrapeTime)
	defer cancel()
	return s.Services.Database(ctx)
}
