package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"unink"
)

// The protocol's number is part of every subject: sides that do not understand each other never
// meet. It changes with the meaning of any message. A new option needs no new number: a worker that
// does not know it leaves the page to others.
const (
	offers   = "unink.1.offer"   // from services; workers with a free slot hear it, in one queue group
	bulk     = "unink.1.bulk"    // the same for pages that go when no other waits
	waiting  = "unink.1.waiting" // from services with a page that nobody took; workers hear it
	presence = "unink.1.worker"  // from workers; services hear it
	// from a service that has just come; workers answer with their presence
	hello = "unink.1.service"
	// from services that have pages; other services hear it, and leave them their share
	demand = "unink.1.demand"
	group  = "workers"
)

// Bounds of what is sent.
const (
	leastPayload = 16 << 10
	mostPiece    = 256 << 10 // of a page or a result
	headroom     = 1 << 10   // for a piece's headers
	window       = 8         // pieces on their way
	maxPage      = unink.DefaultMaxBytes
	maxResult    = 256 << 20
	maxText      = 1 << 10
)

// kind is what a message about a page is.
type kind string

// The kinds. A service says proposal, piece, acknowledge, alive and cancel; a worker says the
// others, and piece, acknowledge and alive as well.
const (
	proposal    kind = "offer"
	take        kind = "take"    // the worker has a slot for it
	decline     kind = "decline" // the worker does not want it
	busy        kind = "busy"    // the worker has just taken another
	piece       kind = "piece"   // of the page or the result
	acknowledge kind = "ack"     // of a piece
	alive       kind = "alive"   // still at it
	cancel      kind = "cancel"  // nobody wants the result any more
	finished    kind = "result"  // the page is clean, and its pieces follow
	failed      kind = "failed"  // the page's own error
	abandon     kind = "abandon" // the worker cannot go on; the page is not to blame
	gone        kind = "gone"    // from the server: nobody is at the other end
)

const (
	kindHeader     = "Unink-Kind"
	sequenceHeader = "Unink-Sequence"
)

// offer is a page that wants a worker.
type offer struct {
	Page    string          `json:"page"` // names it in logs
	Size    int             `json:"size"` // bytes
	Budget  time.Duration   `json:"budget"`
	Options json.RawMessage `json:"options"`
	Again   bool            `json:"again,omitempty"` // a worker lost it before
	Not     string          `json:"not,omitempty"`   // that worker
	// Before is an option beside the options: an older worker does not know it, and cleans the page
	// all the same.
	Before bool `json:"before,omitempty"`
}

// note is what a worker says of itself, or why it cannot.
type note struct {
	Worker string `json:"worker"`
	Reason string `json:"reason,omitempty"`
}

// result is a clean page but for its bytes.
type result struct {
	Made        Build        `json:"made"`
	Format      uint8        `json:"format"` // as a number, which every version reads
	Width       int          `json:"width"`
	Height      int          `json:"height"`
	Report      unink.Report `json:"report"`
	Data        int          `json:"data"` // bytes of each part, which come in this order
	Handwriting int          `json:"handwriting,omitempty"`
	Mask        int          `json:"mask,omitempty"`
	Before      int          `json:"before,omitempty"`
}

// Build says what a worker is made of.
type Build struct {
	Version string `json:"version"` // of the program
	Model   string `json:"model"`   // SHA-256 of the network
}

func resultOf(r *unink.Result, made Build) result {
	return result{
		Made: made, Format: uint8(r.Format), Width: r.Width, Height: r.Height, Report: r.Report,
		Data: len(r.Data), Handwriting: len(r.Handwriting), Mask: len(r.Mask),
		Before: len(r.Before),
	}
}

func (r result) size() (int, error) {
	n := 0
	for _, part := range []int{r.Data, r.Handwriting, r.Mask, r.Before} {
		if part < 0 || part > maxResult-n {
			return 0, fmt.Errorf("a result cannot have a part of %d bytes after %d others", part, n)
		}
		n += part
	}
	if r.Data == 0 {
		return 0, errors.New("a result cannot be without data")
	}
	return n, nil
}

func (r result) with(data []byte) *unink.Result {
	next := func(size int) (part []byte) {
		if size > 0 {
			part, data = data[:size:size], data[size:]
		}
		return part
	}
	return &unink.Result{
		Data: next(r.Data), Format: unink.Format(r.Format), Width: r.Width, Height: r.Height,
		Report: r.Report, Handwriting: next(r.Handwriting), Mask: next(r.Mask),
		Before: next(r.Before),
	}
}

// failure is a page's own error.
type failure struct {
	Code    unink.Code `json:"code"`
	Op      string     `json:"op"`
	Message string     `json:"message"`
	Hint    string     `json:"hint,omitempty"`
	Cause   string     `json:"cause,omitempty"` // for the log
}

func failureOf(err error) failure {
	var e *unink.Error
	if !errors.As(err, &e) {
		return failure{Code: unink.ErrInternal, Op: "clean", Message: "unexpected failure",
			Cause: clipped(err.Error())}
	}
	f := failure{Code: e.Code, Op: e.Op, Message: clipped(e.Message), Hint: clipped(e.Hint)}
	if e.Err != nil {
		f.Cause = clipped(e.Err.Error())
	}
	return f
}

func (f failure) error() error {
	e := &unink.Error{Code: f.Code, Op: f.Op, Message: f.Message, Hint: f.Hint}
	if f.Cause != "" {
		e.Err = errors.New(f.Cause)
	}
	return e
}

func clipped(text string) string { return text[:min(len(text), maxText)] }

// status is what a worker says regularly to all services.
type status struct {
	Worker  string `json:"worker"`
	Build   Build  `json:"build"`
	Slots   int    `json:"slots"`
	Free    int    `json:"free"`
	Leaving bool   `json:"leaving,omitempty"`
}

// link is one side of a conversation about a page.
type link struct {
	nc       *nats.Conn
	inbox    *nats.Subscription
	in       chan *nats.Msg
	peer     string // the other side's inbox
	unheard  int    // messages in a row that nobody was there for
	patience *time.Timer
}

// mostUnheard is after how many messages in a row that nobody heard the other side is given up. It
// is more than one, since after a short absence of the server one side is back before the other.
const mostUnheard = 3

// hear reads a message, and knows by it that the other side is there, or not: then it is gone.
func (l *link) hear(m *nats.Msg, silence time.Duration) (kind, int) {
	k, sequence := kindOf(m)
	if k != gone {
		l.unheard = 0
		l.patience.Reset(silence)
		return k, sequence
	}
	if l.unheard++; l.unheard < mostUnheard {
		return alive, 0 // not yet known
	}
	return gone, 0
}

// backlog is more than one side may have said that the other has not read: windows of pieces and
// acknowledgements, and signs of life.
const backlog = 8 * window

func newLink(nc *nats.Conn) (*link, error) {
	in := make(chan *nats.Msg, backlog)
	inbox, err := nc.ChanSubscribe(nats.NewInbox(), in)
	return &link{nc: nc, inbox: inbox, in: in}, err
}

// the server forgets it with the connection, too
func (l *link) close() { _ = l.inbox.Unsubscribe() }

// say sends a message to the other side.
func (l *link) say(k kind, sequence int, body []byte) error {
	return l.sayTo(l.peer, k, sequence, body)
}

func (l *link) sayTo(subject string, k kind, sequence int, body []byte) error {
	m := nats.NewMsg(subject)
	m.Reply = l.inbox.Subject // where the server says that nobody is there
	m.Header.Set(kindHeader, string(k))
	m.Header.Set(sequenceHeader, strconv.Itoa(sequence))
	m.Data = body
	return l.nc.PublishMsg(m)
}

func (l *link) sayJSON(k kind, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return l.say(k, 0, body)
}

// kindOf reads a message's kind and sequence number.
func kindOf(m *nats.Msg) (kind, int) {
	if m.Header.Get("Status") == "503" {
		return gone, 0
	}
	n, err := strconv.Atoi(m.Header.Get(sequenceHeader))
	if err != nil {
		n = -1
	}
	return kind(m.Header.Get(kindHeader)), n
}

// outgoing is a page or a result on its way.
type outgoing struct {
	head        func() error // says what follows; nil if nothing has to be said
	pieces      [][]byte
	sent, acked int // pieces
	idle        int // beats since the last acknowledgement
}

func newOutgoing(nc *nats.Conn, head func() error, parts ...[]byte) *outgoing {
	size := min(mostPiece, int(nc.MaxPayload())-headroom)
	o := &outgoing{head: head}
	for _, part := range parts {
		for len(part) > 0 {
			n := min(size, len(part))
			o.pieces = append(o.pieces, part[:n])
			part = part[n:]
		}
	}
	return o
}

// begin sends the head and what the window has room for. What is lost because the server is away is
// sent again.
func (o *outgoing) begin(l *link) {
	o.sent, o.idle = o.acked, 0
	if o.head == nil || o.acked > 0 || o.head() == nil {
		o.pump(l)
	}
}

func (o *outgoing) pump(l *link) {
	for ; o.sent < len(o.pieces) && o.sent-o.acked < window; o.sent++ {
		if l.say(piece, o.sent, o.pieces[o.sent]) != nil {
			return
		}
	}
}

// beat begins again where nothing was acknowledged for some time.
func (o *outgoing) beat(l *link) {
	if o == nil || o.arrived() {
		return
	}
	if o.idle++; o.idle > 2 {
		o.begin(l)
	}
}

// acknowledged notes that all pieces up to one have arrived, and sends more.
func (o *outgoing) acknowledged(sequence int, l *link) error {
	if o == nil || sequence < 0 || sequence >= len(o.pieces) {
		return fmt.Errorf("piece %d was acknowledged, which there is not", sequence)
	}
	if sequence >= o.acked { // an earlier one has come twice
		o.acked, o.idle = sequence+1, 0
		o.sent = max(o.sent, o.acked)
		o.pump(l)
	}
	return nil
}

func (o *outgoing) arrived() bool { return o.acked == len(o.pieces) }

// incoming is a page or a result that arrives.
type incoming struct {
	data []byte
	next int // piece
}

func newIncoming(size int) *incoming { return &incoming{data: make([]byte, 0, size)} }

// add takes the next piece and acknowledges it. One that is not due was sent twice, or will be.
func (i *incoming) add(sequence int, body []byte, l *link) error {
	if sequence == i.next {
		if len(i.data)+len(body) > cap(i.data) || len(body) == 0 {
			return fmt.Errorf("piece %d has %d bytes where %d are missing", sequence, len(body),
				cap(i.data)-len(i.data))
		}
		i.data = append(i.data, body...)
		i.next++
	}
	if i.next > 0 {
		_ = l.say(acknowledge, i.next-1, nil) // unheard, the piece comes again
	}
	return nil
}

func (i *incoming) complete() bool { return len(i.data) == cap(i.data) }
