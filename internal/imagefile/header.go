package imagefile

import (
	"bytes"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"
)

// Header is what is known of a picture before its pixels are decoded.
type Header struct {
	Format        Format
	Width, Height int // pixels, once upright
	Orientation   int // EXIF, 1 to 8
}

// turned says that upright width and height are the stored ones swapped.
func (h Header) turned() bool { return h.Orientation >= 5 }

// Sniff tells the format by the first bytes. The error wraps ErrFormat and names the format
// when it is one that is known but not accepted.
func Sniff(data []byte) (Format, error) {
	has := func(at int, magic string) bool {
		return len(data) >= at+len(magic) && string(data[at:at+len(magic)]) == magic
	}
	switch {
	case has(0, "\x89PNG\r\n\x1a\n"):
		return PNG, nil
	case has(0, "\xff\xd8\xff"):
		return JPEG, nil
	case has(0, "RIFF") && has(8, "WEBP"):
		return WebP, nil
	case has(0, "GIF87a"), has(0, "GIF89a"):
		return GIF, nil
	case has(0, "II*\x00"), has(0, "MM\x00*"):
		return TIFF, nil
	case has(0, "BM"):
		return BMP, nil
	case has(4, "ftypavif"), has(4, "ftypavis"):
		return Auto, fmt.Errorf("%w: AVIF is not yet supported", ErrFormat)
	case has(4, "ftypheic"), has(4, "ftypheix"), has(4, "ftyphevc"), has(4, "ftypheim"), has(4, "ftypheis"),
		has(4, "ftypmif1"), has(4, "ftypmsf1"):
		return Auto, fmt.Errorf("%w: HEIC is not yet supported", ErrFormat)
	case has(0, "%PDF-"):
		return Auto, fmt.Errorf("%w: this is a PDF, not a picture", ErrFormat)
	case len(data) == 0:
		return Auto, fmt.Errorf("%w: the file is empty", ErrFormat)
	}
	return Auto, fmt.Errorf("%w: this is not a picture of a known kind", ErrFormat)
}

// Inspect reads the header and checks it against the limits. No pixel is decoded.
func Inspect(data []byte, l Limits) (h Header, err error) {
	defer recoverBroken(&err)
	if err := l.CheckBytes(len(data)); err != nil {
		return Header{}, err
	}
	f, err := Sniff(data)
	if err != nil {
		return Header{}, err
	}
	cfg, err := decodeConfig(f, data)
	if err != nil {
		return Header{}, broken(f, err)
	}
	if err := l.CheckSize(cfg.Width, cfg.Height); err != nil {
		return Header{}, err
	}
	h = Header{Format: f, Width: cfg.Width, Height: cfg.Height, Orientation: readExif(f, data).orientation}
	if h.turned() {
		h.Width, h.Height = h.Height, h.Width
	}
	return h, nil
}

func decodeConfig(f Format, data []byte) (image.Config, error) {
	r := bytes.NewReader(data)
	switch f {
	case PNG:
		return png.DecodeConfig(r)
	case JPEG:
		return jpeg.DecodeConfig(r)
	case WebP:
		return webpConfig(data)
	case BMP:
		return bmp.DecodeConfig(r)
	case TIFF:
		return tiff.DecodeConfig(r)
	default:
		return gif.DecodeConfig(r)
	}
}

func decodePixels(f Format, data []byte) (image.Image, error) {
	r := bytes.NewReader(data)
	switch f {
	case PNG:
		return png.Decode(r)
	case JPEG:
		return jpeg.Decode(r)
	case WebP:
		still, err := firstFrame(data)
		if err != nil {
			return nil, err
		}
		return webp.Decode(bytes.NewReader(still))
	case BMP:
		return bmp.Decode(r)
	case TIFF:
		return tiff.Decode(r)
	default:
		return gif.Decode(r)
	}
}

// broken wraps a decoder's error: ErrFormat for a variant the decoder does not know, else ErrBroken.
func broken(f Format, err error) error {
	if isUnsupported(err) {
		return fmt.Errorf("%w: this variant of %s is not supported: %v", ErrFormat, f, err)
	}
	return fmt.Errorf("%w: it cannot be read as %s: %v", ErrBroken, f, err)
}

// recoverBroken turns a decoder's panic on hostile data into an error.
func recoverBroken(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: the decoder failed: %v", ErrBroken, p)
	}
}
