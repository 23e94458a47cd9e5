package bulk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// queue is a batch's work queue on the NATS server: a stream on disk, in which each page is at most
// once, for it has a subject of its own.
type queue struct {
	js    jetstream.JetStream
	name  string
	about map[string]string // the batch's settings
	pace  pace

	mu       sync.Mutex
	stream   jetstream.Stream
	consumer jetstream.Consumer
}

// answerWait is for the server to answer; what it was asked while it went away is never answered.
const answerWait = 5 * time.Second

// subjects begins those of all queues.
const subjects = "unink.1.batch."

func newQueue(js jetstream.JetStream, id string, about map[string]string, p pace) *queue {
	return &queue{js: js, name: "unink-batch-" + id, about: about, pace: p}
}

// errOther says that the destination has a batch with other settings.
type errOther struct{ about map[string]string }

func (e errOther) Error() string {
	return fmt.Sprintf("a batch with other settings has work left in that destination: source %s, "+
		"options %s; start it again as it was, or add --anew to this one, which "+
		"drops what that one has left",
		e.about["unink-source"], e.about["unink-options"])
}

// open finds the queue, or makes it.
func (q *queue) open(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, answerWait)
	defer stop()
	q.mu.Lock()
	defer q.mu.Unlock()
	stream, err := q.js.Stream(ctx, q.name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		stream, err = q.create(ctx)
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			stream, err = q.js.Stream(ctx, q.name) // another process was first
		}
	}
	if err != nil {
		return queueError(err)
	}
	if held := stream.CachedInfo().Config.Metadata; !covers(held, q.about) {
		return errOther{held}
	}
	consumer, err := stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: "pages", AckPolicy: jetstream.AckExplicitPolicy, AckWait: q.pace.ackWait,
		MaxAckPending: -1,
	})
	if err != nil {
		return queueError(err)
	}
	q.stream, q.consumer = stream, consumer
	return nil
}

// create makes the queue. A server that is still clearing away the one of the batch before cannot
// store the new one for a moment (nats-server 2.15: code 10049), and is asked again.
func (q *queue) create(ctx context.Context) (jetstream.Stream, error) {
	const storeFailed jetstream.ErrorCode = 10049
	for tried := 1; ; tried++ {
		stream, err := q.js.CreateStream(ctx, jetstream.StreamConfig{
			Name: q.name, Subjects: []string{subjects + q.name + ".*"}, Metadata: q.about,
			Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage,
			Discard: jetstream.DiscardNew, MaxMsgs: int64(q.pace.queue),
		})
		var refused *jetstream.APIError
		if tried == attempts || !errors.As(err, &refused) || refused.ErrorCode != storeFailed {
			return stream, err
		}
		if q.pace.wait(ctx) != nil {
			return nil, err
		}
	}
}

// covers reports whether held says what about does; the server adds something of its own.
func covers(held, about map[string]string) bool {
	held = maps.Clone(held)
	maps.DeleteFunc(held, func(name, _ string) bool { _, ours := about[name]; return !ours })
	return maps.Equal(held, about)
}

func queueError(err error) error {
	if errors.Is(err, jetstream.ErrJetStreamNotEnabled) ||
		errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) ||
		errors.Is(err, nats.ErrNoResponders) {
		return fmt.Errorf("the NATS server stores nothing, and a batch needs a queue: start it with "+
			"JetStream (-js, or jetstream in its configuration): %w", err)
	}
	return fmt.Errorf("the queue on the NATS server cannot be used: %w", err)
}

func (q *queue) handles() (jetstream.Stream, jetstream.Consumer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.stream, q.consumer
}

// again waits a moment and finds the queue again: the server was away, or another process had ended
// the batch. The error ends this one.
func (q *queue) again(ctx context.Context) error {
	for {
		if err := q.pace.wait(ctx); err != nil {
			return err
		}
		err := q.open(ctx)
		var other errOther
		if err == nil || errors.As(err, &other) {
			return err
		}
	}
}

// put adds a page, unless it is in the queue, and waits while that is full.
func (q *queue) put(ctx context.Context, p page) error {
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	subject := subjects + q.name + "." + digest(p.Key)[:32]
	for {
		err := q.publish(ctx, subject, body)
		var refusal *jetstream.APIError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &refusal) &&
			(refusal.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
				refusal.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant):
			return nil // it is there
		case ctx.Err() != nil:
			return ctx.Err()
		}
		if err := q.again(ctx); err != nil {
			return err
		}
	}
}

func (q *queue) publish(ctx context.Context, subject string, body []byte) error {
	ctx, stop := context.WithTimeout(ctx, answerWait)
	defer stop()
	_, err := q.js.Publish(ctx, subject, body, jetstream.WithExpectLastSequencePerSubject(0),
		jetstream.WithExpectStream(q.name))
	return err
}

// next takes a page; nil is none for now.
func (q *queue) next(ctx context.Context) (jetstream.Msg, error) {
	_, consumer := q.handles()
	brief, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	m, err := consumer.Next(jetstream.FetchContext(brief))
	switch {
	case err == nil:
		return m, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, nats.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return nil, nil
	}
	return nil, q.again(ctx)
}

// empty waits until all pages have gone.
func (q *queue) empty(ctx context.Context) error {
	tick := time.NewTicker(queueLook)
	defer tick.Stop()
	for {
		done, err := q.done(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			if err := q.again(ctx); err != nil {
				return err
			}
		case done:
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// done reports whether no page is left to be handed out or on its way, and then takes out what is
// still stored: a server that went away amid its work may have kept a page that it knows to be
// acknowledged, and never hands that out again.
func (q *queue) done(ctx context.Context) (bool, error) {
	ctx, stop := context.WithTimeout(ctx, answerWait)
	defer stop()
	stream, consumer := q.handles()
	info, err := consumer.Info(ctx)
	if err != nil || info.NumPending > 0 || info.NumAckPending > 0 {
		return false, err
	}
	err = stream.Purge(ctx, jetstream.WithPurgeSequence(info.AckFloor.Stream+1))
	return err == nil, err
}

// drop takes the queue away.
func (q *queue) drop(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, answerWait)
	defer stop()
	if err := q.js.DeleteStream(ctx, q.name); err != nil &&
		!errors.Is(err, jetstream.ErrStreamNotFound) {
		return queueError(err)
	}
	return nil
}
