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
	"errors"
	"image"
	"time"
)

// Config configures a [Cleaner]. The zero value is ready to use.
type Config struct {
	// Threads is how many CPU threads one page may use; 0 is the number of CPUs.
	Threads int
	// Device is where the network runs: "cpu" (default) or "cuda". A device that is asked for
	// and not usable is an error, never a silent fall back.
	Device string
	// Limits bound what [Cleaner.Clean] accepts.
	Limits Limits
}

// Cleaner removes handwriting. It is safe for concurrent use.
type Cleaner struct {
	cfg Config
}

// New loads the network. The error is an *[Error], of code [ErrDevice] when the library or
// the device is not usable.
func New(cfg Config) (*Cleaner, error) {
	return nil, wrap("open", errors.New("not built yet"))
}

// Close frees the network. It waits for calls that are running; later calls fail.
func (c *Cleaner) Close() error { return nil }

// Result is a cleaned page, encoded.
type Result struct {
	Data          []byte
	Format        Format
	Width, Height int     // pixels
	Removed       float64 // share of the page's pixels that were removed, 0 to 1
	Handwriting   []byte  // with Options.Layers: transparent PNG of what was removed
	Mask          []byte  // with Options.Layers: 8-bit grey PNG, 255 where something was removed
	Timings       Timings
}

// Timings are the wall times of the stages.
type Timings struct {
	Decode, Segment, Erase, Finish, Encode, Total time.Duration
}

// Clean removes the handwriting from an encoded picture.
//
// The result has the input's pixel size unless the page was turned or straightened. With the
// [Colour] finish pixels outside the removed strokes are the input's own, before encoding.
// The error is an *[Error].
func (c *Cleaner) Clean(ctx context.Context, data []byte, o Options) (*Result, error) {
	return nil, wrap("clean", errors.New("not built yet"))
}

// Page is a cleaned page as pixels.
type Page struct {
	Image       *image.RGBA  // opaque
	Removed     float64      // share of the page's pixels that were removed, 0 to 1
	Handwriting *image.NRGBA // with Options.Layers: what was removed, transparent elsewhere
	Mask        *image.Gray  // with Options.Layers: 255 where something was removed
	Timings     Timings      // Decode and Encode are zero
}

// CleanImage removes the handwriting from pixels. Limits of dimensions apply as in Clean;
// transparent parts are taken as white. Options.Format is ignored. The error is an *[Error].
func (c *Cleaner) CleanImage(ctx context.Context, m image.Image, o Options) (*Page, error) {
	return nil, wrap("clean", errors.New("not built yet"))
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
	return Info{}, wrap("inspect", errors.New("not built yet"))
}

// Probe runs one tile through the network: nil says that pages can be cleaned.
func (c *Cleaner) Probe(ctx context.Context) error {
	return wrap("probe", errors.New("not built yet"))
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
func (c *Cleaner) Describe() Description { return Description{} }
