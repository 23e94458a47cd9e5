// Package nn runs networks on pictures.
package nn

import (
	"context"
	"errors"
	"slices"

	"unink/models"
)

// What training and this program both need to know of the networks.
var (
	segmenter = models.Of("segment")
	overview  = models.Of("overview")
	judge     = models.Of("judge")
	orienter  = models.Of("orient")
	flattener = models.Of("flatten")
)

// ErrDevice says that the inference library or the device is not usable here.
var ErrDevice = errors.New("the inference device is not usable")

// Config says how an [ONNX] runner works.
type Config struct {
	Model   []byte   // the network, as an ONNX file
	Inputs  []string // names of its tensors
	Output  string
	Layout  Layout // of the tensors
	Threads int    // CPU threads for one tile; 0 is 1. As many tiles run at once as there are CPUs for
	Device  string // "cpu" (also when empty) or "cuda"
	// path of another ONNX Runtime library, of the same release; empty is the built-in one
	Library string
}

// Shape is the size of a tile in pixels.
type Shape struct{ W, H int }

// LargestTile is a shape that no tile has more pixels than, so that the library's memory stays flat
// whatever sizes of pages it sees. The sides of a tile are multiples of Cell.
var LargestTile = Shape{640, 896}

// Overview is the shape of the small picture of the whole page that the segmentation network's
// overview looks at.
var Overview = Shape{overview.Side, overview.Side}

// LargestOverview is the scale of that picture at most, against that of the tiles.
var LargestOverview = overview.Largest

// The context is what the overview says of the page: a vector of ContextPlanes values for each
// square of ContextStride pixels of its picture. The segmentation network wants it for each square
// of Cell pixels of a tile.
var (
	ContextPlanes = overview.Planes
	ContextStride = overview.Stride
	Cell          = segmenter.Multiple
)

// Window is the shape of the part of a page that the orientation network looks at.
var Window = Shape{orienter.Side, orienter.Side}

// Whole is the shape of the whole page that the flattening network looks at.
var Whole = Shape{flattener.Width, flattener.Height}

// Pixels of a picture of this shape.
func (s Shape) Pixels() int { return s.W * s.H }

// Layout tells the dimensions of a network's tensors for a shape of picture: of each input, and of
// the output.
type Layout func(Shape) (in [][]int64, out []int64)

// Segmenting is the layout of the segmentation network: the quarters of three planes, as [Line] has
// them, and the context under them in, those of a plane for each class out.
func Segmenting(s Shape) (in [][]int64, out []int64) {
	h, w := int64(s.H), int64(s.W)
	planes, cell := int64(ContextPlanes), int64(Cell)
	return [][]int64{{1, 4 * 3, h / 2, w / 2}, {1, planes, h / cell, w / cell}},
		[]int64{1, 4 * Classes, h / 2, w / 2}
}

// Line is the line y of a plane: its pixels 0, 2, 4 and so on, and its pixels 1, 3, 5. The
// quarters of a plane lie one after the other: the top left pixels of all squares of 2×2, then the
// top right, the bottom left and the bottom right ones.
func Line(planes []float32, s Shape, plane, y int) [2][]float32 {
	n := s.W / 2
	at := (4*plane+y%2*2)*s.Pixels()/4 + y/2*n
	next := at + s.Pixels()/4
	return [2][]float32{planes[at:][:n], planes[next:][:n]}
}

// TileInputs is how many values the segmentation network takes for a tile.
func TileInputs(s Shape) int { return 3*s.Pixels() + ContextPlanes*s.Pixels()/(Cell*Cell) }

// Overviewing is the layout of the overview: the quarters of three planes in, as [Line] has them,
// the context out.
func Overviewing(s Shape) (in [][]int64, out []int64) {
	h, w := int64(s.H), int64(s.W)
	planes, stride := int64(ContextPlanes), int64(ContextStride)
	return [][]int64{{1, 4 * 3, h / 2, w / 2}}, []int64{1, planes, h / stride, w / stride}
}

// Votes is the number of sums that the orientation network gives: votes for each of four angles,
// and their weight.
const Votes = 5

// Orienting is the layout of the orientation network: one plane in, sums of votes out.
func Orienting(s Shape) (in [][]int64, out []int64) {
	return [][]int64{{1, 1, int64(s.H), int64(s.W)}}, []int64{1, Votes}
}

// GridStep is how many pixels of [Whole] lie between the nodes of the flattening network's grid,
// the first in the middle of the first GridStep pixels.
var GridStep = flattener.Step

// GridPlanes is how many values the flattening network tells of each node: how far right and down
// the page's point lies in the picture, in steps, and the logarithm of how far off that may be.
const GridPlanes = 3

// Flattening is the layout of the flattening network: one plane in, three planes of a coarse grid
// out.
func Flattening(s Shape) (in [][]int64, out []int64) {
	h, w, step := int64(s.H), int64(s.W), int64(GridStep)
	return [][]int64{{1, 1, h, w}}, []int64{1, GridPlanes, h / step, w / step}
}

// What the network that judges regions of ink is told: RegionTraits values of each region, the
// indices of its RegionBonds nearest neighbours, and BondTraits values of each of these. The first
// of both traits is 1, and 0 where there is nothing.
var (
	RegionTraits = len(judge.Traits)
	RegionBonds  = judge.Near
	BondTraits   = judge.BondTraits
)

// Trait is the place of a region's trait among all, by its name in the manifest.
func Trait(name string) int { return slices.Index(judge.Traits, name) }

// MostRegions are judged of a page.
const MostRegions = 16384

// Regions is the shape of so many regions.
func Regions(n int) Shape { return Shape{RegionTraits, n} }

// RegionsFor is the number of regions that the network is given, with room for n. It goes in steps,
// so that the library is asked for few sizes of memory.
func RegionsFor(n int) int {
	const step = 512
	return max(1, (n+step-1)/step) * step
}

// JudgeInputs is how many values the network takes for so many regions.
func JudgeInputs(n int) int { return n * (RegionTraits + RegionBonds*(1+BondTraits)) }

// Judging is the layout of the network that judges regions: traits, neighbours and bonds in,
// log-odds of writing out.
func Judging(s Shape) (in [][]int64, out []int64) {
	n, traits, near, bonds := int64(s.H), int64(RegionTraits), int64(RegionBonds), int64(BondTraits)
	return [][]int64{{n, traits}, {n, near}, {n, near, bonds}}, []int64{n}
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
	// Run reads in, the planes (0 to 1) of a picture of a shape and then its other
	// inputs, if it has any, and fills out with its answer. It fails when the context has ended before
	// it began.
	Run(ctx context.Context, shape Shape, in, out []float32) error
}
