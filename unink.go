// Package unink removes handwriting from pictures of printed pages: a photo or scan of a page
// that was written on goes in, the same page without the writing comes out.
//
//	c, err := unink.New(unink.Config{})
//	if err != nil { ... }
//	defer c.Close()
//	res, err := c.Clean(ctx, data, unink.Options{Finish: unink.Colour})
//	if err != nil { ... }
//	os.WriteFile("clean"+res.Format.Ext(), res.Data, 0o644)
//
// A network tells handwriting from print for every pixel; the strokes are then erased at the
// picture's full resolution and the paper, the print and the ruled lines under them are
// continued. The same input and options give the same output, always.
package unink

import (
	"context"
	"image"
	"runtime"
	"time"

	"unink/internal/imagefile"
	"unink/internal/nn"
	"unink/internal/restore"
	"unink/models"
)

// Config configures a [Cleaner]. The zero value is ready to use.
type Config struct {
	// Threads is how many CPU threads the stages of one page may use; 0 is the number of CPUs.
	// Pictures are decoded and encoded on all.
	Threads int
	// Device is where the network runs: "cpu" (default) or "cuda". A device that is asked for
	// and not usable is an error, never a silent fall back.
	Device string
	// Library is the path of another ONNX Runtime library, of the same release as the built-in
	// one, such as one built for CUDA. Empty is the built-in one.
	Library string
	// Limits bound what [Cleaner.Clean] accepts.
	Limits Limits
	// Show is for looking into the engine: it is given each page as it came and as stages leave it,
	// by the names of [Pictures]; "segment" has writing in red and print in black. It must not
	// change the picture, nor keep it after it returns. It is called with the page's context, for
	// several pages at once where several are cleaned.
	Show func(ctx context.Context, stage string, page *image.RGBA)
}

// Cleaner removes handwriting. It is safe for concurrent use.
type Cleaner struct {
	limits Limits
	engine restore.Engine
	nets   []*network // the segmenter, its overview, the judge, the orienter, the flattener
	about  Description
}

// New opens the networks that every page needs; the scan finish opens its own for its first page.
// The error is an *[Error], of code [ErrDevice] when the library or
// the device is not usable.
func New(cfg Config) (*Cleaner, error) {
	if cfg.Threads < 0 {
		return nil, &Error{Code: ErrOption, Op: "open", Message: "threads must not be negative",
			Hint: "use 0 for all CPUs"}
	}
	if cfg.Threads == 0 {
		cfg.Threads = runtime.NumCPU()
	}
	const tiles = 4 // of a page of A4, worked on at once where there are threads for it
	// The judge has many small steps: to wake threads for each takes as long as they save.
	nets := []*network{
		{Network: models.Segment(), threads: max(1, cfg.Threads/tiles)},
		{Network: models.Overview(), threads: cfg.Threads},
		{Network: models.Judge(), threads: 1},
		{Network: models.Orient(), threads: cfg.Threads},
		{Network: models.Flatten(), threads: cfg.Threads},
	}
	for _, n := range nets {
		n.cfg = cfg
	}
	// Every page needs the first three. The others are opened for the first page that needs them.
	if err := openAll(nets[:3]); err != nil {
		return nil, whyNot(err)
	}
	segmenter := nets[0]
	return &Cleaner{
		limits: cfg.Limits,
		nets:   nets,
		engine: restore.Engine{
			Segmenter: segmenter, Overview: nets[1], Judge: nets[2], Orienter: nets[3], Flattener: nets[4],
			Em: segmenter.Em, Threads: cfg.Threads, Show: cfg.Show,
		},
		about: Description{
			Library:      "ONNX Runtime " + nn.LibraryVersion(),
			Model:        segmenter.Name,
			ModelVersion: segmenter.Version,
			ModelSHA256:  segmenter.SHA256,
			Device:       segmenter.opened.Device(),
			Threads:      cfg.Threads,
		},
	}, nil
}

// Close waits for the pages being worked on and frees the networks. No call may follow.
func (c *Cleaner) Close() error {
	return wrap("close", closeAll(c.nets))
}

// Result is a cleaned page, encoded.
type Result struct {
	Data          []byte
	Format        Format
	Width, Height int // pixels
	Report
	Handwriting []byte // with Options.Layers: transparent PNG of what was removed
	Mask        []byte // with Options.Layers: 8-bit grey PNG, 255 where something was removed
	// Before is the page uncleaned, as the result lies and of its size, a JPEG: with Options.Before,
	// where the page was turned or flattened. Elsewhere the input lies as the result.
	Before []byte
}

// Clean removes the handwriting from an encoded picture.
//
// The result has the input's pixel size unless the page was turned or straightened. With the
// [Colour] finish pixels outside the removed strokes are the input's own, before encoding.
// The error is an *[Error].
func (c *Cleaner) Clean(ctx context.Context, data []byte, o Options) (*Result, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	start := time.Now()
	in, err := imagefile.Decode(ctx, data, c.limits.internal())
	if err != nil {
		return nil, wrap("decode", err)
	}
	decoded := time.Now()
	pixels := in.Pixels
	in.Pixels = nil // so that the stages can let go of them
	page, err := c.clean(ctx, pixels, o)
	if err != nil {
		return nil, err
	}
	cleaned := time.Now()
	r, err := encode(ctx, page, imagefile.Choose(imagefile.Format(o.Format), in.Format, page.Image),
		in.Meta)
	if err != nil {
		return nil, wrap("encode", err)
	}
	r.Timings.Note("decode", decoded.Sub(start))
	r.Timings.Note("encode", time.Since(cleaned))
	r.Timings.Note(total, time.Since(start))
	return r, nil
}

func encode(ctx context.Context, p *Page, f imagefile.Format, meta imagefile.Meta) (r *Result,
	err error) {
	size := p.Image.Rect.Size()
	r = &Result{Format: Format(f), Width: size.X, Height: size.Y, Report: p.Report}
	if r.Data, err = imagefile.Encode(ctx, p.Image, f, meta); err == nil && p.Before != nil {
		r.Before, err = imagefile.Encode(ctx, p.Before, imagefile.JPEG, meta)
	}
	if err != nil || p.Mask == nil {
		return r, err
	}
	if r.Handwriting, err = imagefile.EncodePNG(ctx, p.Handwriting); err != nil {
		return nil, err
	}
	r.Mask, err = imagefile.EncodePNG(ctx, p.Mask)
	return r, err
}

// Page is a cleaned page as pixels.
type Page struct {
	Image *image.RGBA // opaque
	Report
	Handwriting *image.NRGBA // with Options.Layers: what was removed, transparent elsewhere
	Mask        *image.Gray  // with Options.Layers: 255 where something was removed
	Before      *image.RGBA  // as Result.Before
}

// CleanImage removes the handwriting from pixels. It leaves m as it is and may read it until it
// returns. Limits of dimensions apply as in Clean; transparent parts are taken as white.
// Options.Format is ignored. The error is an *[Error].
func (c *Cleaner) CleanImage(ctx context.Context, m image.Image, o Options) (*Page, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := c.limits.internal().CheckSize(m.Bounds().Dx(), m.Bounds().Dy()); err != nil {
		return nil, wrap("clean", err)
	}
	return c.clean(ctx, imagefile.Opaque(m), o)
}

func (c *Cleaner) clean(ctx context.Context, src *image.RGBA, o Options) (*Page, error) {
	start := time.Now()
	p, err := c.engine.Clean(ctx, src, o.stages())
	if err != nil {
		return nil, wrap("clean", err)
	}
	return &Page{
		Image: p.Image, Report: reportOf(p, time.Since(start)),
		Handwriting: p.Handwriting, Mask: p.Mask, Before: p.Before,
	}, nil
}

// Info is what a picture's header says.
type Info struct {
	Format        Format
	Width, Height int // pixels, upright
	Orientation   int // EXIF, 1 to 8; 1 is upright as stored
}

// Inspect reads the header of an encoded picture, checks it against the limits and decodes no
// pixel. The error is an *[Error]: ErrTooLarge, ErrDimensions, ErrFormat or ErrBroken.
func Inspect(data []byte, l Limits) (Info, error) {
	h, err := imagefile.Inspect(data, l.internal())
	if err != nil {
		return Info{}, wrap("inspect", err)
	}
	return Info{Format: Format(h.Format), Width: h.Width, Height: h.Height,
		Orientation: h.Orientation}, nil
}

// Probe runs one tile through the network: nil says that pages can be cleaned.
func (c *Cleaner) Probe(ctx context.Context) error {
	return wrap("probe", c.engine.Probe(ctx))
}

// Description says what a Cleaner is made of.
type Description struct {
	Library      string // inference library and its version
	Model        string // name
	ModelVersion string
	ModelSHA256  string
	Device       string // "cpu" or "cuda"
	Threads      int
}

// Describe tells the library, the model and the device in use.
func (c *Cleaner) Describe() Description { return c.about }
