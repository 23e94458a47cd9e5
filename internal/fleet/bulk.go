package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"unink"
	"unink/internal/gate"
)

// subject is where a page is offered.
func (p *page) subject() string {
	if p.bulk {
		return bulk
	}
	return offers
}

// CleanBulk is [Client.Clean] for a page that may wait for any time: a slot takes it when no page
// of a Clean waits for one. Its error is [gate.ErrNoWorker] also when the NATS server was away
// meanwhile.
func (c *Client) CleanBulk(ctx context.Context, image []byte,
	o unink.Options) (*unink.Result, error) {
	cuts := c.nc.Stats().Reconnects
	res, err := c.clean(ctx, &page{image: image, bulk: true}, o)
	if errors.Is(err, gate.ErrWorker) && (!c.nc.IsConnected() || c.nc.Stats().Reconnects != cuts) {
		return nil, fmt.Errorf("%w: the NATS server was away", gate.ErrNoWorker)
	}
	return res, err
}

// JetStream is the fleet's server as one that stores messages, over the client's connection.
func (c *Client) JetStream() (jetstream.JetStream, error) { return jetstream.New(c.nc) }

// pressed reports whether a page that somebody waits for, so not a bulk one, was waiting for a slot
// a moment ago.
func (w *Worker) pressed() bool {
	return time.Since(time.Unix(0, w.heardWaiting.Load())) < 2*w.pace.look
}

// take waits for an offer with a free slot. While pages other than bulk wait, bulk ones are not
// asked for until those had the time to come. The error is also that of a context that ended.
func (w *Worker) take(taking context.Context) (*nats.Msg, error) {
	first, err := w.ask(offers)
	if err != nil {
		return nil, err
	}
	defer first.leave()
	w.tell()
	if w.pressed() {
		// A page whose offer came just before the slot was free makes the next one within a look.
		turn := time.NewTimer(2 * w.pace.look)
		defer turn.Stop()
		select {
		case m := <-first.in:
			return m, nil
		case <-turn.C:
		case <-taking.Done():
			return nil, taking.Err()
		}
	}
	second, err := w.ask(bulk)
	if err != nil {
		return nil, err
	}
	defer second.leave()
	w.tell()
	select {
	case m := <-first.in:
		if other := w.late(second); other != nil {
			w.refuse(other)
		}
		return m, nil
	case m := <-second.in:
		if other := w.late(first); other != nil {
			w.refuse(m)
			return other, nil
		}
		return m, nil
	case <-taking.Done():
		return nil, taking.Err()
	}
}

// late ends a subscription because the other one got an offer. Both may have got one at the same
// moment; then late returns the second offer, else nil.
func (w *Worker) late(a asking) *nats.Msg {
	_ = a.Drain() // what is on its way still comes
	timer := time.NewTimer(w.pace.beat)
	defer timer.Stop()
	select {
	case <-a.ended:
	case <-timer.C: // if that is not enough, the offer is made again
	}
	select {
	case m := <-a.in:
		return m
	default:
		return nil
	}
}

// refuse tells that there is no slot any more.
func (w *Worker) refuse(m *nats.Msg) {
	l, err := newLink(w.nc)
	if err != nil {
		return // the offer is made again
	}
	defer l.close()
	l.peer = m.Reply
	_ = l.sayJSON(busy, note{Worker: w.id})
}

// asking is a subscription for one offer.
type asking struct {
	*nats.Subscription
	in    chan *nats.Msg
	ended chan struct{} // closed when nothing comes any more
}

func (a asking) leave() { _ = a.Unsubscribe() } // it may have ended with its message

// ask subscribes in the group of free slots.
func (w *Worker) ask(subject string) (asking, error) {
	a := asking{in: make(chan *nats.Msg, 1), ended: make(chan struct{})}
	// With a callback, not with a channel: there the client reads the bound that AutoUnsubscribe sets
	// without its lock (nats.go 1.55), and an offer may come in between.
	s, err := w.nc.QueueSubscribe(subject, group, func(m *nats.Msg) {
		select {
		case a.in <- m:
		default: // a second one came before the bound was set: it is offered again
		}
	})
	if err != nil {
		return asking{}, err
	}
	s.SetClosedHandler(func(string) { close(a.ended) })
	a.Subscription = s
	return a, s.AutoUnsubscribe(1)
}
