// Package restore takes the handwriting off a page.
//
// A page goes one way through the stages, each a package of its own: orient, flatten, demoire,
// segment (with highlight, ink and strokes), erase, finish. Each is a function of the page and its
// options.
package restore

import (
	"context"
	"errors"
	"image"
	"slices"
	"time"

	"unink/internal/nn"
	"unink/internal/raster"
	"unink/internal/restore/canvas"
	"unink/internal/restore/demoire"
	"unink/internal/restore/erase"
	"unink/internal/restore/finish"
	"unink/internal/restore/flatten"
	"unink/internal/restore/highlight"
	"unink/internal/restore/ink"
	"unink/internal/restore/measure"
	"unink/internal/restore/orient"
	"unink/internal/restore/segment"
	"unink/internal/restore/strokes"
)

// ErrNoContent says that there is nothing on the page.
var ErrNoContent = errors.New(
	"nothing recognised: the picture is blank, or has nothing on it but noise or a gradient")

// Finish is how the cleaned page looks.
type Finish uint8

// The finishes.
const (
	Scan   Finish = iota // even white paper, dark print
	Colour               // the picture as it was
)

// Ink is a set of ink colours; zero is all.
type Ink = ink.Set

// The inks.
const (
	Black  = ink.Black
	Blue   = ink.Blue
	Red    = ink.Red
	Green  = ink.Green
	Pencil = ink.Pencil
)

// Options say what is done to a page.
type Options struct {
	Finish          Finish
	Remove          Ink
	Layers          bool
	Before          bool // also hand out the page as it was, lying as the result does
	KeepOrientation bool // as the Colour finish always does
	KeepDistortion  bool // likewise
}

// Engine is what the stages work with.
type Engine struct {
	Segmenter nn.Runner // tells the classes of a tile's pixels
	Overview  nn.Runner // looks at the whole page for it
	Judge     nn.Runner // tells which regions of ink were written
	Orienter  nn.Runner
	Flattener nn.Runner
	Em        float64 // of body text, in pixels, that segmenter and overview want
	Threads   int     // goroutines for one page
	// Show, if any, is given the page as it comes ("input") and as each stage leaves it. It must
	// not change the picture, nor keep it.
	Show func(ctx context.Context, stage string, page *image.RGBA)
}

// Page is a cleaned page.
type Page struct {
	Image       *image.RGBA
	Removed     float64       // share of the pixels, 0 to 1
	Handwriting *image.NRGBA  // with Layers
	Mask        *image.Gray   // with Layers: 255 where something was removed
	Before      *image.RGBA   // with Before, where the page was turned or flattened: it, uncleaned
	Turned      int           // degrees clockwise that the page was turned to stand upright
	Flattened   bool          // skew, perspective or curl was undone
	Skew        float64       // degrees clockwise that was undone, at the page's middle
	Curl        float64       // how far lines of print bowed, as a share of the page's longer side
	Corners     [4][2]float64 // with Flattened: where the corners were in the input, in pixels
	Confidence  Confidence
	Unfinished  bool                     // the scan finish was left out: it would have lost print
	Waves       int                      // of moire that were taken away
	Timings     map[string]time.Duration // of the stages, by their names
}

// Clean takes the handwriting off an opaque picture with its origin at 0,0, which it leaves as
// it is. It stops between tiles and stages when the context ends.
func (e *Engine) Clean(ctx context.Context, src *image.RGBA, o Options) (*Page, error) {
	w := workOn(e, src, o)
	w.result.Timings = map[string]time.Duration{}
	if e.Show != nil {
		e.Show(ctx, arrived, src)
	}
	if contentless(src, e.Threads) {
		return nil, ErrNoContent
	}
	for _, s := range way {
		if err := w.run(ctx, s); err != nil {
			return nil, err
		}
	}
	return &w.result, nil
}

// step is a part of the way of a page. It returns the picture that it leaves, if one is shown.
type step struct {
	stage string // that its time counts for
	shown string // name of the picture that it leaves; empty if none is shown
	do    func(w *work, ctx context.Context) (*image.RGBA, error)
}

// way has the steps of a page in their order.
var way = []step{
	{"orient", "orient", (*work).orient},
	{"flatten", "flatten", (*work).flatten},
	{"flatten", "", (*work).keepBefore},
	{"demoire", "demoire", (*work).demoire},
	{"segment", "", (*work).classify},
	{"decide", "segment", (*work).decide},
	{"erase", "erase", (*work).erase},
	{"finish", "finish", (*work).finish},
}

const arrived = "input" // the name of the picture that comes

// Stages are the names of the times that a page has, in the order of its way.
func Stages() (names []string) {
	for _, s := range way {
		names = append(names, s.stage)
	}
	return slices.Compact(names)
}

// Pictures are the names of those that [Engine.Show] is given, in the order of a page's way.
func Pictures() []string {
	names := []string{arrived}
	for _, s := range way {
		if s.shown != "" {
			names = append(names, s.shown)
		}
	}
	return names
}

// run takes a step: it stops where the context has ended, adds up the time and shows the picture.
func (w *work) run(ctx context.Context, s step) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	start := time.Now()
	picture, err := s.do(w, ctx)
	if err != nil {
		return err
	}
	w.result.Timings[s.stage] += time.Since(start)
	if w.Show != nil && s.shown != "" {
		w.Show(ctx, s.shown, picture)
	}
	return nil
}

// work is a page on its way, and what is known of it so far.
type work struct {
	*Engine
	options Options
	input   image.Point // size of the page as it came
	bilevel bool        // it came in black and white
	view
	lean   measure.Lean // of the print in src
	flat   *image.RGBA  // the page before highlighter was lifted
	scores *segment.Scores
	paper  [3]*raster.Grid
	canvas *canvas.Canvas
	rules  []strokes.Rule
	marks  []strokes.Mark
	result Page
}

// workOn begins the way of a page.
func workOn(e *Engine, src *image.RGBA, o Options) *work {
	return &work{Engine: e, options: o, input: src.Rect.Size(), bilevel: raster.Bilevel(src),
		view: view{src: src}}
}

// view is a page and its working picture.
type view struct {
	src *image.RGBA
	m   *raster.RGB
	em  float64 // the print's size in src
}

// viewOf makes a page's working picture, given the size of its print.
func (e *Engine) viewOf(src *image.RGBA, em float64) view {
	return view{src, segment.WorkingPicture(src, em, e.Threads), em}
}

// scale is the size of the working picture, relative to the page.
func (v *view) scale() float64 { return float64(v.m.W) / float64(v.src.Rect.Dx()) }

// orient turns the page upright, where that is wanted and the print can be read. Print that leans
// is read level; the page itself is made level with all else that flatten undoes.
func (w *work) orient(ctx context.Context) (*image.RGBA, error) {
	size := measure.Print(w.src, w.Threads)
	w.view = w.viewOf(w.src, size.Likely())
	asItLies := w.options.KeepOrientation && w.options.KeepDistortion
	if w.options.Finish != Scan || asItLies || !size.Legible() {
		return w.src, nil
	}
	seen, size := w.level(size)
	if w.options.KeepOrientation {
		return w.src, nil
	}
	quarters, probability, err := orient.Quarters(ctx, w.Orienter, seen.m,
		size.Times(seen.scale()), w.Threads)
	if err != nil {
		return nil, err
	}
	if quarters != 0 {
		w.view = w.viewOf(raster.Turn(w.src, quarters), size.Turned(quarters).Likely())
		w.lean = w.lean.Turned(quarters)
	}
	w.result.Turned, w.result.Confidence.Orient = 90*quarters, probability
	return w.src, nil
}

// level finds how the page leans. It returns the page as its print can be read, turned level where
// it leans, and the print's size there.
func (w *work) level(size measure.Size) (view, measure.Size) {
	w.lean = measure.LeanOf(w.m, w.em*w.scale(), w.Threads).Times(1 / w.scale())
	if w.lean.Degrees == 0 {
		return w.view, size
	}
	src := w.levelling().Apply(w.src, w.Threads)
	size = measure.Print(src, w.Threads)
	w.view = w.viewOf(w.src, size.Likely())
	return w.viewOf(src, size.Likely()), size
}

// levelling is the warp that makes a leaning page level.
func (w *work) levelling() *raster.Warp {
	return raster.Rotation(w.src.Rect.Dx(), w.src.Rect.Dy(), w.lean.Degrees, w.lean.Reach)
}

// flatten undoes skew, perspective and bend, where that is wanted.
func (w *work) flatten(ctx context.Context) (*image.RGBA, error) {
	if w.options.Finish != Scan || w.options.KeepDistortion {
		return w.src, nil
	}
	f, err := w.findFlat(ctx)
	if err != nil {
		return nil, err
	}
	w.result.Confidence.Flatten = f.Confidence
	if f.Warp != nil {
		w.result.Curl = f.Curl
		w.result.reportWarp(f.Warp, w.src.Rect.Size(), w.input)
		w.view = w.viewOf(f.Warp.Apply(w.src, w.Threads), w.em)
	}
	return w.src, nil
}

// findFlat finds what makes the page flat. One that leans is looked at level, and both are undone
// at once.
func (w *work) findFlat(ctx context.Context) (flatten.Result, error) {
	if w.lean.Degrees == 0 {
		return flatten.Find(ctx, w.Flattener, w.m, w.em*w.scale(), w.Threads)
	}
	level := w.levelling()
	seen := w.viewOf(level.Apply(w.src, w.Threads), w.em)
	f, err := flatten.Find(ctx, w.Flattener, seen.m, seen.em*seen.scale(), w.Threads)
	if err != nil {
		return f, err
	}
	if f.Warp == nil {
		f.Warp = level
	} else {
		f.Warp = f.Warp.After(level)
	}
	return f, nil
}

// keepBefore hands the page out as it lies now. Where that is as it came, the input is the picture.
func (w *work) keepBefore(context.Context) (*image.RGBA, error) {
	if w.options.Before && (w.result.Turned != 0 || w.result.Flattened) {
		w.result.Before = w.src // which no later stage changes
	}
	return w.src, nil
}

// demoire takes the pattern of a photographed screen away, in the scan finish.
func (w *work) demoire(context.Context) (*image.RGBA, error) {
	if w.options.Finish != Scan {
		return w.src, nil
	}
	if even, waves := demoire.Remove(w.src, w.Threads); waves > 0 {
		w.view, w.result.Waves = w.viewOf(even, w.em), waves
	}
	return w.src, nil
}

// classify has the network look at the page, and once more where highlighter had to be lifted: what
// lies under it was not to be seen well.
func (w *work) classify(ctx context.Context) (*image.RGBA, error) {
	w.flat = w.src
	if err := w.segment(ctx); err != nil {
		return nil, err
	}
	if h := highlight.Find(w.m, w.scores, w.Threads).Of(w.options.Remove); h != nil {
		w.view = w.viewOf(h.Lift(w.src), w.em)
		if err := w.segment(ctx); err != nil {
			return nil, err
		}
	}
	w.result.Confidence.Segment = w.scores.Confidence()
	return nil, nil
}

func (e *Engine) networks() segment.Networks {
	return segment.Networks{Overview: e.Overview, Tiles: e.Segmenter, Em: e.Em}
}

// Probe runs one tile through the network: nil says that pages can be cleaned.
func (e *Engine) Probe(ctx context.Context) error { return e.networks().Probe(ctx) }

// segment classifies the pixels of the page, and finds its paper.
func (w *work) segment(ctx context.Context) (err error) {
	w.paper = segment.Paper(w.m, w.Threads)
	p := segment.Picture{Page: w.src, Em: w.em, RGB: w.m, Gain: segment.Exposure(w.paper)}
	w.scores, err = w.networks().Classify(ctx, p, w.Threads)
	return err
}

// decide makes strokes of the scores, and brings them to the page's full resolution.
func (w *work) decide(ctx context.Context) (picture *image.RGBA, err error) {
	plane := ink.Measure(w.scores, w.m, w.paper, w.Threads)
	if plane.Blank() {
		return nil, ErrNoContent
	}
	w.rules, w.marks, err = strokes.Decide(ctx, w.Judge, w.scores, plane, w.options.Remove, w.Threads)
	if err != nil {
		return nil, err
	}
	w.canvas = canvas.Project(w.flat, w.src, w.scores, w.paper, w.Threads)
	w.view, w.scores = view{}, nil // nothing later needs this much memory
	if w.Show != nil {
		picture = w.canvas.Segmented()
	}
	return picture, nil
}

// Survey is what the judge of regions is told of a page as it lies, for its training, and the size
// of the picture that its labels are of.
func (e *Engine) Survey(ctx context.Context,
	src *image.RGBA) (*strokes.Survey, image.Point, error) {
	w := &work{Engine: e, options: Options{Finish: Colour}, view: view{src: src}}
	for _, do := range []func(context.Context) (*image.RGBA, error){w.orient, w.classify} {
		if _, err := do(ctx); err != nil {
			return nil, image.Point{}, err
		}
	}
	plane := ink.Measure(w.scores, w.m, w.paper, w.Threads)
	return strokes.Look(w.scores, plane, w.Threads), image.Pt(w.m.W, w.m.H), nil
}

func (w *work) erase(context.Context) (*image.RGBA, error) {
	w.result.Image = erase.Erase(w.canvas, w.rules, w.marks)
	w.result.Removed = erase.Removed(w.canvas)
	if w.options.Layers {
		w.result.Handwriting, w.result.Mask = erase.Layers(w.canvas, w.result.Image)
	}
	// The finish looks at the result alone.
	w.flat, w.canvas.Input, w.canvas.Src = nil, nil, nil
	return w.result.Image, nil
}

func (w *work) finish(context.Context) (*image.RGBA, error) {
	if w.options.Finish == Scan {
		w.result.Unfinished = !finish.Scan(w.canvas, w.result.Image)
		if w.bilevel { // the greys are of its resampling
			raster.ToBilevel(w.result.Image)
		}
	}
	return w.result.Image, nil
}
