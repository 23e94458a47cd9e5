// Package imagefile turns encoded pictures into pixels and back.
package imagefile

import "errors"

// Reasons for refusing a picture. Errors of this package wrap one of them.
var (
	ErrTooLarge   = errors.New("file too large")
	ErrDimensions = errors.New("image dimensions")
	ErrFormat     = errors.New("image format")
	ErrBroken     = errors.New("broken image")
)

// Format is an encoding of pictures.
type Format uint8

// The formats, in no particular order after Auto.
const (
	Auto Format = iota
	PNG
	JPEG
	WebP
	BMP
	TIFF
	GIF
)

var formats = [...]struct{ name, ext, mediaType string }{
	Auto: {"auto", "", ""},
	PNG:  {"png", ".png", "image/png"},
	JPEG: {"jpeg", ".jpg", "image/jpeg"},
	WebP: {"webp", ".webp", "image/webp"},
	BMP:  {"bmp", ".bmp", "image/bmp"},
	TIFF: {"tiff", ".tiff", "image/tiff"},
	GIF:  {"gif", ".gif", "image/gif"},
}

func (f Format) info() struct{ name, ext, mediaType string } {
	if int(f) < len(formats) {
		return formats[f]
	}
	return struct{ name, ext, mediaType string }{name: "unknown"}
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
