package segment

import (
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
	in := make([]float32, 3*shape.Pixels())
	for i := range in {
		in[i] = 1
	}
	for c, plane := range small.Pix {
		for y := range small.H {
			line := nn.Line(in, shape, c, y)
			for x, v := range plane[y*small.W:][:small.W] {
				line[x%2][x/2] = min(float32(v)*p.Gain[c]/255, 1)
			}
		}
	}
	o.v = make([]float32, nn.ContextPlanes*(shape.W/nn.ContextStride)*(shape.H/nn.ContextStride))
	return o, n.Overview.Run(ctx, shape, in, o.v)
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
