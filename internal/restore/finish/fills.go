package finish

import (
	"slices"
	"sync"

	"unink/internal/raster"
)

// markFills marks the cells of fills and grey pictures and closes what is dark and thin in the
// field. White letters break a fill up, so that it is also looked at without them. measured tells
// how well each cell is known to be no print.
func markFills(f *raster.Field, measured []float32, fill []bool, workers int) {
	opened := &raster.Field{W: f.W, H: f.H, Colour: slices.Clone(f.Colour), Weight: f.Weight}
	var wg sync.WaitGroup
	wg.Go(func() { openGaps(opened) })
	closeGaps(f)
	wg.Wait()
	find := []func(fill []bool){
		func(fill []bool) { findFills(f, f, fill) },
		func(fill []bool) { findFills(opened, opened, fill) },
		func(fill []bool) { findFills(tintsOf(f), f, fill) },
		func(fill []bool) { markGreys(f, measured, fill) },
	}
	found := make([][]bool, len(find))
	threads := max(1, min(workers, len(find)))
	for first := range threads {
		wg.Go(func() {
			for i := first; i < len(find); i += threads {
				found[i] = make([]bool, len(fill))
				find[i](found[i])
			}
		})
	}
	wg.Wait()
	for _, mask := range found {
		for i, v := range mask {
			fill[i] = fill[i] || v
		}
	}
	raster.CloseMask(fill, f.W, f.H, 1)
}

// tintsOf is the field's colours as if all were equally bright, so that shadows hardly show. A tint
// counts for less than a step of light: colours bleed when they are compressed.
func tintsOf(f *raster.Field) *raster.Field {
	const counts = 0.45 // of a step of light
	tints := &raster.Field{W: f.W, H: f.H, Colour: make([][3]float32, len(f.Colour)),
		Weight: f.Weight}
	for i, c := range f.Colour {
		b := max(raster.Brightness(c), 1)
		for ch, v := range c {
			tints.Colour[i][ch] = 255 * (1 + counts*(v/b-1)) // as bright as white
		}
	}
	return tints
}

// findFills marks the areas that are a little darker than the paper, or of another colour, and
// bounded by straight, sharp edges: panels, table heads, coloured cells. Shadows are bounded
// softly, or reach the border of the picture; stains are round; and in crumpled paper no area is
// even. The edges are looked for in f; of two sides of one, bright tells which is lighter.
func findFills(f, bright *raster.Field, fill []bool) {
	edges := sharpEdges(f)
	flat := make([]uint8, len(edges))
	for i, e := range edges {
		if !e {
			flat[i] = 1
		}
	}
	labels, areas := raster.Components(flat, f.W)
	steps := make([]float32, len(areas)) // at the edge; 0 of what is no fill
	for n, a := range areas {
		steps[n] = fillEdge(f, bright, labels, int32(n+1), a)
	}
	const rim = 2 // cells of the edge, which belong to the fill or are mixed
	inside, bounded := make([]bool, len(labels)), make([]bool, len(labels))
	for i, n := range labels {
		inside[i] = n > 0 && steps[n-1] > 0
	}
	raster.SpreadMask(bounded, inside, f.W, f.H, rim)
	for n, u := range unevenness(f, paperOutside(f, bounded), labels, areas) {
		if u > 0.3*steps[n] {
			steps[n] = 0
		}
	}
	for i, n := range labels {
		inside[i] = n > 0 && steps[n-1] > 0
	}
	raster.SpreadMask(fill, inside, f.W, f.H, rim)
	raster.SpreadMask(fill, growFills(f, labels, steps), f.W, f.H, 1)
}

// growFills brings to the fills, given by their areas with a step at the edge, the cells round them
// of about the same colour: white letters break a fill up, and what is then left of it may have no
// straight edges.
func growFills(f *raster.Field, labels []int32, steps []float32) (inside []bool) {
	const reach, like = 8, 0.25 // cells; of the fill's step
	inside = make([]bool, len(labels))
	seed := make([]int, len(labels)) // the fill's cell that a cell was reached from
	var front []int
	for i, n := range labels {
		if n > 0 && steps[n-1] > 0 {
			inside[i], seed[i] = true, i
			front = append(front, i)
		}
	}
	for range reach {
		var next []int
		for _, i := range front {
			for _, j := range beside(i, f.W, f.H) {
				if !inside[j] && stepBetween(f, seed[i], j) < like*steps[labels[seed[i]]-1] {
					inside[j], seed[j] = true, seed[i]
					next = append(next, j)
				}
			}
		}
		front = next
	}
	raster.CloseMask(inside, f.W, f.H, thin)
	return inside
}

// beside are the cells beside, above and below a cell.
func beside(i, w, h int) []int {
	n := make([]int, 0, 4)
	if i%w > 0 {
		n = append(n, i-1)
	}
	if i%w < w-1 {
		n = append(n, i+1)
	}
	if i >= w {
		n = append(n, i-w)
	}
	if i < w*(h-1) {
		n = append(n, i+w)
	}
	return n
}

// paperOutside is the field with the given cells as if they were paper like that around them.
func paperOutside(f *raster.Field, without []bool) *raster.Field {
	light := &raster.Field{W: f.W, H: f.H, Colour: slices.Clone(f.Colour),
		Weight: make([]float32, len(f.Weight))}
	for i, w := range without {
		if !w {
			light.Weight[i] = 1
		}
	}
	light.Fill()
	return light
}

// unevenness is for each area the mean deviation from the mean share of the light that is reflected
// in it.
func unevenness(f, light *raster.Field, labels []int32, areas []raster.Component) []float32 {
	share := make([]float32, len(labels))
	mean, deviation := make([]float32, len(areas)), make([]float32, len(areas))
	for i, n := range labels {
		if n > 0 {
			share[i] = raster.Brightness(f.Colour[i]) / max(raster.Brightness(light.Colour[i]), 1)
			mean[n-1] += share[i] / float32(areas[n-1].Area)
		}
	}
	for i, n := range labels {
		if n > 0 {
			deviation[n-1] += max(share[i]-mean[n-1], mean[n-1]-share[i]) / float32(areas[n-1].Area)
		}
	}
	return deviation
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
			out[i] = stepBetween(f, left, right) > fillStep || stepBetween(f, up, down) > fillStep
		}
	}
	return out
}

// stepBetween is the largest relative difference of the channels of two cells.
func stepBetween(f *raster.Field, i, j int) (d float32) {
	a, b := &f.Colour[i], &f.Colour[j]
	for ch := range a {
		more, less := a[ch], b[ch]
		if more < less {
			more, less = less, more
		}
		d = raster.Larger(d, (more-less)/raster.Larger(more, 1))
	}
	return d
}

// smallestFill is the area of the least fill or picture, in cells, and narrowestFill the width.
const smallestFill, narrowestFill = 18, 3

// fillEdge follows the outline of an area. Each side of a cell on it is looked at across the edge:
// the other side must be lighter, as sharply as it is at all, and the sides must lie in straight
// runs. It is the mean step at the edge, or 0 if this is not that of a fill.
func fillEdge(f, bright *raster.Field, labels []int32, label int32, a raster.Component) float32 {
	if a.Area < smallestFill || min(a.Width(), a.Height()) < narrowestFill ||
		a.Width() == f.W && a.Height() == f.H {
		return 0
	}
	o := followOutline(f, bright, labels, label, a)
	if !o.isStraight() || float64(o.border) >= 0.3*float64(o.sides+o.border) ||
		float64(o.lighter) <= 0.7*float64(o.sides) {
		return 0
	}
	return o.steps / float32(o.lighter)
}

// followOutline goes round an area.
func followOutline(f, bright *raster.Field, labels []int32, label int32,
	a raster.Component) *outline {
	o := &outline{f: f, bright: bright, labels: labels, label: label,
		run: min(max(min(a.Width(), a.Height())/2, 3), 6)}
	for y := a.Y0; y < a.Y1; y++ {
		o.along(a.X0, a.X1, func(x int) (outlineSide, bool) { return o.cell(x, y, 0, -1) })
		o.along(a.X0, a.X1, func(x int) (outlineSide, bool) { return o.cell(x, y, 0, 1) })
	}
	for x := a.X0; x < a.X1; x++ {
		o.along(a.Y0, a.Y1, func(y int) (outlineSide, bool) { return o.cell(x, y, -1, 0) })
		o.along(a.Y0, a.Y1, func(y int) (outlineSide, bool) { return o.cell(x, y, 1, 0) })
	}
	return o
}

func (o *outline) isStraight() bool { return float64(o.straight) > 0.6*float64(o.sides) }

// outline counts the sides of the cells on an area's outline.
type outline struct {
	f, bright     *raster.Field
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
func (o *outline) cell(x, y, dx, dy int) (s outlineSide, ok bool) {
	f := o.f
	at := y*f.W + x
	if o.labels[at] != o.label {
		return s, false
	}
	x, y = x+dx, y+dy
	if x < 0 || y < 0 || x >= f.W || y >= f.H {
		return outlineSide{border: true}, true
	}
	if o.labels[y*f.W+x] == o.label {
		return s, false
	}
	// The edge is two cells wide, and more with a printed line on it.
	const across = 5
	last, sharpest := at, float32(0)
	for range across {
		if x < 0 || y < 0 || x >= f.W || y >= f.H ||
			o.labels[last] != o.label && o.labels[last] != 0 {
			break
		}
		i := y*f.W + x
		sharpest = raster.Larger(sharpest, stepBetween(f, i, last))
		last, x, y = i, x+dx, y+dy
	}
	total := stepBetween(f, at, last)
	s.lighter = raster.Brightness(o.bright.Colour[last]) > raster.Brightness(o.bright.Colour[at]) &&
		total > fillStep && sharpest > 0.45*total
	s.step = total
	return s, true
}

// outlineSide of a cell on an outline: on the picture's border, or sharply lighter beyond.
type outlineSide struct {
	border, lighter bool
	step            float32
}

// along goes along a row or column of cells.
func (o *outline) along(from, to int, look func(i int) (outlineSide, bool)) {
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
