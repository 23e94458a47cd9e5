package restore

import (
	"image"
	"math"

	"unink/internal/raster"
)

// inkTable has for each bin of hues the nearest ink, and the inks' shades: edges have so many of them, what is broad all.
type inkTable struct {
	shades int
	inks   [][3]float32
	ink    [ratios * ratios * ratios]uint8
	ratio  [][3]float32
	colour [][mostShades][3]uint8
}

func newInkTable(inks [][3]float32, shades int) *inkTable {
	t := &inkTable{shades: shades, inks: inks, ratio: make([][3]float32, len(inks)), colour: make([][mostShades][3]uint8, len(inks))}
	for i := range t.ink {
		t.ink[i] = uint8(nearest(inks, ratioOfBin(i)))
	}
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

// ratioOfBin is the middle of a bin: the reverse of hueBinOf.
func ratioOfBin(i int) [3]float32 {
	const most = ratios - 1
	return [3]float32{float32(i/ratios/ratios) / most, float32(i/ratios%ratios) / most, float32(i%ratios) / most}
}

// shade brings a pixel to the nearest shade of an ink; of what is broad depth tells how deep it is, and is 0 elsewhere.
func (t *inkTable) shade(px []uint8, ink, depth int) {
	r, g, b := 255-int(px[0]), 255-int(px[1]), 255-int(px[2])
	k := &t.ratio[ink]
	v, n := float32(r)*k[0]+float32(g)*k[1]+float32(b)*k[2], t.shades
	if depth > 0 {
		v, n = v*float32(depth)/float32(max(r, g, b)), mostShades
	}
	copy(px, t.colour[ink][shadeLevel(min(int(v*float32(n-1)+0.5), n-1), n)][:])
}

// depths has for each pixel of text how much of the channel that it absorbs most of it does, 0 elsewhere.
type depths struct {
	w, h int
	v    []uint8
}

func newDepths(w, h int) *depths { return &depths{w, h, make([]uint8, w*h)} }

// within is the mean depth around a pixel that has its like on all sides, and 0 at edges: without it the noise in a broad bar
// that lies between two shades would come out as specks of both. What is nearly as deep as can be is that deep.
func (d *depths) within(i int) int {
	const reach, like, full = 2, 56, 224
	x, y := i%d.w, i/d.w
	if x < reach || y < reach || x >= d.w-reach || y >= d.h-reach {
		return 0
	}
	least, most, sum := d.v[i], d.v[i], 0
	for dy := -reach; dy <= reach; dy++ {
		for _, v := range d.v[i+dy*d.w-reach:][:2*reach+1] {
			least, most, sum = min(least, v), max(most, v), sum+int(v)
		}
		if most-least > like {
			return 0
		}
	}
	const n = (2*reach + 1) * (2*reach + 1)
	if sum > full*n {
		return 255
	}
	return (sum + n/2) / n
}

// inksNear tells place by place how much of each ink is near: a stroke is of one ink, though its edges and the noise
// look like others.
type inksNear struct {
	*inkTable
	cell, w int
	amount  []float32 // of each ink in each cell and those around it
	like    [depthSteps][]float32
}

// depthSteps is at how many depths it is told how far an ink's hue strays.
const depthSteps = 4

func (c *canvas) inksNear(page *image.RGBA, l *lightMap, m *inkMap, t *inkTable) *inksNear {
	n := &inksNear{inkTable: t, cell: max(2, int(4*c.scale+0.5))}
	n.w = (c.w + n.cell - 1) / n.cell
	h := (c.h + n.cell - 1) / n.cell
	k := len(t.inks)
	here := make([]float32, n.w*h*k)
	raster.Rows(h, c.workers, func(a, b int) {
		c.eachDark(page, l, m, a*n.cell, min(b*n.cell, c.h), func(i int, px []uint8, text bool) {
			if text {
				r, g, b := 255-int(px[0]), 255-int(px[1]), 255-int(px[2])
				at := i/c.w/n.cell*n.w + i%c.w/n.cell
				here[at*k+int(t.ink[hueBinOf(r, g, b)])] += float32(max(r, g, b))
			}
		})
	})
	n.amount = make([]float32, len(here))
	raster.Rows(h, c.workers, func(a, b int) {
		for y := a; y < b; y++ {
			for x := range n.w {
				to := n.amount[(y*n.w+x)*k:][:k]
				for yy := max(y-1, 0); yy <= min(y+1, h-1); yy++ {
					for xx := max(x-1, 0); xx <= min(x+1, n.w-1); xx++ {
						for ink, v := range here[(yy*n.w+xx)*k:][:k] {
							to[ink] += v
						}
					}
				}
			}
		}
	})
	for step := range n.like {
		stray := 0.1 + 0.2*float64(depthSteps-1-step)/(depthSteps-1) // the fainter a pixel, the less its hue tells
		n.like[step] = make([]float32, len(t.ink)*k)
		for bin := range t.ink {
			for ink, ratio := range t.inks {
				n.like[step][bin*k+ink] = float32(math.Exp(-float64(distance(ratioOfBin(bin), ratio)) / (2 * stray * stray)))
			}
		}
	}
	return n
}

// ink is the ink that a pixel of text is most likely of.
func (n *inksNear) ink(x, y int, px []uint8) int {
	r, g, b := 255-int(px[0]), 255-int(px[1]), 255-int(px[2])
	bin, k := hueBinOf(r, g, b), len(n.inks)
	like := n.like[max(r, g, b)*depthSteps/256][bin*k:][:k]
	best, most := int(n.inkTable.ink[bin]), float32(0)
	for i, amount := range n.amount[(y/n.cell*n.w+x/n.cell)*k:][:k] {
		if v := amount * like[i]; v > most {
			best, most = i, v
		}
	}
	return best
}
