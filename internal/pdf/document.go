package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"sync"
	"time"

	"unink/internal/sandbox"
)

// What PDFium may use for one document. 50 megapixels take 200 MB, and the pictures on such a page
// as much again.
const (
	memoryBytes = 1 << 30
	maxSaved    = 512 << 20
	stepTime    = time.Minute // for each page, and for opening and saving
	maxSlow     = 3           // steps that may take longer
)

// Document is an open PDF. Its methods may be called by several goroutines; they take turns.
type Document struct {
	// KeepMarks leaves the annotations where they are that mark a page; it is set before the first
	// page is looked at.
	KeepMarks bool

	data  []byte // nil of a document that is made
	pages int

	mu    sync.Mutex
	guest *guest      // nil after a failure, which leaves the sandbox in no known state
	slow  int         // steps that took too long
	off   map[int]off // what was taken off, by page
}

// guest is PDFium with the document open in it.
type guest struct {
	*sandbox.Instance
	document uint64
}

// Open opens a PDF, which must not change until it is closed. Encrypted PDFs open when they need
// no password to be read.
func Open(ctx context.Context, data []byte) (*Document, error) {
	switch {
	case len(data) == 0:
		return nil, fmt.Errorf("%w: the file is empty", ErrNotPDF)
	case !Is(data):
		return nil, ErrNotPDF
	}
	d := &Document{data: data, off: map[int]off{}}
	err := d.with(ctx, func(ctx context.Context, g *guest) error {
		n, err := g.Call(ctx, "FPDF_GetPageCount", g.document)
		d.pages = int(int32(n))
		return err
	})
	switch {
	case err != nil:
	case d.pages < 1:
		err = broken("it has no pages")
	case d.pages > MaxPages:
		err = fmt.Errorf("%w: it has %d pages, at most %d are accepted; split it", ErrTooLarge,
			d.pages, MaxPages)
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// Pages is the number of pages.
func (d *Document) Pages() int { return d.pages }

// Close gives the memory back.
func (d *Document) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.guest != nil {
		d.guest.Close()
		d.guest = nil
	}
}

var errSlow = broken("it keeps PDFium busy for more than %v", stepTime)

// with lets f work with PDFium, for as long as stepTime. After a failure PDFium is started anew:
// one bad page spoils no other.
func (d *Document) with(ctx context.Context, f func(context.Context, *guest) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.slow == maxSlow {
		return errSlow
	}
	step, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	var err error
	if d.guest == nil {
		d.guest, err = start(step, d.data)
	}
	if err == nil {
		err = f(step, d.guest)
	}
	if err == nil {
		return nil
	}
	if d.guest != nil {
		d.guest.Close()
		d.guest = nil
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case step.Err() != nil:
		d.slow++
		return errSlow
	case errors.Is(err, sandbox.ErrMemory):
		return fmt.Errorf("%w: it needs more than %d MiB of memory", ErrTooLarge, memoryBytes>>20)
	case errors.Is(err, sandbox.ErrFailed):
		return broken("PDFium failed on it")
	}
	return err
}

// start starts PDFium and opens the document in it.
func start(ctx context.Context, data []byte) (*guest, error) {
	module, err := pdfium()
	if err != nil {
		return nil, err
	}
	in, err := module.Start(ctx, memoryBytes)
	if err != nil {
		return nil, err
	}
	g := &guest{Instance: in}
	if err := g.open(ctx, data); err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

func (g *guest) open(ctx context.Context, data []byte) error {
	for _, init := range []string{"__wasm_call_ctors", "FPDF_InitLibrary"} {
		if _, err := g.Call(ctx, init); err != nil {
			return err
		}
	}
	if data == nil {
		var err error
		g.document, err = g.Call(ctx, "FPDF_CreateNewDocument")
		return err
	}
	at, err := g.Put(ctx, data)
	if err != nil {
		return err
	}
	const noPassword = 0
	if g.document, err = g.Call(ctx, "FPDF_LoadMemDocument64", uint64(at), uint64(len(data)),
		noPassword); err != nil || g.document != 0 {
		return err
	}
	reason, err := g.Call(ctx, "FPDF_GetLastError")
	const password, security = 4, 5
	switch {
	case err != nil:
		return err
	case reason == password:
		return ErrPassword
	case reason == security:
		return broken(
			"it is encrypted in a way that is not known; save it without encryption and try again",
		)
	}
	return broken("it may be cut short; save or download it again")
}

// page loads a page, counted from 0, for f, without the ink that the file itself tells: marks,
// unless they are kept, and strokes.
func (d *Document) page(ctx context.Context, n int,
	f func(ctx context.Context, g *guest, page uint64) error) error {
	work := func(ctx context.Context, g *guest) error {
		page, err := g.Call(ctx, "FPDF_LoadPage", g.document, uint64(n))
		switch {
		case err != nil:
			return err
		case page == 0:
			return broken("the page cannot be read")
		}
		if err := d.takeOff(ctx, g, &page, n); err != nil {
			return err
		}
		if err := f(ctx, g, page); err != nil {
			return err
		}
		_, err = g.Call(ctx, "FPDF_ClosePage", page)
		return err
	}
	err := d.with(ctx, work)
	if errors.Is(err, errLossy) { // PDFium has been started anew
		d.setInk(n, stays)
		err = d.with(ctx, work)
	}
	return err
}

// off is what was taken off a page.
type off struct {
	marks, strokes int
	ink            verdict
}

func (d *Document) setInk(n int, v verdict) {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.off[n]
	was.ink = v
	d.off[n] = was
}

// takeOff takes marks and strokes off a loaded page, where they are not off already.
func (d *Document) takeOff(ctx context.Context, g *guest, page *uint64, n int) error {
	o := d.off[n]
	if !d.KeepMarks {
		marks, err := g.takeMarksOff(ctx, *page)
		if err != nil {
			return err
		}
		o.marks = max(o.marks, marks)
	}
	if o.ink != stays {
		strokes, err := g.takeInkOff(ctx, page, n, o.ink == comesOff)
		if err != nil {
			return err
		}
		o.ink, o.strokes = comesOff, max(o.strokes, strokes)
	}
	d.off[n] = o
	return nil
}

// Picture is a drawn page.
type Picture struct {
	Pixels *image.RGBA // opaque, upright as displayed
	DPI    float64
	Size   Size
}

// Draw draws a page, counted from 0, cropped and turned as it is displayed, without annotations
// and form fields, which stay in the document. Scans come at their own resolution, from 100 to 300
// dpi; pages with text and lines at 200 dpi, or that of finer pictures on them up to 300.
func (d *Document) Draw(ctx context.Context, n int) (p Picture, err error) {
	err = d.page(ctx, n, func(ctx context.Context, g *guest, page uint64) error {
		p, err = g.draw(ctx, page)
		return err
	})
	return p, err
}

func (g *guest) size(ctx context.Context, page uint64) (s Size, err error) {
	if s.Width, err = g.float(ctx, "FPDF_GetPageWidthF", page); err != nil {
		return s, err
	}
	s.Height, err = g.float(ctx, "FPDF_GetPageHeightF", page)
	return s, err
}

func (g *guest) draw(ctx context.Context, page uint64) (p Picture, err error) {
	if p.Size, err = g.size(ctx, page); err != nil {
		return p, err
	}
	c, err := g.survey(ctx, page)
	if err != nil {
		return p, err
	}
	p.DPI = c.resolution()
	w, h := p.pixels()
	if !(w >= minSide && h >= minSide && w*h <= 1.01*MaxPixels) {
		return p, broken("the page is %g × %g points", p.Size.Width, p.Size.Height)
	}
	bilevel, err := g.bilevel(ctx, page, p.Size)
	if err != nil {
		return p, err
	}
	p.Pixels, err = g.render(ctx, page, int(w), int(h))
	if err == nil && bilevel {
		toBilevel(p.Pixels)
	}
	return p, err
}

// pixels is the size of the drawn page; the resolution is lowered where that is too much.
func (p *Picture) pixels() (w, h float64) {
	inches := p.Size.Width / pointsPerInch * p.Size.Height / pointsPerInch
	p.DPI = min(p.DPI, math.Sqrt(MaxPixels/inches))
	return math.Floor(p.Size.Width*p.DPI/pointsPerInch + 0.5),
		math.Floor(p.Size.Height*p.DPI/pointsPerInch + 0.5)
}

func (g *guest) float(ctx context.Context, name string, params ...uint64) (float64, error) {
	v, err := g.Call(ctx, name, params...)
	return float64(math.Float32frombits(uint32(v))), err
}

// area is that of an object's bounds on the page, in square points. It uses 16 bytes at out.
func (g *guest) area(ctx context.Context, object uint64, out uint32) (float64, error) {
	at := uint64(out)
	if ok, err := g.Call(ctx, "FPDFPageObj_GetBounds", object, at, at+4, at+8, at+12); err != nil ||
		ok == 0 {
		return 0, err
	}
	side := func(from, to uint32) float64 { return g.real(out+to) - g.real(out+from) }
	const left, bottom, right, top = 0, 4, 8, 12
	return side(left, right) * side(bottom, top), nil
}

// render draws a page into so many pixels.
func (g *guest) render(ctx context.Context, page uint64, w, h int) (*image.RGBA, error) {
	const (
		noAlpha      = 0
		white        = 0xffffffff
		noRotation   = 0
		reverseBytes = 0x10 // RGBx instead of BGRx
	)
	width, height := uint64(w), uint64(h)
	bitmap, err := g.Call(ctx, "FPDFBitmap_Create", width, height, noAlpha)
	if err == nil && bitmap == 0 {
		err = sandbox.ErrMemory
	}
	if err != nil {
		return nil, err
	}
	if _, err := g.Call(ctx, "FPDFBitmap_FillRect", bitmap, 0, 0, width, height, white); err != nil {
		return nil, err
	}
	if _, err := g.Call(ctx, "FPDF_RenderPageBitmap", bitmap, page, 0, 0, width, height, noRotation,
		reverseBytes); err != nil {
		return nil, err
	}
	buffer, err := g.Call(ctx, "FPDFBitmap_GetBuffer", bitmap)
	if err != nil {
		return nil, err
	}
	stride := 4 * w // PDFium pads rows to four bytes, which a pixel has
	m := &image.RGBA{Pix: bytes.Clone(g.View(uint32(buffer), stride*h)), Stride: stride,
		Rect: image.Rect(0, 0, w, h)}
	for i := 3; i < len(m.Pix); i += 4 {
		m.Pix[i] = 255
	}
	g.Discard(uint32(buffer), len(m.Pix))
	_, err = g.Call(ctx, "FPDFBitmap_Destroy", bitmap)
	return m, err
}
