// Package pdf takes a PDF apart into pictures of its pages and puts pictures together to a PDF.
//
// Pages are drawn by PDFium in a sandbox: hostile files find no files, no network, a bounded
// memory and a time limit. What is written is the original but for what pages show: bookmarks,
// title, links and form fields stay.
package pdf

import (
	"bytes"
	"errors"
	"fmt"
)

// Reasons why a PDF, or a page of it, cannot be used. Every error of this package but a context's
// wraps one of them or is of the writer below it.
var (
	ErrNotPDF   = errors.New("this is not a PDF")
	ErrPassword = errors.New(
		"the PDF is encrypted and needs a password; save it without one and try again",
	)
	ErrBroken   = errors.New("the PDF is damaged")
	ErrTooLarge = errors.New("the PDF is too large")
)

// Bounds of what is drawn.
const (
	MaxPages  = 2000
	MaxPixels = 50_000_000 // of a page; a larger one is drawn at a lower resolution
	minSide   = 16         // pixels

	vectorDPI  = 200 // of pages that state no resolution
	minScanDPI = 100 // of pages that are one picture
	maxScanDPI = 300
)

const pointsPerInch = 72

// Size is a page's width and height as displayed, in points.
type Size struct{ Width, Height float64 }

// Is reports whether data begins like a PDF: viewers look for the mark in the first kilobyte.
func Is(data []byte) bool {
	return bytes.Contains(data[:min(len(data), HeadBytes)], []byte("%PDF-"))
}

// HeadBytes is how much of a file Is looks at.
const HeadBytes = 1024

func broken(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrBroken, fmt.Sprintf(format, args...))
}
