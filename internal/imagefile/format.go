package imagefile

import (
	"context"
	"image"
	"path"
	"slices"
	"strings"
)

// Format is an encoding of pictures.
type Format uint8

// The formats, in numbers that stay: the fleet sends them, so that a new one goes at the end.
const (
	Auto Format = iota
	PNG
	JPEG
	WebP
	BMP
	TIFF
	GIF
	HEIC
	AVIF
)

// format is all that this package knows of one encoding of pictures. It stands in a file of its
// own, and formats has a row for it.
type format struct {
	name      string   // as people write it; [Format.String] has it in lower case
	endings   []string // of file names, dot included; the usual one first
	mediaType string

	// sniff says that a file is of this format, by its first bytes.
	sniff func(head []byte) bool
	// open reads all but the pixels of a file that sniff has told. It refuses what pixels cannot
	// decode, and what would be more work than its size lets expect.
	open func(data []byte) (stored, error)
	// encode writes an opaque picture; nil where no result is written in this format.
	encode func(ctx context.Context, m *image.RGBA, meta Meta) ([]byte, error)
}

// stored is a picture in a file, before its pixels are decoded.
type stored struct {
	coded       image.Point // size that the decoder works on, in pixels
	size        image.Point // what of it is shown, not yet turned upright
	orientation int         // 1 to 8, numbered as in EXIF

	// pixels decodes the (first) picture and ends soon after the context. The result has the size,
	// or where upright is set, is turned upright already.
	pixels  func(ctx context.Context) (image.Image, error)
	upright bool
	// meta reads resolution and profile; what is damaged of them is left out.
	meta func() Meta
}

// formats are the formats that are known, in the order in which they are listed to people.
var formats = []struct {
	Format
	*format
}{
	{JPEG, &jpegFormat},
	{PNG, &pngFormat},
	{WebP, &webpFormat},
	{HEIC, &heicFormat},
	{AVIF, &avifFormat},
	{BMP, &bmpFormat},
	{TIFF, &tiffFormat},
	{GIF, &gifFormat},
}

// row is what is known of a format; nil for Auto and numbers that stand for none.
func (f Format) row() *format {
	for _, one := range formats {
		if one.Format == f {
			return one.format
		}
	}
	return nil
}

func (f Format) String() string {
	if f == Auto {
		return "auto"
	}
	if row := f.row(); row != nil {
		return strings.ToLower(row.name)
	}
	return "unknown"
}

// Ext is the usual file name ending, dot included; empty for Auto.
func (f Format) Ext() string {
	if row := f.row(); row != nil {
		return row.endings[0]
	}
	return ""
}

// MediaType is the MIME type; empty for Auto.
func (f Format) MediaType() string {
	if row := f.row(); row != nil {
		return row.mediaType
	}
	return ""
}

// Accepted lists the formats that are decoded, for people: "JPEG, PNG and GIF".
func Accepted() string {
	var names []string
	for _, one := range formats {
		names = append(names, one.name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// HasEnding says that a file of this name is a picture by its ending, in any case.
func HasEnding(name string) bool {
	ending := strings.ToLower(path.Ext(name))
	for _, one := range formats {
		if slices.Contains(one.endings, ending) {
			return true
		}
	}
	return false
}

// begins is a sniff for formats that one of some texts begins.
func begins(magics ...string) func(head []byte) bool {
	return func(head []byte) bool {
		return slices.ContainsFunc(magics, func(m string) bool { return hasAt(head, 0, m) })
	}
}

// hasAt says that data has a text at an offset.
func hasAt(data []byte, at int, text string) bool {
	return len(data) >= at+len(text) && string(data[at:at+len(text)]) == text
}

// parts opens files whose size, EXIF, pixels and further metadata are read one by one. Without
// EXIF or further metadata these are nil.
type parts struct {
	size   func(data []byte) (image.Config, error)
	exif   func(data []byte) exif
	pixels func(ctx context.Context, data []byte) (image.Image, error)
	meta   func(data []byte, m *Meta)
}

func (p parts) open(data []byte) (stored, error) {
	config, err := p.size(data)
	if err != nil {
		return stored{}, err
	}
	e := exif{orientation: 1}
	if p.exif != nil {
		e = p.exif(data)
	}
	size := image.Pt(config.Width, config.Height)
	return stored{
		coded: size, size: size, orientation: e.orientation,
		pixels: func(ctx context.Context) (image.Image, error) { return p.pixels(ctx, data) },
		meta: func() Meta {
			m := Meta{DPI: e.dpi}
			if p.meta != nil {
				p.meta(data, &m)
			}
			return m
		},
	}, nil
}
