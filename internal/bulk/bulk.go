// Package bulk has all pages of a folder or bucket cleaned into another one, through a queue that
// outlives the process.
//
// What is left to do is what the source lists and the destination has no record of. Looking for it
// puts each such page into a JetStream work queue, once; taking from the queue has the page cleaned
// by the fleet and writes first the result, then its record, each whole or not at all, and only
// then ends the message. So whatever is killed, started again or started twice goes on where it
// was: a page that has a record is not cleaned again, and one that was cut short has its result
// written over by an equal one. The queue holds nothing that could not be found again.
package bulk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"unink"
	"unink/internal/pause"
)

// Fleet cleans pages as far as nobody else waits for it; [*fleet.Client] is one. The error of a
// page that has to wait for a worker is [gate.ErrNoWorker], that of one that workers failed with
// [gate.ErrWorker].
type Fleet interface {
	CleanBulk(ctx context.Context, image []byte, o unink.Options) (*unink.Result, error)
}

// Config says what a [Batch] does.
type Config struct {
	Source, Destination string // folders, or s3://bucket/prefix
	S3                  S3
	Options             unink.Options
	AtOnce              int  // pages on their way at once; at least 1
	Retry               bool // pages that failed before are tried again
	// drops what an earlier batch of other settings left to do in the destination
	Anew bool

	// Report is told what became of each page that this process saw to, one at a time.
	Report func(Outcome)

	pace pace // zero is the default
}

// Outcome is what became of a page.
type Outcome struct {
	Page   string // its name in the source
	Output string // its result's name in the destination
	Result *unink.Result
	Err    error // why there is none
}

// Counts say how far a batch is.
type Counts struct {
	Pages   int // in the source
	Cleaned int // that have a result
	Failed  int // that cannot be cleaned
	Skipped int // files that are no pictures
}

// Left is how many pages still have to be cleaned.
func (c Counts) Left() int { return c.Pages - c.Cleaned - c.Failed }

// pace is how long things take, and how many. It is the same everywhere but in tests.
type pace struct {
	ackWait time.Duration // for a sign of life of who has a page, before another may have it
	pause   time.Duration // before something is tried again
	queue   int           // pages in the queue
}

// wait is the pause before something is tried again.
func (p pace) wait(ctx context.Context) error {
	return pause.For(ctx, p.pause)
}

var normal = pace{ackWait: 10 * time.Second, pause: time.Second, queue: 10_000}

const (
	lookups   = 16 // pages looked up at once
	attempts  = 3  // at a page whose workers fail, and at writing
	maxGiven  = 50 // times that a page is given out: those who had it ended each time
	queueLook = 100 * time.Millisecond
)

// Batch is a source that is cleaned into a destination.
type Batch struct {
	cfg         Config
	source      place
	destination place
	js          jetstream.JetStream
	queue       *queue // while it runs
	fleet       Fleet
	log         *slog.Logger
	telling     sync.Mutex
	noWorkers   atomic.Bool // was said
}

// Open finds source and destination, and makes a destination folder.
func Open(c Config, fleet Fleet, js jetstream.JetStream, log *slog.Logger) (*Batch, error) {
	if c.AtOnce < 1 {
		return nil, fmt.Errorf("at least 1 page has to be on its way at once, not %d", c.AtOnce)
	}
	if c.pace == (pace{}) {
		c.pace = normal
	}
	source, err := openPlace(c.Source, c.S3, false)
	if err != nil {
		return nil, err
	}
	destination, err := openPlace(c.Destination, c.S3, true)
	if err != nil {
		return nil, errors.Join(err, source.close())
	}
	if overlap(source.String(), destination.String()) {
		_, _ = source.close(), destination.close()
		return nil, fmt.Errorf("%s and %s lie in one another; use a destination beside the source",
			source, destination)
	}
	return &Batch{cfg: c, source: source, destination: destination, js: js, fleet: fleet, log: log},
		nil
}

// Close gives back what the batch holds. No call may follow.
func (b *Batch) Close() error { return errors.Join(b.source.close(), b.destination.close()) }

// Run cleans until a look at the whole source finds nothing left to do, and takes the queue away.
// The counts are those of that look. It waits for workers, and for the NATS server, for as long as
// ctx does. An error says why it stopped before; started again, it goes on.
func (b *Batch) Run(ctx context.Context) (Counts, error) {
	id, err := b.destination.id(ctx)
	if err != nil {
		return Counts{}, fmt.Errorf("%s cannot be used: %w", b.destination, err)
	}
	about := map[string]string{"unink-source": b.source.String(),
		"unink-options": described(b.cfg.Options)}
	b.queue = newQueue(b.js, id, about, b.cfg.pace)
	if b.cfg.Anew {
		if err := b.queue.drop(ctx); err != nil {
			return Counts{}, err
		}
	}
	if err := b.queue.open(ctx); err != nil {
		return Counts{}, err
	}
	var counts Counts
	group, working := errgroup.WithContext(ctx)
	taking, enough := context.WithCancel(working)
	defer enough()
	for range b.cfg.AtOnce {
		group.Go(func() error { return b.work(taking) })
	}
	group.Go(func() (err error) {
		defer enough()
		counts, err = b.feed(taking)
		return err
	})
	if err := group.Wait(); err != nil {
		return counts, err
	}
	return counts, errors.Join(b.queue.drop(ctx), b.destination.settle(ctx))
}

// feed looks for what is left to do until there is nothing.
func (b *Batch) feed(ctx context.Context) (Counts, error) {
	for retry := b.cfg.Retry; ; retry = false {
		counts, err := b.look(ctx, func(ctx context.Context, p page, r *record) error {
			switch {
			case r == nil:
			case r.Error == nil || !retry:
				return nil
			default:
				if err := b.destination.remove(ctx, p.recordName()); err != nil {
					return err
				}
			}
			return b.queue.put(ctx, p)
		})
		if err != nil || counts.Left() == 0 && !retry {
			return counts, err
		}
		if err := b.queue.empty(ctx); err != nil {
			return counts, err
		}
	}
}

// look counts, and has visit called for each page of the source, several at once. The record is nil
// for a page that is left to do.
func (b *Batch) look(ctx context.Context,
	visit func(context.Context, page, *record) error) (Counts, error) {
	var counts Counts
	var mu sync.Mutex // guards counts
	group, looking := errgroup.WithContext(ctx)
	group.SetLimit(lookups)
	for p, err := range b.source.list(looking) {
		if err != nil {
			group.Go(func() error { return fmt.Errorf("%s cannot be listed: %w", b.source, err) })
			break
		}
		if !isPicture(p.Key) {
			counts.Skipped++
			continue
		}
		group.Go(func() error {
			r, err := b.done(looking, p)
			if err != nil {
				return err
			}
			mu.Lock()
			counts.Pages++
			if r != nil && r.Error != nil {
				counts.Failed++
			} else if r != nil {
				counts.Cleaned++
			}
			mu.Unlock()
			return visit(looking, p, r)
		})
		if looking.Err() != nil {
			break
		}
	}
	err := group.Wait()
	if err == nil {
		err = ctx.Err()
	}
	return counts, err
}

// Status counts, and has failed called for each page that cannot be cleaned. Nothing is changed.
func (b *Batch) Status(ctx context.Context, failed func(Outcome)) (Counts, error) {
	return b.look(ctx, func(_ context.Context, p page, r *record) error {
		if r != nil && r.Error != nil {
			b.telling.Lock()
			defer b.telling.Unlock()
			failed(Outcome{Page: p.Key, Err: r.Error.error()})
		}
		return nil
	})
}

// done is the record of a page as it is now and was asked for; nil is none.
func (b *Batch) done(ctx context.Context, p page) (*record, error) {
	r, err := b.record(ctx, p.recordName())
	if err != nil || r == nil || r.Identity != p.identity(b.cfg.Options) {
		return nil, err
	}
	return r, nil
}

// persist tries what needs a place until it can be done, or the place cannot be relied on.
func (b *Batch) persist(ctx context.Context, do func() error) error {
	for n := 1; ; n++ {
		err := do()
		if err == nil || n == attempts || ctx.Err() != nil || !errors.Is(err, errUnavailable) {
			return err
		}
		if err := b.cfg.pace.wait(ctx); err != nil {
			return err
		}
	}
}
