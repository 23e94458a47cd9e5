package httpapi

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"unink"
	"unink/internal/account"
	"unink/internal/credit"
	"unink/internal/httpapi/failure"
)

// call is what the log says of one request. Images, tokens, identities and whole addresses are
// never part of it.
type call struct {
	id      string
	failure *failure.Failure
	notes   []any // alternating keys and values

	user     asked[account.User]     // whose session the request carries
	customer asked[account.Customer] // whose token
	stay     *stay                   // while the request is inside

	form   *uploadForm // of the web entry point
	caller *caller     // once it is known
	key    *credit.Key
	charge charge
	pixels int // of the picture, once its header was read
}

// asked is what was asked for once.
type asked[T any] struct {
	known bool
	v     T
	err   error
}

func (a *asked[T]) get(ask func() (T, error)) (T, error) {
	if !a.known {
		a.v, a.err = ask()
		a.known = true
	}
	return a.v, a.err
}

func (c *call) note(keysAndValues ...any) { c.notes = append(c.notes, keysAndValues...) }

type callKey struct{}

// callOf returns the call that a request belongs to; observe put it there.
func callOf(r *http.Request) *call { return r.Context().Value(callKey{}).(*call) }

// statusClientGone is logged, and only logged, for a request whose client did not wait.
const statusClientGone = 499

// observe gives every request its id, and writes its line of the log and its metrics.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		c := &call{id: rand.Text(), form: &uploadForm{}}
		w.Header().Set("X-Request-Id", c.id)
		rec := &recorder{ResponseWriter: w, answerTime: s.cfg.answerTime(), status: http.StatusOK}
		body := &upload{ReadCloser: r.Body, conn: http.NewResponseController(w),
			most: s.cfg.UploadTimeout}
		r = r.WithContext(context.WithValue(r.Context(), callKey{}, c))
		r.Body = body
		next.ServeHTTP(rec, r)
		if c.failure != nil && c.failure.Kind == failure.Gone {
			rec.status = statusClientGone
		}
		took := time.Since(start)
		s.record(r, c, took)
		if entry, outcome := outcomeOf(r, c); c.failure != nil && entry != "" {
			s.metrics.failures.WithLabelValues(entry, outcome).Inc()
		}
		s.metrics.request(r.Pattern, rec.status, took)
		s.logCall(r, c, rec, took)
		if rec.status == statusClientGone {
			panic(http.ErrAbortHandler) // net/http would answer 200 with nothing
		}
		drain(r, body)
	})
}

const (
	patienceForBody = 5 * time.Second // with a client that sends nothing
	minUploadRate   = 16 << 10        // bytes a second, after that
)

// upload is a request's body, which knows how far it was read and how long that may take.
type upload struct {
	io.ReadCloser
	conn  *http.ResponseController
	began time.Time     // when it was first asked for: what came before was not the client's doing
	most  time.Duration // for all of it
	bytes int64
	ended bool
}

// deadline is until when the next bytes must come.
func (u *upload) deadline() time.Time {
	earned := time.Duration(float64(u.bytes) / minUploadRate * float64(time.Second))
	return u.began.Add(min(u.most, patienceForBody+earned))
}

func (u *upload) begun() bool { return !u.began.IsZero() }

func (u *upload) Read(p []byte) (int, error) {
	if !u.begun() {
		u.began = time.Now()
	}
	if !u.ended { // after it, net/http would take a deadline that passes for a client that went away
		// What takes no deadline is no connection, and waits for nobody.
		_ = u.conn.SetReadDeadline(u.deadline())
	}
	n, err := u.ReadCloser.Read(p)
	u.bytes += int64(n)
	u.ended = err != nil
	return n, err
}

// drained is how much of a body is still read after the answer, in bytes: more than people's
// largest pictures have.
const drained = 64 << 20

// drain throws away what a client goes on sending after it was answered, within a bound and the
// time of an upload. Many clients read only when they have sent everything, and a connection that
// is closed before takes the answer with it (RFC 9112, 9.6).
func drain(r *http.Request, body *upload) {
	waits := r.Header.Get("Expect") != "" && !body.begun() // to be asked for its body
	if r.ContentLength == 0 || body.ended || waits {
		return
	}
	_, _ = io.CopyN(io.Discard, body, drained) // the answer is out: nobody is left to tell
}

func (s *Server) logCall(r *http.Request, c *call, rec *recorder, took time.Duration) {
	level := slog.LevelInfo
	args := []any{
		"request_id", c.id, "method", r.Method, "route", r.Pattern, "status", rec.status,
		"bytes_in", r.ContentLength, "bytes_out", rec.bytes, "ms", took.Milliseconds(), "from",
		network(clientAddress(r, s.cfg.TrustedProxies)),
	}
	if f := c.failure; f != nil {
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
	s.log.Log(r.Context(), level, "request", append(args, c.notes...)...)
}

// network is the part of an address that names no single household: /24 or /48.
func network(a netip.Addr) string {
	bits := 24
	if a.Is6() {
		bits = 48
	}
	prefix, err := a.Prefix(bits)
	if err != nil {
		return ""
	}
	return prefix.String()
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
