package flatten

import (
	"cmp"
	"math"
	"slices"

	"unink/internal/lsq"
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

// angle is the angle that a guide is off its axis where it is mapped to, in radians and at most so
// much that it is no guide.
func (g guide) angle(to func(x, y float64) (float64, float64)) float64 {
	const most = 0.06 // radians
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

// findGlyphs lists the components that may be characters, or a few joined ones, of print of size
// em.
func findGlyphs(components []raster.Component, em float64) []raster.Component {
	var out []raster.Component
	for _, c := range components {
		w, h := float64(c.Width()), float64(c.Height())
		solid := float64(c.Area) / (w * h)
		if h >= max(0.28*em, 4) && h <= 1.8*em && w >= 0.1*em && w <= 5*em && solid > 0.12 &&
			(solid < 0.93 || w < h) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b raster.Component) int {
		return cmp.Or(cmp.Compare(a.X0, b.X0), cmp.Compare(a.Y0, b.Y0))
	})
	return out
}

// follower is a glyph that may follow another in a line.
type follower struct {
	index int
	cost  float64 // pixels: how far away it is
	slope float64 // from the other to it
}

// followers finds for each glyph i those that may follow it: they begin within reach of its end
// and stand as high as it, off by so much at most, when seen at the slope that lines have there.
func followers(glyphs []raster.Component, em float64, slope func(x, y float64) float64,
	reach, off float64, found func(i int, f follower)) {
	const maxWidth = 5 // ems between the middles
	for i, a := range glyphs {
		ax, ab, at := float64(a.X0+a.X1)/2, float64(a.Y1), float64(a.Y0)
		slant := slope(ax, ab)
		// Glyphs are sorted by their left ends.
		from, _ := slices.BinarySearchFunc(glyphs[i+1:], float64(a.X1)-0.4*em,
			func(g raster.Component, x float64) int {
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
			rise := slant * dx
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

// slopes says at which slope lines of print run at each place of a page.
type slopes struct {
	w, h int
	cell float64 // pixels
	at   []float64
}

func (s *slopes) slope(x, y float64) float64 {
	i, j := min(max(int(x/s.cell), 0), s.w-1), min(max(int(y/s.cell), 0), s.h-1)
	return s.at[j*s.w+i]
}

// slopesOf finds the slope at which characters most often follow each other on the page, and where
// lines are bent the one at which they do in each part of it.
func slopesOf(glyphs []raster.Component, w, h int, em float64) *slopes {
	const (
		steps = 72
		cell  = 6 // ems: lines are parallel within a few cells
	)
	s := &slopes{cell: cell * em}
	s.w, s.h = int(float64(w)/s.cell)+1, int(float64(h)/s.cell)+1
	s.at = make([]float64, s.w*s.h)
	best := make([]follower, len(glyphs))
	for i := range best {
		best[i].cost = math.Inf(1)
	}
	level := func(_, _ float64) float64 { return 0 }
	followers(glyphs, em, level, em, 0.7*em, func(i int, f follower) {
		if f.cost < best[i].cost {
			best[i] = f
		}
	})
	var page [steps + 1]float64
	cells := make([][steps + 1]float64, len(s.at))
	for i, f := range best {
		if math.IsInf(f.cost, 1) || math.Abs(f.slope) > maxSlope {
			continue
		}
		bin := int(math.Round((f.slope/maxSlope + 1) * steps / 2))
		page[bin]++
		x, y := int(float64(glyphs[i].X0)/s.cell), int(float64(glyphs[i].Y0)/s.cell)
		for dy := -1; dy <= 1; dy++ {
			for dx := -1; dx <= 1; dx++ {
				if j, k := y+dy, x+dx; j >= 0 && k >= 0 && j < s.h && k < s.w {
					cells[j*s.w+k][bin] += 1 / float64(1+dx*dx+dy*dy)
				}
			}
		}
	}
	common := peak(page[:])
	slope := func(bin int) float64 { return (float64(bin)*2/steps - 1) * maxSlope }
	const prior = 6 // pairs of characters that speak for the page's slope
	for i := range cells {
		for d := -8; d <= 8; d++ {
			if j := common + d; j >= 0 && j <= steps {
				cells[i][j] += prior / 5.0 * (1 - math.Abs(float64(d))/9)
			}
		}
		s.at[i] = slope(peak(cells[i][:]))
	}
	return s
}

// peak is the bin of a histogram round which most lies.
func peak(hist []float64) int {
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
	return at
}

// textLines chains glyphs that follow each other at about the slope of lines there and fits a line
// to each chain.
func textLines(glyphs []raster.Component, em float64, slope func(x, y float64) float64) []textLine {
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
	const few = 5 // characters
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

// maxDegree is the most by which a line of print may bend: the degree of the polynomial that is
// fitted to it.
const maxDegree = 4

// legendre writes the first Legendre polynomials at u, from -1 to 1.
func legendre(f *[maxDegree + 1]float64, u float64) {
	f[0], f[1] = 1, u
	for n := 2; n <= maxDegree; n++ {
		k := float64(n)
		f[n] = ((2*k-1)*u*f[n-1] - (k-1)*f[n-2]) / k
	}
}

// fitFeet fits a polynomial to points, as print on a bent page lies, with Tukey's weights; the more
// points the higher its degree. kept is the share of the points that lie on it.
func fitFeet(p [][2]float64, em float64) (l textLine, kept float64) {
	x0, x1 := p[0][0], p[len(p)-1][0]
	mid, half := (x0+x1)/2, max((x1-x0)/2, 1)
	degree := min(1+len(p)/12, maxDegree)
	weight := make([]float64, len(p))
	for i := range weight {
		weight[i] = 1
	}
	var c, f [maxDegree + 1]float64
	for _, tol := range [...]float64{0.35, 0.25, 0.18, 0.13, 0.1, 0.1} {
		q := lsq.NewNormal(degree + 1)
		for i, v := range p {
			legendre(&f, (v[0]-mid)/half)
			q.Add(f[:degree+1], v[1], weight[i])
		}
		if !q.Solve(c[:degree+1]) {
			return l, 0
		}
		tol = tol*em + 0.7
		for i, v := range p {
			legendre(&f, (v[0]-mid)/half)
			r := v[1]
			for k := range degree + 1 {
				r -= c[k] * f[k]
			}
			r /= tol
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

// traceRules finds the thin runs of ink along the rows of a picture which is given transposed, w
// rows of h pixels, that are at least so many ems long. Where another line crosses them they go on.
func traceRules(transposed []uint8, w, h int, em, least float64) []traced {
	t := tracer{em: em, least: least, thick: max(3, int(0.22*em)), missing: max(2, int(0.35*em))}
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

// traced is a drawn line, and the line through it.
type traced struct {
	guideLine
	straight bool
	points   [][2]float64
}

type tracer struct {
	em      float64
	least   float64 // ems
	thick   int     // a line is no thicker than this
	missing int     // columns that a line may be hidden by another
	open    []track
	spare   []track
	found   []traced
}

// sums are what a line is fitted from: over its columns, from its first place.
type sums struct{ n, x, y, xx, xy, yy float64 }

func (s *sums) add(u, v float64) {
	s.n, s.x, s.y, s.xx, s.xy, s.yy = s.n+1, s.x+u, s.y+v, s.xx+u*u, s.xy+u*v, s.yy+v*v
}

// fade makes what came before count less.
func (s *sums) fade(k float64) {
	s.n, s.x, s.y, s.xx, s.xy, s.yy = k*s.n, k*s.x, k*s.y, k*s.xx, k*s.xy, k*s.yy
}

// line is the fitted line, its height at the first column and its slope, and the mean square of
// what it is off.
func (s *sums) line() (base, slope, off float64) {
	d := s.n*s.xx - s.x*s.x
	slope = (s.n*s.xy - s.x*s.y) / d
	return (s.y - slope*s.x) / s.n, slope, (s.yy - s.y*s.y/s.n - slope*slope*d/s.n) / s.n
}

// track is a line that is being followed.
type track struct {
	first, last int // columns
	start, at   float64
	all, late   sums // of the whole line, and of what came last
	points      [][2]float64
}

// tells is how many columns tell a line's slope.
const tells = 12

// ahead is where the line should be at a column.
func (t *track) ahead(x int) float64 {
	if t.all.n < tells {
		return t.at
	}
	base, slope, _ := t.late.line()
	return t.start + base + slope*float64(x-t.first)
}

func (t *track) add(x int, y float64) {
	const fade, every = 0.985, 4 // each column before: 67 count; columns between places
	u, v := float64(x-t.first), y-t.start
	t.all.add(u, v)
	t.late.fade(fade)
	t.late.add(u, v)
	t.last, t.at = x, y
	if t.all.n >= tells && (x-t.first)%every == 0 {
		t.points = append(t.points, [2]float64{float64(x), y})
	}
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
	if x-r.last <= t.missing && (r.last == x || r.all.n >= float64(t.missing)) {
		return append(kept, r)
	}
	t.close(r)
	return kept
}

// close ends a line, which is kept if it is long and straight, or longer and smooth.
func (t *tracer) close(r track) {
	length := float64(r.last - r.first)
	if length < t.least*t.em || r.all.n < 0.8*length {
		return
	}
	base, slope, off := r.all.line()
	if math.Abs(slope) > maxSlope {
		return
	}
	const straight = 0.5 // pixels squared, and more for a long line, which the paper may bend
	found := traced{straight: off <= straight+1e-6*length*length, points: r.points,
		guideLine: guideLine{
			float64(r.first), r.start + base, float64(r.last), r.start + base + slope*length,
		}}
	if !found.straight {
		if length < 8*t.em {
			return
		}
		l, kept := fitFeet(r.points, t.em/4)
		if kept < 0.8 {
			return
		}
		found.points = l.points
	}
	t.found = append(t.found, found)
}
