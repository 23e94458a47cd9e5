package job

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
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
	d.numbers = r.Pages.of(source.Pages())
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

// cleanPart cleans a page. One that the file itself says to be all print stays as it is, and so
// does one that cannot be drawn as it is meant.
func (r *run) cleanPart(ctx context.Context, d *document, i int, o *Outcome) error {
	start := time.Now()
	o.Result = &unink.Result{}
	defer func() { o.Result.Timings.Note("total", time.Since(start)) }()
	var content pdf.Content
	if d.leaves == nil {
		var err error
		if content, err = d.source.Look(ctx, d.numbers[i]-1); err != nil {
			return err
		}
		o.Marks, o.Strokes = content.Marks, content.Strokes
		if o.Unheld = content.Unheld && !content.Printed; content.Printed || o.Unheld {
			d.leave(i)
			o.Kept = true
			return nil
		}
	}
	picture, paper, err := d.draw(ctx, i)
	if err != nil {
		return err
	}
	drawn := time.Now()
	options := r.Options
	options.Layers = content.Text // the mask tells which of it was written
	page, err := r.engine.CleanImage(ctx, picture, options)
	switch {
	case errors.Is(err, unink.ErrNoContent): // a blank page
		page, o.Kept = &unink.Page{}, true
	case err != nil:
		return err
	default:
		o.Kept = r.KeepClean && page.Removed == 0 && page.Turned == 0 && !page.Flattened
	}
	size := picture.Rect.Size()
	o.Result.Report, o.Result.Width, o.Result.Height = page.Report, size.X, size.Y
	cleaned := time.Now()
	if o.Kept && d.leaves != nil { // there is no PDF to take it from
		page = &unink.Page{Image: picture}
	}
	if o.Kept && d.leaves == nil {
		d.leave(i)
	} else if err := r.keepPart(ctx, d, i, page, d.place(i, page, size, paper),
		o.Result); err != nil {
		return err
	}
	o.Result.Timings.Note("decode", drawn.Sub(start))
	o.Result.Timings.Note("encode", time.Since(cleaned))
	return nil
}

// place is where a cleaned page stands in the PDF; it was drawn in so many pixels, on such paper.
func (d *document) place(i int, page *unink.Page, drawn image.Point, paper pdf.Size) pdf.Page {
	if d.leaves != nil {
		if page.Turned%180 != 0 {
			paper.Width, paper.Height = paper.Height, paper.Width
		}
		return pdf.Page{Size: paper, Pixels: page.Image.Rect.Size()}
	}
	p := pdf.Page{Original: d.numbers[i] - 1, Turned: page.Turned, Pixels: page.Image.Rect.Size()}
	for corner := range p.Corners {
		p.Corners[corner] = pdf.WholePage[(corner+4-page.Turned/90)%4]
		if page.Corners != nil {
			p.Corners[corner] = [2]float64{page.Corners[corner][0] / float64(drawn.X),
				page.Corners[corner][1] / float64(drawn.Y)}
		}
	}
	return p
}

// keepPart puts a cleaned page aside.
func (r *run) keepPart(ctx context.Context, d *document, i int, page *unink.Page, p pdf.Page,
	res *unink.Result) error {
	if page.Mask != nil {
		var err error
		if p.Dropped, err = d.source.TextUnder(ctx, p.Original, p.Corners, wordsGone(page)); err != nil {
			return err
		}
	}
	data, format, err := r.encodePart(ctx, page.Image)
	if err != nil {
		return err
	}
	res.Format, res.Width, res.Height = format, p.Pixels.X, p.Pixels.Y
	if r.Options.Format == unink.Auto && imagefile.Bilevel(page.Image) {
		fax, err := imagefile.Group4(ctx, page.Image)
		if err != nil {
			return err
		}
		if len(fax) < len(data) {
			p.Fax = true
			return d.keep(i, fax, p)
		}
	}
	return d.keep(i, data, p)
}

// wordsGone tells of a part of the page whether more of its ink was removed than was left.
func wordsGone(page *unink.Page) func(left, top, right, bottom float64) bool {
	const darkest = 0.7 // of the paper: what is darker is ink
	size := page.Image.Rect.Size()
	w, h := float64(size.X), float64(size.Y)
	return func(left, top, right, bottom float64) bool {
		part := image.Rect(int(left*w), int(top*h), int(math.Ceil(right*w)), int(math.Ceil(bottom*h)))
		part = part.Intersect(page.Image.Rect)
		paper := uint8(0)
		for y := part.Min.Y; y < part.Max.Y; y++ {
			for x := part.Min.X; x < part.Max.X; x++ {
				paper = max(paper, page.Image.RGBAAt(x, y).G)
			}
		}
		removed, stayed := 0, 0
		for y := part.Min.Y; y < part.Max.Y; y++ {
			for x := part.Min.X; x < part.Max.X; x++ {
				switch {
				case page.Mask.GrayAt(x, y).Y > 0:
					removed++
				case float64(page.Image.RGBAAt(x, y).G) < darkest*float64(paper):
					stayed++
				}
			}
		}
		return removed > stayed
	}
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
