package flatten

import (
	"math"

	"unink/internal/raster"
)

// warp makes the warp that shows the sheet flat; nil if that cannot be. Where edges are given,
// those that are sure are the result's; else those of a sheet on a desk bound it.
func (f *features) warp(s surface, edges *[4]edge) *raster.Warp {
	box := f.extent(s)
	if edges == nil && f.onDesk != nil {
		box = [4]float64{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)}
		for _, c := range f.onDesk {
			x, y := s.toSheet(c[0], c[1])
			grow(&box, x, y, 0)
		}
	}
	if edges != nil {
		for i, e := range edges {
			if !e.sure() {
				continue
			}
			g := e.guide
			if i >= left {
				g = g.transposed()
			}
			x, y := s.toSheet(g.x, g.y)
			box[i] = y
			if i >= left {
				box[i] = x
			}
		}
	}
	// Print keeps its size.
	unit := float64(max(f.m[0], f.m[1])) / 2
	unit *= f.size(s)
	wide, high := (box[right]-box[left])*unit, (box[bottom]-box[top])*unit
	const most = 2.0 // times the picture's size: a sheet that is larger was not understood
	if !(wide >= 1 && high >= 1 && wide <= most*float64(f.m[0])+1 &&
		high <= most*float64(f.m[1])+1) {
		return nil
	}
	w, h := int(wide+0.5), int(high+0.5)
	half := float64(max(f.m[0], f.m[1])) / 2
	return raster.NewWarp(f.m[0], f.m[1], w, h, func(x, y float64) (float64, float64) {
		u, v := box[left]+(x+0.5)/unit, box[top]+(y+0.5)/unit
		u, v = s.toPicture(u, v)
		return u*half + float64(f.m[0]-1)/2, v*half + float64(f.m[1]-1)/2
	})
}

// extent is the part of the sheet that is shown: as large as the picture, and so much more of it
// that all ink is in, as far as the picture goes.
func (f *features) extent(s surface) (box [4]float64) {
	hw, hh := float64(f.w)/2/f.unit, float64(f.h)/2/f.unit
	all := [4]float64{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)}
	for _, c := range [4][2]float64{{-hw, -hh}, {hw, -hh}, {-hw, hh}, {hw, hh}} {
		x, y := s.toSheet(c[0], c[1])
		grow(&all, x, y, 0)
	}
	box = [4]float64{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)}
	for _, c := range [4][2]float64{{-hw, 0}, {hw, 0}, {0, -hh}, {0, hh}} {
		x, y := s.toSheet(c[0], c[1])
		if c[0] != 0 {
			box[left], box[right] = min(box[left], x), max(box[right], x)
		} else {
			box[top], box[bottom] = min(box[top], y), max(box[bottom], y)
		}
	}
	for _, c := range f.components {
		if float64(max(c.Width(), c.Height())) < 0.4*f.em {
			continue
		}
		for _, q := range [4][2]int{{c.X0, c.Y0}, {c.X1, c.Y0}, {c.X0, c.Y1}, {c.X1, c.Y1}} {
			x, y := s.toSheet((float64(q[0])-float64(f.w)/2)/f.unit,
				(float64(q[1])-float64(f.h)/2)/f.unit)
			grow(&box, x, y, 0.5*f.em/f.unit)
		}
	}
	return [4]float64{max(box[top], all[top]), min(box[bottom], all[bottom]),
		max(box[left], all[left]), min(box[right], all[right])}
}

// grow takes a point with a margin into a box.
func grow(box *[4]float64, x, y, margin float64) {
	box[left], box[right] = min(box[left], x-margin), max(box[right], x+margin)
	box[top], box[bottom] = min(box[top], y-margin), max(box[bottom], y+margin)
}

// size is the factor by which the sheet is drawn so that print keeps its size on the whole: the
// mean over the lines of print of the root of how much the sheet's area is reduced there.
func (f *features) size(s surface) float64 {
	sum, total := 0.0, 0.0
	for _, g := range f.rows {
		const d = 0.01
		x, y := s.toSheet(g.x, g.y)
		x1, y1 := s.toSheet(g.x+d, g.y)
		x2, y2 := s.toSheet(g.x, g.y+d)
		area := math.Abs((x1-x)*(y2-y)-(x2-x)*(y1-y)) / (d * d)
		sum += g.weight / math.Sqrt(area)
		total += g.weight
	}
	if total == 0 {
		return 1
	}
	return min(max(sum/total, 0.5), 2)
}
