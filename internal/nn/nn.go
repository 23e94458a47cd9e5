// Package nn runs a segmentation network on tiles of fixed shapes.
package nn

import (
	"context"
	"errors"
)

// ErrDevice says that the inference library or the device is not usable here.
var ErrDevice = errors.New("the inference device is not usable")

// Shape is the size of a tile in pixels.
type Shape struct{ W, H int }

// The shapes of tiles. There are no others, so that the library's memory stays flat whatever
// sizes of pages it sees. Four of them cover an A4 page whose print has an em of 24 pixels.
var (
	Portrait  = Shape{640, 896}
	Landscape = Shape{896, 640}
)

// Pixels of a tile.
func (s Shape) Pixels() int { return s.W * s.H }

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
	// Run reads in, three planes (R, G, B, 0 to 1) of a tile of the given shape, which is Portrait
	// or Landscape, and fills out with Classes planes of logits. It fails when the context has
	// ended before it began.
	Run(ctx context.Context, shape Shape, in, out []float32) error
}
