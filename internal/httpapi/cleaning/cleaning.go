// Package cleaning is the engine behind its gate: a page is looked at, admitted, paid for and
// cleaned, and its result is checked.
package cleaning

import (
	"context"
	"image"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"unink"
	"unink/internal/gate"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/setup"
)

// Cleaner removes handwriting; [*unink.Cleaner] is one.
type Cleaner interface {
	Clean(ctx context.Context, image []byte, o unink.Options) (*unink.Result, error)
	Probe(ctx context.Context) error
}

// PixelCleaner is a [Cleaner] that cleans pages of PDFs.
type PixelCleaner interface {
	CleanImage(ctx context.Context, m image.Image, o unink.Options) (*unink.Page, error)
}

// Elastic is a [Cleaner] that cleans more or fewer pages at once as its workers come and go.
type Elastic interface {
	// OnCapacity has report called with that number, now and whenever it changes.
	OnCapacity(report func(pages int))
}

// Engine is a cleaner behind its gate.
type Engine struct {
	Cleaner Cleaner
	Gate    *gate.Gate // pages

	*setup.Setup
	ready   *readiness
	metrics *metrics
}

// New makes an engine whose metrics are in a registry.
func New(c Cleaner, s *setup.Setup, registry prometheus.Registerer) (*Engine, error) {
	work, err := gate.New(s.Config.Gate)
	if err != nil {
		return nil, err
	}
	if elastic, is := c.(Elastic); is {
		elastic.OnCapacity(work.Resize)
	}
	if collector, is := c.(prometheus.Collector); is {
		registry.MustRegister(collector)
	}
	return &Engine{Cleaner: c, Gate: work, Setup: s, ready: &readiness{probe: c.Probe},
		metrics: newMetrics(registry, work)}, nil
}

// Ready says whether the engine works.
func (e *Engine) Ready(ctx context.Context) error { return e.ready.check(ctx) }

// Clean inspects a picture, holds its price, waits for a worker, cleans it and checks the result.
func (e *Engine) Clean(ctx context.Context, in Input) (*unink.Result, error) {
	info, err := inspect(in.Image, in.MaxSide)
	if err != nil {
		return nil, err
	}
	c := call.Of(ctx)
	turn := e.turnOf(c, info.Width*info.Height)
	if err := e.admit(ctx, c, turn); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, e.Config.Deadline)
	defer cancel()
	var res *unink.Result
	arrived := time.Now()
	err = e.Gate.DoAs(ctx, turn, func() (err error) {
		e.metrics.wait.Observe(time.Since(arrived).Seconds())
		res, err = e.Cleaner.Clean(ctx, in.Image, in.Options)
		return err
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, err
	}
	e.cleaned(res.Timings)
	return res, checkResult(res, info, in.Options)
}

// cleaned notes that the engine has just cleaned a page.
func (e *Engine) cleaned(took unink.Timings) {
	e.ready.proven()
	e.metrics.page(took)
}

// What a page takes grows with its pixels, and is not nothing for the smallest. The usual page has
// 4 megapixels.
const pageBase, usualPage = 1e6, 4e6

// turnOf says with whom a request takes turns: guests by their addresses, since devices are free to
// invent; everybody else by account.
func (e *Engine) turnOf(c *call.Call, pixels int) gate.Turn {
	turn := gate.Turn{Bulk: c.Bulk, Size: size(pixels), Within: e.Config.Deadline}
	if payers := c.Caller.Payers; len(payers) > 0 {
		turn.Caller = payers[len(payers)-1]
	}
	return turn
}

// size is what a page takes, in usual pages.
func size(pixels int) float64 { return (pageBase + float64(pixels)) / (pageBase + usualPage) }

// Input is what an entry point makes of a request.
type Input struct {
	Image   []byte
	Options unink.Options
	MaxSide int // in pixels; 0 is no limit
}

// inspect checks a picture's header against the limits, before anything is decoded.
func inspect(image []byte, maxSide int) (unink.Info, error) {
	info, err := unink.Inspect(image, unink.Limits{
		MaxBytes: unink.DefaultMaxBytes, MaxPixels: unink.DefaultMaxPixels, MaxSide: maxSide, MinSide: -1,
	})
	if err == nil && min(info.Width, info.Height) < unink.DefaultMinSide {
		return info, failure.New(failure.TooSmall,
			"the image has %d×%d pixels; each side needs at least %d", info.Width,
			info.Height, unink.DefaultMinSide)
	}
	return info, err
}

// checkResult withholds a result that cannot be right.
func checkResult(res *unink.Result, in unink.Info, o unink.Options) error {
	out, err := unink.Inspect(res.Data, unink.Limits{MaxBytes: -1, MaxPixels: -1, MinSide: -1})
	switch {
	case err != nil:
		return failure.With(err, failure.BadResult, "the result failed its check and was withheld")
	case out.Width != res.Width || out.Height != res.Height,
		o.KeepOrientation && o.KeepDistortion && (out.Width != in.Width || out.Height != in.Height),
		o.Layers && (len(res.Handwriting) == 0 || len(res.Mask) == 0):
		return failure.New(failure.BadResult, "the result failed its check and was withheld")
	}
	return nil
}
