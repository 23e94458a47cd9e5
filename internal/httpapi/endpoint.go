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
// It is where the number of requests inside is bounded and where a panic ends.
func (s *Server) endpoint(answer func(http.ResponseWriter, *http.Request) (any, error), write failureWriter) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := s.inside.Do(r.Context(), func() error {
			v, err := guarded(answer, w, r)
			if err != nil {
				return err
			}
			return writeJSON(w, http.StatusOK, v)
		})
		if err == nil {
			return
		}
		f := asFailure(err)
		callOf(r).failure = f
		if f.kind != gone {
			write(w, r, f)
		}
	})
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

// postOnly answers the methods that an entry point does not have.
func postOnly(write failureWriter) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", http.MethodPost)
		write(w, r, fail(wrongMethod, "use POST, not %s", r.Method))
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
	err := read()
	// Without this the deadline would later be taken for a client that went away.
	return errors.Join(err, conn.SetReadDeadline(time.Time{}))
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
	if _, err := w.Write(body.Bytes()); err != nil {
		return &failure{gone, "the client went away", 0, err}
	}
	return nil
}

// refuse writes a failure's headers and body.
func refuse(w http.ResponseWriter, status int, f *failure, body any) {
	if f.retryAfter > 0 {
		seconds := (f.retryAfter + time.Second - 1) / time.Second
		w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
	}
	// The connection's end is all that a failed write could tell, and the log has the rest.
	_ = writeJSON(w, status, body)
}
