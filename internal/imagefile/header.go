package imagefile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/gif"
)

// Header is what is known of a picture before its pixels are decoded.
type Header struct {
	Format        Format
	Width, Height int // pixels, once upright
	Orientation   int // 1 to 8, numbered as in EXIF: what turned the stored picture upright
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
	case has(0, "II+\x00"), has(0, "MM\x00+"):
		return Auto, fmt.Errorf("%w: this is a BigTIFF; save it as an ordinary TIFF", ErrFormat)
	case has(0, "BM"):
		return BMP, nil
	case brandOf(data) != Auto:
		return brandOf(data), nil
	case has(4, "ftyp"):
		return Auto, fmt.Errorf("%w: this is a film or a kind of HEIF other than HEIC and AVIF",
			ErrFormat)
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
	h, err = readHeader(f, firstPage(f, data), l)
	if err != nil {
		return Header{}, err
	}
	if h.turned() {
		h.Width, h.Height = h.Height, h.Width
	}
	return h, nil
}

// readHeader is the header with the size as stored.
func readHeader(f Format, data []byte, l Limits) (Header, error) {
	if f == HEIC || f == AVIF {
		s, err := parseStill(data)
		if err != nil {
			return Header{}, broken(f, err)
		}
		if f == HEIC && s.alpha { // its decoder would show what lies under it
			return Header{}, broken(f, errTransparent)
		}
		if err := l.CheckSize(s.stored.X, s.stored.Y); err != nil { // the crop comes after decoding
			return Header{}, err
		}
		size := s.crop.Size()
		return Header{f, size.X, size.Y, s.orientation}, l.CheckSize(size.X, size.Y)
	}
	cfg, err := decodeConfig(f, data)
	if err != nil {
		return Header{}, broken(f, err)
	}
	return Header{f, cfg.Width, cfg.Height, readExif(f, data).orientation},
		l.CheckSize(cfg.Width, cfg.Height)
}

func decodeConfig(f Format, data []byte) (image.Config, error) {
	r := bytes.NewReader(data)
	switch f {
	case PNG:
		return pngConfig(data)
	case JPEG:
		return jpegConfig(data)
	case WebP:
		return webpConfig(data)
	case BMP:
		return bmpConfig(data)
	case TIFF:
		return tiffConfig(data)
	default:
		return gif.DecodeConfig(r)
	}
}

// decodePixels decodes the (first) picture. Only HEIC comes out cropped and upright.
// It ends soon after the context.
func decodePixels(ctx context.Context, f Format, data []byte) (image.Image, error) {
	r := reading(ctx, data)
	switch f {
	case PNG:
		return decodePNG(ctx, data)
	case JPEG:
		return decodeJPEG(ctx, data)
	case WebP:
		return decodeWebP(ctx, data)
	case BMP:
		return decodeBMP(data)
	case TIFF:
		return decodeTIFF(ctx, data)
	case HEIC:
		return decodeHEIC(ctx, data)
	case AVIF:
		return decodeAVIF(ctx, data)
	default:
		return gif.Decode(r)
	}
}

// refusal is a picture that a decoder refuses. It says why in words of this package; the decoder's
// own are for the log.
type refusal struct {
	reason  error // ErrFormat or ErrBroken
	text    string
	decoder error
}

func (r *refusal) Error() string { return r.reason.Error() + ": " + r.text }

func (r *refusal) Unwrap() []error { return []error{r.reason, r.decoder} }

// Cause is what a decoder said, where an error comes from one; else it is the error.
func Cause(err error) error {
	var r *refusal
	if errors.As(err, &r) {
		return r.decoder
	}
	return err
}

// problem is what is wrong with a picture, in words for whoever sent it.
type problem string

func (p problem) Error() string { return string(p) }

// broken wraps a decoder's error: ErrFormat for a variant the decoder does not know, else
// ErrBroken.
func broken(f Format, err error) error {
	r := &refusal{ErrBroken, "it cannot be read as " + f.String(), err}
	if isUnsupported(err) {
		r.reason, r.text = ErrFormat, "this variant of "+f.String()+" is not supported"
	}
	var known problem
	var unsupported unsupportedError
	switch {
	case errors.As(err, &known):
		r.text += ": " + known.Error()
	case errors.As(err, &unsupported):
		r.text += ": " + unsupported.Error()
	}
	return r
}

// recoverBroken turns a decoder's panic on hostile data into an error.
func recoverBroken(err *error) {
	if p := recover(); p != nil {
		*err = &refusal{ErrBroken, "the decoder failed", fmt.Errorf("panic: %v", p)}
	}
}
