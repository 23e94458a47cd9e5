// Package imagefile turns encoded pictures into upright, opaque pixels and back.
//
// Formats are told apart by their bytes alone. Limits are checked against the header before any
// pixel is decoded. Of the metadata only two things survive: the resolution and, when it is not
// sRGB, the colour profile.
package imagefile

import (
	"errors"
	"fmt"
)

// Reasons for refusing a picture. Every error of this package wraps one of them.
var (
	ErrTooLarge   = errors.New("the file is too large")
	ErrDimensions = errors.New("the picture's dimensions are not accepted")
	ErrFormat     = errors.New("the format is not accepted")
	ErrBroken     = errors.New("the picture is damaged")
)

// Format is an encoding of pictures.
type Format uint8

// The formats.
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

type formatInfo struct{ name, ext, mediaType string }

var formats = [...]formatInfo{
	Auto: {"auto", "", ""},
	PNG:  {"png", ".png", "image/png"},
	JPEG: {"jpeg", ".jpg", "image/jpeg"},
	WebP: {"webp", ".webp", "image/webp"},
	BMP:  {"bmp", ".bmp", "image/bmp"},
	TIFF: {"tiff", ".tiff", "image/tiff"},
	GIF:  {"gif", ".gif", "image/gif"},
	HEIC: {"heic", ".heic", "image/heic"},
	AVIF: {"avif", ".avif", "image/avif"},
}

func (f Format) info() formatInfo {
	if int(f) < len(formats) {
		return formats[f]
	}
	return formatInfo{name: "unknown"}
}

func (f Format) String() string { return f.info().name }

// Ext is the usual file name ending, dot included; empty for Auto.
func (f Format) Ext() string { return f.info().ext }

// MediaType is the MIME type; empty for Auto.
func (f Format) MediaType() string { return f.info().mediaType }

// Limits bound what is decoded. Zero fields are no limit.
type Limits struct {
	MaxBytes  int // encoded bytes
	MaxPixels int // width × height
	MaxSide   int // longest side, pixels
	MinSide   int // shortest side, pixels
}

// CheckBytes fails with ErrTooLarge when n encoded bytes are too many.
func (l Limits) CheckBytes(n int) error {
	if l.MaxBytes > 0 && n > l.MaxBytes {
		return fmt.Errorf("%w: %d bytes, at most %d are accepted", ErrTooLarge, n, l.MaxBytes)
	}
	return nil
}

// CheckSize fails with ErrDimensions when a picture of w × h pixels is too large or too small.
func (l Limits) CheckSize(w, h int) error {
	long, short := max(w, h), min(w, h)
	switch {
	case short < max(l.MinSide, 1):
		return fmt.Errorf("%w: %d×%d pixels, a side must be at least %d", ErrDimensions, w, h,
			max(l.MinSide, 1))
	case l.MaxSide > 0 && long > l.MaxSide:
		return fmt.Errorf("%w: %d×%d pixels, the longest side must be at most %d", ErrDimensions, w,
			h, l.MaxSide)
	case l.MaxPixels > 0 && short > l.MaxPixels/long:
		return fmt.Errorf("%w: %d×%d is over %g megapixels", ErrDimensions, w, h,
			float64(l.MaxPixels)/1e6)
	}
	return nil
}
