package flatten

import (
	"math"

	"unink/internal/raster"
)

// sharper says that the rows of letters show more sharply on a surface than on another.
func (f *features) sharper(s, than surface) bool {
	const clear = 1.1 // times as sharp
	return f.sharpness(s) > clear*f.sharpness(than)
}

// placesOf are the places of runs of ink, in the units of a guide.
func (f *features) placesOf(runs []raster.Run) [][2]float64 {
	n := 0
	for _, r := range runs {
		n += int(r.To - r.From)
	}
	out := make([][2]float64, 0, n)
	for _, r := range runs {
		y := int(r.From) / f.w
		for x := int(r.From) - y*f.w; x < int(r.To)-y*f.w; x++ {
			out = append(out, f.fromMiddle(float64(x), float64(y)))
		}
	}
	return out
}

// sharpness tells how sharply rows of letters end above and below on a surface, all along them: the
// more ink there is at one height and the less at the next, the more. It takes all of their ink, so
// that it shows where lines were traced wrongly, as they are in scripts whose letters hang from
// each other.
func (f *features) sharpness(s surface) (sum float64) {
	const bin = 0.1 // ems
	high := f.em / f.unit * bin
	heights := make([]float64, int(8/high))
	at := f.heightsOn(s)
	for _, p := range f.letters {
		y := at(p[0], p[1])/high + float64(len(heights))/2
		i := int(y)
		if y < 0 || i+1 >= len(heights) {
			continue
		}
		heights[i] += 1 - (y - float64(i))
		heights[i+1] += y - float64(i)
	}
	for i := range heights[1:] {
		d := heights[i+1] - heights[i]
		sum += d * d
	}
	return sum
}

// heightsOn tells how far down on a surface places of the picture lie, from what is so at the nodes
// of a grid.
func (f *features) heightsOn(s surface) func(x, y float64) float64 {
	const step = 2.0 / 96 // half the longer side
	w, h := float64(f.w)/2/f.unit, float64(f.h)/2/f.unit
	columns, rows := int(2*w/step)+3, int(2*h/step)+3
	heights := make([]float64, columns*rows)
	for j := range rows {
		for i := range columns {
			_, heights[j*columns+i] = s.toSheet(float64(i)*step-w, float64(j)*step-h)
		}
	}
	return func(x, y float64) float64 {
		u, v := (x+w)/step, (y+h)/step
		i, j := int(u), int(v)
		u, v = u-math.Floor(u), v-math.Floor(v)
		row, below := heights[j*columns+i:], heights[(j+1)*columns+i:]
		return (1-v)*((1-u)*row[0]+u*row[1]) + v*((1-u)*below[0]+u*below[1])
	}
}
