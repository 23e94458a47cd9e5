package bulk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"unink"
	"unink/internal/gate"
	"unink/internal/imagefile"
)

// work takes pages from the queue until ctx ends. An error is one that no other page would escape.
func (b *Batch) work(ctx context.Context) error {
	for ctx.Err() == nil {
		m, err := b.queue.next(ctx)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if m == nil {
			continue
		}
		if err := b.see(ctx, m); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// see sees a page to its end, and says meanwhile that it is at it.
func (b *Batch) see(ctx context.Context, m jetstream.Msg) error {
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		tick := time.NewTicker(b.cfg.pace.ackWait / 3)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = m.InProgress() // unheard too often, another takes the page as well
			case <-stop:
				return
			}
		}
	}()
	if err := b.page(ctx, m); err != nil {
		_ = m.Nak() // unheard, it comes again later
		return err
	}
	_ = m.Ack() // unheard, it comes again, and has a record
	return nil
}

// page cleans a page that is left to do and records what became of it.
func (b *Batch) page(ctx context.Context, m jetstream.Msg) error {
	var p page
	if err := json.Unmarshal(m.Data(), &p); err != nil {
		return nil // it is none; the next look finds what is left
	}
	if r, err := b.done(ctx, p); err != nil || r != nil {
		return err
	}
	o := Outcome{Page: p.Key}
	if about, err := m.Metadata(); err == nil && about.NumDelivered > maxGiven {
		o.Err = fmt.Errorf("given up: those who had it ended %d times before it was done", maxGiven)
	} else {
		o.Result, o.Err = b.clean(ctx, p)
	}
	if o.Err == nil {
		o.Output = resultName(p.Key, o.Result.Format)
		o.Err = b.checkName(ctx, p, o.Output)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(o.Err, errUnavailable) {
		return fmt.Errorf("%s cannot be read from %s: %w; the same command goes on when it can", p.Key,
			b.source, o.Err)
	}
	if err := b.conclude(ctx, p, &o); err != nil {
		return err
	}
	b.telling.Lock()
	defer b.telling.Unlock()
	b.cfg.Report(o)
	return nil
}

// clean reads a page and has it cleaned. Its error is the page's own, or [errUnavailable], or that
// of ctx.
func (b *Batch) clean(ctx context.Context, p page) (*unink.Result, error) {
	var image []byte
	err := b.persist(ctx, func() (err error) {
		image, err = b.source.read(ctx, p.Key, unink.DefaultMaxBytes+1) // the fleet refuses more
		return err
	})
	if err != nil {
		return nil, err
	}
	if n := imagefile.Pages(image); n > 1 {
		return nil, &unink.Error{Code: unink.ErrFormat, Op: "clean",
			Message: fmt.Sprintf(
				"a file of %d pages", n,
			), Hint: "a batch takes one page a file; take it apart before"}
	}
	for n := 1; ; {
		res, err := b.fleet.CleanBulk(ctx, image, b.cfg.Options)
		switch {
		case err == nil:
			b.noWorkers.Store(false)
			return res, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, gate.ErrNoWorker):
			if !b.noWorkers.Swap(true) {
				b.log.Warn("there are no workers; waiting for one")
			}
		case errors.Is(err, gate.ErrWorker), errors.Is(err, unink.ErrCanceled):
			if n++; n > attempts {
				return nil, fmt.Errorf("workers failed with it %d times, the last: %w", attempts, err)
			}
		default:
			return nil, err
		}
		if err := b.cfg.pace.wait(ctx); err != nil {
			return nil, err
		}
	}
}

// conclude writes the result, takes away an earlier one of another name, and then says that it is
// done. What a page's name makes impossible becomes its error; another error is one that no page
// would escape.
func (b *Batch) conclude(ctx context.Context, p page, o *Outcome) error {
	before, err := b.record(ctx, p.recordName())
	if err != nil {
		return err
	}
	write := func(name string, data []byte) error {
		return b.persist(ctx, func() error { return b.destination.write(ctx, name, data) })
	}
	if o.Err == nil {
		err := write(o.Output, o.Result.Data)
		if errors.Is(err, errName) {
			o.Err = err
		} else if err != nil {
			return fmt.Errorf("%s cannot be written to %s: %w; the same command goes on when it can",
				o.Output, b.destination, err)
		}
	}
	r := record{Page: p.Key, Identity: p.identity(b.cfg.Options)}
	if o.Err != nil {
		o.Output, o.Result, r.Error = "", nil, failureOf(o.Err)
	} else {
		r.Output = o.Output
	}
	if before != nil && before.Output != "" && before.Output != r.Output {
		if err := b.destination.remove(ctx, before.Output); err != nil &&
			!errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	var body bytes.Buffer
	if err := json.NewEncoder(&body).Encode(r); err != nil {
		return err
	}
	if err := write(p.recordName(), body.Bytes()); err != nil {
		return fmt.Errorf(
			"what was done cannot be written to %s: %w; the same command goes on when it can", b.destination,
			err,
		)
	}
	return nil
}
