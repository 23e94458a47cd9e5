// Package restore takes the handwriting off a page.
package restore

import "errors"

// ErrNoContent says that the page is blank.
var ErrNoContent = errors.New("nothing recognised: the picture is blank")

// Finish is how the cleaned page looks.
type Finish uint8

// The finishes.
const (
	Scan   Finish = iota // even white paper, dark print
	Colour               // the picture as it was
)

// Ink is a set of ink colours; zero is all.
type Ink uint8

// The inks.
const (
	Black Ink = 1 << iota
	Blue
	Red
	Green
	Pencil
)
