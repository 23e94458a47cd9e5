package fleet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"unink"
	"unink/internal/gate"
)

// Client cleans pages on the workers of a fleet. It is safe for concurrent use.
type Client struct {
	nc      *nats.Conn
	pace    pace
	log     *slog.Logger
	id      string
	workers *roster
	pages   atomic.Int64 // inside, but for bulk
	free    turnstile
	counts  *counts
	stop    context.CancelFunc
	running sync.WaitGroup
}

// Open connects a service to its fleet. Workers may come before or after it.
func Open(c Config, log *slog.Logger) (*Client, error) {
	nc, err := connect(c, "unink serve", log)
	if err != nil {
		return nil, err
	}
	cl := &Client{nc: nc, pace: c.timing(), log: log, id: rand.Text()[:10]}
	cl.workers = newRoster(cl.id, cl.pace.silence, log)
	cl.counts = newCounts(cl)
	heard := make(chan *nats.Msg, 1024) // what overflows is said again
	for _, subject := range []string{presence, demand} {
		if _, err := nc.ChanSubscribe(subject, heard); err != nil {
			nc.Close()
			return nil, fmt.Errorf("the fleet's NATS server cannot be used: %w", err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	cl.stop = stop
	cl.running.Go(func() { cl.watch(ctx, heard) })
	return cl, nil
}

// Close ends the connection. No call may follow; pages should have ended before.
func (c *Client) Close() error {
	c.stop()
	c.running.Wait()
	c.nc.Close()
	return nil
}

// watch keeps the roster, and asks for it whenever the server was away.
func (c *Client) watch(ctx context.Context, heard chan *nats.Msg) {
	tick := time.NewTicker(c.pace.beat)
	defer tick.Stop()
	asked := ^uint64(0)
	for {
		if seen := c.nc.Stats().Reconnects; seen != asked && c.nc.Publish(hello, nil) == nil {
			asked = seen
		}
		select {
		case m := <-heard:
			c.hear(m, time.Now())
		case now := <-tick.C:
			c.workers.expire(now)
			if c.pages.Load() > 0 {
				c.claim()
			}
		case <-ctx.Done():
			return
		}
	}
}

// hear notes what workers and other services say.
func (c *Client) hear(m *nats.Msg, now time.Time) {
	if m.Subject == demand {
		c.workers.rival(clipped(string(m.Data)), now)
		return
	}
	var s status
	if json.Unmarshal(m.Data, &s) != nil || s.Worker == "" || s.Slots < 0 {
		return
	}
	c.workers.note(s, now)
	c.free.wake(s.Free)
}

// claim tells other services that this one has pages. Unheard, it is said again.
func (c *Client) claim() { _ = c.nc.Publish(demand, []byte(c.id)) }

// OnCapacity has report called with the number of pages that this service can have cleaned at once,
// now and whenever that changes: the fleet's slots, shared out among the services that have pages.
// Report must not block.
func (c *Client) OnCapacity(report func(pages int)) { c.workers.onCapacity(report) }

// Probe says whether there is a worker: [gate.ErrNoWorker] if not.
func (c *Client) Probe(ctx context.Context) error {
	if c.workers.slots() == 0 {
		return gate.ErrNoWorker
	}
	return ctx.Err()
}

// page is one on its way to a result.
type page struct {
	offer
	bulk     bool   // it goes when no other page waits
	ticket   uint64 // its place among those that wait for a slot
	image    []byte
	declined map[string]bool // workers that cannot serve it
}

// Clean has a page cleaned by a worker. It waits while all are busy, and returns [gate.ErrNoWorker]
// at once when there is none. A page whose worker fails or vanishes goes to another one, once; then
// the error is [gate.ErrWorker]. The page's own errors are [*unink.Error], as if cleaned here.
func (c *Client) Clean(ctx context.Context, image []byte, o unink.Options) (*unink.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, longestPage)
	defer cancel()
	if c.pages.Add(1) == 1 {
		c.claim() // at once: another one may have taken all slots
	}
	defer c.pages.Add(-1)
	return c.clean(ctx, &page{image: image}, o)
}

// clean has a page cleaned; its image and whether it is bulk are given.
func (c *Client) clean(ctx context.Context, p *page, o unink.Options) (*unink.Result, error) {
	wire, err := writeOptions(o)
	if err != nil {
		return nil, err
	}
	if len(p.image) > maxPage {
		return nil, &unink.Error{Code: unink.ErrTooLarge, Op: "clean",
			Message: fmt.Sprintf("%d bytes; at most %d", len(p.image), maxPage), Hint: "send a smaller file"}
	}
	p.offer = offer{Page: rand.Text(), Size: len(p.image), Options: wire, Before: o.Before}
	p.ticket, p.declined = c.free.ticket(p.bulk), map[string]bool{}
	res, err := c.place(ctx, p, time.Time{})
	var lost *lostError
	if !errors.As(err, &lost) {
		return res, err
	}
	c.lost(p, lost)
	c.counts.retries.Inc()
	p.Again, p.Not = true, lost.worker
	res, err = c.place(ctx, p, time.Now().Add(c.pace.silence))
	switch {
	case errors.Is(err, gate.ErrNoWorker):
		return nil, fmt.Errorf("%w: %w, and there is no other", gate.ErrWorker, lost)
	case errors.As(err, &lost):
		c.lost(p, lost)
		return nil, fmt.Errorf("%w: %w", gate.ErrWorker, lost)
	}
	return res, err
}

func (c *Client) lost(p *page, e *lostError) {
	c.counts.losses.Inc()
	c.log.Warn("a worker lost its page", "page", p.Page, "worker", e.worker, "cause", e.cause)
}

// place offers a page until it was taken and done. While there is no worker that could take it, it
// goes on until patience ends.
func (c *Client) place(ctx context.Context, p *page, patience time.Time) (*unink.Result, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, stopped(err)
		}
		if !c.workers.any(p) && !time.Now().Before(patience) {
			return nil, gate.ErrNoWorker
		}
		res, err := c.attempt(ctx, p)
		if !errors.Is(err, errNotTaken) {
			return res, err
		}
		if !p.bulk {
			_ = c.nc.Publish(waiting, nil) // unheard, it is said again
		}
		c.free.wait(ctx, p.ticket, c.pace.look)
	}
}

// errNotTaken says that nobody took an offer.
var errNotTaken = errors.New("nobody took the page")

// lostError says that a worker failed or vanished after it took a page.
type lostError struct {
	worker string
	cause  error
}

func (e *lostError) Error() string { return fmt.Sprintf("worker %s: %v", e.worker, e.cause) }

func (e *lostError) Unwrap() error { return e.cause }

// stopped is the error of a page whose context ended.
func stopped(cause error) error {
	return &unink.Error{Code: unink.ErrCanceled, Op: "clean",
		Message: "stopped before the page was done", Err: cause}
}

// attempt offers a page once and, if it is taken, talks with the worker until the page is done.
func (c *Client) attempt(ctx context.Context, p *page) (*unink.Result, error) {
	l, err := newLink(c.nc)
	if err != nil {
		return nil, errNotTaken
	}
	defer l.close()
	p.Budget = longestPage
	if deadline, given := ctx.Deadline(); given {
		p.Budget = time.Until(deadline)
	}
	body, err := json.Marshal(p.offer)
	if err != nil {
		return nil, err
	}
	if err := l.sayTo(p.subject(), proposal, 0, body); err != nil {
		return nil, errNotTaken
	}
	a := &attempt{link: l, page: p, cuts: c.nc.Stats().Reconnects, taken: c.counts.pages}
	res, err := a.talk(ctx, c.pace)
	if a.worker != "" {
		a.taken.Dec()
	}
	var lost *lostError
	switch {
	case err == nil:
		c.counts.results.WithLabelValues(shortModel(a.result.Made.Model), a.result.Made.Version).Inc()
	case errors.As(err, &lost) && (!c.nc.IsConnected() || c.nc.Stats().Reconnects != a.cuts):
		lost.worker = "" // it was the server that was away: the same worker may have the page again
	}
	return res, err
}

// attempt is the service's side of the conversation about a page.
type attempt struct {
	*link
	page   *page
	cuts   uint64 // of the connection, before
	taken  prometheus.Gauge
	worker string // who took the page; empty as long as nobody did
	out    *outgoing
	result result
	in     *incoming // the result, once it comes
}

func (a *attempt) talk(ctx context.Context, p pace) (*unink.Result, error) {
	a.patience = time.NewTimer(p.offer)
	defer a.patience.Stop()
	beat := time.NewTicker(p.beat)
	defer beat.Stop()
	for {
		select {
		case m := <-a.link.in:
			res, err := a.listen(m, p)
			if res != nil || err != nil {
				return res, err
			}
		case <-beat.C:
			if a.worker != "" {
				_ = a.say(alive, 0, nil) // unheard too often, the other side gives up
				a.out.beat(a.link)
			}
		case <-a.patience.C:
			return nil, a.lose(errSilent)
		case <-ctx.Done():
			if a.worker != "" {
				_ = a.say(cancel, 0, nil) // it finds out otherwise, but later
			}
			return nil, stopped(ctx.Err())
		}
	}
}

var (
	errSilent = errors.New("it says nothing any more")
	errGone   = errors.New("it is not there any more")
)

// lose is the error for a worker that cannot be relied on.
func (a *attempt) lose(cause error) error {
	if a.worker == "" {
		return errNotTaken
	}
	return &lostError{a.worker, cause}
}

// listen acts on a message. The conversation is over when it returns anything.
func (a *attempt) listen(m *nats.Msg, p pace) (*unink.Result, error) {
	if a.worker == "" {
		return nil, a.listenForTaker(m, p)
	}
	k, sequence := a.hear(m, p.silence)
	var err error
	switch k {
	case acknowledge:
		err = a.out.acknowledged(sequence, a.link)
	case finished:
		err = a.expect(m.Data)
	case piece:
		if a.in == nil {
			return nil, nil // what it belongs to was lost, and will be sent again
		}
		if err = a.in.add(sequence, m.Data, a.link); err == nil && a.in.complete() {
			return a.result.with(a.in.data), nil
		}
	case failed:
		return nil, a.pageError(m.Data)
	case abandon:
		var n note
		_ = json.Unmarshal(m.Data, &n) // without it there is no reason to tell
		return nil, a.lose(fmt.Errorf("it gave up: %s", n.Reason))
	case gone:
		return nil, a.lose(errGone)
	}
	if err != nil {
		return nil, a.lose(err)
	}
	return nil, nil
}

// listenForTaker acts on a message as long as nobody has the page.
func (a *attempt) listenForTaker(m *nats.Msg, p pace) error {
	var n note
	k, _ := kindOf(m)
	if k != gone && (json.Unmarshal(m.Data, &n) != nil || n.Worker == "") {
		return errNotTaken
	}
	switch k {
	case take:
		a.worker, a.peer = n.Worker, m.Reply
		a.taken.Inc()
		a.patience.Reset(p.silence)
		a.out = newOutgoing(a.nc, nil, a.page.image)
		a.out.begin(a.link)
		return nil
	case decline:
		if n.Worker != a.page.Not {
			a.page.declined[n.Worker] = true
		}
	}
	return errNotTaken
}

// expect prepares for the result.
func (a *attempt) expect(body []byte) error {
	if a.in != nil {
		return nil // said again
	}
	if err := json.Unmarshal(body, &a.result); err != nil {
		return err
	}
	n, err := a.result.size()
	if err != nil {
		return err
	}
	a.in = newIncoming(n)
	return nil
}

// pageError is the error that a worker found. A device that fails is the worker's own trouble, and
// a deadline is told as this process's would be.
func (a *attempt) pageError(body []byte) error {
	var f failure
	if err := json.Unmarshal(body, &f); err != nil {
		return a.lose(err)
	}
	switch f.Code {
	case unink.ErrDevice:
		return a.lose(f.error())
	case unink.ErrCanceled:
		return stopped(context.DeadlineExceeded)
	}
	return f.error()
}
