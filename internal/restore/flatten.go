package restore

import (
	"image"
	"math"
	"slices"

	"unink/internal/raster"
)

const (
	flattenEm   = 16   // pixels: the em of body text at which lines are looked for
	flattenSide = 1800 // pixels: and no side is longer
)

// Flatten finds the warp that makes an opaque picture of an upright page straight, as Clean does, on
// a picture of the page at which the network would look.
func Flatten(src *image.RGBA, workers int) (w *raster.Warp, confidence float64) {
	em := printSize(src, workers)
	m := working(src, em, priorEm, workers)
	return flatten(m, em*float64(m.W)/float64(src.Rect.Dx()), workers)
}

// flatten finds the warp that makes a page straight which was skewed or seen at an angle,
// from its lines of print, its rules and the edges of the sheet. em is the print's size in the picture.
// The warp is nil, and the page to be left as it is, where nothing is to be put right or it is not
// clear what. The confidence, 0 to 1, is the share of what was found that agrees with it.
func flatten(m *raster.RGB, em float64, workers int) (w *raster.Warp, confidence float64) {
	f := look(m, em, workers)
	across := fitPencil(f.rows)
	known := f.trusted(across)
	if known {
		f.addMargins(across)
	}
	edges := f.ground.findSheet(f.print(across, known))
	sheet := f.agree(&edges, across, known)
	if !known && !sheet {
		return nil, 0
	}
	if sheet {
		across = fitPencil(f.rows)
	}
	const plain = 0.0056 // radians: lines that are off by more are bent, and no plane fits them
	if across.spread > plain && !sheet {
		return nil, 0
	}
	down := f.down(across)
	p, whole := f.choose(across.pencil, down, sheet)
	if p == nil {
		return nil, across.share
	}
	return f.warp(*p, edges, sheet && whole), across.share
}

// choose takes the simplest plane that leaves the lines about as straight as any: the picture as
// it is (nil), turned, or seen from above the whole plane of both pencils.
func (f *features) choose(across, down pencil, sheet bool) (p *plane, whole bool) {
	const (
		skewed  = 0.15 * math.Pi / 180
		fanned  = 0.004 // radians over half the longer side
		sheared = 0.007 // radians
		better  = 0.85  // of the slant before may be left
		slack   = 0.002 // radians
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
	if math.Abs(across.fan) < fanned && math.Abs(down.fan) < fanned && math.Abs(down.slope+across.slope) < sheared {
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
		to = p.to.apply
	}
	var weight, sum [2]float64
	for _, g := range f.rows {
		weight[0] += g.weight
		sum[0] += g.weight * g.off(to)
	}
	for _, g := range f.columns {
		weight[1] += g.weight
		sum[1] += g.weight * g.off(func(x, y float64) (float64, float64) {
			x, y = to(y, x)
			return y, x
		})
	}
	return sum[0] / max(weight[0], 1e-9), (sum[0] + sum[1]) / max(weight[0]+weight[1], 1e-9)
}

// features is what is found on a page.
type features struct {
	w, h       int     // of the picture that is looked at
	m          [2]int  // of the picture that was given
	unit       float64 // pixels of half the longer side
	em         float64
	ground     *ground
	lines      []textLine
	components []raster.Component
	rows       []guide // along the rows of the sheet
	columns    []guide // across them, with the axes swapped
	rules      [2]int  // how many of rows and columns are rules
}

// look finds the lines of print and the rules.
func look(m *raster.RGB, em float64, workers int) *features {
	scale := min(1, flattenEm/em, flattenSide/float64(max(m.W, m.H)))
	f := &features{w: scaled(m.W, scale), h: scaled(m.H, scale), m: [2]int{m.W, m.H}, em: em * scale}
	f.unit = float64(max(f.w, f.h)) / 2
	grey := raster.ResizeGrey(m.Grey(), m.W, m.H, f.w, f.h, workers)
	ink := threshold(inkContrast(grey, f.w, f.h, max(8, int(0.7*f.em)), workers), minContrast)
	_, f.components = raster.Components(ink, f.w)
	g := glyphs(f.components, f.em)
	f.lines = textLines(g, f.em, commonSlope(g, f.em))
	f.ground = groundOf(m, em, workers)
	rows := traceRules(transpose(ink, f.w, f.h), f.w, f.h, f.em)
	columns := traceRules(ink, f.h, f.w, f.em)
	// What looks like lines on a desk that is darker than the paper is no print.
	dark := f.paperLevel() * 0.6
	f.lines = slices.DeleteFunc(f.lines, func(l textLine) bool { return f.levelAt(l.x, l.y) < dark })
	rows = slices.DeleteFunc(rows, func(l guideLine) bool { return f.levelAt((l.x0+l.x1)/2, (l.y0+l.y1)/2) < dark })
	columns = slices.DeleteFunc(columns, func(l guideLine) bool { return f.levelAt((l.y0+l.y1)/2, (l.x0+l.x1)/2) < dark })
	for _, l := range f.lines {
		f.rows = append(f.rows, f.guide(l.ends()))
	}
	for _, r := range rows {
		f.rows = append(f.rows, f.guide(r))
	}
	for _, r := range columns {
		f.columns = append(f.columns, f.column(r))
	}
	f.rules = [2]int{len(rows), len(columns)}
	return f
}

// levelAt is how light the ground is at a pixel.
func (f *features) levelAt(x, y float64) float64 {
	return float64(f.ground.at((x+0.5)/float64(f.w), (y+0.5)/float64(f.h)))
}

// paperLevel is how light the paper is under most lines of print.
func (f *features) paperLevel() float64 {
	if len(f.lines) == 0 {
		return 0
	}
	levels := make([]float64, len(f.lines))
	for i, l := range f.lines {
		levels[i] = f.levelAt(l.x, l.y)
	}
	return quantile(levels, 0.8)
}

// guide brings a line to a guide's units.
func (f *features) guide(l guideLine) guide {
	return guide{
		x:      ((l.x0+l.x1)/2 - float64(f.w-1)/2) / f.unit,
		y:      ((l.y0+l.y1)/2 - float64(f.h-1)/2) / f.unit,
		slope:  (l.y1 - l.y0) / (l.x1 - l.x0),
		weight: math.Hypot(l.x1-l.x0, l.y1-l.y0) / f.unit,
	}
}

// column is the guide of a line across the rows, given with the axes swapped.
func (f *features) column(l guideLine) guide {
	return guide{
		x:      ((l.x0+l.x1)/2 - float64(f.h-1)/2) / f.unit,
		y:      ((l.y0+l.y1)/2 - float64(f.w-1)/2) / f.unit,
		slope:  (l.y1 - l.y0) / (l.x1 - l.x0),
		weight: math.Hypot(l.x1-l.x0, l.y1-l.y0) / f.unit,
	}
}

// trusted says that there are lines enough, and that they agree.
func (f *features) trusted(across agreed) bool {
	const lines, rules, share = 4, 5, 0.6
	if across.share < share {
		return false
	}
	agree, long := 0, 0.0
	for _, l := range f.lines {
		g := f.guide(l.ends())
		if math.Abs(across.residual(g)) < agrees {
			agree++
			long += g.weight
		}
	}
	const enough = 1.2 // lengths of half the longer side
	if agree >= lines && long >= enough {
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

// addMargins takes the margins of the text for guides: straight lines on which many lines of print begin or end.
func (f *features) addMargins(across agreed) {
	var starts, ends [][2]float64
	for _, l := range f.lines {
		e := l.ends()
		if math.Abs(across.residual(f.guide(e))) < agrees && l.x1-l.x0 > 6*f.em {
			starts = append(starts, [2]float64{e.y0, e.x0})
			ends = append(ends, [2]float64{e.y1, e.x1})
		}
	}
	for _, p := range [2][][2]float64{starts, ends} {
		if m, ok := f.margin(p); ok {
			f.columns = append(f.columns, m)
		}
	}
}

// margin finds the line on which most points lie, given along and across it.
func (f *features) margin(p [][2]float64) (guide, bool) {
	const few = 7
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
	if len(best) < few {
		return guide{}, false
	}
	var q normal3
	low, high := math.Inf(1), math.Inf(-1)
	for _, k := range best {
		q.add([3]float64{1, p[k][0], 0}, p[k][1], 1)
		low, high = min(low, p[k][0]), max(high, p[k][0])
	}
	q.a[2][2]++
	c, ok := q.solve()
	among := 0
	for _, v := range p {
		if v[0] >= low && v[0] <= high {
			among++
		}
	}
	if !ok || high-low < 12*f.em || 5*len(best) < 2*among {
		return guide{}, false
	}
	return f.column(guideLine{low, c[0] + c[1]*low, high, c[0] + c[1]*high}), true
}

// agree says that at least three edges of the sheet are sure and its top and bottom agree with
// the print; the sure edges are then guides. Where print says too little all four must be sure, and agree with what it says.
func (f *features) agree(edges *[4]edge, across agreed, known bool) bool {
	const off = 2 * agrees
	sure := 0
	for _, e := range edges {
		if e.sure() {
			sure++
		}
	}
	if known && sure < 3 || !known && sure < 4 {
		return false
	}
	if l, r := edges[left], edges[right]; l.sure() && r.sure() && math.Abs(l.slope-r.slope) > maxSlope {
		return false
	}
	if known {
		for _, e := range edges[:left] {
			if e.sure() && math.Abs(across.residual(e.guide)) > off {
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
	return p.count == 2 && agree >= max(enough, 0.6*all)
}

// down is the pencil of the columns: at right angles to the rows unless it is clear that it is not.
func (f *features) down(across agreed) pencil {
	square := pencil{slope: -across.slope}
	d := fitPencil(f.columns)
	const share, most, clear, enough = 0.6, 0.12, 0.007, 0.8
	if d.count < 2 || d.share < share || d.weight < enough || math.Abs(d.slope+across.slope) > most {
		return square
	}
	if d.fan == 0 && across.fan == 0 && math.Abs(d.slope+across.slope) < max(clear, 4*d.sure[0]) {
		return square
	}
	return d.pencil
}

// warp makes the warp that shows the plane from above.
func (f *features) warp(p plane, edges [4]edge, sheet bool) *raster.Warp {
	box := f.extent(p)
	if sheet {
		for i, e := range edges {
			if !e.sure() {
				continue
			}
			g := e.guide
			if i >= left {
				g = g.transposed()
			}
			x, y := p.to.apply(g.x, g.y)
			box[i] = y
			if i >= left {
				box[i] = x
			}
		}
	}
	// Print keeps its size.
	unit := float64(max(f.m[0], f.m[1])) / 2
	unit *= f.size(p)
	w, h := max(1, int((box[right]-box[left])*unit+0.5)), max(1, int((box[bottom]-box[top])*unit+0.5))
	half := float64(max(f.m[0], f.m[1])) / 2
	return raster.NewWarp(f.m[0], f.m[1], w, h, func(x, y float64) (float64, float64) {
		u, v := box[left]+(x+0.5)/unit, box[top]+(y+0.5)/unit
		u, v = p.back.apply(u, v)
		return u*half + float64(f.m[0]-1)/2, v*half + float64(f.m[1]-1)/2
	})
}

// extent is the part of the plane that is shown: as large as the picture, and so much more of it
// that all ink is in, as far as the picture goes.
func (f *features) extent(p plane) (box [4]float64) {
	hw, hh := float64(f.w)/2/f.unit, float64(f.h)/2/f.unit
	all := [4]float64{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)}
	for _, c := range [4][2]float64{{-hw, -hh}, {hw, -hh}, {-hw, hh}, {hw, hh}} {
		x, y := p.to.apply(c[0], c[1])
		grow(&all, x, y, 0)
	}
	box = [4]float64{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)}
	for _, c := range [4][2]float64{{-hw, 0}, {hw, 0}, {0, -hh}, {0, hh}} {
		x, y := p.to.apply(c[0], c[1])
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
			x, y := p.to.apply((float64(q[0])-float64(f.w)/2)/f.unit, (float64(q[1])-float64(f.h)/2)/f.unit)
			grow(&box, x, y, 0.5*f.em/f.unit)
		}
	}
	return [4]float64{max(box[top], all[top]), min(box[bottom], all[bottom]), max(box[left], all[left]), min(box[right], all[right])}
}

// grow takes a point with a margin into a box.
func grow(box *[4]float64, x, y, margin float64) {
	box[left], box[right] = min(box[left], x-margin), max(box[right], x+margin)
	box[top], box[bottom] = min(box[top], y-margin), max(box[bottom], y+margin)
}

// size is the factor by which the plane is drawn so that print keeps its size on the whole: the
// mean over the lines of print of the root of how much the plane's area is reduced there.
func (f *features) size(p plane) float64 {
	sum, total := 0.0, 0.0
	for _, g := range f.rows {
		const d = 0.01
		x, y := p.to.apply(g.x, g.y)
		x1, y1 := p.to.apply(g.x+d, g.y)
		x2, y2 := p.to.apply(g.x, g.y+d)
		area := math.Abs((x1-x)*(y2-y)-(x2-x)*(y1-y)) / (d * d)
		sum += g.weight / math.Sqrt(area)
		total += g.weight
	}
	return min(max(sum/total, 0.5), 2)
}
