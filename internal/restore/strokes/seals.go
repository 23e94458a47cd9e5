package strokes

import (
	"image"
	"math"

	"unink/internal/lsq"
	"unink/internal/raster"
	"unink/internal/restore/ink"
	"unink/internal/restore/segment"
)

// A seal is stamped: a ring of coloured ink with words or signs of the same ink in it. No hand
// draws an ellipse as exactly, and compasses write no words.
type seal struct {
	ellipse
	at    image.Rectangle
	inked []uint8 // 1 where the page has ink of the seal's colour; of the whole working picture
}

// What tells a seal, in working pixels where nothing else is said.
const (
	sealPale     = 24    // 255ths of the light that its ink takes of a channel, at least
	sealGrey     = 12    // the same, by which the channels differ
	sealCell     = 6     // side of the cells in which its pieces are neighbours
	sealLeast    = 56    // its longer side
	sealMost     = 420   // the same
	sealRound    = 0.45  // its shorter side against the longer
	sealAngles   = 120   // directions in which its outermost ink is looked for
	sealOff      = 0.03  // of the radius: ink of the ring lies as far off the ellipse at most
	sealExact    = 0.008 // the same, root mean square
	sealClosed   = 0.75  // share of the directions that have ink of the ring
	sealInner    = 0.85  // of the radius: what lies nearer to the middle is in the ring
	sealOuter    = 0.5   // the same: words run round farther out
	sealSectors  = 12    // into which what is in the ring is parted
	sealAround   = 0.25  // share of the sectors that have ink there, at least
	sealSign     = 0.01  // of a sector's area: so much ink counts
	sealSigns    = 0.1   // share of a seal's ink that lies in the ring, at least
	sealCovering = 0.7   // share of its ellipse that its ink covers at most
)

// findSeals finds the seals of a page of width w by their shape and by what [byColour] found.
func findSeals(of map[ink.Set][]uint8, w int) (found []seal) {
	for _, colour := range []ink.Set{ink.Red, ink.Green, ink.Blue} {
		inked := of[colour]
		if inked == nil {
			continue
		}
		cells, across := inCells(inked, w)
		_, pieces := raster.Connected(cells, across, 1)
		for _, c := range pieces {
			at := image.Rect(c.X0, c.Y0, c.X1, c.Y1)
			at = image.Rectangle{at.Min.Mul(sealCell), at.Max.Mul(sealCell)}.
				Intersect(image.Rect(0, 0, w, len(inked)/w))
			long, short := max(at.Dx(), at.Dy()), min(at.Dx(), at.Dy())
			if long < sealLeast || long > sealMost || float64(short) < sealRound*float64(long) {
				continue
			}
			if e, ok := fitRing(outermost(inked, w, at)); ok && e.hasSigns(inked, w, at) {
				found = append(found, seal{e, at, inked})
			}
		}
	}
	return found
}

// byColour marks the ink of each colour that is neither black nor grey.
func byColour(plane *ink.Plane) map[ink.Set][]uint8 {
	of := map[ink.Set][]uint8{}
	for _, r := range plane.Runs {
		for i := r.From; i < r.To; i++ {
			red, green, blue := plane.Light[0][i], plane.Light[1][i], plane.Light[2][i]
			low, high := min(red, green, blue), max(red, green, blue)
			if low > 255-sealPale || high-low < sealGrey {
				continue
			}
			colour := ink.Of([3]float64{
				float64(red) / 255, float64(green) / 255, float64(blue) / 255})
			if colour&(ink.Black|ink.Pencil) != 0 {
				continue
			}
			if of[colour] == nil {
				of[colour] = make([]uint8, len(plane.Solid))
			}
			of[colour][i] = 1
		}
	}
	return of
}

// inCells marks the cells of a picture of width w that hold marked pixels, and says how many cells
// lie across it.
func inCells(marked []uint8, w int) (cells []uint8, across int) {
	across = (w + sealCell - 1) / sealCell
	cells = make([]uint8, across*((len(marked)/w+sealCell-1)/sealCell))
	for i := range raster.Marked(marked) {
		cells[i/w/sealCell*across+i%w/sealCell] = 1
	}
	return cells, across
}

type point struct{ x, y float64 }

// outermost lists the pixels of ink that lie farthest from the middle, one a direction.
func outermost(inked []uint8, w int, at image.Rectangle) (found []point) {
	var far [sealAngles]float64
	var pixels [sealAngles]point
	cx, cy := float64(at.Min.X+at.Max.X-1)/2, float64(at.Min.Y+at.Max.Y-1)/2
	for y := at.Min.Y; y < at.Max.Y; y++ {
		for x := at.Min.X; x < at.Max.X; x++ {
			if inked[y*w+x] == 0 {
				continue
			}
			dx, dy := float64(x)-cx, float64(y)-cy
			k := int((math.Atan2(dy, dx)/math.Pi + 1) / 2 * sealAngles)
			k = min(k, sealAngles-1)
			if d := dx*dx + dy*dy; d > far[k] {
				far[k], pixels[k] = d, point{float64(x), float64(y)}
			}
		}
	}
	for k, d := range far {
		if d > 0 {
			found = append(found, pixels[k])
		}
	}
	return found
}

// ellipse is where p(x-x0)² + q(x-x0)(y-y0) + r(y-y0)² is 1.
type ellipse struct{ x0, y0, p, q, r float64 }

// radius is how far a place is from the middle, 1 on the ellipse.
func (e ellipse) radius(x, y float64) float64 {
	dx, dy := x-e.x0, y-e.y0
	return math.Sqrt(max(e.p*dx*dx+e.q*dx*dy+e.r*dy*dy, 0))
}

// area is that of the ellipse, in pixels.
func (e ellipse) area() float64 { return 2 * math.Pi / math.Sqrt(4*e.p*e.r-e.q*e.q) }

// fitRing lays an ellipse through places, most of which lie on it. It fails where too few do, or
// not exactly. What lies far off counts little from the start (Cauchy's weights).
func fitRing(all []point) (e ellipse, ok bool) {
	const rounds, scale = 12, 0.04
	weights := make([]float64, len(all))
	for i := range weights {
		weights[i] = 1
	}
	if len(all) < sealClosed*sealAngles {
		return e, false
	}
	for range rounds {
		if e, ok = fitEllipse(all, weights); !ok {
			return e, false
		}
		for i, at := range all {
			d := (e.radius(at.x, at.y) - 1) / scale
			weights[i] = 1 / (1 + d*d) / (1 + d*d)
		}
	}
	on, off := 0.0, 0.0
	for _, at := range all {
		if d := e.radius(at.x, at.y) - 1; math.Abs(d) <= sealOff {
			on++
			off += d * d
		}
	}
	return e, on >= sealClosed*sealAngles && off <= sealExact*sealExact*on
}

// fitEllipse finds the ellipse nearest to places of some weight, by least squares of the conic's
// equation.
func fitEllipse(all []point, weights []float64) (e ellipse, ok bool) {
	var sum, mx, my, size float64
	for i, at := range all {
		sum += weights[i]
		mx += weights[i] * at.x
		my += weights[i] * at.y
	}
	mx, my = mx/sum, my/sum
	for _, at := range all {
		size = max(size, math.Hypot(at.x-mx, at.y-my))
	}
	normal := lsq.NewNormal(5)
	for i, at := range all {
		x, y := (at.x-mx)/size, (at.y-my)/size
		normal.Add([]float64{x * x, x * y, y * y, x, y}, 1, weights[i])
	}
	var v [5]float64
	if !normal.Solve(v[:]) {
		return e, false
	}
	p, q, r := v[0], v[1], v[2]
	determinant := 4*p*r - q*q
	if determinant <= 0 || p <= 0 {
		return e, false
	}
	x0, y0 := (q*v[4]-2*r*v[3])/determinant, (q*v[3]-2*p*v[4])/determinant
	level := 1 + p*x0*x0 + q*x0*y0 + r*y0*y0
	scale := 1 / (level * size * size)
	return ellipse{mx + size*x0, my + size*y0, p * scale, q * scale, r * scale}, level > 0
}

// hasSigns says that there are words or signs within a ring, and paper between.
func (e ellipse) hasSigns(inked []uint8, w int, at image.Rectangle) bool {
	var sectors [sealSectors]int
	all, inner := 0, 0
	for y := at.Min.Y; y < at.Max.Y; y++ {
		for x := at.Min.X; x < at.Max.X; x++ {
			if inked[y*w+x] == 0 {
				continue
			}
			all++
			r := e.radius(float64(x), float64(y))
			if r > sealInner {
				continue
			}
			inner++
			if r < sealOuter {
				continue
			}
			angle := math.Atan2(float64(y)-e.y0, float64(x)-e.x0)/math.Pi + 1
			sectors[min(int(angle/2*sealSectors), sealSectors-1)]++
		}
	}
	around := 0
	for _, n := range sectors {
		if float64(n)*sealSectors > sealSign*e.area() {
			around++
		}
	}
	return float64(around) >= sealAround*sealSectors && float64(inner) >= sealSigns*float64(all) &&
		float64(all) <= sealCovering*e.area()
}

// keep makes the seal print.
func (l seal) keep(s *segment.Scores) {
	const rim = 1.06 // of the radius
	for y := l.at.Min.Y; y < l.at.Max.Y; y++ {
		for x := l.at.Min.X; x < l.at.Max.X; x++ {
			i := y*s.W + x
			if s.Hand[i] > 0 && l.inked[i] != 0 && l.radius(float64(x), float64(y)) <= rim {
				s.Relabel(i, false)
			}
		}
	}
}
