package erase

import (
	"image"
	"math"
	"slices"

	"unink/internal/raster"
	"unink/internal/restore/canvas"
	"unink/internal/restore/strokes"
)

// line is a rule at full resolution, seen as if it were horizontal.
type line struct {
	c     *canvas.Canvas
	dst   *image.RGBA
	rule  strokes.Rule
	scale float64           // full-resolution pixels per working pixel
	reach int               // pixels from the centre that belong to the line and its rim
	boxes []image.Rectangle // marked ones, as the line is seen
}

// continueRule draws a printed line on through the strokes that were erased over it. Each gap is
// bridged between the line's own cross sections on its two sides, so that colour, thickness and
// softness go on. Sides of marked boxes, and lines through such boxes, are not continued: the boxes
// are drawn anew.
func continueRule(c *canvas.Canvas, dst *image.RGBA, r strokes.Rule, marks []strokes.Mark) {
	l := line{c: c, dst: dst, rule: r, scale: c.Scale}
	l.reach = int(math.Ceil((float64(r.Thick)/2 + 1) * c.Scale))
	for _, m := range marks {
		l.boxes = append(l.boxes, l.boxOf(m))
	}
	n := int(float64(len(r.Centre)) * l.scale)
	last := -1 // the last clear cross section
	for i := range n {
		if !l.clear(i) {
			continue
		}
		if last >= 0 && i-last > 1 {
			l.bridge(last, i)
		}
		last = i
	}
}

// position is the line's centre at cross section i in the page's pixels; NaN under writing.
func (l *line) position(i int) float64 {
	w := min(int(float64(i)/l.scale), len(l.rule.Centre)-1)
	return (float64(l.rule.Centre[w])+0.5)*l.scale - 0.5
}

// refined is the centre of darkness across the line at a clear cross section.
func (l *line) refined(i int) float64 {
	centre := l.position(i)
	at := int(math.Round(centre))
	sum, moment := 0.0, 0.0
	for j := at - l.reach; j <= at+l.reach; j++ {
		if p, ok := l.pixel(i, j); ok && l.c.Dark[p] > l.c.Noise {
			d := float64(l.c.Dark[p] - l.c.Noise)
			sum += d
			moment += d * float64(j)
		}
	}
	if sum == 0 {
		return centre
	}
	return moment / sum
}

// pixel is the index of the pixel at cross section i, j pixels across; false off the page.
func (l *line) pixel(i, j int) (int, bool) {
	x, y := int(float64(l.rule.From)*l.scale)+i, j
	if l.rule.Vertical {
		x, y = y, x
	}
	return y*l.c.W + x, x >= 0 && y >= 0 && x < l.c.W && y < l.c.H
}

// clear says that no stroke touches the line at cross section i.
func (l *line) clear(i int) bool {
	centre := l.position(i)
	if math.IsNaN(centre) {
		return false
	}
	at := int(math.Round(centre))
	for j := at - l.reach; j <= at+l.reach; j++ {
		if p, ok := l.pixel(i, j); !ok || l.c.Flags[p]&canvas.IsHand != 0 {
			return false
		}
	}
	return true
}

// boxOf is where a mark's box stands: along the line from its beginning, and across it.
func (l *line) boxOf(m strokes.Mark) image.Rectangle {
	box := m.Empty.Sub(m.Empty.Min).Add(m.At)
	if l.rule.Vertical {
		box = image.Rect(box.Min.Y, box.Min.X, box.Max.Y, box.Max.X)
	}
	box = box.Sub(image.Pt(l.rule.From, 0))
	full := func(v int) int { return int(math.Round(float64(v) * l.scale)) }
	return image.Rect(full(box.Min.X), full(box.Min.Y), full(box.Max.X), full(box.Max.Y))
}

// isSide says that the line between two cross sections is a side of a box there.
func (l *line) isSide(a, b int, centre float64) bool {
	for _, box := range l.boxes {
		near := func(side int) bool { return math.Abs(centre-float64(side)) <= float64(l.reach) }
		if box.Min.X < b && box.Max.X > a && (near(box.Min.Y) || near(box.Max.Y)) {
			return true
		}
	}
	return false
}

// inBox says that cross section i lies in a box that the line meets.
func (l *line) inBox(i int, centre float64) bool {
	at := image.Pt(i, int(math.Round(centre)))
	return slices.ContainsFunc(l.boxes, at.In)
}

// bridge draws the line between the clear cross sections a and b.
func (l *line) bridge(a, b int) {
	left, right := l.crossSection(a, -1), l.crossSection(b, 1)
	slope := (right.centre - left.centre) / (right.middle - left.middle)
	if math.Abs(slope) > 0.2 {
		return // not one straight line
	}
	if l.isSide(a, b, (left.centre+right.centre)/2) {
		return
	}
	for i := a + 1; i < b; i++ {
		f := float32(i-a) / float32(b-a)
		centre := left.centre + slope*(float64(i)-left.middle)
		if l.inBox(i, centre) {
			continue
		}
		at := int(math.Round(centre))
		for j := at - l.reach; j <= at+l.reach; j++ {
			p, ok := l.pixel(i, j)
			if !ok || l.c.Flags[p]&canvas.IsHand == 0 {
				continue
			}
			u, v := left.at(float64(j)-centre), right.at(float64(j)-centre)
			px := l.dst.Pix[4*p : 4*p+3 : 4*p+3]
			for ch := range px {
				px[ch] = raster.Clamp8(u[ch] + f*(v[ch]-u[ch]))
			}
		}
	}
}

// section is a piece of the line beside a gap.
type section struct {
	middle float64      // along the line
	centre float64      // of the line there, across it
	from   int          // where colours begins, across the line
	colour [][3]float32 // across the line
}

// crossSection measures some clear cross sections from i on in direction step. Of each value it
// takes the median: a letter that stands on the line there is outvoted.
func (l *line) crossSection(i, step int) section {
	const wanted, search = 7, 40 // cross sections; columns
	var found []int
	var middles, centres []float64
	for k := 0; k < search && len(found) < wanted; k++ {
		if at := i + k*step; at >= 0 && l.clear(at) {
			found = append(found, at)
			middles = append(middles, float64(at))
			centres = append(centres, l.refined(at))
		}
	}
	s := section{middle: raster.Quantile(middles, 0.5), centre: raster.Quantile(centres, 0.5)}
	s.from = int(math.Round(s.centre)) - l.reach
	s.colour = make([][3]float32, 2*l.reach+1)
	for j := range s.colour {
		for ch := range s.colour[j] {
			values := make([]float64, 0, wanted)
			for _, at := range found {
				if p, ok := l.pixel(at, s.from+j); ok {
					values = append(values, float64(l.c.Src.Pix[4*p+ch]))
				}
			}
			if len(values) > 0 {
				s.colour[j][ch] = float32(raster.Quantile(values, 0.5))
			}
		}
	}
	return s
}

// at interpolates the colour at an offset from the line's centre.
func (s *section) at(offset float64) (out [3]float32) {
	last := len(s.colour) - 1
	v := min(max(s.centre+offset-float64(s.from), 0), float64(last))
	i := min(int(v), last-1)
	f := float32(v - float64(i))
	for ch := range out {
		out[ch] = s.colour[i][ch] + f*(s.colour[i+1][ch]-s.colour[i][ch])
	}
	return out
}
