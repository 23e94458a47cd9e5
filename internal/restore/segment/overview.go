package segment

import (
	"bytes"
	"context"

	"unink/internal/nn"
	"unink/internal/raster"
)

// overview is what the network says of the whole page: a vector of nn.ContextPlanes values for each
// square of nn.ContextStride pixels of a small picture of it, plane by plane.
type overview struct {
	v     []float32
	scale float64 // of the small picture, against that of the tiles
}

// overview has the whole page looked at.
func (n Networks) overview(ctx context.Context, p Picture, workers int) (*overview, error) {
	shape := nn.Overview
	o := &overview{scale: min(float64(shape.W)/float64(max(p.W, p.H)), nn.LargestOverview)}
	small := raster.Resize(p.Page, raster.Scaled(p.W, o.scale), raster.Scaled(p.H, o.scale), workers)
	squares := make([]uint8, shape.Squares()*nn.SquareInputs)
	told := levelsOf(p.Gain, nn.PageBytes.Round)
	for c, plane := range small.Pix {
		var lines [nn.SquareSide][]uint8
		for i := 0; i < shape.H; i += nn.SquareSide {
			for k := range lines {
				lines[k] = bytes.Repeat([]uint8{255}, shape.W) // white, since no gain is below 1
				if y := i + k; y < small.H {
					copy(lines[k], plane[y*small.W:][:small.W])
				}
			}
			row := squares[i/nn.SquareSide*(shape.W/nn.SquareSide)*nn.SquareInputs:]
			square(row[c*nn.SquarePixels:], lines, &told[c])
		}
	}
	o.v = make([]float32, nn.ContextPlanes*(shape.W/nn.ContextStride)*(shape.H/nn.ContextStride))
	return o, n.Overview.Run(ctx, nn.Page(squares), nn.PageAnswer(o.v))
}

// under fills to with what the overview says of the cells of a tile at x, y of the picture.
func (o *overview) under(to []float32, tile nn.Shape, x, y int) {
	side := nn.Overview.W / nn.ContextStride
	columns, rows := o.cells(x, tile.W), o.cells(y, tile.H)
	for c := range nn.ContextPlanes {
		plane := o.v[c*side*side:][:side*side]
		for j, r := range rows {
			for i, q := range columns {
				above := plane[r.at*side+q.at]*(1-q.part) + plane[r.at*side+q.next]*q.part
				below := plane[r.next*side+q.at]*(1-q.part) + plane[r.next*side+q.next]*q.part
				to[(c*len(rows)+j)*len(columns)+i] = above*(1-r.part) + below*r.part
			}
		}
	}
}

// between is a place between two squares of the overview, and how far on the way it lies.
type between struct {
	at, next int
	part     float32
}

// cells finds the middles of a tile's cells along an axis; those beyond the overview are on its
// rim.
func (o *overview) cells(from, side int) []between {
	last := float64(nn.Overview.W/nn.ContextStride - 1)
	out := make([]between, side/nn.Cell)
	for i := range out {
		middle := float64(from+i*nn.Cell) + float64(nn.Cell)/2
		p := min(max(middle*o.scale/float64(nn.ContextStride)-0.5, 0), last)
		at := int(p)
		out[i] = between{at, min(at+1, int(last)), float32(p - float64(at))}
	}
	return out
}
