package finish

import (
	"cmp"
	"image"
	"math"
	"slices"
	"sync"

	"unink/internal/raster"
	"unink/internal/restore/canvas"
)

// inkShades has the shades of each ink. The edges field is how many of them thin strokes and soft
// edges of print may have; broad, at least as many, is for areas of one ink, such as thick bars.
type inkShades struct {
	edges, broad int
	ratio        [][3]float32
	colour       [][mostShades][3]uint8
}

func newInkShades(inks [][3]float32, edges, broad int) *inkShades {
	t := &inkShades{edges: edges, broad: broad, ratio: make([][3]float32, len(inks)),
		colour: make([][mostShades][3]uint8, len(inks))}
	for i, ink := range inks {
		length := distance(ink, [3]float32{})
		for ch, v := range ink {
			t.ratio[i][ch] = v / length / 255
			for s := range mostShades {
				t.colour[i][s][ch] = uint8(255.5 - float32(17*s)*v)
			}
		}
	}
	return t
}

// shade brings a pixel to the nearest shade of an ink; of what is broad depth tells how deep it is,
// and is 0 elsewhere.
func (t *inkShades) shade(px []uint8, ink, depth int) {
	r, g, b := 255-int(px[0]), 255-int(px[1]), 255-int(px[2])
	k := &t.ratio[ink]
	v, n := float32(r)*k[0]+float32(g)*k[1]+float32(b)*k[2], t.edges
	if depth > 0 {
		v, n = v*float32(depth)/float32(max(r, g, b)), t.broad
	}
	copy(px, t.colour[ink][shadeLevel(min(int(v*float32(n-1)+0.5), n-1), n)][:])
}

// ratioOfBin is the middle of a bin: the reverse of hueBinOf.
func ratioOfBin(i int) [3]float32 {
	const most = ratios - 1
	return [3]float32{float32(i/ratios/ratios) / most, float32(i/ratios%ratios) / most,
		float32(i%ratios) / most}
}

// depthMap has the depth of each pixel of text: 255 less its darkest channel. It is 0 elsewhere.
type depthMap struct {
	w, h int
	v    []uint8
}

func newDepths(w, h int) *depthMap { return &depthMap{w, h, make([]uint8, w*h)} }

// within is the mean depth around a pixel that has its like on all sides, and 0 at edges: without
// it the noise in a broad bar that lies between two shades would come out as specks of both. What
// is nearly as deep as can be is that deep.
func (d *depthMap) within(x, y int) int {
	const reach, full = 2, 224 // pixels; depth, of 255, that is as good as all
	if x < reach || y < reach || x >= d.w-reach || y >= d.h-reach {
		return 0
	}
	v, i, below := d.v, y*d.w+x, reach*d.w
	if v[i-reach] == 0 || v[i+reach] == 0 || v[i-below] == 0 || v[i+below] == 0 {
		return 0 // most of the text
	}
	least, most, sum := v[i], v[i], 0
	for dy := -reach; dy <= reach; dy++ {
		for _, at := range v[i+dy*d.w-reach:][:2*reach+1] {
			least, most, sum = min(least, at), max(most, at), sum+int(at)
		}
		if 5*int(least) < 3*int(most) {
			return 0
		}
	}
	const n = (2*reach + 1) * (2*reach + 1)
	if sum > full*n {
		return 255
	}
	return (sum + n/2) / n
}

// inkFinder tells the ink of a pixel by its hue and by how much of each ink is near: a stroke is of
// one ink, though its edges and the noise look like others.
type inkFinder struct {
	inks    [][3]float32                    // as the hues alone tell them
	settled []int                           // for each, which of the page's inks it is
	nearest [ratios * ratios * ratios]uint8 // ink of each bin
	like    [depthSteps][]float32           // how well each bin's hue and each ink go together
	cell, w int
	amount  []float32 // of each ink in each cell and those around it
}

// depthSteps is the number of darkness levels with their own hue tolerance.
const depthSteps = 4

// sampled is the step between the rows from which the inks are counted.
const sampled = 3

// findInks tells the inks of the page's text from those that its hues give: noise of one ink that
// passes for another is brought back to it.
func findInks(c *canvas.Canvas, page *image.RGBA, l *lightMap, m *inkMap,
	inks [][3]float32) (*inkFinder, [][3]float32) {
	f := &inkFinder{inks: inks, settled: make([]int, len(inks)), cell: max(2, int(4*c.Scale+0.5))}
	if len(inks) == 1 {
		return f, inks
	}
	f.compare()
	f.w = (c.W + f.cell - 1) / f.cell
	h := (c.H + f.cell - 1) / f.cell
	k := len(inks)
	here := make([]float32, f.w*h*k)
	raster.Rows(h, c.Workers, func(a, b int) {
		eachDark(c, page, l, m, a*f.cell, min(b*f.cell, c.H), sampled,
			func(x, y int, px []uint8, text bool) {
				if text {
					r, g, b := 255-int(px[0]), 255-int(px[1]), 255-int(px[2])
					here[f.at(x, y)*k+int(f.nearest[hueBinOf(r, g, b)])] += float32(max(r, g, b))
				}
			})
	})
	f.amount = make([]float32, len(here))
	raster.Rows(h, c.Workers, func(a, b int) {
		for y := a; y < b; y++ {
			for x := range f.w {
				to := f.amount[(y*f.w+x)*k:][:k]
				for yy := max(y-1, 0); yy <= min(y+1, h-1); yy++ {
					for xx := max(x-1, 0); xx <= min(x+1, f.w-1); xx++ {
						for ink, v := range here[(yy*f.w+xx)*k:][:k] {
							to[ink] += v
						}
					}
				}
			}
		}
	})
	return f, f.mergeInks(c, page, l, m)
}

// compare finds how well each hue and each ink go together.
func (f *inkFinder) compare() {
	k := len(f.inks)
	for step := range f.like {
		// The fainter a pixel, the less its hue tells.
		stray := 0.1 + 0.2*float64(depthSteps-1-step)/(depthSteps-1)
		f.like[step] = make([]float32, len(f.nearest)*k)
		for bin := range f.nearest {
			hue := ratioOfBin(bin)
			f.nearest[bin] = uint8(nearest(f.inks, hue))
			for ink, ratio := range f.inks {
				gap := float64(distance(hue, ratio))
				f.like[step][bin*k+ink] = float32(math.Exp(-gap / (2 * stray * stray)))
			}
		}
	}
}

func (f *inkFinder) at(x, y int) int { return y/f.cell*f.w + x/f.cell }

// choose is the number of the ink, of those of the hues, that a pixel of text is most likely of.
func (f *inkFinder) choose(x, y int, px []uint8) int {
	r, g, b := 255-int(px[0]), 255-int(px[1]), 255-int(px[2])
	bin, k := hueBinOf(r, g, b), len(f.inks)
	like := f.like[max(r, g, b)*depthSteps/256][bin*k:][:k]
	best, most := int(f.nearest[bin]), float32(0)
	for i, amount := range f.amount[f.at(x, y)*k:][:k] {
		if v := amount * like[i]; v > most {
			best, most = i, v
		}
	}
	return best
}

// ink is the number of the page's ink that a pixel of text is most likely of.
func (f *inkFinder) ink(x, y int, px []uint8) int {
	if len(f.inks) == 1 {
		return 0
	}
	return f.settled[f.choose(x, y, px)]
}

// mergeInks gives each ink the hue that its strokes have in the mean, and makes one of those that
// then are alike.
func (f *inkFinder) mergeInks(c *canvas.Canvas, page *image.RGBA, l *lightMap,
	m *inkMap) [][3]float32 {
	sums := make([]hueBin, len(f.inks))
	var mu sync.Mutex
	raster.Rows(c.H, c.Workers, func(y0, y1 int) {
		part := make([]hueBin, len(f.inks))
		eachDark(c, page, l, m, y0, y1, sampled, func(x, y int, px []uint8, text bool) {
			if text {
				b := &part[f.choose(x, y, px)]
				for ch, v := range px {
					b.sum[ch] += 255 - int64(v)
				}
			}
		})
		mu.Lock()
		defer mu.Unlock()
		for i := range part {
			sums[i].merge(&part[i])
		}
	})
	order := make([]int, len(sums))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order[1:], func(i, j int) int {
		return cmp.Compare(sums[j].absorbed(), sums[i].absorbed())
	})
	inks, of := [][3]float32{f.inks[0]}, []hueBin{sums[0]}
	for _, i := range order[1:] {
		if sums[i].absorbed() == 0 {
			continue
		}
		at := nearest(inks, sums[i].ratio())
		if at == 0 || distance(inks[at], sums[i].ratio()) > alike*alike {
			at = len(inks)
			inks, of = append(inks, [3]float32{}), append(of, hueBin{})
		}
		of[at].merge(&sums[i])
		inks[at] = of[at].ratio()
		f.settled[i] = at
	}
	return inks
}

// absorbed is all that the ink absorbs.
func (b *hueBin) absorbed() int64 { return b.sum[0] + b.sum[1] + b.sum[2] }
