// Package nn runs a segmentation network on tiles of one fixed shape.
package nn

import (
	"context"
	"errors"
)

// ErrDevice says that the inference library or the device is not usable here.
var ErrDevice = errors.New("the inference device is not usable")

// Tile is the side of the square tiles, in pixels. One shape for all keeps the library's memory
// flat whatever sizes of pages it sees.
const Tile = 672

// Classes is the number of classes a [Runner] tells apart, in this order.
const (
	Paper = iota
	Print
	Handwriting
	Both // handwriting over print
	Classes
)

// Runner classifies the pixels of one tile. It is safe for concurrent use.
type Runner interface {
	// Run reads in, three planes (R, G, B, 0 to 1) of Tile × Tile, and fills out with Classes
	// planes of logits. It fails when the context has ended before it began.
	Run(ctx context.Context, in, out []float32) error
}
