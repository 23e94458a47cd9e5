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
	Network models.Network
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

// Tensor is an input or an output of a network: its dimensions, and its values, which are floats or
// bytes.
type Tensor struct {
	Dimensions []int64
	Floats     []float32
	Bytes      []uint8
}

func floats(values []float32, dimensions ...int) Tensor {
	return Tensor{Dimensions: wide(dimensions), Floats: values}
}

func octets(values []uint8, dimensions ...int) Tensor {
	return Tensor{Dimensions: wide(dimensions), Bytes: values}
}

func wide(dimensions []int) (out []int64) {
	for _, d := range dimensions {
		out = append(out, int64(d))
	}
	return out
}

// Both networks of segmentation see pictures in squares of 2×2 pixels, and the values of a square
// lie together: of each channel its top left, top right, bottom left and bottom right pixel.
const (
	SquareSide   = 2
	SquarePixels = SquareSide * SquareSide
)

// The values of a square of a picture, and of each answer of the segmentation network.
const (
	SquareInputs  = SquarePixels * 3
	SquareOutputs = SquarePixels * Classes
)

// What the bytes of tensors stand for: of the networks' pictures light from 0 to 1, less a half.
var (
	TileBytes  = segmenter.Bytes["image"]
	ClassBytes = segmenter.Bytes["classes"]
	UnderBytes = segmenter.Bytes["under"]
	PageBytes  = overview.Bytes["page"]
)

// Squares of a picture of this shape.
func (s Shape) Squares() int { return s.Pixels() / SquarePixels }

// Cells of a picture of this shape.
func (s Shape) Cells() int { return s.Pixels() / (Cell * Cell) }

// Tile is the inputs of the segmentation network: SquareInputs of each square, and the context
// under them, ContextPlanes of a value for each cell.
func Tile(s Shape, squares []uint8, context []float32) []Tensor {
	return []Tensor{
		octets(squares, 1, s.H/SquareSide, s.W/SquareSide, SquareInputs),
		floats(context, 1, ContextPlanes, s.H/Cell, s.W/Cell),
	}
}

// TileAnswer is its outputs, SquareOutputs of each square: the logits of the classes as they are
// where it is left open whether print lies under handwriting, and the log-odds that it does, of
// which the first SquarePixels count.
func TileAnswer(s Shape, classes, under []uint8) []Tensor {
	h, w := s.H/SquareSide, s.W/SquareSide
	return []Tensor{
		octets(classes, 1, h, w, SquareOutputs), octets(under, 1, h, w, SquareOutputs),
	}
}

// Page is the inputs of the overview: SquareInputs of each square of a picture of its shape.
func Page(squares []uint8) []Tensor {
	s := Overview
	return []Tensor{octets(squares, 1, s.H/SquareSide, s.W/SquareSide, SquareInputs)}
}

// PageAnswer is its outputs: the context.
func PageAnswer(context []float32) []Tensor {
	s := Overview
	return []Tensor{floats(context, 1, ContextPlanes, s.H/ContextStride, s.W/ContextStride)}
}

// Votes is the number of sums that the orientation network gives: votes for each of four angles,
// and their weight.
const Votes = 5

// Look is the inputs of the orientation network: a plane of the shape of [Window].
func Look(plane []float32) []Tensor { return []Tensor{floats(plane, 1, 1, Window.H, Window.W)} }

// LookAnswer is its outputs: the sums of votes.
func LookAnswer(votes []float32) []Tensor { return []Tensor{floats(votes, 1, Votes)} }

// GridStep is how many pixels of [Whole] lie between the nodes of the flattening network's grid,
// the first in the middle of the first GridStep pixels.
var GridStep = flattener.Step

// GridPlanes is how many values the flattening network tells of each node: how far right and down
// the page's point lies in the picture, in steps, and the logarithm of how far off that may be.
const GridPlanes = 3

// Sheet is the inputs of the flattening network: a plane of the shape of [Whole].
func Sheet(plane []float32) []Tensor { return []Tensor{floats(plane, 1, 1, Whole.H, Whole.W)} }

// SheetAnswer is its outputs: GridPlanes of a value for each node.
func SheetAnswer(grid []float32) []Tensor {
	return []Tensor{floats(grid, 1, GridPlanes, Whole.H/GridStep, Whole.W/GridStep)}
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

// RegionsFor is the number of regions that the network is given, with room for n. It goes in steps,
// so that the library is asked for few sizes of memory.
func RegionsFor(n int) int {
	const step = 512
	return max(1, (n+step-1)/step) * step
}

// Regions is the inputs of the network that judges so many regions: traits, neighbours and bonds.
func Regions(n int, traits, near, bonds []float32) []Tensor {
	return []Tensor{floats(traits, n, RegionTraits), floats(near, n, RegionBonds),
		floats(bonds, n, RegionBonds, BondTraits)}
}

// RegionsAnswer is its outputs: log-odds of writing.
func RegionsAnswer(odds []float32) []Tensor { return []Tensor{floats(odds, len(odds))} }

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
	// Run reads the inputs and fills the outputs with its answer. It fails when the context has
	// ended before it began.
	Run(ctx context.Context, in, out []Tensor) error
}
