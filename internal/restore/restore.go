// Package restore takes the handwriting off a page.
//
// A page goes one way through the stages: orient, flatten, segment, erase, finish. Each is a
// function of the page and its options.
package restore

import (
	"context"
	"errors"
	"image"
	"time"

	"unink/internal/nn"
	"unink/internal/raster"
)

// ErrNoContent says that the page is blank.
var ErrNoContent = errors.New("nothing recognised: the picture is blank")

// Finish is how the cleaned page looks.
type Finish uint8

// The finishes.
const (
	Scan   Finish = iota // even white paper, dark print
	Colour               // the picture as it was
)

// Ink is a set of ink colours; zero is all.
type Ink uint8

// The inks.
const (
	Black Ink = 1 << iota
	Blue
	Red
	Green
	Pencil
)

// Options say what is done to a page.
type Options struct {
	Finish          Finish
	Remove          Ink
	Layers          bool
	KeepOrientation bool // as the Colour finish always does
	KeepDistortion  bool // likewise
}

// Engine is what the stages work with.
type Engine struct {
	Segmenter nn.Runner
	Orienter  nn.Runner
	Flattener nn.Runner
	Em        float64 // of body text, in pixels, that the segmenter wants
	Threads   int     // goroutines for one page
	// Show, if any, is given the page as it comes ("input") and as each stage leaves it. It must
	// not change the picture, nor keep it.
	Show func(ctx context.Context, stage string, page *image.RGBA)
}

func (e *Engine) show(ctx context.Context, stage string, page *image.RGBA) {
	if e.Show != nil {
		e.Show(ctx, stage, page)
	}
}

// Page is a cleaned page.
type Page struct {
	Image       *image.RGBA
	Removed     float64       // share of the pixels, 0 to 1
	Handwriting *image.NRGBA  // with Layers
	Mask        *image.Gray   // with Layers: 255 where something was removed
	Turned      int           // degrees clockwise that the page was turned to stand upright
	Flattened   bool          // skew, perspective or curl was undone
	Skew        float64       // degrees clockwise that was undone, at the page's middle
	Curl        float64       // how far lines of print bowed, which was undone, as a share of the page's longer side
	Corners     [4][2]float64 // with Flattened: where the corners were in the picture that came, in pixels
	Confidence  Confidence
	Waves       int // of moire that were taken away
	Orient      time.Duration
	Flatten     time.Duration
	Demoire     time.Duration
	Segment     time.Duration
	Erase       time.Duration
	Finish      time.Duration
}

// Clean takes the handwriting off an opaque picture with its origin at 0,0, which it leaves as
// it is. It stops between tiles and stages when the context ends.
func (e *Engine) Clean(ctx context.Context, src *image.RGBA, o Options) (*Page, error) {
	p := &Page{}
	e.show(ctx, "input", src)
	v, err := e.straighten(ctx, src, o, p)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	start := time.Now()
	s, paper, err := e.segment(ctx, v)
	if err != nil {
		return nil, err
	}
	page := v.src
	if h := findHighlighters(v.m, s, e.Threads).of(o.Remove); h != nil {
		v = e.view(h.lift(page), v.em)
		if s, paper, err = e.segment(ctx, v); err != nil { // what lies under them was not to be seen well
			return nil, err
		}
	}
	p.Confidence.Segment = s.confidence()
	p.Segment = time.Since(start)

	start = time.Now()
	ink := measureInk(s, v.m, paper, e.Threads)
	if ink.blank() {
		return nil, ErrNoContent
	}
	rules, marks := s.vote(ink, e.Threads)
	if o.Remove != 0 {
		s.keepOthers(o.Remove, ink)
	}
	s.settle(rules)
	c := project(page, v.src, s, paper, e.Threads)
	if e.Show != nil {
		e.show(ctx, "segment", c.segmented())
	}
	p.Image = c.erase(rules, marks)
	p.Removed = c.removed()
	if o.Layers {
		p.Handwriting, p.Mask = c.layers(p.Image)
	}
	p.Erase = time.Since(start)
	e.show(ctx, "erase", p.Image)
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	start = time.Now()
	if o.Finish == Scan {
		c.scan(p.Image)
	}
	p.Finish = time.Since(start)
	e.show(ctx, "finish", p.Image)
	return p, nil
}

// view is a page and the picture of it that the networks see.
type view struct {
	src *image.RGBA
	m   *raster.RGB
	em  float64 // the print's size in src
}

func (e *Engine) view(src *image.RGBA, em float64) view {
	return view{src, working(src, em, e.Em, e.Threads), em}
}

// scale is that of the picture that the networks see.
func (v view) scale() float64 { return float64(v.m.W) / float64(v.src.Rect.Dx()) }

// seen is the print's size in it.
func (v view) seen() float64 { return v.em * v.scale() }

// straighten turns the page upright and flattens it, as far as that is wanted.
func (e *Engine) straighten(ctx context.Context, src *image.RGBA, o Options, p *Page) (view, error) {
	start := time.Now()
	size := measurePrint(src, e.Threads)
	v := e.view(src, size.likely())
	if o.Finish == Scan && !o.KeepOrientation && size.legible() {
		quarters, sure, err := quartersToUpright(ctx, e.Orienter, v.m, size.times(v.scale()), e.Threads)
		if err != nil {
			return v, err
		}
		if quarters != 0 {
			v = e.view(raster.Turn(src, quarters), size.turned(quarters).likely())
		}
		p.Turned, p.Confidence.Orient = 90*quarters, sure
	}
	p.Orient = time.Since(start)
	e.show(ctx, "orient", v.src)

	start = time.Now()
	if o.Finish == Scan && !o.KeepDistortion {
		f, err := flatten(ctx, e.Flattener, v.m, v.seen(), e.Threads)
		if err != nil {
			return v, err
		}
		p.Confidence.Flatten = f.Confidence
		if f.Warp != nil {
			p.Curl = f.Curl
			p.flattened(f.Warp, v.src.Rect.Size(), src.Rect.Size())
			v = e.view(f.Warp.Apply(v.src, e.Threads), v.em)
		}
	}
	p.Flatten = time.Since(start)
	e.show(ctx, "flatten", v.src)

	start = time.Now()
	if o.Finish == Scan {
		if src, waves := demoire(v.src, e.Threads); waves > 0 {
			v, p.Waves = e.view(src, v.em), waves
		}
	}
	p.Demoire = time.Since(start)
	e.show(ctx, "demoire", v.src)
	return v, nil
}

// segment classifies the pixels of a view, and finds its paper.
func (e *Engine) segment(ctx context.Context, v view) (*scores, [3]*raster.Grid, error) {
	paper := paperGrids(v.m, e.Threads)
	s, err := segment(ctx, e.Segmenter, v.m, exposure(paper), e.Threads)
	return s, paper, err
}
