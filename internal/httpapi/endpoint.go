package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"
)

// A failureWriter writes a failure in an entry point's own envelope.
type failureWriter func(http.ResponseWriter, *http.Request, *failure)

// endpoint makes a handler of a function that answers a request with a JSON value or an error.
// It is where the number of requests inside is bounded, where a panic ends, and where what a
// request holds is settled or released.
func (s *Server) endpoint(answer func(http.ResponseWriter, *http.Request) (any, error), write failureWriter) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := callOf(r)
		err := s.inside.Do(r.Context(), func() error {
			v, err := guarded(answer, w, r)
			defer func() { s.conclude(r, c, err == nil) }()
			if err != nil {
				return s.refuseWith(w, r, err, write)
			}
			return writeAnswer(w, v)
		})
		if err != nil && c.failure == nil {
			_ = s.refuseWith(w, r, err, write)
		}
	})
}

// refuseWith answers an error, and returns it.
func (s *Server) refuseWith(w http.ResponseWriter, r *http.Request, err error, write failureWriter) error {
	f := asFailure(err)
	callOf(r).failure = f
	if f.kind != gone {
		write(w, r, f)
	}
	return f
}

// answered is an answer with another status than 200.
type answered struct {
	status int
	body   any // nil is no body
}

func writeAnswer(w http.ResponseWriter, v any) error {
	status := http.StatusOK
	if a, ok := v.(answered); ok {
		status, v = a.status, a.body
	}
	if v == nil {
		w.WriteHeader(status)
		return nil
	}
	return writeJSON(w, status, v)
}

// guarded turns a panic into an error, with the place it came from.
func guarded(answer func(http.ResponseWriter, *http.Request) (any, error), w http.ResponseWriter, r *http.Request) (v any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return answer(w, r)
}

// only answers the methods that an entry point does not have.
func only(method string, write failureWriter) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", method)
		write(w, r, fail(wrongMethod, "use %s, not %s", method, r.Method))
	})
}

// readBody hands the request's body to read, bounded in size and time.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request, limit int64, read func() error) error {
	if r.ContentLength > limit {
		return &http.MaxBytesError{Limit: limit}
	}
	r.Body = http.MaxBytesReader(w, r.Body, limit)
	conn := http.NewResponseController(w)
	if err := conn.SetReadDeadline(time.Now().Add(s.cfg.UploadTimeout)); err != nil {
		return err
	}
	if err := read(); err != nil {
		return err // the deadline stays: net/http waits for some of what is left of the body
	}
	// Without this the deadline would later be taken for a client that went away.
	return conn.SetReadDeadline(time.Time{})
}

// writeJSON writes an answer. Its error says that the client is not there to read it.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false) // it is JSON, and says so
	if err := encoder.Encode(v); err != nil {
		return err
	}
	h := w.Header()
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json")
	}
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(status)
	_, err := w.Write(body.Bytes())
	err = errors.Join(err, http.NewResponseController(w).Flush())
	if err != nil {
		return failWith(err, gone, "the client went away")
	}
	return nil
}

// refuse writes a failure's headers and body.
func refuse(w http.ResponseWriter, status int, f *failure, body any) {
	if f.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(f.seconds()))
	}
	// The connection's end is all that a failed write could tell, and the log has the rest.
	_ = writeJSON(w, status, body)
}
