package job

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"unink"
	"unink/internal/imagefile"
	"unink/internal/pdf"
)

// document is a PDF to clean, or pictures that become one. Its pages are cleaned apart, several at
// once, and wait in a file until all are there.
type document struct {
	input   string
	data    []byte   // of standard input; nil for a file, which is read when its first page is begun
	numbers []int    // of the pages, from 1
	leaves  []source // the pictures, as numbers; nil for a PDF

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
func openDocument(ctx context.Context, input string, data []byte, pages Pages) (*document, error) {
	d := &document{input: input, data: data}
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
	d.numbers = pages.of(source.Pages())
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

// keep puts a page's picture aside, which is a file, or the code of a fax of the given size.
func (d *document) keep(i int, picture []byte, fax image.Point, size pdf.Size) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.waits.WriteAt(picture, d.end); err != nil {
		return fmt.Errorf("the pages need a place in %s until all are done: %w", os.TempDir(), plain(err))
	}
	d.pages[i] = pdf.Page{Picture: io.NewSectionReader(d.waits, d.end, int64(len(picture))),
		Fax: fax, Size: size}
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
		o.Result, o.Kept, o.Err = r.cleanPart(ctx, d, i)
	}
	if o.Err != nil {
		d.mu.Lock()
		d.failed = append(d.failed, i)
		d.mu.Unlock()
	}
	return o
}

func (r *run) cleanPart(ctx context.Context, d *document,
	i int) (res *unink.Result, kept bool, err error) {
	start := time.Now()
	picture, paper, err := d.draw(ctx, i)
	if err != nil {
		return nil, false, err
	}
	drawn := time.Now()
	size := picture.Rect.Size()
	page, err := r.engine.CleanImage(ctx, picture, r.Options)
	switch {
	case errors.Is(err, unink.ErrNoContent): // a blank page
		page, kept = &unink.Page{}, true
	case err != nil:
		return nil, false, err
	default:
		kept = r.KeepClean && page.Removed == 0 && page.Turned == 0 && !page.Flattened
	}
	res = &unink.Result{Width: size.X, Height: size.Y, Report: page.Report}
	cleaned := time.Now()
	if kept && d.leaves != nil { // there is no PDF to take it from
		page = &unink.Page{Image: picture}
	}
	if kept && d.leaves == nil {
		d.leave(i)
	} else if err := r.keepPart(ctx, d, i, page, paper, res); err != nil {
		return nil, false, err
	}
	res.Timings.Decode = drawn.Sub(start)
	res.Timings.Encode = time.Since(cleaned)
	res.Timings.Total = time.Since(start)
	return res, kept, nil
}

// keepPart puts a cleaned page aside, at the size that it has in the original.
func (r *run) keepPart(ctx context.Context, d *document, i int, page *unink.Page,
	size pdf.Size, res *unink.Result) error {
	if page.Turned%180 != 0 {
		size.Width, size.Height = size.Height, size.Width
	}
	data, format, err := r.encodePart(ctx, page.Image)
	if err != nil {
		return err
	}
	res.Format, res.Width, res.Height = format, page.Image.Rect.Dx(), page.Image.Rect.Dy()
	if r.Options.Format == unink.Auto && imagefile.Bilevel(page.Image) {
		fax, err := imagefile.Group4(ctx, page.Image)
		if err != nil {
			return err
		}
		if len(fax) < len(data) {
			return d.keep(i, fax, page.Image.Rect.Size(), size)
		}
	}
	return d.keep(i, data, image.Point{}, size)
}

// encodePart encodes a page's picture. Unless a format is asked for, coloured pages of the scan
// finish, which are few flat colours or have a photo on them, get the one that is smaller.
func (r *run) encodePart(ctx context.Context, m *image.RGBA) ([]byte, unink.Format, error) {
	format := imagefile.Choose(imagefile.Format(r.Options.Format), imagefile.Auto, m)
	data, err := imagefile.Encode(ctx, m, format, imagefile.Meta{})
	if err != nil || r.Options.Format != unink.Auto || r.Options.Finish != unink.Scan ||
		format == imagefile.PNG {
		return data, unink.Format(format), err
	}
	flat, err := imagefile.Encode(ctx, m, imagefile.PNG, imagefile.Meta{})
	if len(flat) < len(data) {
		return flat, unink.PNG, err
	}
	return data, unink.JPEG, err
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
