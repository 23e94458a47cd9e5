// Package flatten finds what makes a page flat that was skewed, seen at an angle or bent.
package flatten

import (
	"context"
	"math"

	"unink/internal/lsq"
	"unink/internal/nn"
	"unink/internal/raster"
)

const (
	flattenEm   = 16   // pixels: the em of body text at which lines are looked for
	flattenSide = 1800 // pixels: and no side is longer
)

// Result is how a page is made flat.
type Result struct {
	Warp *raster.Warp // nil: the page is left as it is
	// Confidence is the share of the lines of print, rules and edges that agree with it, or of the
	// lines' bend that it undoes.
	Confidence float64
	// Curl is how far lines of print bow, as a share of the picture's longer side; 0 where nothing
	// was bent.
	Curl float64
}

// Find finds what makes a page flat that was skewed, seen at an angle or bent: from its lines of
// print, its rules and the edges of the sheet, and where they do not tell, or the flattening
// network sees it otherwise, from that. em is the print's size in the picture. The page is to be
// left as it is where nothing is to be put right, where it is not clear what, and where its lines
// are level and the network sees no such warp as the rules and edges suggest.
func Find(ctx context.Context, runner nn.Runner, m *raster.RGB, em float64, workers int) (
	Result, error) {
	f := findFeatures(m, em, workers)
	s, by := f.byLines()
	if by.Warp == nil && f.level() {
		return by, nil
	}
	g, err := gridOf(ctx, runner, m, workers)
	if err != nil {
		return Result{}, err
	}
	if f.level() && g.farFrom(s) {
		return Result{Confidence: by.Confidence}, nil
	}
	if seen := f.byGrid(g, s); seen.Warp != nil {
		return seen, nil
	}
	return by, nil
}

// byLines finds what makes the page flat from its lines of print, its rules and the edges of the
// sheet, and on what surface it then lies: the picture's own plane where the page is left as it is.
func (f *features) byLines() (surface, Result) {
	p, edges, share := f.plane()
	base := surface(asItIs)
	if p != nil {
		base = p
	}
	if b, sure := f.bent(base, edges != nil); b != nil && f.sharper(b, base) {
		if w := f.warp(b, edges); w != nil {
			return b, Result{w, sure, f.bow()}
		}
	}
	if p == nil {
		return base, Result{Confidence: share}
	}
	return base, Result{Warp: f.warp(p, edges), Confidence: share}
}

// level says that there are lines enough to tell, and that they are straight and level.
func (f *features) level() bool {
	const few, most = 12, 0.02 // ems
	curves := longest(f.curves)
	return rowsOf(curves) >= few && uneven(curves, f.em/f.unit, asItIs.toSheet) < most
}

// byGrid finds what makes the page flat from the flattening network's grid, refined along the
// lines, and only where the network has seen the page well: its lines are much straighter on the
// grid than in the picture or, where there are none, it is sure. Where the lines themselves have
// told of a surface on which the page lies, by, that must be at least half as far from the grid as
// the picture is, and the lines no straighter on it than on the refined grid. Where it is
// several times as far, the refined grid is believed anyway: the few lines of a crumpled page may
// fit a surface that pulls all else out of shape.
func (f *features) byGrid(g *gridSheet, by surface) Result {
	const (
		straighter = 0.85 // of the lines' unevenness may be left
		clear      = 1.5  // times its own doubt that the network must see places moved by
		further    = 0.5  // times as far
	)
	em, curves := f.em/f.unit, longest(f.curves)
	was, moved := uneven(curves, em, asItIs.toSheet), g.strain(asItIs)
	apart, misled := g.strain(by), g.farFrom(by)
	if was > 0 && !misled && uneven(curves, em, g.toSheet) > straighter*was {
		return Result{}
	}
	b := rippled(g, curves, em)
	remaining := uneven(curves, em, b.toSheet)
	if by == surface(asItIs) {
		if moved < clear*g.doubt {
			return Result{}
		}
	} else if !misled && (apart < further*moved ||
		remaining > uneven(curves, em, by.toSheet)) {
		return Result{}
	}
	if was > 0 && (remaining >= was || !f.sharper(b, asItIs)) {
		return Result{}
	}
	sure := 1 - g.doubt/moved
	if was > 0 {
		sure = 1 - remaining/was
	}
	return Result{f.warp(b, nil), sure, f.bow()}
}

// farFrom says that a surface lies so much further from the grid than the picture does, or than the
// network doubts, that the lines mislead that told of it.
func (g *gridSheet) farFrom(by surface) bool {
	const wild = 2.5 // times as far
	return by != surface(asItIs) && g.strain(by) > wild*max(g.strain(asItIs), g.doubt)
}

// plane finds the plane that the sheet lies in; nil where it need not be seen from elsewhere or is
// not clear. The edges are those of the sheet that are to be the result's, nil if it is not found.
// share is how much of what was found agrees.
func (f *features) plane() (p *plane, edges *[4]edge, share float64) {
	across := fitPencil(f.rows)
	known := f.trusted(across)
	if known {
		f.addMargins(across)
	}
	found := f.ground.findSheet(f.print(across, known))
	f.onDesk = f.boundsOf(&found)
	sheet := f.agree(&found, across, known)
	if !known && !sheet {
		return nil, nil, 0
	}
	if sheet {
		across = fitPencil(f.rows)
	}
	const plain = 0.006 // radians: lines that are off by more are bent, and no plane fits them
	if across.spread > plain && !sheet {
		return nil, nil, 0
	}
	down := f.down(across, sheet)
	p, whole := f.choose(across.pencil, down, sheet)
	if sheet && whole {
		edges = &found
	}
	return p, edges, across.share
}

// choose takes the simplest plane that leaves the lines about as straight as any: the picture as
// it is (nil), turned, or seen from above the whole plane of both pencils.
func (f *features) choose(across, down pencil, sheet bool) (p *plane, whole bool) {
	const (
		skewed = 0.15 * math.Pi / 180 // radians
		better = 0.85                 // of the slant before may be left
		slack  = 0.002                // radians
	)
	median := medianSlope(f.rows)
	level := pencil{slope: across.slope}
	if across.fan != 0 {
		level.slope = median
	}
	rows, all := f.slant(nil)
	var turned *plane
	t, ok := planeOf(level, pencil{slope: -level.slope})
	if ok && math.Abs(level.slope) >= skewed && math.Abs(level.slope-median) < agrees {
		if r, a := f.slant(&t); a < better*all {
			turned, rows, all = &t, r, a
		}
	}
	if math.Abs(across.fan) < leastFan && math.Abs(down.fan) < leastFan &&
		math.Abs(down.slope+across.slope) < leastShear {
		return turned, true
	}
	if full, ok := planeOf(across, down); ok {
		most := better * all
		if turned != nil && sheet {
			most = all + slack // it need not show in the print, the edges show it
		}
		if r, a := f.slant(&full); a < most && r < rows+slack {
			return &full, true
		}
	}
	return turned, false
}

// slant is the mean angle that the rows are off their axis, and rows and columns off theirs, on
// the plane or in the picture as it is.
func (f *features) slant(p *plane) (rows, all float64) {
	to := func(x, y float64) (float64, float64) { return x, y }
	if p != nil {
		to = p.toSheet
	}
	var weight, sum [2]float64
	for _, g := range f.rows {
		weight[0] += g.weight
		sum[0] += g.weight * g.angle(to)
	}
	for _, g := range f.columns {
		weight[1] += g.weight
		sum[1] += g.weight * g.angle(func(x, y float64) (float64, float64) {
			x, y = to(y, x)
			return y, x
		})
	}
	return sum[0] / max(weight[0], 1e-9), (sum[0] + sum[1]) / max(weight[0]+weight[1], 1e-9)
}

// trusted says that there are lines enough, and that they agree.
func (f *features) trusted(across agreed) bool {
	const rules = 5 // along an axis
	if across.share < majority {
		return false
	}
	long := 0.0
	for _, l := range f.lines {
		g := f.guide(l.ends())
		if math.Abs(across.residual(g)) < agrees {
			long += g.weight
		}
	}
	const enough = 1.2 // lengths of half the longer side
	if long >= enough {
		return true
	}
	grid := f.rules[0] >= rules && f.rules[1] >= rules
	ruled := f.rules[0] >= rules && across.share > 0.85 && across.spread < 0.002
	return (grid || ruled) && across.count >= rules && across.weight >= 2*enough
}

// print is the ends and middles of the lines of print, of those that agree where it is known with
// what, as shares of the picture.
func (f *features) print(across agreed, known bool) [][2]float64 {
	var out [][2]float64
	for _, l := range f.lines {
		if known && math.Abs(across.residual(f.guide(l.ends()))) > 2*agrees {
			continue
		}
		e := l.ends()
		for _, p := range [][2]float64{{e.x0, e.y0}, {l.x, l.y}, {e.x1, e.y1}} {
			out = append(out, [2]float64{(p[0] + 0.5) / float64(f.w), (p[1] + 0.5) / float64(f.h)})
		}
	}
	return out
}

// addMargins takes the margins of the text for guides: straight lines on which many lines of print
// begin or end, unless the lines drawn beside them run otherwise. Those are then indents.
func (f *features) addMargins(across agreed) {
	starts, ends := f.outer(func(l *textLine) bool {
		return math.Abs(across.residual(f.guide(l.ends()))) < agrees
	})
	drawn := f.columns
	for _, p := range [2][][2]float64{starts, ends} {
		along := make([][2]float64, len(p))
		for i, v := range p {
			along[i] = [2]float64{v[1], v[0]}
		}
		if m, _, ok := f.margin(along); ok && !contradicted(m, drawn) {
			f.columns = append(f.columns, m)
		}
	}
}

// contradicted says that most of the lines drawn beside a margin run otherwise.
func contradicted(margin guide, drawn []guide) bool {
	const beside, few = 0.1, 3 // half the longer side; lines
	along, otherwise := 0, 0
	for _, g := range drawn {
		if math.Abs(g.y-margin.y-margin.slope*(g.x-margin.x)) > beside {
			continue
		}
		if math.Abs(g.slope-margin.slope) < agrees {
			along++
		} else {
			otherwise++
		}
	}
	return otherwise >= few && otherwise > along
}

// outer lists where the lines that are wanted begin and end, in pixels, with no other line near
// before or after them in their row.
func (f *features) outer(wanted func(l *textLine) bool) (starts, ends [][2]float64) {
	const least, near, high = 3, 5, 0.7 // ems
	first := func(l *textLine) [2]float64 { return [2]float64{l.x0, l.points[0][1]} }
	last := func(l *textLine) [2]float64 { return [2]float64{l.x1, l.points[len(l.points)-1][1]} }
	follows := func(a, b *textLine) bool {
		p, q := last(a), first(b)
		return a != b && q[0] > p[0]-f.em && q[0] < p[0]+near*f.em &&
			math.Abs(q[1]-p[1]-b.slope*(q[0]-p[0])) < high*f.em
	}
	for i := range f.lines {
		l := &f.lines[i]
		if l.x1-l.x0 < least*f.em || !wanted(l) {
			continue
		}
		begins, stops := true, true
		for k := range f.lines {
			begins = begins && !follows(&f.lines[k], l)
			stops = stops && !follows(l, &f.lines[k])
		}
		if begins {
			starts = append(starts, first(l))
		}
		if stops {
			ends = append(ends, last(l))
		}
	}
	return starts, ends
}

// margin finds the straight line on which most points lie, given along and across it: the guide,
// and which points lie on it.
func (f *features) margin(p [][2]float64) (g guide, on []int, ok bool) {
	const few, outermost = 7, 5 // lines: among others; where none reaches farther
	tol := 0.15*f.em + 0.7
	var best []int
	var inliers []int
	for i, a := range p {
		for _, b := range p[:i] {
			if math.Abs(a[0]-b[0]) < 8*f.em {
				continue
			}
			slope := (a[1] - b[1]) / (a[0] - b[0])
			if math.Abs(slope) > maxSlope {
				continue
			}
			inliers = inliers[:0]
			for k, c := range p {
				if math.Abs(c[1]-a[1]-slope*(c[0]-a[0])) < tol {
					inliers = append(inliers, k)
				}
			}
			if len(inliers) > len(best) {
				best = append(best[:0], inliers...)
			}
		}
	}
	if len(best) < outermost {
		return guide{}, nil, false
	}
	q := lsq.NewNormal(2)
	low, high := math.Inf(1), math.Inf(-1)
	for _, k := range best {
		q.Add([]float64{1, p[k][0]}, p[k][1], 1)
		low, high = min(low, p[k][0]), max(high, p[k][0])
	}
	var c [2]float64
	ok = q.Solve(c[:])
	among, before, after := 0, 0, 0
	for _, v := range p {
		if v[0] < low || v[0] > high {
			continue
		}
		among++
		switch r := v[1] - c[0] - c[1]*v[0]; {
		case r < -2*tol:
			before++
		case r > 2*tol:
			after++
		}
	}
	often := len(best) >= few && 5*len(best) >= 2*among
	if !ok || high-low < 12*f.em || !often && 5*min(before, after) > len(best) {
		return guide{}, nil, false
	}
	return f.column(guideLine{low, c[0] + c[1]*low, high, c[0] + c[1]*high}), best, true
}

// agree says that at least three edges of the sheet are sure and its top and bottom agree with the
// print; the sure edges are then guides. Where print says too little all four must be sure, and
// agree with what it says.
func (f *features) agree(edges *[4]edge, across agreed, known bool) bool {
	sure := 0
	for _, e := range edges {
		if e.sure() {
			sure++
		}
	}
	if known && sure < 3 || !known && sure < 4 {
		return false
	}
	if l, r := edges[left], edges[right]; l.sure() && r.sure() &&
		math.Abs(l.slope-r.slope) > maxSlope {
		return false
	}
	if known {
		for _, e := range edges[:left] {
			if e.sure() && math.Abs(across.residual(e.guide)) > 2*agrees {
				return false
			}
		}
	} else if !f.fits(edges) {
		return false
	}
	for i, e := range edges {
		switch {
		case !e.sure():
		case i < left:
			f.rows = append(f.rows, e.guide)
		default:
			e.weight *= 2 // there is little else to tell
			f.columns = append(f.columns, e.guide)
		}
	}
	return true
}

// boundsOf is where the corners lie of a sheet that lies on something else, with all of its edges
// plain to see; nil of another. Such a sheet is cut out even if it lies otherwise than its print,
// as one that was cut askew.
func (f *features) boundsOf(edges *[4]edge) (corners [][2]float64) {
	const plain = 0.8 // support
	if !f.ground.liesOn(edges, f.paperLevel()) {
		return nil
	}
	for _, e := range edges {
		if e.support < plain {
			return nil
		}
	}
	for _, e := range edges[:left] {
		for _, o := range edges[left:] {
			x := corner(e, o)
			corners = append(corners, [2]float64{x, e.y + e.slope*(x-e.x)})
		}
	}
	return corners
}

// fits says that most of what there is of print and rules agrees with the sheet's top and bottom.
func (f *features) fits(edges *[4]edge) bool {
	p := fitPencil([]guide{edges[top].guide, edges[bottom].guide})
	agree, all := 0.0, 0.0
	for _, g := range f.rows {
		all += g.weight
		if math.Abs(p.residual(g)) < 2*agrees {
			agree += g.weight
		}
	}
	const enough = 0.3 // of half the longer side
	return p.count == 2 && agree >= max(enough, majority*all)
}

// down is the pencil of the columns: at right angles to the rows unless it is clear that it is not.
// Two columns may be margins that are none, other than the edges of a sheet: they must be such as a
// camera sees.
func (f *features) down(across agreed, sheet bool) pencil {
	square := pencil{slope: -across.slope}
	d := fitPencil(f.columns)
	const (
		enough = 0.8   // weight, in half the longer side
		most   = 0.12  // radians off the right angle that a camera sees
		vague  = 0.012 // radians over half the longer side: a fan, or what it may be off by
	)
	told := d.count >= 2 && d.share >= majority && d.weight >= enough &&
		math.Abs(d.slope+across.slope) <= most
	p, ok := f.squareOnSheet(across.pencil)
	if d.count == 2 && !sheet {
		told = told && plausible(across.pencil, d.pencil)
	}
	if ok && math.Abs(across.fan) > vague && (!told || d.sure[1] > vague) {
		return p
	}
	if !told || d.fan == 0 && across.fan == 0 &&
		math.Abs(d.slope+across.slope) < max(leastShear, 4*d.sure[0]) {
		return square
	}
	return d.pencil
}

// plausible says that a camera sees two such pencils at right angles.
func plausible(across, down pencil) bool {
	const (
		small     = 0.002    // product of two fans that tells nothing
		near, far = 1.0, 5.0 // focal lengths, in half the longer side
		most      = 0.2      // radians over half the longer side
	)
	d := across.fan * down.fan
	if math.Abs(down.fan) > most || math.Abs(d) < small {
		return false
	}
	square := -(across.slope + down.slope) / d // of the focal length
	return square > near*near && square < far*far
}

// squareOnSheet finds the columns' pencil from the rows' pencil, assuming that columns and rows are
// at right angles on the sheet and that the camera has the usual focal length. Each column alone
// then gives a fan; the result is their weighted median, and false unless most columns agree.
func (f *features) squareOnSheet(across pencil) (pencil, bool) {
	const (
		least  = 0.25 // half the longer side: how far off the middle a column tells a fan
		enough = 0.4  // weight, in half the longer side
		most   = 0.2  // radians over half the longer side
	)
	var fans []guide // slope is the fan
	total := 0.0
	for _, g := range f.columns {
		// Its slope is (slope - fan*y)/(1 - fan*x), and slope + across.slope +
		// fan*across.fan*focal*focal is zero.
		d := g.slope*g.x - across.fan*focal*focal - g.y
		total += g.weight
		if math.Abs(d) > least {
			fans = append(fans, guide{slope: (g.slope + across.slope) / d, weight: g.weight})
		}
	}
	fan := medianSlope(fans)
	p := pencil{slope: -across.slope - fan*across.fan*focal*focal, fan: fan}
	const (
		few  = 3   // columns
		long = 0.9 // half the longer side: one such margin is enough
	)
	agree, count := 0.0, 0
	for _, g := range f.columns {
		if math.Abs(p.residual(g)) < agrees {
			agree += g.weight
			count++
		}
	}
	sure := count >= few && agree >= enough || agree >= long
	return p, sure && agree >= majority*total && math.Abs(fan) < most
}
