package flatten

import (
	"math"
	"slices"

	"unink/internal/lsq"
	"unink/internal/raster"
)

// The sides of a sheet.
const (
	top = iota
	bottom
	left
	right
)

// edge is one side of the sheet: a line along the rows (top, bottom) or across them, in the units
// of a guide. It is sure when a step from dark to light runs along most of it.
type edge struct {
	guide
	support float64
	steps   []bool // where, from one end of the picture to the other, there is such a step
}

func (e edge) sure() bool { return e.support >= 0.6 }

// ground is the page without its print, small: how light it is in its darkest channel, which
// tells white paper from wood.
type ground struct {
	w, h  int
	scale float64 // its pixels per pixel of the picture given
	level []uint8
}

func groundOf(m *raster.RGB, em float64, workers int) *ground {
	const side = 360.0 // pixels: a sheet's edge is long
	g := &ground{scale: min(1, side/float64(max(m.W, m.H)))}
	g.w, g.h = raster.Scaled(m.W, g.scale), raster.Scaled(m.H, g.scale)
	g.level = make([]uint8, g.w*g.h)
	for i := range g.level {
		g.level[i] = 255
	}
	for _, channel := range m.Pix {
		for i, v := range raster.ResizeGrey(channel, m.W, m.H, g.w, g.h, workers) {
			g.level[i] = min(g.level[i], v)
		}
	}
	g.level = closed(g.level, g.w, g.h, max(2, int(0.35*em*g.scale+0.5)))
	return g
}

// at is the level at a place given as shares of the picture.
func (g *ground) at(u, v float64) uint8 {
	x, y := min(max(int(u*float64(g.w)), 0), g.w-1), min(max(int(v*float64(g.h)), 0), g.h-1)
	return g.level[y*g.w+x]
}

// liesOn says that a sheet lies on something else: beyond most of its edges the picture's border is
// no paper. Beyond a printed frame it is, though the frame's inner sides look like a sheet's edges.
func (g *ground) liesOn(edges *[4]edge, paper float64) bool {
	other, all := 0, 0
	for i, e := range edges {
		if e.sure() {
			all++
			if math.Abs(g.border(i)-paper) >= leastStep {
				other++
			}
		}
	}
	return 2*other > all
}

// border is how light it is along a side of the picture.
func (g *ground) border(side int) float64 {
	first, step, n := 0, 1, g.w
	switch side {
	case bottom:
		first = (g.h - 1) * g.w
	case left:
		step, n = g.w, g.h
	case right:
		first, step, n = g.w-1, g.w, g.h
	}
	levels := make([]float64, n)
	for i := range levels {
		levels[i] = float64(g.level[first+i*step])
	}
	return raster.Quantile(levels, 0.5)
}

// findSheet looks for the edges of a sheet that is lighter than what it lies on and holds all
// of the print, given as points in shares of the picture.
func (g *ground) findSheet(print [][2]float64) (edges [4]edge) {
	points := make([][2]float64, len(print))
	for i, p := range print {
		points[i] = [2]float64{p[0] * float64(g.w), p[1] * float64(g.h)}
	}
	// Edges along the rows are looked for in the transposed picture, as edges across them.
	s := sheetSearch{level: g.level, w: g.w, h: g.h, points: points}
	edges[left], edges[right] = s.sides()
	s.level, s.w, s.h = raster.Transpose(g.level, g.w, g.h), g.h, g.w
	for i, p := range points {
		points[i] = [2]float64{p[1], p[0]}
	}
	edges[top], edges[bottom] = s.sides()
	g.checkCorners(&edges)
	return edges
}

// checkCorners gives up an edge beyond which the sheet goes on, as it does where the edges that
// cross it do, and measures the others from corner to corner.
func (g *ground) checkCorners(edges *[4]edge) {
	unit := 2 / float64(max(g.w, g.h))
	const more = 0.04 // of the picture's side
	for i := range edges {
		e := &edges[i]
		n := len(e.steps)
		first, last := 2-i/2*2, 3-i/2*2 // the edges that cross it
		from, to := 0, n
		if edges[first].sure() {
			from = int(math.Round(corner(*e, edges[first])/unit + float64(n-1)/2))
		}
		if edges[last].sure() {
			to = int(math.Round(corner(*e, edges[last])/unit+float64(n-1)/2)) + 1
		}
		if !e.sure() {
			continue
		}
		if float64(e.count(0, from)) > more*float64(n) {
			edges[first].support = 0
			from = 0
		}
		if float64(e.count(to, n)) > more*float64(n) {
			edges[last].support = 0
			to = n
		}
		e.support = float64(e.count(from, to)) / float64(max(min(to, n)-max(from, 0), 1))
	}
}

// count is the number of steps from a place to another.
func (e *edge) count(from, to int) (n int) {
	for i := max(from, 0); i < min(to, len(e.steps)); i++ {
		if e.steps[i] {
			n++
		}
	}
	return n
}

// corner is where an edge, seen along itself, is crossed by another.
func corner(e, o edge) float64 {
	// y = e.y + e.slope*(x-e.x) and x = o.y + o.slope*(y-o.x).
	return (o.y + o.slope*(e.y-e.slope*e.x-o.x)) / (1 - o.slope*e.slope)
}

// closed takes dark things thinner than 2r+1 pixels away: the lightest around each pixel, then the
// darkest of that.
func closed(level []uint8, w, h, r int) []uint8 {
	out := make([]uint8, len(level))
	raster.Most(out, level, w, h, r)
	invert(out)
	raster.Most(out, out, w, h, r)
	invert(out)
	return out
}

func invert(v []uint8) {
	for i := range v {
		v[i] = ^v[i]
	}
}

type sheetSearch struct {
	level  []uint8
	w, h   int
	points [][2]float64 // of print
}

const (
	stepReach = 2  // pixels between which a step is measured
	leastStep = 14 // of 255
)

// sides finds the left and the right edge.
func (s *sheetSearch) sides() (first, last edge) {
	// The step to the right at each pixel; a sheet's left edge is a rise, its right one a fall.
	steps := make([]int16, len(s.level))
	for y := range s.h {
		row := s.level[y*s.w:][:s.w]
		for x := stepReach; x < s.w-stepReach; x++ {
			steps[y*s.w+x] = int16(row[x+stepReach]) - int16(row[x-stepReach])
		}
	}
	first = s.side(steps, 1)
	last = s.side(steps, -1)
	return first, last
}

// place is a pixel where a step is steepest in its row.
type place struct{ x, y float64 }

// side finds the best edge whose step has the sign. All print but a few points lies on its
// lighter side.
func (s *sheetSearch) side(steps []int16, sign int16) edge {
	var steep []place
	for y := range s.h {
		row := steps[y*s.w:][:s.w]
		for x := 1; x < s.w-1; x++ {
			if v := sign * row[x]; v >= leastStep && v >= sign*row[x-1] && v > sign*row[x+1] {
				steep = append(steep, place{float64(x), float64(y)})
			}
		}
	}
	at, slope, ok := s.vote(steep, sign)
	if !ok {
		return edge{}
	}
	middle := s.middle()
	for _, tol := range [...]float64{4, 3, 2, 1.5, 1.5} {
		var q lsq.Normal3
		for _, p := range steep {
			if r := (p.x - at - slope*(p.y-middle)) / tol; r*r < 1 {
				q.Add([3]float64{1, p.y - middle, 0}, p.x, (1-r*r)*(1-r*r))
			}
		}
		q.Hold(2, 1)
		if c, ok := q.Solve(); ok {
			at, slope = c[0], c[1]
		}
	}
	return s.measure(steep, at, slope)
}

// middle is the row from which edges are measured.
func (s *sheetSearch) middle() float64 { return float64(s.h-1) / 2 }

// vote finds the line with the most steep places on it (Hough): where it crosses the middle row,
// and its slope.
func (s *sheetSearch) vote(steep []place, sign int16) (at, slope float64, ok bool) {
	const tries, least = 73, 0.3 // how many are tried; share of the rows
	middle := s.middle()
	reach := int(maxSlope*middle) + 1
	votes := make([]uint16, s.w+2*reach)
	most := least * float64(s.h)
	for k := range tries {
		m := (float64(k)*2/(tries-1) - 1) * maxSlope
		clear(votes)
		for _, p := range steep {
			votes[int(p.x-m*(p.y-middle)+0.5)+reach]++
		}
		bound := s.bound(m, middle, sign)
		for i := 1; i < len(votes)-1; i++ {
			x := float64(i - reach)
			n := float64(votes[i]) + 0.5*float64(votes[i-1]+votes[i+1])
			if n > most && float64(sign)*(bound-x) >= 0 {
				most, at, slope, ok = n, x, m, true
			}
		}
	}
	return at, slope, ok
}

// measure makes the edge of a line: along how much of it is there a step?
func (s *sheetSearch) measure(steep []place, at, slope float64) edge {
	const near = 2 // pixels
	middle := s.middle()
	steps := make([]bool, s.h)
	from, to := s.h, 0
	for _, p := range steep {
		if math.Abs(p.x-at-slope*(p.y-middle)) <= near {
			y := int(p.y)
			steps[y] = true
			from, to = min(from, y), max(to, y+1)
		}
	}
	if from >= to {
		return edge{}
	}
	unit := 2 / float64(max(s.w, s.h))
	mid := float64(from+to-1) / 2
	e := edge{steps: steps, guide: guide{
		x:     (mid - middle) * unit,
		y:     (at + slope*(mid-middle) - float64(s.w-1)/2) * unit,
		slope: slope, weight: float64(to-from) * unit,
	}}
	// A sheet's edge is nearly as long as its print at least, and long in the picture.
	e.support = float64(e.count(from, to)) / max(float64(to-from), 0.9*s.span(), 0.45*float64(s.h))
	return e
}

// bound is how far in a line of a slope may be without leaving print outside.
func (s *sheetSearch) bound(slope, middle float64, sign int16) float64 {
	const stray = 0.02 // share of the print
	if len(s.points) == 0 {
		return float64(s.w) / 2
	}
	v := make([]float64, len(s.points))
	for i, p := range s.points {
		v[i] = p[0] - slope*(p[1]-middle)
	}
	slices.Sort(v)
	n := int(stray * float64(len(v)))
	if sign > 0 {
		return v[n] - 1
	}
	return v[len(v)-1-n] + 1
}

// span is the length of the print along the edge.
func (s *sheetSearch) span() float64 {
	low, high := math.Inf(1), 0.0
	for _, p := range s.points {
		low, high = min(low, p[1]), max(high, p[1])
	}
	return max(high-low, 0)
}
