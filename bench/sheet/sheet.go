// Package sheet knows sheets of paper that were bent and seen at an angle, and measures how
// straight they lie.
package sheet

import (
	"math"
	"math/cmplx"

	"unink/internal/raster"
)

// Case is a page, and where points of it lie in the picture; Text is what can be read in it, if
// that is asked.
type Case struct {
	Name, Class, Text string
	Page              [2]float64
	Map               [][2]float64
}

const mapColumns, mapRows = 13, 17

// Placed is how a page lies in a picture: the similarity, as a complex factor and an offset, that
// brings its points best to where they are, and their mean distance from there.
type Placed struct {
	factor, offset complex128
	Shift          float64
}

// Place measures the points of a page, after a warp of the picture, which has the given width.
func (c Case) Place(w *raster.Warp, width int) (p Placed) {
	is, want := make([]complex128, len(c.Map)), make([]complex128, len(c.Map))
	for i, at := range c.Map {
		want[i] = complex(float64(i%mapColumns)/(mapColumns-1)*(c.Page[0]-1),
			float64(i/mapColumns)/(mapRows-1)*(c.Page[1]-1))
		is[i] = complex(at[0], at[1])
		if w != nil {
			is[i] = straightened(w, width, at)
		}
	}
	var mi, mw complex128
	for i := range is {
		mi += is[i] / complex(float64(len(is)), 0)
		mw += want[i] / complex(float64(len(is)), 0)
	}
	var num complex128
	var den float64
	for i := range is {
		a, b := want[i]-mw, is[i]-mi
		num += b * complex(real(a), -imag(a))
		den += real(a)*real(a) + imag(a)*imag(a)
	}
	p.factor = num / complex(den, 0)
	p.offset = mi - p.factor*mw
	for i := range is {
		p.Shift += cmplx.Abs(is[i]-p.factor*want[i]-p.offset) / float64(len(is))
	}
	return p
}

// Degrees that the page as a whole is turned by.
func (p Placed) Degrees() float64 { return cmplx.Phase(p.factor) * 180 / math.Pi }

// At is where a point of the page lies in the picture.
func (p Placed) At(x, y float64) (float64, float64) {
	v := p.factor*complex(x, y) + p.offset
	return real(v), imag(v)
}

// At is where a point of the page is known to lie in the picture, between the four known points
// around it.
func (c Case) At(x, y float64) (float64, float64) {
	u, v := x/(c.Page[0]-1)*(mapColumns-1), y/(c.Page[1]-1)*(mapRows-1)
	i, j := min(int(u), mapColumns-2), min(int(v), mapRows-2)
	u, v = u-float64(i), v-float64(j)
	var out [2]float64
	for ch := range out {
		p := func(dx, dy int) float64 { return c.Map[(j+dy)*mapColumns+i+dx][ch] }
		out[ch] = (1-v)*((1-u)*p(0, 0)+u*p(1, 0)) + v*((1-u)*p(0, 1)+u*p(1, 1))
	}
	return out[0], out[1]
}

// straightened is where a point of the picture lies after the warp, by Newton's method.
func straightened(w *raster.Warp, width int, p [2]float64) complex128 {
	scale := float64(w.SrcW) / float64(width)
	x, y := float64(w.W)/2, float64(w.H)/2
	px, py := (p[0]+0.5)*scale-0.5, (p[1]+0.5)*scale-0.5
	for range 30 {
		const d = 8
		ax, ay := w.At(x, y)
		bx, by := w.At(x+d, y)
		cx, cy := w.At(x, y+d)
		ux, uy, vx, vy := (bx-ax)/d, (by-ay)/d, (cx-ax)/d, (cy-ay)/d
		det := ux*vy - vx*uy
		x += (vy*(px-ax) - vx*(py-ay)) / det
		y += (ux*(py-ay) - uy*(px-ax)) / det
	}
	return complex((x+0.5)/scale-0.5, (y+0.5)/scale-0.5)
}
