package call

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"unink/internal/httpapi/address"
	"unink/internal/httpapi/admission"
	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/setup"
)

// A FailureWriter writes a failure in an entry point's own envelope.
type FailureWriter func(http.ResponseWriter, *http.Request, *failure.Failure)

// Entry is an entry point: whose requests come in there, and how failures are told.
type Entry struct {
	Known func(*http.Request) (name string) // whose request it is by its header; empty for strangers
	Write FailureWriter

	Setup  *setup.Setup
	Bounds *admission.Bounds
}

// Answerer answers a request with a JSON value or an error.
type Answerer func(http.ResponseWriter, *http.Request) (any, error)

// Handler makes a handler of an answerer. It is where the number of requests inside is bounded,
// where a panic ends, and where what a request holds is given back: before a client can know that
// its request has ended.
func (e *Entry) Handler(answer Answerer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := Of(r.Context())
		ticket, err := e.Bounds.Admit(e.holderOf(r))
		if err == nil {
			defer ticket.Leave()
			c.Ticket = ticket
			err = e.answer(answer, w, r)
		}
		if err != nil && c.Failure == nil {
			if ticket != nil {
				ticket.GivePlace()
			}
			e.Refuse(w, r, err)
		}
	})
}

// holderOf tells on whose account a request is there, before anything of its body was read.
func (e *Entry) holderOf(r *http.Request) admission.Holder {
	if name := e.Known(r); name != "" {
		return admission.Holder{Name: name, Known: true}
	}
	return admission.Stranger(address.Client(r, e.Setup.Config.TrustedProxies))
}

// answer has an admitted request worked on and writes its answer. An error that it returns is the
// answer that the caller has still to write, unless the call has its failure already.
func (e *Entry) answer(answer Answerer, w http.ResponseWriter, r *http.Request) error {
	c := Of(r.Context())
	if err := c.Ticket.TakePlace(r.Context()); err != nil {
		return err
	}
	v, err := Guarded(answer, w, r)
	if c.FreeSlot != nil {
		c.FreeSlot()
	}
	if err != nil {
		c.conclude(false)
		return err
	}
	return e.deliver(w, r, v)
}

func (c *Call) conclude(cleaned bool) {
	if c.Conclude != nil {
		c.Conclude(cleaned)
	}
}

// Refuse answers an error.
func (e *Entry) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	f := failure.Of(err)
	Of(r.Context()).Failure = f
	if f.Kind != failure.Gone {
		e.Write(w, r, f)
	}
}

// Answered is an answer with another status than 200.
type Answered struct {
	Status int
	Body   any // nil is no body
}

// Done is the answer where there is nothing to tell.
var Done = Answered{http.StatusNoContent, nil}

// deliver writes an answer. What it costs is settled before its first byte: whoever has any of a
// picture has paid for it, and whoever went away before has not. The request gives up its place
// first, since a client may take long to read.
func (e *Entry) deliver(w http.ResponseWriter, r *http.Request, v any) error {
	c, status := Of(r.Context()), http.StatusOK
	if a, ok := v.(Answered); ok {
		status, v = a.Status, a.Body
	}
	switch v := v.(type) {
	case nil:
		c.Ticket.GivePlace()
		w.WriteHeader(status)
		return nil
	case Download:
		return e.hand(w, r, v)
	}
	body, err := encodeJSON(v)
	if err == nil {
		err = c.Ticket.Answer(len(body))
	}
	if left := r.Context().Err(); err == nil && left != nil {
		err = left
	}
	c.conclude(err == nil)
	if err != nil {
		return err
	}
	e.grantTime(w) // the database may have taken what the client had
	writeHeader(w, status, len(body))
	return push(w, body)
}

// grantTime gives the client its time to take what is written next. What takes no deadline is no
// connection, and waits for nobody.
func (e *Entry) grantTime(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(e.Setup.Config.AnswerTime()))
}

// Guarded turns a panic into an error, with the place it came from.
func Guarded(answer Answerer, w http.ResponseWriter, r *http.Request) (v any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return answer(w, r)
}

// Only answers the methods that an entry point does not have.
func (e *Entry) Only(method string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", method)
		e.Write(w, r, failure.New(failure.WrongMethod, "use %s, not %s", method, r.Method))
	})
}

// ReadBody hands the request's body to read, bounded in size and time.
func ReadBody(w http.ResponseWriter, r *http.Request, limit int64, read func() error) error {
	return Of(r.Context()).Ticket.ReadBody(w, r, limit, read)
}

// WriteJSON writes an answer. Its error says that the client is not there to read it.
func WriteJSON(w http.ResponseWriter, status int, v any) error {
	body, err := encodeJSON(v)
	if err != nil {
		return err
	}
	writeHeader(w, status, len(body))
	return push(w, body)
}

// Encoded is an answer that is no JSON.
type Encoded []byte

func encodeJSON(v any) ([]byte, error) {
	if body, is := v.(Encoded); is {
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

// WriteFailure writes a failure's headers and body.
func WriteFailure(w http.ResponseWriter, status int, f *failure.Failure, body any) {
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(f.Seconds()))
	}
	if f.Location != "" {
		w.Header().Set("Location", f.Location)
	}
	// The connection's end is all that a failed write could tell, and the log has the rest.
	_ = WriteJSON(w, status, body)
}
