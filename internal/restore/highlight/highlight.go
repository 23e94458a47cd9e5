// Package highlight finds the tints that broad markers left on a page, and lifts them.
package highlight

import (
	"image"
	"math"
	"slices"

	"unink/internal/raster"
	"unink/internal/restore/ink"
	"unink/internal/restore/segment"
)

// Highlighters are the tints that broad, translucent markers left on a page, and the page's light
// without them.
type Highlighters struct {
	labels []int32 // of each cell: the tint's number, counted from 1
	w, h   int     // cells
	tints  []tint
	light  [3]*raster.Grid // of the paper, tints left out
}

// tint is what one marker left in one place.
type tint struct {
	label   int32
	cells   image.Rectangle
	through [3]float64 // share of the paper's light that it lets through
}

// tintCell is the side of the cells that highlighter is looked for in, in working pixels.
const tintCell = 4

// tintEdge is how many cells round a tint its soft edge takes.
const tintEdge = 2

// Find looks for light tints that the network half takes for writing: it takes printed panels for
// paper or print, and is torn by highlighter, which is both broad like them and drawn by hand. It
// is nil where there are none.
func Find(m *raster.RGB, s *segment.Scores, workers int) *Highlighters {
	if min(m.W, m.H) < tintCell {
		return nil
	}
	f := newTintField(m, s, workers)
	tinted := f.tinted(workers)
	if !slices.Contains(tinted, true) {
		return nil
	}
	raster.CloseMask(tinted, f.W, f.H, 1)
	thick := slices.Clone(tinted)
	raster.OpenMask(thick, f.W, f.H, 1)
	class := make([]uint8, len(tinted))
	for i, v := range tinted {
		if v {
			class[i] = 1
		}
	}
	labels, components := raster.Components(class, f.W)
	looks := make([]tintLook, len(components))
	for i, l := range labels {
		if l > 0 {
			looks[l-1].add(f, i, thick[i])
		}
	}
	h := &Highlighters{labels: labels, w: f.W, h: f.H, light: f.light}
	for i, c := range components {
		// What reaches the picture's border is as often the desk.
		whole := c.X0 > 0 && c.Y0 > 0 && c.X1 < f.W && c.Y1 < f.H
		if whole && looks[i].highlighter() && h.ofOneInk(f, int32(i+1), c, looks[i].mean()) {
			h.tints = append(h.tints, tint{int32(i + 1), image.Rect(c.X0, c.Y0, c.X1, c.Y1),
				h.colour(f, int32(i+1), c, looks[i].mean())})
		}
	}
	if h.tints == nil {
		return nil
	}
	return h
}

// colour is what a tint lets through of the light where little else lies on it: in the cells that
// have no less than the mean of the light that it takes least of.
func (h *Highlighters) colour(f *tintField, label int32, c raster.Component,
	mean [3]float64) [3]float64 {
	_, high := extremes(mean)
	var bright tintLook
	for y := c.Y0; y < c.Y1; y++ {
		for i := y*f.W + c.X0; i < y*f.W+c.X1; i++ {
			if h.labels[i] == label && float64(f.through(i)[high]) >= mean[high] {
				bright.add(f, i, true)
			}
		}
	}
	return bright.mean()
}

// ofOneInk says that a tint takes the colours of the light in one proportion all over, as an ink
// does however thick it lies (Beer and Lambert). Drawings have several.
func (h *Highlighters) ofOneInk(f *tintField, label int32, c raster.Component,
	mean [3]float64) bool {
	const one = 0.99 // cosine of the angle between densities; of strokes 0.998, of drawings 0.98
	_, whole := extremes(mean)
	usual := density(mean, whole)
	along, all := 0.0, 0.0
	for y := c.Y0; y < c.Y1; y++ {
		for i := y*f.W + c.X0; i < y*f.W+c.X1; i++ {
			if h.labels[i] != label {
				continue
			}
			var through [3]float64
			for ch, v := range f.through(i) {
				through[ch] = float64(v)
			}
			d := density(through, whole)
			along += d[0]*usual[0] + d[1]*usual[1] + d[2]*usual[2]
			all += math.Hypot(math.Hypot(d[0], d[1]), d[2])
		}
	}
	return along >= one*all*math.Hypot(math.Hypot(usual[0], usual[1]), usual[2])
}

// density is the logarithm of how much less of each colour is let through than of one.
func density(through [3]float64, whole int) (d [3]float64) {
	const least = 0.05 // share let through that is told from none
	for ch, v := range through {
		d[ch] = -math.Log(max(v/through[whole], least))
	}
	return d
}

// tintField is what is known of each cell.
type tintField struct {
	*raster.Field           // the colour of the brighter pixels, so that strokes count little
	hand          []float32 // log-odds of writing in the brighter pixels, by the network
	rough         []float32 // by what share they are brighter than all
	light         [3]*raster.Grid
	paper         [3][]float32 // the light in each cell
}

func newTintField(m *raster.RGB, s *segment.Scores, workers int) *tintField {
	f := &tintField{Field: raster.NewField(m.W/tintCell, m.H/tintCell)}
	f.hand, f.rough = make([]float32, len(f.Weight)), make([]float32, len(f.Weight))
	raster.Rows(f.H, workers, func(a, b int) {
		for i := a * f.W; i < b*f.W; i++ {
			f.measure(m, s, i)
		}
	})
	f.findLight(m.W, m.H)
	return f
}

// measure looks at a cell's pixels.
func (f *tintField) measure(m *raster.RGB, s *segment.Scores, cell int) {
	const all = tintCell * tintCell
	at := cell/f.W*tintCell*m.W + cell%f.W*tintCell
	sum := 0
	for y := range tintCell {
		for _, g := range (*[tintCell]uint8)(m.Pix[1][at+y*m.W:]) {
			sum += int(g)
		}
	}
	// Of the brighter pixels their number and, in 16 bits each, the sums of red, green, blue and
	// what the network says of writing, from 0 on.
	n, bright := int64(0), uint64(0)
	for y := range tintCell {
		from := at + y*m.W
		r, g := (*[tintCell]uint8)(m.Pix[0][from:]), (*[tintCell]uint8)(m.Pix[1][from:])
		b, hand := (*[tintCell]uint8)(m.Pix[2][from:]), (*[tintCell]int8)(s.Hand[from:])
		for x := range tintCell {
			darker := (int64(g[x])*all - int64(sum)) >> 63 // all bits, or none: half are, so no branch
			bright += (uint64(r[x]) | uint64(g[x])<<16 | uint64(b[x])<<32 |
				uint64(uint8(hand[x])^128)<<48) &^ uint64(darker)
			n += 1 + darker
		}
	}
	f.Weight[cell] = 1
	f.hand[cell] = float32(int64(bright>>48)-128*n) / float32(n*segment.Unit)
	f.rough[cell] = 1 - float32(int64(sum)*n)/float32(all*max(bright>>16&0xffff, 1))
	for ch := range f.Colour[cell] {
		f.Colour[cell][ch] = float32(bright>>(16*ch)&0xffff) / float32(n)
	}
}

// coloured is the share of the most that the least of the channels is below in what is coloured.
const coloured = 0.87

// findLight finds the light of the page's paper, of a picture of w × h pixels: what has another
// colour is left out and takes that round it.
func (f *tintField) findLight(w, h int) {
	const perCell = 4 // of a side: a cell of the light
	paperTint := f.tint()
	other, near := make([]bool, len(f.Colour)), make([]bool, len(f.Colour))
	for i, c := range f.Colour {
		r, g, b := c[0]/paperTint[0], c[1]/paperTint[1], c[2]/paperTint[2]
		other[i] = min(r, g, b) < coloured*max(r, g, b)
	}
	raster.SpreadMask(near, other, f.W, f.H, tintEdge)
	for i, v := range near {
		if v {
			f.Weight[i] = 0
		}
	}
	coarse := f.Half().Half()
	if !coarse.Fill() {
		for i := range coarse.Colour {
			coarse.Colour[i] = [3]float32{255, 255, 255}
		}
	}
	line := make([]float32, f.W)
	for ch := range f.light {
		g := raster.NewGrid(w, h, perCell*tintCell)
		for i := range g.V {
			x, y := min(i%g.W, coarse.W-1), min(i/g.W, coarse.H-1)
			g.V[i] = max(coarse.Colour[y*coarse.W+x][ch], 1)
		}
		f.light[ch], f.paper[ch] = g, make([]float32, len(f.Colour))
		s := g.Sample(f.W, f.H)
		for y := range f.H {
			s.Row(f.paper[ch][y*f.W:][:f.W], line, y)
		}
	}
}

// tint is the colour of the page's paper.
func (f *tintField) tint() [3]float32 {
	coarse := f.Half().Half()
	bright := make([]float32, len(coarse.Colour))
	for i, c := range coarse.Colour {
		bright[i] = raster.Brightness(c)
	}
	return raster.PageTint(coarse, bright)
}

// through is the share of the paper's light that a cell has.
func (f *tintField) through(cell int) (out [3]float32) {
	for ch, v := range f.Colour[cell] {
		out[ch] = v / f.paper[ch][cell]
	}
	return out
}

// tinted marks the cells that are lighter than ink and coloured.
func (f *tintField) tinted(workers int) []bool {
	const inkLight, glare = 0.72, 1.35 // shares of the light
	out := make([]bool, len(f.Colour))
	raster.Rows(f.H, workers, func(y0, y1 int) {
		for i := y0 * f.W; i < y1*f.W; i++ {
			t := f.through(i)
			low, high := min(t[0], t[1], t[2]), max(t[0], t[1], t[2])
			out[i] = low < coloured*high && high > inkLight && high < glare
		}
	})
	return out
}

// tintLook sums up the cells of a tint.
type tintLook struct {
	cells, thick, even float64
	through            [3]float64
	hand               float64 // log-odds of writing
}

func (t *tintLook) add(f *tintField, cell int, thick bool) {
	const smooth = 0.04 // share of the brightness that grain and noise make up
	t.cells++
	if thick {
		t.thick++
	}
	if f.rough[cell] < smooth {
		t.even++
	}
	t.hand += float64(f.hand[cell])
	for ch, v := range f.through(cell) {
		t.through[ch] += float64(v)
	}
}

func (t *tintLook) mean() (out [3]float64) {
	for ch, v := range t.through {
		out[ch] = min(v/t.cells, 1)
	}
	return out
}

// highlighter tells a marker's tint from print, by thresholds found on generated pages and four
// real ones: it is broad, light, even and coloured, as fluorescent ink does it lets one of the
// colours through whole, and the network is not sure that nobody drew it.
func (t *tintLook) highlighter() bool {
	const (
		sure  = -4  // log-odds of writing from which downwards the network rules it out
		broad = 0.5 // share of its cells that lie within others
		// Share that nothing else lies on: strokes of coloured ink lie in all of theirs.
		plain = 0.25
		much  = 40   // cells' worth of pure colour
		whole = 0.93 // share of the light let through
	)
	mean := t.mean()
	low, high := extremes(mean)
	colour := 1 - mean[low]/mean[high]
	return t.hand > sure*t.cells && t.thick > broad*t.cells && t.even > plain*t.cells &&
		mean[high] > whole && t.cells*colour > much
}

// Of keeps the tints whose ink is in the set.
func (h *Highlighters) Of(inks ink.Set) *Highlighters {
	if h == nil || inks == 0 {
		return h
	}
	kept := *h
	kept.tints = nil
	for _, t := range h.tints {
		if ink.Of(t.through)&inks != 0 {
			kept.tints = append(kept.tints, t)
		}
	}
	if kept.tints == nil {
		return nil
	}
	return &kept
}

// Lift takes the tints off a picture of the page, in any size. What lies under them stays; all
// other pixels of the new picture are the old one's.
func (h *Highlighters) Lift(src *image.RGBA) *image.RGBA {
	dst := raster.Clone(src, 1)
	var light [3]*raster.Sampler
	for ch, g := range h.light {
		light[ch] = g.Sample(src.Rect.Dx(), src.Rect.Dy())
	}
	for _, t := range h.tints {
		h.liftOne(dst, src, t, light)
	}
	return dst
}

func (h *Highlighters) liftOne(dst, src *image.RGBA, t tint, light [3]*raster.Sampler) {
	w, hgt := src.Rect.Dx(), src.Rect.Dy()
	kx, ky := float64(w)/float64(h.w), float64(hgt)/float64(h.h)
	box := image.Rect(int(float64(t.cells.Min.X-tintEdge)*kx), int(float64(t.cells.Min.Y-tintEdge)*ky),
		int(math.Ceil(float64(t.cells.Max.X+tintEdge)*kx)),
		int(math.Ceil(float64(t.cells.Max.Y+tintEdge)*ky))).Intersect(src.Rect)
	p := tintPatch{tint: t, box: box, src: src, amount: make([]float32, box.Dx()*box.Dy()),
		weight: make([]float32, box.Dx()*box.Dy())}
	p.low, p.high = extremes(t.through)
	cells, near := h.near(t)
	var rows [3][]float32
	for ch := range rows {
		rows[ch] = make([]float32, w)
	}
	scratch := make([]float32, h.light[0].W)
	lights := func(y int) [3][]float32 {
		for ch, s := range light {
			s.Row(rows[ch], scratch, y)
		}
		return rows
	}
	p.measure(lights, func(x, y int) bool {
		at := image.Pt(int(float64(x)/kx), int(float64(y)/ky))
		return at.In(cells) && near[(at.Y-cells.Min.Y)*cells.Dx()+at.X-cells.Min.X]
	})
	p.divideOut(dst, lights, int(math.Ceil(tintCell*kx/2)))
}

// near marks the cells of a tint and of its soft edge, in a frame.
func (h *Highlighters) near(t tint) (frame image.Rectangle, near []bool) {
	frame = t.cells.Inset(-tintEdge)
	own := make([]bool, frame.Dx()*frame.Dy())
	for y := t.cells.Min.Y; y < t.cells.Max.Y; y++ {
		for x := t.cells.Min.X; x < t.cells.Max.X; x++ {
			own[(y-frame.Min.Y)*frame.Dx()+x-frame.Min.X] = h.labels[y*h.w+x] == t.label
		}
	}
	near = make([]bool, len(own))
	raster.SpreadMask(near, own, frame.Dx(), frame.Dy(), tintEdge)
	return frame, near
}

// extremes are the channels of least and most.
func extremes(v [3]float64) (low, high int) {
	for ch := range v {
		if v[ch] < v[low] {
			low = ch
		}
		if v[ch] > v[high] {
			high = ch
		}
	}
	return low, high
}
