package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"unink"
	"unink/internal/imagefile"
)

// maxFileBytes is the largest picture that is read. It is more than the service takes: here the
// memory is the user's own.
const maxFileBytes = 64 << 20

// defaultJobs bounds the pages cleaned at once unless -j is given: a 12-megapixel page takes up
// to 700 MB.
const defaultJobs = 4

type cleanCmd struct {
	Inputs         []string `arg:"" name:"input" help:"Pictures, PDFs, folders (with all folders in them), globs, or - for standard input."`
	Out            string   `short:"o" placeholder:"PATH" help:"A file for one picture (.png, .jpg or .webp), for one PDF or for pictures that become one (.pdf), otherwise a folder; - is standard output. Default: x.clean.jpg beside x.jpg, folder.clean beside folder."`
	Mask           bool     `help:"Also write NAME.mask.png: white where something was removed."`
	Layers         bool     `help:"Also write NAME.mask.png and NAME.ink.png: what was removed, transparent elsewhere."`
	Compare        bool     `help:"Also write NAME.compare.jpg: before and after side by side."`
	Stages         bool     `help:"Also write NAME.1-orient.png and so on: each picture as the stages leave it (not of PDFs)."`
	Pages          string   `placeholder:"LIST" help:"Only these pages of PDFs and TIFFs, such as 2-5 or 1,3,7-."`
	KeepCleanPages bool     `help:"Leave pages of a PDF as they are, text and vectors included, where nothing is removed or corrected."`
	Jobs           int      `short:"j" placeholder:"N" help:"Pages cleaned at once. Default: the number of CPUs, at most 4."`
	JSON           bool     `name:"json" help:"Report as JSON, one object a line."`
	optionFlags
	serverFlags
	engineFlags
}

// Help is shown under the flags.
func (*cleanCmd) Help() string {
	return `A PDF becomes a PDF, of pictures of its pages at their own size; blank pages stay as they are. When
a page fails, the others are tried, but the PDF is not written.
The pages of a TIFF become a picture each: x-001.clean.png and so on. They, or several pictures, become one
PDF with -o x.pdf, each page at the size that its resolution gives it, or as wide as A4.
Inputs are never overwritten; earlier outputs are. Exit codes: 0 done, 1 failed, 2 wrong use,
3 some inputs failed, 130 interrupted.`
}

// Validate checks what can be checked without looking at a file.
func (c *cleanCmd) Validate() error {
	if c.Jobs < 0 {
		return errors.New("-j must not be negative")
	}
	_, err := c.options()
	_, wrongPages := parsePages(c.Pages)
	return errors.Join(err, wrongPages, c.checkServer(c.Stages))
}

func (c *cleanCmd) options() (unink.Options, error) {
	o, err := c.optionFlags.options()
	o.Layers = c.Mask || c.Layers
	return o, err
}

// Run cleans the inputs.
func (c *cleanCmd) Run(env *environment) error {
	o, err := c.options()
	if err != nil {
		return err
	}
	p, err := c.plan(env, o.Format)
	if err != nil {
		return err
	}
	if c.Server != "" {
		return c.clean(env, p, o)
	}
	jobs := max(1, min(p.count(), c.jobs()))
	cfg := c.config(jobs, unink.Limits{MaxBytes: maxFileBytes})
	if c.Stages {
		cfg.Show = showStage
	}
	engine, err := env.open(cfg)
	if err != nil {
		return err
	}
	b := batch{env: env, engine: engine, options: o, keepClean: c.KeepCleanPages, jobs: jobs, report: c.report(env, p)}
	return errors.Join(b.run(p), engine.Close())
}

func (c *cleanCmd) jobs() int {
	if c.Jobs > 0 {
		return c.Jobs
	}
	return min(defaultJobs, runtime.NumCPU())
}

// batch cleans planned pages.
type batch struct {
	env       *environment
	engine    engine
	options   unink.Options
	keepClean bool // pages of PDFs
	jobs      int
	report    report
}

// outcome is what became of one input, or of one page of a PDF.
type outcome struct {
	input  string
	output string // empty for standard output; of a page, the PDF's
	part   bool   // it is a page of a PDF, which has an outcome of its own
	kept   bool   // that page stays as it was
	result *unink.Result
	err    error
}

// documentOutcome is what became of a PDF.
type documentOutcome struct {
	input  string
	output string // empty for standard output
	pages  int
	kept   int // of them, as they were
	err    error
	told   bool // the error is that of pages, which were told
}

// summary counts outcomes.
type summary struct {
	Cleaned     int     `json:"cleaned"`
	Failed      int     `json:"failed"`
	Skipped     int     `json:"skipped"`
	Interrupted bool    `json:"interrupted"`
	Seconds     float64 `json:"seconds"`
}

// run cleans every page of the plan and reports each. One page's failure does not stop the
// others; an interrupt does.
func (b *batch) run(p *plan) error {
	start := time.Now()
	sum := summary{Skipped: len(p.skipped)}
	for _, s := range p.skipped {
		b.report.skip(s)
	}
	var mu sync.Mutex // guards sum and the report
	tell := func(o outcome) {
		mu.Lock()
		defer mu.Unlock()
		if o.err != nil {
			sum.Failed++
		} else {
			sum.Cleaned++
		}
		b.report.page(o)
	}
	tellDocument := func(o documentOutcome) {
		mu.Lock()
		defer mu.Unlock()
		if o.err != nil && !o.told {
			sum.Failed++
		}
		b.report.document(o)
	}
	for _, o := range p.missing {
		tell(o)
	}
	var group errgroup.Group
	group.SetLimit(b.jobs)
	begin := func(work func() outcome, after func()) {
		group.Go(func() error {
			if b.env.ctx.Err() != nil {
				return nil
			}
			if o := work(); b.env.ctx.Err() == nil || o.err == nil {
				tell(o)
			}
			after()
			return nil
		})
	}
	for _, pg := range p.pages {
		if pg.document == nil {
			begin(func() outcome { return b.page(pg) }, func() {})
			continue
		}
		defer pg.document.close()
		for i := range pg.document.numbers {
			begin(func() outcome { return b.part(pg, i) }, func() {
				if pg.document.left.Add(-1) == 0 && b.env.ctx.Err() == nil {
					tellDocument(b.finish(pg))
				}
			})
		}
	}
	_ = group.Wait() // no page returns an error: each is an outcome
	sum.Interrupted = b.env.ctx.Err() != nil
	sum.Seconds = time.Since(start).Seconds()
	b.report.done(sum)
	switch {
	case sum.Interrupted:
		return context.Canceled
	case sum.Failed > 0 && sum.Cleaned > 0:
		return errSomeFailed
	case sum.Failed > 0:
		return errFailed
	}
	return nil
}

// page cleans one page and writes what was asked for.
func (b *batch) page(pg page) outcome {
	o := outcome{input: pg.input}
	data, err := b.read(pg.input)
	if err != nil {
		o.err = err
		return o
	}
	if pg.number > 0 {
		o.input = fmt.Sprintf("%s, page %d", pg.input, pg.number)
		data = imagefile.Page(data, pg.number-1)
	}
	options := b.options
	options.Format = pg.format
	ctx, stages := pg.watched(b.env.ctx)
	if o.result, o.err = b.engine.Clean(ctx, data, options); o.err == nil {
		o.err = stages.err
	}
	if o.err != nil {
		return o
	}
	if pg.toStdout() {
		_, o.err = b.env.stdout.Write(o.result.Data)
		return o
	}
	o.output = pg.names[o.result.Format]
	o.err = pg.write(data, o.result)
	return o
}

// read reads a picture, bounded.
func (b *batch) read(input string) ([]byte, error) {
	if input == stdStream {
		return readAll(b.env.stdin)
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
	data, err := io.ReadAll(io.LimitReader(in, maxFileBytes+1))
	if err == nil && len(data) > maxFileBytes {
		err = fmt.Errorf("the file has more than %d MiB; save it smaller, as JPEG for instance", maxFileBytes>>20)
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
