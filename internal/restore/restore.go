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
	Em        float64 // of body text, in pixels, that the segmenter wants
	Threads   int     // goroutines for one page
}

// Page is a cleaned page.
type Page struct {
	Image       *image.RGBA
	Removed     float64      // share of the pixels, 0 to 1
	Handwriting *image.NRGBA // with Layers
	Mask        *image.Gray  // with Layers: 255 where something was removed
	Turned      int          // degrees clockwise that the page was turned to stand upright
	Flattened   bool         // perspective or skew was undone
	Orient      time.Duration
	Flatten     time.Duration
	Segment     time.Duration
	Erase       time.Duration
	Finish      time.Duration
}

// Clean takes the handwriting off an opaque picture with its origin at 0,0, which it leaves as
// it is. It stops between tiles and stages when the context ends.
func (e *Engine) Clean(ctx context.Context, src *image.RGBA, o Options) (*Page, error) {
	p := &Page{}
	start := time.Now()
	em := printSize(src, e.Threads)
	m := working(src, em, e.Em, e.Threads)
	seen := em * float64(m.W) / float64(src.Rect.Dx()) // the print's size in the working picture
	if o.Finish == Scan && !o.KeepOrientation {
		quarters, err := quartersToUpright(ctx, e.Orienter, m, seen, e.Threads)
		if err != nil {
			return nil, err
		}
		if quarters != 0 {
			src = raster.Turn(src, quarters)
			m = working(src, em, e.Em, e.Threads)
		}
		p.Turned = 90 * quarters
	}
	p.Orient = time.Since(start)

	start = time.Now()
	if o.Finish == Scan && !o.KeepDistortion {
		if warp, _ := flatten(m, seen, e.Threads); warp != nil {
			src = warp.Apply(src, e.Threads)
			m = working(src, em, e.Em, e.Threads)
			p.Flattened = true
		}
	}
	p.Flatten = time.Since(start)
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	start = time.Now()
	paper := paperGrids(m, e.Threads)
	s, err := segment(ctx, e.Segmenter, m, exposure(paper))
	if err != nil {
		return nil, err
	}
	p.Segment = time.Since(start)

	start = time.Now()
	ink := measureInk(s, m, paper, e.Threads)
	if ink.blank() {
		return nil, ErrNoContent
	}
	rules := s.vote(ink)
	if o.Remove != 0 {
		s.keepOthers(o.Remove, ink)
	}
	c := project(src, s, paper, e.Threads)
	p.Image = c.erase(rules)
	p.Removed = c.removed()
	if o.Layers {
		p.Handwriting, p.Mask = c.layers(p.Image)
	}
	p.Erase = time.Since(start)
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	start = time.Now()
	if o.Finish == Scan {
		c.scan(p.Image)
	}
	p.Finish = time.Since(start)
	return p, nil
}

func (c *canvas) removed() float64 {
	n := 0
	for _, v := range c.flags {
		n += int(v & isHand)
	}
	return float64(n) / float64(len(c.flags))
}
