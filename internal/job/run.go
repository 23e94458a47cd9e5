// Package job is the work on files: it plans which pages of which pictures, PDFs and folders are
// cleaned and where the results go, has an engine or a service clean them, and writes the results.
package job

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"unink"
	"unink/internal/imagefile"
)

// MaxFileBytes is the largest picture that is read. It is more than the service takes: here the
// memory is the user's own.
const MaxFileBytes = 64 << 20

// Engine removes handwriting; [*unink.Cleaner] is one.
type Engine interface {
	Clean(ctx context.Context, data []byte, o unink.Options) (*unink.Result, error)
	CleanImage(ctx context.Context, m image.Image, o unink.Options) (*unink.Page, error)
}

// Report is told what becomes of the inputs, by one goroutine at a time.
type Report interface {
	Skip(s Skipped)
	Page(o Outcome)
	Document(o DocumentOutcome) // after its pages
	Done(s Summary)
}

// Skipped is an input that is passed over.
type Skipped struct{ Path, Reason string }

// Outcome is what became of one input, or of one page of a PDF.
type Outcome struct {
	Input   string
	Output  string // empty for standard output; of a page, the PDF's
	Part    bool   // it is a page of a PDF, which has an outcome of its own
	Kept    bool   // that page stays as it was, but for marks
	Marks   int    // annotations that were taken off it
	Strokes int    // of a stylus that were taken off its own content
	Unheld  bool   // it stays for its text is in a font that the file does not hold
	Result  *unink.Result
	Err     error
}

// DocumentOutcome is what became of a PDF.
type DocumentOutcome struct {
	Input  string
	Output string // empty for standard output
	Pages  int
	Kept   int // of them, as they were
	Err    error
	told   bool // the error is that of pages, which were told
}

// Summary counts outcomes.
type Summary struct {
	Cleaned     int     `json:"cleaned"`
	Failed      int     `json:"failed"`
	Skipped     int     `json:"skipped"`
	Interrupted bool    `json:"interrupted"`
	Seconds     float64 `json:"seconds"`
}

// run is a plan at work.
type run struct {
	Request
	engine Engine
	report Report

	mu  sync.Mutex // guards the report and what follows
	sum Summary
}

// Run cleans every page of the plan, so many at once, and reports each. One page's failure does
// not stop the others; the end of ctx does.
func (p *Plan) Run(ctx context.Context, engine Engine, jobs int, report Report) Summary {
	start := time.Now()
	r := &run{Request: p.request, engine: engine, report: report,
		sum: Summary{Skipped: len(p.skipped)}}
	for _, s := range p.skipped {
		report.Skip(s)
	}
	for _, o := range p.missing {
		r.tell(o)
	}
	var group errgroup.Group
	group.SetLimit(jobs)
	begin := func(work func() Outcome, after func()) {
		group.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			if o := work(); ctx.Err() == nil || o.Err == nil {
				r.tell(o)
			}
			after()
			return nil
		})
	}
	for _, pg := range p.pages {
		if pg.document == nil {
			begin(func() Outcome { return r.page(ctx, pg) }, func() {})
			continue
		}
		defer pg.document.close()
		for i := range pg.document.numbers {
			begin(func() Outcome { return r.part(ctx, pg, i) }, func() {
				if pg.document.left.Add(-1) == 0 && ctx.Err() == nil {
					r.tellDocument(r.finish(ctx, pg))
				}
			})
		}
	}
	_ = group.Wait() // no page returns an error: each is an outcome
	r.sum.Interrupted = ctx.Err() != nil
	r.sum.Seconds = time.Since(start).Seconds()
	report.Done(r.sum)
	return r.sum
}

func (r *run) tell(o Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o.Err != nil {
		r.sum.Failed++
	} else {
		r.sum.Cleaned++
	}
	r.report.Page(o)
}

func (r *run) tellDocument(o DocumentOutcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o.Err != nil && !o.told {
		r.sum.Failed++
	}
	r.report.Document(o)
}

// page cleans one page and writes what was asked for.
func (r *run) page(ctx context.Context, pg page) Outcome {
	o := Outcome{Input: pg.input}
	data, err := r.read(pg.input)
	if err != nil {
		o.Err = err
		return o
	}
	if pg.number > 0 {
		o.Input = fmt.Sprintf("%s, page %d", pg.input, pg.number)
		data = imagefile.Page(data, pg.number-1)
	}
	options := r.Options
	options.Format = pg.format
	options.Layers = pg.extras.Mask || pg.extras.Layers || pg.extras.Tint
	options.Before = pg.extras.Compare
	ctx, stages := pg.watched(ctx)
	if o.Result, o.Err = r.engine.Clean(ctx, data, options); o.Err == nil {
		o.Err = stages.err
	}
	if o.Err != nil {
		return o
	}
	if pg.toStdout() {
		_, o.Err = r.Stdout.Write(o.Result.Data)
		return o
	}
	o.Output = pg.names[o.Result.Format]
	o.Err = pg.write(ctx, data, o.Result)
	return o
}

// read reads a picture, bounded.
func (r *run) read(input string) ([]byte, error) {
	if input == Stream {
		return readAll(r.Stdin)
	}
	return readFile(input)
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, plain(err)
	}
	defer func() { _ = f.Close() }()
	return readAll(f)
}

func readAll(in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, MaxFileBytes+1))
	if err == nil && len(data) > MaxFileBytes {
		err = fmt.Errorf("the file has more than %d MiB; save it smaller, as JPEG for instance",
			MaxFileBytes>>20)
	}
	return data, plain(err)
}

// plain drops the operation and the path, which the report names, from an error of the system.
func plain(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
