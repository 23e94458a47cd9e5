package admission

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"unink/internal/httpapi/failure"
)

const (
	patienceForBody = 5 * time.Second // with a client that sends nothing
	minUploadRate   = 16 << 10        // bytes a second, after that
)

// Body is a request's body, which knows how far it was read and how long that may take.
type Body struct {
	io.ReadCloser
	conn  *http.ResponseController
	began time.Time     // when it was first asked for: what came before was not the client's doing
	most  time.Duration // for all of it
	bytes int64
	ended bool
}

// NewBody is the body of a request, which may take so long at most.
func NewBody(r *http.Request, w http.ResponseWriter, most time.Duration) *Body {
	return &Body{ReadCloser: r.Body, conn: http.NewResponseController(w), most: most}
}

// deadline is until when the next bytes must come.
func (u *Body) deadline() time.Time {
	earned := time.Duration(float64(u.bytes) / minUploadRate * float64(time.Second))
	return u.began.Add(min(u.most, patienceForBody+earned))
}

func (u *Body) begun() bool { return !u.began.IsZero() }

func (u *Body) Read(p []byte) (int, error) {
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

// Drain throws away what a client goes on sending after it was answered, within a bound and the
// time of an upload. Many clients read only when they have sent everything, and a connection that
// is closed before takes the answer with it (RFC 9112, 9.6).
func (u *Body) Drain(r *http.Request) {
	waits := r.Header.Get("Expect") != "" && !u.begun() // to be asked for its body
	if r.ContentLength == 0 || u.ended || waits {
		return
	}
	_, _ = io.CopyN(io.Discard, u, drained) // the answer is out: nobody is left to tell
}

// ReadBody hands the request's body to read, bounded in size and time. The request gives up its
// place while it waits for the client, and takes one again when the body is there.
func (t *Ticket) ReadBody(w http.ResponseWriter, r *http.Request, limit int64,
	read func() error) error {
	if r.ContentLength > limit {
		return &http.MaxBytesError{Limit: limit}
	}
	if u, ok := r.Body.(*Body); ok { // what may be larger than is usual may take longer
		u.most = time.Duration(float64(u.most) * max(1, float64(limit)/float64(t.bounds.body)))
	}
	r.Body = http.MaxBytesReader(w, counted{r.Body, t}, limit)
	t.GivePlace()
	if err := read(); err != nil {
		return err // the deadline stays: net/http waits for some of what is left of the body
	}
	if err := t.TakePlace(r.Context()); err != nil {
		return err
	}
	// Without this the deadline would later be taken for a client that went away.
	return http.NewResponseController(w).SetReadDeadline(time.Time{})
}

// counted is a body whose bytes take room.
type counted struct {
	io.ReadCloser
	ticket *Ticket
}

func (b counted) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if full := b.ticket.hold(n); full != nil {
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
