package httpapi

import (
	"context"
	"net/http"
	"sync"
	"time"

	"unink/internal/httpapi/failure"
)

const (
	probeFor     = 5 * time.Second // how long a probe's answer, or a cleaned page, stands
	probeTimeout = 5 * time.Second
)

// readiness knows whether the engine works, from a probe or from a page that it cleaned.
type readiness struct {
	probe func(context.Context) error
	mu    sync.Mutex
	until time.Time // err stands until then
	err   error
}

// check probes the engine unless the last answer still stands. One probe runs at a time, and
// it goes on when its caller leaves: the next one wants the answer too.
func (r *readiness) check(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Now().Before(r.until) {
		return r.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout)
	defer cancel()
	r.err = r.probe(ctx)
	r.until = time.Now().Add(probeFor)
	return r.err
}

// proven notes that the engine has just done its work. It does not wait for a probe that runs.
func (r *readiness) proven() {
	if !r.mu.TryLock() {
		return
	}
	defer r.mu.Unlock()
	r.err, r.until = nil, time.Now().Add(probeFor)
}

// status is the answer of /healthz and /readyz.
type status struct {
	Status string `json:"status"`
	Reason string `json:"reason,omitempty"`
}

// healthz says that the process answers.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	_ = writeJSON(w, http.StatusOK, status{Status: "ok"})
}

// readyz says whether a page sent now would be cleaned.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	reason := ""
	switch {
	case s.work.Closed():
		reason = "shutting down"
	case s.work.Workers() == 0:
		reason = "there are no workers"
	case s.work.Full():
		reason = "the queue is full"
	default:
		if err := s.ready.check(r.Context()); err != nil {
			s.log.Error("probe failed", "err", err)
			reason = "the engine does not answer"
		} else if err := s.databaseAnswers(r.Context()); err != nil {
			s.log.Error("the database does not answer", "err", err)
			reason = "the database does not answer"
		}
	}
	if reason != "" {
		refuse(w, http.StatusServiceUnavailable, &failure.Failure{RetryAfter: failure.RetryAfter},
			status{"unavailable", reason})
		return
	}
	_ = writeJSON(w, http.StatusOK, status{Status: "ready"})
}

// databaseAnswers asks the database, where there is one, for its presence.
func (s *Server) databaseAnswers(ctx context.Context) error {
	if s.services == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, scrapeTime)
	defer cancel()
	return s.services.Database(ctx)
}
