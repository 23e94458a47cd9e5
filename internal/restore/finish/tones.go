package finish

import (
	"image"
	"math"

	"unink/internal/raster"
	"unink/internal/restore/canvas"
	"unink/internal/restore/measure"
)

// polarity says which of print and ground is the darker one.
type polarity uint8

const (
	noPrint polarity = iota
	darkOnLight
	lightOnDark
)

// toneMap is the ground of a page and the print on it, in the cells of the light.
type toneMap struct {
	w, h          int
	ground        []float32 // the median light of what is round a cell
	light, dark   []float32 // and nearly its lightest and darkest
	print         []polarity
	sample, perEm int // pixels between two samples, samples in an em
}

// lightCell is the side of the cells in which light is measured: a quarter of an em, in pixels.
func lightCell(c *canvas.Canvas) int {
	return max(4, int(math.Round(measure.PriorEm*c.Scale/4)))
}

// measureTones looks at a page in windows of about an em. What is thin in them and of another light
// than most of the window is print.
func measureTones(c *canvas.Canvas, page *image.RGBA) *toneMap {
	cell := lightCell(c)
	t := &toneMap{w: (c.W + cell - 1) / cell, h: (c.H + cell - 1) / cell, sample: max(1, cell/4)}
	t.perEm = 4 * cell / t.sample
	n := t.w * t.h
	t.ground, t.light, t.dark = make([]float32, n), make([]float32, n), make([]float32, n)
	t.print = make([]polarity, n)

	w, h := (c.W+t.sample-1)/t.sample, (c.H+t.sample-1)/t.sample
	v := make([]float32, w*h)
	raster.Rows(h, c.Workers, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			row := page.Pix[y*t.sample*page.Stride:]
			for x := range w {
				px := row[4*x*t.sample:]
				v[y*w+x] = (float32(px[0]) + float32(px[1]) + float32(px[2])) / 3
			}
		}
	})
	// Without what is lighter, or darker, than its surroundings and thinner than half an em.
	reach := max(1, t.perEm/4)
	noLight, noDark := make([]float32, len(v)), make([]float32, len(v))
	raster.Least(noLight, v, w, h, reach)
	raster.Most(noLight, noLight, w, h, reach)
	raster.Most(noDark, v, w, h, reach)
	raster.Least(noDark, noDark, w, h, reach)
	raster.Rows(t.h, c.Workers, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			for x := range t.w {
				around := window{
					max(0, (x-2)*cell/t.sample), max(0, (y-2)*cell/t.sample),
					min(w, (x+3)*cell/t.sample), min(h, (y+3)*cell/t.sample), w,
				}
				t.measure(y*t.w+x, around, v, noLight, noDark)
			}
		}
	})
	return t
}

// window is a rectangle of samples in rows of w.
type window struct{ x0, y0, x1, y1, w int }

// measure fills cell i with what its window holds.
func (t *toneMap) measure(i int, at window, v, noLight, noDark []float32) {
	var count [256]int
	all := (at.x1 - at.x0) * (at.y1 - at.y0)
	for y := at.y0; y < at.y1; y++ {
		for _, s := range v[y*at.w+at.x0 : y*at.w+at.x1] {
			count[uint8(s)]++
		}
	}
	const few = 0.02
	ground := float32(raster.HistogramQuantile(count, 0.5))
	dark := float32(raster.HistogramQuantile(count, few))
	light := float32(raster.HistogramQuantile(count, 1-few))
	t.ground[i], t.dark[i], t.light[i] = ground, dark, light

	// The larger of two contrasts is the print's, if it is print.
	up, down := light-ground, ground-dark
	half, rest := (ground+light)/2, noLight
	kind := lightOnDark
	if down > up {
		half, rest, kind = (ground+dark)/2, noDark, darkOnLight
	}
	const least, share, most = 50, 0.7, 0.45 // contrast; of the ground in the light; of the window
	if max(up, down) < least || kind == lightOnDark && ground > share*light ||
		kind == darkOnLight && dark > share*ground || min(up, down) > max(up, down)/2 {
		return
	}
	strokes, thick := 0, 0
	for y := at.y0; y < at.y1; y++ {
		for x := at.x0; x < at.x1; x++ {
			if s := y*at.w + x; v[s] > half == (kind == lightOnDark) {
				strokes++
				if rest[s] > half == (kind == lightOnDark) {
					thick++
				}
			}
		}
	}
	if float64(strokes) < most*float64(all) && 5*thick < strokes {
		t.print[i] = kind
	}
}

// panels are the cells of the areas that are printed light on dark.
func (t *toneMap) panels() []bool {
	const (
		around = 24  // cells in which the lightest is looked for
		dark   = 0.8 // of that
		share  = 0.6 // of the page's lightest, which that is at least
		enough = 40  // cells of such print
	)
	lightest, page := make([]float32, len(t.light)), float32(0)
	raster.Most(lightest, t.light, t.w, t.h, around)
	for _, v := range lightest {
		page = max(page, v)
	}
	class := make([]uint8, len(t.ground))
	for i, v := range t.ground {
		if v < dark*max(lightest[i], share*page) {
			class[i] = 1
		}
	}
	labels, areas := raster.Components(class, t.w)
	votes := make([][3]int, len(areas)+1)
	for i, n := range labels {
		votes[n][t.print[i]]++
	}
	out := make([]bool, len(labels))
	for i, n := range labels {
		out[i] = n > 0 && votes[n][lightOnDark] > max(enough, 2*votes[n][darkOnLight])
	}
	raster.CloseMask(out, t.w, t.h, thin)
	return out
}

// lost says that print is gone: of too much of what was print before, hardly any contrast is left.
func (t *toneMap) lost(after *toneMap) bool {
	const hardly, much, least = 0.3, 0.05, 24 // of the contrast; of the print; cells
	print, gone := 0, 0
	for i, kind := range t.print {
		if kind == noPrint {
			continue
		}
		print++
		if after.light[i]-after.dark[i] < hardly*(t.light[i]-t.dark[i]) {
			gone++
		}
	}
	return gone >= least && float64(gone) > much*float64(print)
}

// shareOf is how much of the cells is marked.
func shareOf(cells []bool) float64 {
	n := 0
	for _, v := range cells {
		if v {
			n++
		}
	}
	return float64(n) / float64(max(len(cells), 1))
}
