package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"unink/internal/httpapi/failure"
)

// A failureWriter writes a failure in an entry point's own envelope.
type failureWriter func(http.ResponseWriter, *http.Request, *failure.Failure)

// entry is one of the two entry points.
type entry struct {
	known func(*http.Request) (name string) // whose request it is by its header; empty for strangers
	write failureWriter
}

func (s *Server) web() entry { return entry{s.door.userOf, writeWebFailure} }

func (s *Server) developer() entry { return entry{s.door.customerOf, writeDeveloperFailure} }

// answerer answers a request with a JSON value or an error.
type answerer func(http.ResponseWriter, *http.Request) (any, error)

// endpoint makes a handler of an answerer. It is where the number of requests inside is bounded,
// where a panic ends, and where what a request holds is given back: before a client can know that
// its request has ended.
func (s *Server) endpoint(answer answerer, e entry) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := callOf(r)
		stay, err := s.rooms.admit(s.holderOf(r, e))
		if err == nil {
			defer stay.leave()
			c.stay = stay
			err = s.answer(answer, w, r)
		}
		if err != nil && c.failure == nil {
			if stay != nil {
				stay.rise()
			}
			_ = s.refuseWith(w, r, err, e.write)
		}
	})
}

// holderOf tells on whose account a request is there, before anything of its body was read.
func (s *Server) holderOf(r *http.Request, e entry) holder {
	if name := e.known(r); name != "" {
		return holder{name, true}
	}
	return stranger(clientAddress(r, s.cfg.TrustedProxies))
}

// answer has an admitted request worked on and writes its answer. An error that it returns is the
// answer that the caller has still to write, unless the call has its failure already.
func (s *Server) answer(answer answerer, w http.ResponseWriter, r *http.Request) error {
	c := callOf(r)
	if err := c.stay.sit(r.Context()); err != nil {
		return err
	}
	v, err := guarded(answer, w, r)
	c.charge.freeSlot()
	if err != nil {
		s.conclude(r, c, false)
		return err
	}
	return s.deliver(w, r, v)
}

// refuseWith answers an error, and returns it.
func (s *Server) refuseWith(w http.ResponseWriter, r *http.Request, err error,
	write failureWriter) error {
	f := failure.Of(err)
	callOf(r).failure = f
	if f.Kind != failure.Gone {
		write(w, r, f)
	}
	return f
}

// answered is an answer with another status than 200.
type answered struct {
	status int
	body   any // nil is no body
}

// deliver writes an answer. What it costs is settled before its first byte: whoever has any of a
// picture has paid for it, and whoever went away before has not. The request gives up its place
// first, since a client may take long to read.
func (s *Server) deliver(w http.ResponseWriter, r *http.Request, v any) error {
	c, status := callOf(r), http.StatusOK
	if a, ok := v.(answered); ok {
		status, v = a.status, a.body
	}
	switch v := v.(type) {
	case nil:
		c.stay.rise()
		w.WriteHeader(status)
		return nil
	case download:
		return s.hand(w, r, v)
	}
	body, err := encodeJSON(v)
	if err == nil {
		err = c.stay.answer(len(body))
	}
	if left := r.Context().Err(); err == nil && left != nil {
		err = left
	}
	s.conclude(r, c, err == nil)
	if err != nil {
		return err
	}
	s.grantTime(w) // the database may have taken what the client had
	writeHeader(w, status, len(body))
	return push(w, body)
}

// grantTime gives the client its time to take what is written next. What takes no deadline is no
// connection, and waits for nobody.
func (s *Server) grantTime(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.cfg.answerTime()))
}

// guarded turns a panic into an error, with the place it came from.
func guarded(answer answerer, w http.ResponseWriter, r *http.Request) (v any, err error) {
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
		write(w, r, failure.New(failure.WrongMethod, "use %s, not %s", method, r.Method))
	})
}

// readBody hands the request's body to read, bounded in size and time. The request gives up its
// place while it waits for the client, and takes one again when the body is there.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request, limit int64,
	read func() error) error {
	if r.ContentLength > limit {
		return &http.MaxBytesError{Limit: limit}
	}
	c := callOf(r)
	if u, ok := r.Body.(*upload); ok { // what may be larger than a picture may take longer
		u.most = time.Duration(float64(u.most) * max(1, float64(limit)/maxDeveloperBody))
	}
	r.Body = http.MaxBytesReader(w, counted{r.Body, c.stay}, limit)
	c.stay.rise()
	if err := read(); err != nil {
		return err // the deadline stays: net/http waits for some of what is left of the body
	}
	if err := c.stay.sit(r.Context()); err != nil {
		return err
	}
	// Without this the deadline would later be taken for a client that went away.
	return http.NewResponseController(w).SetReadDeadline(time.Time{})
}

// counted is a body whose bytes take room.
type counted struct {
	io.ReadCloser
	stay *stay
}

func (b counted) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if full := b.stay.hold(n); full != nil {
		return 0, full
	}
	return n, bodyFailure(err)
}

// bodyFailure tells a body that breaks the rules of its transfer, such as those of chunks, from a
// client that went away or is slow.
func bodyFailure(err error) error {
	var network net.Error
	switch {
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, http.ErrBodyReadAfterClose):
		return err
	case errors.As(err, &network):
		return failure.With(err, failure.Gone, "the client went away")
	}
	return failure.With(err, failure.BadRequest,
		"the request body is not sent as its header says, such as in "+
			"chunks that are broken; send it with a Content-Length")
}

// writeJSON writes an answer. Its error says that the client is not there to read it.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	body, err := encodeJSON(v)
	if err != nil {
		return err
	}
	writeHeader(w, status, len(body))
	return push(w, body)
}

// encoded is an answer that is no JSON.
type encoded []byte

func encodeJSON(v any) ([]byte, error) {
	if body, is := v.(encoded); is {
		return body, nil
	}
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false) // it is JSON, and says so
	err := encoder.Encode(v)
	return body.Bytes(), err
}

func writeHeader(w http.ResponseWriter, status, length int) {
	h := w.Header()
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json")
	}
	h.Set("Content-Length", strconv.Itoa(length))
	w.WriteHeader(status)
}

// push sends a part of an answer on its way.
func push(w http.ResponseWriter, part []byte) error {
	_, err := w.Write(part)
	if err := errors.Join(err, http.NewResponseController(w).Flush()); err != nil {
		return failure.With(err, failure.Gone, "the client went away")
	}
	return nil
}

// refuse writes a failure's headers and body.
func refuse(w http.ResponseWriter, status int, f *failure.Failure, body any) {
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(f.Seconds()))
	}
	if f.Location != "" {
		w.Header().Set("Location", f.Location)
	}
	// The connection's end is all that a failed write could tell, and the log has the rest.
	_ = writeJSON(w, status, body)
}
