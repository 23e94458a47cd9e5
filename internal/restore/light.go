package restore

import (
	"image"
	"math"
	"slices"

	"unink/internal/raster"
)

// lightMap is the light on the paper, as gains that bring it to 1, and where it falls on a fill.
type lightMap struct {
	gain [3]*raster.Sampler
	cell int    // pixels of a cell's side
	w    int    // cells of a row
	fill []bool // cells of fills, and their neighbours
}

func (l *lightMap) row(dst [3][]float32, scratch []float32, y int) {
	for ch := range dst {
		l.gain[ch].Row(dst[ch], scratch, y) // a grid is never wider than its picture
	}
}

// light measures the paper in cells of about a quarter of an em, small enough to follow the edge
// of a shadow. What is thin and dark in them is no shadow and is closed. Cells of another tint
// than the page's paper or far darker than the paper round them (pictures, solid print), and fills
// with straight, sharp edges, are no paper: they take the light of their surroundings.
func (c *canvas) light(page *image.RGBA) *lightMap {
	cell := max(4, int(math.Round(priorEm*c.scale/4)))
	f := c.field(page, cell, func(i int) float32 {
		if c.flags[i]&(isPrint|nearInk) == 0 {
			return 1
		}
		return 0
	})
	l := &lightMap{cell: cell, w: f.W, fill: make([]bool, f.W*f.H)}
	pictures, sure := dropPictures(f)
	known := f.Fill()
	if known {
		closeGaps(f)
		opened := &raster.Field{W: f.W, H: f.H, Colour: slices.Clone(f.Colour), Weight: f.Weight}
		openGaps(opened)
		findFills(f, l.fill)
		findFills(opened, l.fill)
		for i, fill := range l.fill {
			f.Weight[i] = 1
			if fill {
				f.Weight[i] = 0
			}
		}
		f.Fill()
	}
	keepPictures(f, pictures, sure, l.fill)
	for ch := range l.gain {
		g := raster.NewGrid(c.w, c.h, cell)
		for i := range g.V {
			g.V[i] = 1.0 / 255
			if known {
				g.V[i] = 1 / max(f.Colour[i][ch], 32)
			}
		}
		l.gain[ch] = g.Sample(c.w, c.h)
	}
	return l
}

// dropPictures makes holes of cells that are plainly not the page's paper, and tells which, and
// which of them are no stain either: far darker, or of a colour too strong.
func dropPictures(f *raster.Field) (out, sure []bool) {
	out, sure = make([]bool, len(f.Weight)), make([]bool, len(f.Weight))
	const reach = 6 // of the coarse cells, each of four by four
	coarse := f.Half().Half()
	bright, brightest := make([]float32, len(coarse.Weight)), make([]float32, len(coarse.Weight))
	for i, w := range coarse.Weight {
		if w > 0.5 {
			bright[i] = brightness(coarse.Colour[i])
		}
	}
	extreme(brightest, bright, coarse.W, coarse.H, reach, func(a, b float32) float32 { return max(a, b) })
	tint := pageTint(coarse, brightest)
	for i := range f.Weight {
		if f.Weight[i] == 0 {
			continue
		}
		around := brightest[i/f.W/4*coarse.W+i%f.W/4]
		dark, tinted := brightness(f.Colour[i]) < 0.45*around, tintDistance(f.Colour[i], tint)
		out[i], sure[i] = dark || tinted > 0.16, dark || tinted > 0.35
	}
	closeMask(sure, f.W, f.H)
	closeMask(out, f.W, f.H) // letters left white in solid print are no paper either
	for i, drop := range out {
		if drop {
			f.Weight[i] = 0
		}
	}
	return out, sure
}

// closeMask marks what is thin between marked cells.
func closeMask(m []bool, w, h int) {
	wide, not := make([]bool, len(m)), make([]bool, len(m))
	spread(wide, m, w, h, thin)
	for i, v := range wide {
		wide[i] = !v
	}
	spread(not, wide, w, h, thin)
	for i, v := range not {
		m[i] = m[i] || !v
	}
}

// keepPictures marks the dropped areas that are sure or have straight edges, and their rims. The
// others are stains as often as not.
func keepPictures(f *raster.Field, dropped, sure, fill []bool) {
	class := make([]uint8, len(dropped))
	for i, v := range dropped {
		if v {
			class[i] = 1
		}
	}
	labels, areas := raster.Components(class, f.W)
	kept := make([]bool, len(areas))
	for n, a := range areas {
		o := follow(f, labels, int32(n+1), a)
		kept[n] = a.Area >= smallestFill && o.isStraight()
	}
	inside := make([]bool, len(labels))
	for i, n := range labels {
		inside[i] = sure[i] || n > 0 && kept[n-1]
	}
	spread(fill, inside, f.W, f.H, 1)
}

// spread marks the cells within d rows and columns of the given ones.
func spread(dst, from []bool, w, h, d int) {
	for i, v := range from {
		if !v {
			continue
		}
		for y := max(i/w-d, 0); y <= min(i/w+d, h-1); y++ {
			for x := max(i%w-d, 0); x <= min(i%w+d, w-1); x++ {
				dst[y*w+x] = true
			}
		}
	}
}

// closeGaps takes from the field what is dark and thinner than about an em (a morphological
// closing): print that nobody knows of. Steps, as of shadows, stay.
func closeGaps(f *raster.Field) { morph(f, thin, -thin) }

// openGaps takes from the field what is light and thinner than about an em: letters left white.
func openGaps(f *raster.Field) { morph(f, -thin, thin) }

const thin = 2 // cells either side

// morph takes the lightest value within so many cells of each, or the darkest for a negative
// number, one after the other.
func morph(f *raster.Field, reach ...int) {
	v := make([]float32, len(f.Weight))
	for ch := range 3 {
		for i := range v {
			v[i] = f.Colour[i][ch]
		}
		for _, d := range reach {
			if d < 0 {
				extreme(v, v, f.W, f.H, -d, func(a, b float32) float32 { return min(a, b) })
			} else {
				extreme(v, v, f.W, f.H, d, func(a, b float32) float32 { return max(a, b) })
			}
		}
		for i := range v {
			f.Colour[i][ch] = v[i]
		}
	}
}

// findFills marks the areas that are a little darker than the paper and bounded by straight,
// sharp edges: panels, table heads, coloured cells. Shadows are bounded softly, or reach the
// border of the picture; stains are round.
func findFills(f *raster.Field, fill []bool) {
	edges := sharpEdges(f)
	flat := make([]uint8, len(edges))
	for i, e := range edges {
		if !e {
			flat[i] = 1
		}
	}
	labels, areas := raster.Components(flat, f.W)
	chosen := make([]bool, len(areas))
	for n, a := range areas {
		chosen[n] = isFill(f, labels, int32(n+1), a)
	}
	inside := make([]bool, len(labels))
	for i, n := range labels {
		inside[i] = n > 0 && chosen[n-1]
	}
	const rim = 2 // cells of the edge, which belong to the fill or are mixed
	spread(fill, inside, f.W, f.H, rim)
}

// fillStep is the step of light, as a share, at the edge of a fill.
const fillStep = 0.022

// sharpEdges tells the cells across which the light steps.
func sharpEdges(f *raster.Field) []bool {
	out := make([]bool, len(f.Weight))
	for y := range f.H {
		for x := range f.W {
			i := y*f.W + x
			left, right := y*f.W+max(x-1, 0), y*f.W+min(x+1, f.W-1)
			up, down := max(y-1, 0)*f.W+x, min(y+1, f.H-1)*f.W+x
			out[i] = step(f, left, right) > fillStep || step(f, up, down) > fillStep
		}
	}
	return out
}

// step is the largest relative difference of the channels of two cells.
func step(f *raster.Field, i, j int) (d float32) {
	a, b := &f.Colour[i], &f.Colour[j]
	for ch := range a {
		d = max(d, float32(math.Abs(float64(a[ch]-b[ch])))/max(a[ch], b[ch], 1))
	}
	return d
}

// smallestFill is the area of the least fill or picture, in cells.
const smallestFill = 12

// isFill follows the outline of an area. Each side of a cell on it is looked at across the edge:
// the other side must be lighter, as sharply as it is at all, and the sides must lie in straight
// runs. Inside it must be even: crumpled paper is not.
func isFill(f *raster.Field, labels []int32, label int32, a raster.Component) bool {
	if a.Area < smallestFill || a.Width() == f.W && a.Height() == f.H {
		return false
	}
	o := follow(f, labels, label, a)
	return o.isStraight() && float64(o.border) < 0.3*float64(o.sides+o.border) &&
		float64(o.lighter) > 0.7*float64(o.sides) && o.unevenness(a) < 0.3*o.steps/float32(o.lighter)
}

// follow goes round an area.
func follow(f *raster.Field, labels []int32, label int32, a raster.Component) *outline {
	o := &outline{f: f, labels: labels, label: label, run: min(max(min(a.Width(), a.Height())/2, 3), 6)}
	for y := a.Y0; y < a.Y1; y++ {
		o.along(a.X0, a.X1, func(x int) (side, bool) { return o.cell(x, y, 0, -1) })
		o.along(a.X0, a.X1, func(x int) (side, bool) { return o.cell(x, y, 0, 1) })
	}
	for x := a.X0; x < a.X1; x++ {
		o.along(a.Y0, a.Y1, func(y int) (side, bool) { return o.cell(x, y, -1, 0) })
		o.along(a.Y0, a.Y1, func(y int) (side, bool) { return o.cell(x, y, 1, 0) })
	}
	return o
}

func (o *outline) isStraight() bool { return float64(o.straight) > 0.68*float64(o.sides) }

// unevenness is the mean deviation from the mean brightness within the area, as a share of it.
func (o *outline) unevenness(a raster.Component) float32 {
	var mean, deviation float32
	inside := func(do func(b float32)) {
		for y := a.Y0; y < a.Y1; y++ {
			for x := a.X0; x < a.X1; x++ {
				if i := y*o.f.W + x; o.labels[i] == o.label {
					do(brightness(o.f.Colour[i]))
				}
			}
		}
	}
	inside(func(b float32) { mean += b / float32(a.Area) })
	inside(func(b float32) { deviation += max(b-mean, mean-b) / float32(a.Area) })
	return deviation / max(mean, 1)
}

// outline counts the sides of the cells on an area's outline.
type outline struct {
	f             *raster.Field
	labels        []int32
	label         int32
	run           int     // sides in a row that make a straight edge
	sides, border int     // within the picture; on its border
	straight      int     // in straight runs
	lighter       int     // beyond which it is sharply lighter
	steps         float32 // by how much, in all
}

// cell looks from a cell of the area in a direction. It is not ok when the cell is not of the
// outline.
func (o *outline) cell(x, y, dx, dy int) (s side, ok bool) {
	f := o.f
	at := y*f.W + x
	if o.labels[at] != o.label {
		return s, false
	}
	x, y = x+dx, y+dy
	if x < 0 || y < 0 || x >= f.W || y >= f.H {
		return side{border: true}, true
	}
	if o.labels[y*f.W+x] == o.label {
		return s, false
	}
	// The edge is two cells wide, and more with a printed line on it.
	const across = 5
	last, sharpest := at, float32(0)
	for range across {
		if x < 0 || y < 0 || x >= f.W || y >= f.H || o.labels[last] != o.label && o.labels[last] != 0 {
			break
		}
		i := y*f.W + x
		sharpest = max(sharpest, step(f, i, last))
		last, x, y = i, x+dx, y+dy
	}
	total := step(f, at, last)
	s.lighter = brightness(f.Colour[last]) > brightness(f.Colour[at]) && total > fillStep && sharpest > 0.45*total
	s.step = total
	return s, true
}

// side of a cell on an outline: on the picture's border, or sharply lighter beyond.
type side struct {
	border, lighter bool
	step            float32
}

// along goes along a row or column of cells.
func (o *outline) along(from, to int, look func(i int) (side, bool)) {
	run := 0
	end := func() {
		if run >= o.run {
			o.straight += run
		}
		run = 0
	}
	for i := from; i < to; i++ {
		s, ok := look(i)
		if !ok || s.border {
			end()
			if ok {
				o.border++
			}
			continue
		}
		o.sides++
		run++
		if s.lighter {
			o.lighter++
			o.steps += s.step
		}
	}
	end()
}

func brightness(c [3]float32) float32 { return (c[0] + c[1] + c[2]) / 3 }

// pageTint is the median of the cells' channels relative to their brightness. Cells darker than
// what is round them are left out: a picture may be larger than the paper between the lines.
func pageTint(f *raster.Field, brightest []float32) (tint [3]float32) {
	for ch := range tint {
		var v []float64
		for i, w := range f.Weight {
			if b := brightness(f.Colour[i]); w > 0.5 && b > 0.8*brightest[i] {
				v = append(v, float64(f.Colour[i][ch]/max(b, 1)))
			}
		}
		tint[ch] = 1
		if len(v) > 0 {
			tint[ch] = float32(quantile(v, 0.5))
		}
	}
	return tint
}

func tintDistance(c, tint [3]float32) (d float32) {
	b := max(brightness(c), 1)
	for ch := range c {
		d = max(d, float32(math.Abs(float64(c[ch]/b-tint[ch]))))
	}
	return d
}
