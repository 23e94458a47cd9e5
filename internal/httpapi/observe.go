package httpapi

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"unink"
	"unink/internal/httpapi/address"
	"unink/internal/httpapi/admission"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/failure"
)

// statusClientGone is logged, and only logged, for a request whose client did not wait.
const statusClientGone = 499

// observe gives every request its id, and writes its line of the log and its metrics.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		c, ctx := call.New(r.Context())
		w.Header().Set("X-Request-Id", c.ID)
		rec := &recorder{ResponseWriter: w, answerTime: s.Config.AnswerTime(), status: http.StatusOK}
		body := admission.NewBody(r, w, s.Config.UploadTimeout)
		r = r.WithContext(ctx)
		r.Body = body
		next.ServeHTTP(rec, r)
		if c.Failure != nil && c.Failure.Kind == failure.Gone {
			rec.status = statusClientGone
		}
		took := time.Since(start)
		s.record(r, c, took)
		if entry, outcome := outcomeOf(r, c); c.Failure != nil && entry != "" {
			s.metrics.failures.WithLabelValues(entry, outcome).Inc()
		}
		s.metrics.request(r.Pattern, rec.status, took)
		s.logCall(r, c, rec, took)
		if rec.status == statusClientGone {
			panic(http.ErrAbortHandler) // net/http would answer 200 with nothing
		}
		body.Drain(r)
	})
}

func (s *Server) logCall(r *http.Request, c *call.Call, rec *recorder, took time.Duration) {
	level := slog.LevelInfo
	args := []any{
		"request_id", c.ID, "method", r.Method, "route", r.Pattern, "status", rec.status,
		"bytes_in", r.ContentLength, "bytes_out", rec.bytes, "ms", took.Milliseconds(), "from",
		address.Network(address.Client(r, s.Config.TrustedProxies)),
	}
	if f := c.Failure; f != nil {
		args = append(args, "failure", f.Message)
		var refused *unink.Error
		switch {
		case rec.status == http.StatusInternalServerError, rec.status == http.StatusBadGateway:
			level = slog.LevelError
			args = append(args, "cause", f.Cause)
		case errors.As(f.Cause, &refused): // what a decoder says is for nobody else
			args = append(args, "cause", refused.Err)
		}
	}
	s.Log.Log(r.Context(), level, "request", append(args, c.Notes...)...)
}

// recorder remembers what was answered, and gives the client its time to take it.
type recorder struct {
	http.ResponseWriter
	answerTime time.Duration
	status     int
	bytes      int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	// What takes no deadline is no connection, and waits for nobody.
	_ = http.NewResponseController(r.ResponseWriter).SetWriteDeadline(time.Now().Add(r.answerTime))
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	n, err := r.ResponseWriter.Write(b)
	r.bytes += n
	return n, err
}

// Unwrap lets [http.ResponseController] reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
