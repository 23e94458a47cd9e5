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
