package strokes

import (
	"cmp"
	"math"
	"slices"

	"unink/internal/raster"
	"unink/internal/restore/ink"
	"unink/internal/restore/segment"
)

// region is a connected set of ink pixels that the network gave one class: a stroke, a letter, or
// a piece of one where writing and print touch.
type region struct {
	raster.Component
	border      int        // pixels beside something else
	hand, print float64    // log-odds of the network, mean over the pixels
	surest      float64    // log-odds of writing where the network is surest of it
	divided     float64    // how far pixels are from hand, standard deviation
	uneven      float64    // share of the light that pixels take, standard deviation against the mean
	handed      int        // pixels that the network takes for writing
	printed     int        // and for print
	colour      float64    // log-odds of writing by the ink's colour
	ink         [3]float64 // share of the paper's light let through, per channel
	onRule      bool       // it lies on a line
}

// parts gives each pixel of ink a class, so that a connected region of one class was made either by
// a hand or by a printer. The lowest two bits are what the network says (1 print, 2 writing, 3 ink
// that it overlooked). Bit 4 is set where the ink's colour is plainly the writing's, bit 8 where it
// is plainly the print's, and onRule where the ink is a line's: letters that stand on a line are
// regions of their own.
func parts(s *segment.Scores, plane *ink.Plane, lines []int32, pieces []raster.Component,
	workers int) []uint8 {
	class := make([]uint8, len(s.Hand))
	raster.Rows(s.H, workers, func(y0, y1 int) {
		for i := y0 * s.W; i < y1*s.W; i++ {
			switch {
			case plane.Solid[i] == 0:
				continue
			case s.Hand[i] > 0:
				class[i] = 2
			case s.Print[i] > 0:
				class[i] = 1
			default:
				class[i] = 3
			}
			switch e := plane.Evidence[i]; {
			case e > telling:
				class[i] |= 4
			case e < -telling:
				class[i] |= 8
			}
			if l := lines[i]; l > 0 && isRule(pieces[l-1]) {
				class[i] |= onRule
			}
		}
	})
	return class
}

// onRule is the part of a class that says that the ink lies on a line.
const onRule = 16

// telling is the log-odds from which an ink's colour alone says whose it is.
const telling = 1

// measureRegions collects what is known of each component.
func measureRegions(s *segment.Scores, labels []int32, components []raster.Component,
	plane *ink.Plane) []region {
	regions := make([]region, len(components))
	weights := make([]float64, len(components))
	taken := make([]float64, len(components))
	for i := range regions {
		regions[i].surest = math.Inf(-1)
	}
	for i, l := range labels {
		if l == 0 {
			continue
		}
		r := &regions[l-1]
		hand := float64(s.Hand[i]) / segment.Unit
		r.hand += hand
		r.divided += hand * hand
		r.surest = max(r.surest, hand)
		r.print += float64(s.Print[i]) / segment.Unit
		if s.Hand[i] > 0 {
			r.handed++
		}
		if s.Print[i] > 0 {
			r.printed++
		}
		if atBorder(labels, i, s.W) {
			r.border++
		}
		t := float64(plane.Taken(i))
		taken[l-1] += t
		r.uneven += t * t
		k := t*t + 1e-4
		weights[l-1] += k
		r.colour += k * float64(plane.Evidence[i])
		for ch := range r.ink {
			r.ink[ch] += k * float64(plane.Light[ch][i]) / 255
		}
	}
	for i, c := range components {
		r := &regions[i]
		r.Component = c
		area := float64(c.Area)
		r.hand /= area
		r.print /= area
		r.divided = math.Sqrt(max(r.divided/area-r.hand*r.hand, 0))
		mean := taken[i] / area
		r.uneven = math.Sqrt(max(r.uneven/area-mean*mean, 0)) / (mean + 0.02)
		r.colour /= weights[i]
		for ch := range r.ink {
			r.ink[ch] /= weights[i]
		}
	}
	return regions
}

// atBorder says whether a pixel has another label, or none, beside it.
func atBorder(labels []int32, i, w int) bool {
	x, l := i%w, labels[i]
	return x == 0 || labels[i-1] != l || x == w-1 || labels[i+1] != l ||
		i < w || labels[i-w] != l || i >= len(labels)-w || labels[i+w] != l
}

// bond is a region that lies near another: gap pixels of paper between them, or none.
type bond struct {
	to    int32
	gap   int
	touch bool
}

// widestGap is the most paper, in working pixels, across which regions are neighbours.
const widestGap = 16

// findBonds lists every region's neighbours, the nearest first, and of those the largest. It grows
// all regions at once, pixel by pixel, until they meet or have gone half of the widest gap.
func findBonds(labels []int32, w, h int, regions []raster.Component) [][]bond {
	g := newGrowth(labels, w, h, len(regions))
	for d := 0; d <= widestGap/2; d++ {
		g.grow(d)
	}
	for _, near := range g.bonds {
		slices.SortFunc(near, func(p, q bond) int {
			return cmp.Or(cmp.Compare(p.gap, q.gap),
				cmp.Compare(regions[q.to].Area, regions[p.to].Area), cmp.Compare(p.to, q.to))
		})
	}
	return g.bonds
}

// growth is regions that grow over the paper.
type growth struct {
	steps    [4]int32
	owner    []int32 // labels, with a rim of offPage round the page
	frontier []int32 // pixels that were taken last
	next     []int32 // pixels that are being taken
	last     []int32 // label that each label met last: most pixels meet whom the one before met
	met      map[[2]int32]bool
	bonds    [][]bond
}

// offPage is the owner of what lies off the page.
const offPage = -1

func newGrowth(labels []int32, w, h, regions int) *growth {
	stride := w + 2
	g := &growth{
		steps: [4]int32{1, int32(stride), -1, -int32(stride)},
		owner: slices.Repeat([]int32{offPage}, stride*(h+2)),
		last:  make([]int32, regions+1),
		met:   map[[2]int32]bool{},
		bonds: make([][]bond, regions),
	}
	for y := range h {
		copy(g.owner[(y+1)*stride+1:], labels[y*w:][:w])
	}
	for i, l := range g.owner {
		if l > 0 && g.atBorder(int32(i)) {
			g.frontier = append(g.frontier, int32(i))
		}
	}
	return g
}

// atBorder says whether a pixel has another label, or none, beside it.
func (g *growth) atBorder(i int32) bool {
	l := g.owner[i]
	for _, step := range g.steps {
		if g.owner[i+step] != l {
			return true
		}
	}
	return false
}

// grow takes the paper beside the frontier, d pixels from the regions, and notes who meets.
func (g *growth) grow(d int) {
	g.next = g.next[:0]
	for _, f := range g.frontier {
		l := g.owner[f]
		for _, step := range g.steps {
			switch o := g.owner[f+step]; {
			case o == l || o == offPage:
			case o == 0:
				g.owner[f+step] = l
				g.next = append(g.next, f+step)
			case g.last[l] != o && g.last[o] != l:
				g.meet(l, o, d)
			}
		}
	}
	g.frontier, g.next = g.next, g.frontier
}

// meet notes that two regions, each grown by d pixels, lie beside each other.
func (g *growth) meet(l, o int32, d int) {
	g.last[l], g.last[o] = o, l
	pair := [2]int32{min(l, o), max(l, o)}
	if g.met[pair] {
		return
	}
	g.met[pair] = true
	g.bonds[l-1] = append(g.bonds[l-1], bond{o - 1, 2 * d, d == 0})
	g.bonds[o-1] = append(g.bonds[o-1], bond{l - 1, 2 * d, d == 0})
}

// isRule says that a component is as long and thin as a ruled line. Strokes of a pen are straight
// too, upright ones for longer.
func isRule(c raster.Component) bool {
	const level, upright, slim = 72, 120, 8
	return c.Width() >= level && c.Width() > slim*c.Height() ||
		c.Height() >= upright && c.Height() > slim*c.Width()
}
