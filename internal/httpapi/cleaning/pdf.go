package cleaning

import (
	"context"
	"errors"
	"image"
	"time"

	"unink"
	"unink/internal/gate"
)

// pdfPatience is how much longer than for a request's page a worker may have one that nobody waits
// for.
const pdfPatience = 4

// PDFPages cleans pages of PDFs beside those of requests.
type PDFPages struct {
	engine  *Engine
	cleaner PixelCleaner
}

// PDFPages returns what cleans pages of PDFs, if the engine can.
func (e *Engine) PDFPages() (*PDFPages, error) {
	cleaner, is := e.Cleaner.(PixelCleaner)
	if !is {
		return nil, errors.New("the engine cannot clean pages of PDFs")
	}
	return &PDFPages{e, cleaner}, nil
}

// Time is how long a worker may have a page.
func (p *PDFPages) Time() time.Duration { return pdfPatience * p.engine.Config.Deadline }

// CleanFor cleans a page of an owner's PDF. It says when it begins.
func (p *PDFPages) CleanFor(ctx context.Context, owner string, m image.Image, o unink.Options,
	begun func(context.Context) error) (page *unink.Page, err error) {
	sides := m.Bounds().Size()
	turn := gate.Turn{Caller: owner, Bulk: true, Size: size(sides.X * sides.Y)}
	err = p.engine.Gate.DoAs(ctx, turn, func() error {
		ctx, cancel := context.WithTimeout(ctx, p.Time())
		defer cancel()
		if err := begun(ctx); err != nil {
			return err
		}
		page, err = p.cleaner.CleanImage(ctx, m, o)
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	p.engine.cleaned(page.Timings)
	return page, nil
}

// Paid counts a credit that was settled with a page.
func (p *PDFPages) Paid() { p.engine.metrics.holds.WithLabelValues("settled").Inc() }
