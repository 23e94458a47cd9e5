// Package nn runs networks on pictures of fixed shapes.
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

// Window is the shape of the part of a page that the orientation network looks at.
var Window = Shape{384, 384}

// Whole is the shape of the whole page that the flattening network looks at.
var Whole = Shape{320, 416}

// Pixels of a picture of this shape.
func (s Shape) Pixels() int { return s.W * s.H }

// Job is one shape of picture that a network is run on, and the dimensions of its tensors.
type Job struct {
	Shape   Shape
	In, Out []int64
}

// Segmenting are the jobs of the segmentation network: three planes in, one for each class out.
func Segmenting() []Job {
	var jobs []Job
	for _, s := range []Shape{Portrait, Landscape} {
		h, w := int64(s.H), int64(s.W)
		jobs = append(jobs, Job{s, []int64{1, 3, h, w}, []int64{1, Classes, h, w}})
	}
	return jobs
}

// Votes is the number of sums that the orientation network gives: votes for each of four angles, and their weight.
const Votes = 5

// Orienting is the job of the orientation network: one plane in, sums of votes out.
func Orienting() []Job {
	return []Job{{Window, []int64{1, 1, int64(Window.H), int64(Window.W)}, []int64{1, Votes}}}
}

// The flattening network's grid: GridStep pixels of [Whole] between nodes, the first in the middle of the first GridStep pixels.
// Of each node it tells how far right and down the page's point lies in the picture, in steps, and the
// logarithm of how far off that may be.
const (
	GridStep   = 16
	GridPlanes = 3
)

// Flattening is the job of the flattening network: one plane in, three planes of a coarse grid out.
func Flattening() []Job {
	h, w := int64(Whole.H), int64(Whole.W)
	return []Job{{Whole, []int64{1, 1, h, w}, []int64{1, GridPlanes, h / GridStep, w / GridStep}}}
}

// Classes is the number of classes a [Runner] tells apart, in this order.
const (
	Paper = iota
	Print
	Handwriting
	Both // handwriting over print
	Classes
)

// Runner runs one network. It is safe for concurrent use.
type Runner interface {
	// Run reads in, the planes (0 to 1) of a picture of one of the network's shapes, and fills out
	// with its logits. It fails when the context has ended before it began.
	Run(ctx context.Context, shape Shape, in, out []float32) error
}
