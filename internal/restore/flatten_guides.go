package restore

import (
	"cmp"
	"math"
	"slices"

	"unink/internal/raster"
)

// guide is something straight on the page: a line of print, a rule, a margin, an edge of the
// sheet. It lies along the rows of the sheet, or across them; x is then the axis it runs along.
type guide struct {
	x, y   float64 // its middle, from the middle of the picture, in units of half its longer side
	slope  float64 // dy/dx
	weight float64 // its length in the same units
}

// transposed is the guide seen with the axes swapped.
func (g guide) transposed() guide { return guide{g.y, g.x, g.slope, g.weight} }

// off is the angle that a guide is off its axis where it is mapped to, in radians and at most so
// much that it is no guide.
func (g guide) off(to func(x, y float64) (float64, float64)) float64 {
	const most = 0.06
	half := g.weight / 2
	x0, y0 := to(g.x-half, g.y-half*g.slope)
	x1, y1 := to(g.x+half, g.y+half*g.slope)
	return min(math.Abs(y1-y0)/max(math.Abs(x1-x0), 1e-9), most)
}

// textLine is a line of print: the feet of its characters, in pixels.
type textLine struct {
	points [][2]float64 // those that stand on the line
	x0, x1 float64      // from the left of the first character to the right of the last
	x, y   float64      // its middle
	slope  float64      // there
}

// ends is the line that touches it in its middle.
func (l *textLine) ends() guideLine {
	return guideLine{l.x0, l.y + l.slope*(l.x0-l.x), l.x1, l.y + l.slope*(l.x1-l.x)}
}

const maxSlope = 0.36 // of lines that are looked for, either way: about 20°

// glyphs lists the components that may be characters, or a few joined ones, of print of size em.
func glyphs(components []raster.Component, em float64) []raster.Component {
	var out []raster.Component
	for _, c := range components {
		w, h := float64(c.Width()), float64(c.Height())
		solid := float64(c.Area) / (w * h)
		if h >= max(0.28*em, 4) && h <= 1.8*em && w >= 0.1*em && w <= 5*em && solid > 0.12 && (solid < 0.93 || w < h) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b raster.Component) int { return cmp.Or(cmp.Compare(a.X0, b.X0), cmp.Compare(a.Y0, b.Y0)) })
	return out
}

// follower is a glyph that may follow another in a line.
type follower struct {
	index int
	cost  float64 // pixels: how far away it is
	slope float64 // from the other to it
}

// followers finds for each glyph i those that may follow it: they begin within reach of its end
// and stand as high as it, off by so much at most, when seen at the slope.
func followers(glyphs []raster.Component, em, slope, reach, off float64, found func(i int, f follower)) {
	const maxWidth = 5
	for i, a := range glyphs {
		ax, ab, at := float64(a.X0+a.X1)/2, float64(a.Y1), float64(a.Y0)
		// Glyphs are sorted by their left ends.
		from, _ := slices.BinarySearchFunc(glyphs[i+1:], float64(a.X1)-0.4*em, func(g raster.Component, x float64) int {
			return cmp.Compare(float64(g.X0), x)
		})
		for j := i + 1 + from; j < len(glyphs); j++ {
			b := glyphs[j]
			gap := float64(b.X0 - a.X1)
			if gap > reach {
				break
			}
			dx := float64(b.X0+b.X1)/2 - ax
			if dx < 0.2*em || dx > maxWidth*em {
				continue
			}
			feet, heads := float64(b.Y1)-ab, float64(b.Y0)-at
			rise := slope * dx
			apart := min(math.Abs(feet-rise), math.Abs(heads-rise))
			short, tall := min(a.Height(), b.Height()), max(a.Height(), b.Height())
			overlap := min(ab+rise, float64(b.Y1)) - max(at+rise, float64(b.Y0))
			if apart > off || overlap < 0.4*float64(short) || 5*short < 2*tall {
				continue
			}
			d := feet
			if math.Abs(heads-rise) < math.Abs(feet-rise) {
				d = heads
			}
			found(i, follower{j, max(gap, 0) + 2*apart, d / dx})
		}
	}
}

// commonSlope is the slope at which characters most often follow each other.
func commonSlope(glyphs []raster.Component, em float64) float64 {
	const steps = 72
	var hist [steps + 1]float64
	best := make([]follower, len(glyphs))
	for i := range best {
		best[i].cost = math.Inf(1)
	}
	followers(glyphs, em, 0, em, 0.7*em, func(i int, f follower) {
		if f.cost < best[i].cost {
			best[i] = f
		}
	})
	for _, f := range best {
		if !math.IsInf(f.cost, 1) && math.Abs(f.slope) <= maxSlope {
			hist[int(math.Round((f.slope/maxSlope+1)*steps/2))]++
		}
	}
	at, most := 0, -1.0
	for i := range hist {
		sum := 0.0
		for d := -4; d <= 4; d++ {
			if j := i + d; j >= 0 && j < len(hist) {
				sum += hist[j] * (1 - math.Abs(float64(d))/5)
			}
		}
		if sum > most {
			at, most = i, sum
		}
	}
	return (float64(at)*2/steps - 1) * maxSlope
}

// textLines chains glyphs that follow each other at about the slope and fits a line to each chain.
func textLines(glyphs []raster.Component, em, slope float64) []textLine {
	next, prev := make([]int, len(glyphs)), make([]int, len(glyphs))
	toCost := make([]float64, len(glyphs))
	nextCost := make([]float64, len(glyphs))
	for i := range glyphs {
		next[i], prev[i] = -1, -1
		toCost[i], nextCost[i] = math.Inf(1), math.Inf(1)
	}
	followers(glyphs, em, slope, 2*em, 0.25*em, func(i int, f follower) {
		if f.cost < nextCost[i] {
			next[i], nextCost[i] = f.index, f.cost
		}
	})
	for i, j := range next {
		if j >= 0 && nextCost[i] < toCost[j] {
			prev[j], toCost[j] = i, nextCost[i]
		}
	}
	var lines []textLine
	for i := range glyphs {
		if prev[i] >= 0 {
			continue
		}
		chain := []raster.Component{glyphs[i]}
		for k := i; next[k] >= 0 && prev[next[k]] == k; k = next[k] {
			chain = append(chain, glyphs[next[k]])
		}
		if l, ok := fitText(chain, em); ok {
			lines = append(lines, l)
		}
	}
	return lines
}

// fitText fits a line to the feet of a chain of characters, or to their heads where those are
// better in line. It reports whether they stand as print does.
func fitText(chain []raster.Component, em float64) (textLine, bool) {
	const few = 5
	if len(chain) < few || float64(chain[len(chain)-1].X1-chain[0].X0) < 4*em {
		return textLine{}, false
	}
	feet, heads := make([][2]float64, len(chain)), make([][2]float64, len(chain))
	for i, c := range chain {
		x := float64(c.X0+c.X1-1) / 2
		feet[i], heads[i] = [2]float64{x, float64(c.Y1) - 0.5}, [2]float64{x, float64(c.Y0) - 0.5}
	}
	l, kept := fitFeet(feet, em)
	if up, n := fitFeet(heads, em); n > kept*1.15 {
		l, kept = up, n
	}
	if kept < 0.5 || len(l.points) < few-1 || math.Abs(l.slope) > maxSlope {
		return textLine{}, false
	}
	first, last := chain[0], chain[len(chain)-1]
	l.x0, l.x1 = float64(first.X0), float64(last.X1)
	return l, true
}

// fitFeet fits a parabola to points, as print on a bent page lies, with Tukey's weights; kept is
// the share of the points that lie on it.
func fitFeet(p [][2]float64, em float64) (l textLine, kept float64) {
	x0, x1 := p[0][0], p[len(p)-1][0]
	mid, half := (x0+x1)/2, max((x1-x0)/2, 1)
	bend := len(p) >= 12
	weight := make([]float64, len(p))
	for i := range weight {
		weight[i] = 1
	}
	var c [3]float64
	for _, tol := range [...]float64{0.35, 0.25, 0.18, 0.13, 0.1, 0.1} {
		var q normal3
		for i, v := range p {
			u := (v[0] - mid) / half
			f := [3]float64{1, u, 0}
			if bend {
				f[2] = u*u - 1.0/3
			}
			q.add(f, v[1], weight[i])
		}
		if !bend {
			q.a[2][2]++
		}
		var ok bool
		if c, ok = q.solve(); !ok {
			return l, 0
		}
		tol = tol*em + 0.7
		for i, v := range p {
			u := (v[0] - mid) / half
			r := (v[1] - c[0] - c[1]*u - c[2]*(u*u-1.0/3)) / tol
			weight[i] = 0
			if r*r < 1 {
				weight[i] = (1 - r*r) * (1 - r*r)
			}
		}
	}
	for i, v := range p {
		if weight[i] > 0.25 {
			l.points = append(l.points, v)
		}
	}
	l.x, l.y, l.slope = mid, c[0], c[1]/half
	return l, float64(len(l.points)) / float64(len(p))
}

// normal3 is the normal equations of a weighted fit of three unknowns.
type normal3 struct {
	a [3][3]float64
	b [3]float64
}

func (q *normal3) add(f [3]float64, y, weight float64) {
	for i := range f {
		for j := range f {
			q.a[i][j] += weight * f[i] * f[j]
		}
		q.b[i] += weight * f[i] * y
	}
}

func (q *normal3) solve() ([3]float64, bool) {
	inv, ok := matrix(q.a).inverse()
	return inv.times(q.b), ok
}

// traceRules finds the long thin straight runs of ink along the rows of a picture which is given
// transposed, w rows of h pixels. Where another line crosses them they go on.
func traceRules(transposed []uint8, w, h int, em float64) []guideLine {
	t := tracer{em: em, thick: max(3, int(0.22*em)), missing: max(2, int(0.35*em))}
	for x := range w {
		t.column(x, transposed[x*h:][:h])
	}
	for _, r := range t.open {
		t.close(r)
	}
	return t.found
}

// guideLine is a straight line in pixels.
type guideLine struct {
	x0, y0, x1, y1 float64
}

type tracer struct {
	em      float64
	thick   int // a line is no thicker than this
	missing int // columns that a line may be hidden by another
	open    []track
	spare   []track
	found   []guideLine
}

// track is a line that is being followed.
type track struct {
	first, last         int // columns
	at                  float64
	n, x, y, xx, xy, yy float64 // sums over its columns, from first and start
	start               float64
}

// ahead is where the line should be at a column.
func (t *track) ahead(x int) float64 {
	if t.n < 12 {
		return t.at
	}
	d := t.n*t.xx - t.x*t.x
	slope := (t.n*t.xy - t.x*t.y) / d
	return t.start + (t.y+slope*(t.n*float64(x-t.first)-t.x))/t.n
}

func (t *track) add(x int, y float64) {
	u, v := float64(x-t.first), y-t.start
	t.n, t.x, t.y, t.xx, t.xy, t.yy = t.n+1, t.x+u, t.y+v, t.xx+u*u, t.xy+u*v, t.yy+v*v
	t.last, t.at = x, y
}

// column takes a column's runs of ink into the lines that they go on with.
func (t *tracer) column(x int, ink []uint8) {
	kept, next := t.spare[:0], 0
	for y := 0; y < len(ink); y++ {
		if ink[y] == 0 {
			continue
		}
		from := y
		for y < len(ink) && ink[y] != 0 {
			y++
		}
		if y-from > t.thick {
			continue
		}
		centre := float64(from+y-1) / 2
		// Open lines are in the order of their places, or nearly.
		for next < len(t.open) && t.open[next].at < centre-3 {
			kept = t.keep(kept, t.open[next], x)
			next++
		}
		taken := false
		for k := next; k < len(t.open) && t.open[k].at <= centre+3; k++ {
			r := &t.open[k]
			if r.last == x || math.Abs(r.ahead(x)-centre) > 1.3 {
				continue
			}
			r.add(x, centre)
			taken = true
			break
		}
		if !taken {
			r := track{first: x, start: centre}
			r.add(x, centre)
			kept = append(kept, r)
		}
	}
	for ; next < len(t.open); next++ {
		kept = t.keep(kept, t.open[next], x)
	}
	slices.SortFunc(kept, func(a, b track) int { return cmp.Compare(a.at, b.at) })
	t.open, t.spare = kept, t.open
}

func (t *tracer) keep(kept []track, r track, x int) []track {
	if x-r.last <= t.missing && (r.last == x || r.n >= float64(t.missing)) {
		return append(kept, r)
	}
	t.close(r)
	return kept
}

// close ends a line, which is kept if it is long and straight.
func (t *tracer) close(r track) {
	length := float64(r.last - r.first)
	if length < 4*t.em || r.n < 0.8*length {
		return
	}
	d := r.n*r.xx - r.x*r.x
	slope := (r.n*r.xy - r.x*r.y) / d
	base := (r.y - slope*r.x) / r.n
	rms := (r.yy - r.y*r.y/r.n - slope*slope*d/r.n) / r.n
	const straight = 0.5 // pixels squared, and more for a long line, which the paper may bend
	if rms > straight+1e-6*length*length || math.Abs(slope) > maxSlope {
		return
	}
	t.found = append(t.found, guideLine{
		float64(r.first), r.start + base, float64(r.last), r.start + base + slope*length,
	})
}
