package job

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"unink/internal/pdf"
)

// document is a PDF to clean, or pictures that become one. Its pages are cleaned apart, several at
// once, and wait in a file until all are there.
type document struct {
	input   string
	data    []byte   // of standard input; nil for a file, which is read when its first page is begun
	numbers []int    // of the pages, from 1
	leaves  []source // the pictures, as numbers; nil for a PDF
	// keepMarks leaves annotations where they are
	keepMarks bool

	begin  func() error // opens what follows, once
	source *pdf.Document
	waits  *os.File
	left   atomic.Int32 // pages that are not done

	mu     sync.Mutex // guards what follows
	end    int64      // of the file
	pages  []pdf.Page // as numbers
	kept   int
	failed []int // of numbers
}

// openDocument looks at a PDF: how many pages it has, and whether it can be read at all. Data is
// nil for a file.
func openDocument(ctx context.Context, input string, data []byte, r Request) (*document, error) {
	d := &document{input: input, data: data, keepMarks: r.KeepMarks}
	d.begin = sync.OnceValue(d.open)
	content, err := d.read()
	if err != nil {
		return nil, err
	}
	source, err := pdf.Open(ctx, content)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	d.numbers = r.Pages.Of(source.Pages())
	if len(d.numbers) == 0 {
		return nil, noSuchPage(source.Pages())
	}
	d.pages = make([]pdf.Page, len(d.numbers))
	d.left.Store(int32(len(d.numbers)))
	return d, nil
}

func (d *document) read() ([]byte, error) {
	if d.data != nil {
		return d.data, nil
	}
	return readFile(d.input)
}

func (d *document) open() error {
	if d.leaves == nil {
		data, err := d.read()
		if err != nil {
			return err
		}
		if d.source, err = pdf.Open(context.Background(), data); err != nil {
			return err
		}
		d.source.KeepMarks = d.keepMarks
	}
	var err error
	if d.waits, err = os.CreateTemp("", "unink-"); err != nil {
		return err
	}
	return os.Remove(d.waits.Name()) // it stays as long as it is open, and no longer
}

// close gives back what the document holds.
func (d *document) close() {
	if d.source != nil {
		d.source.Close()
	}
	if d.waits != nil {
		_ = d.waits.Close()
	}
	d.source, d.waits, d.data = nil, nil, nil
}

// keep puts a page's picture aside, to be written as the page says.
func (d *document) keep(i int, picture []byte, p pdf.Page) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.waits.WriteAt(picture, d.end); err != nil {
		return fmt.Errorf("the pages need a place in %s until all are done: %w", os.TempDir(), plain(err))
	}
	p.Picture = io.NewSectionReader(d.waits, d.end, int64(len(picture)))
	d.pages[i] = p
	d.end += int64(len(picture))
	return nil
}

// leave lets a page stay as it is.
func (d *document) leave(i int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pages[i] = pdf.Page{Original: d.numbers[i] - 1}
	d.kept++
}

// part cleans one page of a PDF.
func (r *run) part(ctx context.Context, pg page, i int) Outcome {
	d := pg.document
	o := Outcome{Input: d.label(i), Output: pg.names[pdfName], Part: true}
	if o.Err = d.begin(); o.Err == nil {
		o.Err = r.cleanPart(ctx, d, i, &o)
	}
	if o.Err != nil {
		d.mu.Lock()
		d.failed = append(d.failed, i)
		d.mu.Unlock()
	}
	return o
}

// cleanPart cleans a page, and puts its picture aside.
func (r *run) cleanPart(ctx context.Context, d *document, i int, o *Outcome) error {
	press := Press{r.engine, r.Options, r.KeepClean}
	clean := func() (Leaf, error) { return press.Clean(ctx, d.source, d.numbers[i]-1) }
	if d.leaves != nil {
		clean = func() (Leaf, error) { return press.bind(ctx, d.leaves[i]) }
	}
	l, err := clean()
	o.Kept, o.Marks, o.Strokes, o.Unheld, o.Result = l.Kept, l.Marks, l.Strokes, l.Unheld, &l.Result
	switch {
	case err != nil:
		return err
	case l.Picture == nil:
		d.leave(i)
		return nil
	}
	return d.keep(i, l.Picture, l.Place)
}

// failure says which pages failed, and how to do without them.
func (d *document) failure() error {
	slices.Sort(d.failed)
	names := make([]string, len(d.failed))
	for i, at := range d.failed {
		names[i] = strconv.Itoa(d.numbers[at])
		if d.leaves != nil {
			names[i] = d.label(at)
		}
	}
	if d.leaves != nil {
		return fmt.Errorf("nothing was written, for these failed: %s; leave them out",
			strings.Join(names, "; "))
	}
	return fmt.Errorf(
		"nothing was written, for these of its pages failed: %s; --pages can leave them out",
		strings.Join(names, ", "),
	)
}

// finish writes the cleaned PDF once all its pages are done, or says why not.
func (r *run) finish(ctx context.Context, pg page) DocumentOutcome {
	d := pg.document
	defer d.close()
	o := DocumentOutcome{Input: d.input, Output: pg.names[pdfName], Pages: len(d.pages), Kept: d.kept}
	switch {
	case len(d.failed) > 0:
		o.Err = d.failure()
		o.told = true
	case pg.toStdout():
		o.Err = pdf.Write(ctx, r.Stdout, d.source, d.pages)
	default:
		o.Err = createFile(pg.names[pdfName], func(w io.Writer) error {
			return pdf.Write(ctx, w, d.source, d.pages)
		})
	}
	return o
}
