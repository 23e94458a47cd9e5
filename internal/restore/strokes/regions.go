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
func (g *ground) parts(s *segment.Scores, plane *ink.Plane, workers int) {
	raster.Rows(s.H, workers, func(y0, y1 int) {
		for _, r := range raster.RunsWithin(plane.Runs, y0*s.W, y1*s.W) {
			for i := r.From; i < r.To; i++ {
				class := uint8(3)
				switch {
				case s.Hand[i] > 0:
					class = 2
				case s.Print[i] > 0:
					class = 1
				}
				switch e := plane.Evidence[i]; {
				case e > telling:
					class |= 4
				case e < -telling:
					class |= 8
				}
				if l := g.lines[i]; l > 0 && isRule(g.pieces[l-1]) {
					class |= onRule
				}
				g.class[i] = class
			}
		}
	})
}

// onRule is the part of a class that says that the ink lies on a line.
const onRule = 16

// telling is the log-odds from which an ink's colour alone says whose it is.
const telling = 1

// measureRegions collects what is known of each component from its runs.
func measureRegions(s *segment.Scores, labels []int32, runs []raster.Run,
	components []raster.Component, plane *ink.Plane) []region {
	regions := make([]region, len(components))
	weights := make([]float64, len(components))
	taken := make([]float64, len(components))
	for i := range regions {
		regions[i].surest = math.Inf(-1)
	}
	for _, run := range runs {
		at := run.Label - 1
		r := &regions[at]
		hands, squares, prints, surest := 0, 0, 0, -128 // in steps of the scores
		weight, all, uneven, colour := weights[at], taken[at], r.uneven, r.colour
		red, green, blue := r.ink[0], r.ink[1], r.ink[2]
		for i := int(run.From); i < int(run.To); i++ {
			hand, print := int(s.Hand[i]), int(s.Print[i])
			hands += hand
			squares += hand * hand
			prints += print
			surest = max(surest, hand)
			if hand > 0 {
				r.handed++
			}
			if print > 0 {
				r.printed++
			}
			// Beside a run there is something else.
			if i == int(run.From) || i+1 == int(run.To) || i < s.W || labels[i-s.W] != run.Label ||
				i+s.W >= len(labels) || labels[i+s.W] != run.Label {
				r.border++
			}
			t := float64(plane.Taken(i))
			all += t
			uneven += t * t
			k := t*t + 1e-4
			weight += k
			colour += k * float64(plane.Evidence[i])
			red += k * float64(plane.Light[0][i]) / 255
			green += k * float64(plane.Light[1][i]) / 255
			blue += k * float64(plane.Light[2][i]) / 255
		}
		r.hand += float64(hands) / segment.Unit
		r.divided += float64(squares) / (segment.Unit * segment.Unit)
		r.print += float64(prints) / segment.Unit
		r.surest = max(r.surest, float64(surest)/segment.Unit)
		weights[at], taken[at], r.uneven, r.colour = weight, all, uneven, colour
		r.ink = [3]float64{red, green, blue}
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

// bond is a region that lies near another: gap pixels of paper between them, or none.
type bond struct {
	to    int32
	gap   int
	touch bool
}

// widestGap is the most paper, in working pixels, across which regions are neighbours.
const widestGap = 16

// findBonds lists every region's neighbours, the nearest first, and of those the largest: those
// whose surroundings meet. near is what [nearestInk] found.
func findBonds(near []uint32, labels []int32, w int, regions []raster.Component) [][]bond {
	m := meetings{gaps: map[[2]int32]uint32{}}
	above, row := make([]int32, w), make([]int32, w)
	for at := 0; at < len(near); at += w {
		here, left := near[at:at+w], int32(0)
		above, row = above[:len(here)], row[:len(here)]
		for x, n := range here {
			own := int32(0)
			if n < outOfReach {
				own = labels[n&inkPixel]
				if left != own && left > 0 {
					m.meet(own, left, min(n, here[x-1])/perStep)
				}
				if up := above[x]; up != own && up > 0 {
					m.meet(own, up, min(n, near[at+x-w])/perStep)
				}
			}
			row[x], left = own, own
		}
		above, row = row, above
	}
	bonds := make([][]bond, len(regions))
	for pair, d := range m.gaps {
		p, q, gap := pair[0], pair[1], int(2*d)
		bonds[p-1] = append(bonds[p-1], bond{q - 1, gap, gap == 0})
		bonds[q-1] = append(bonds[q-1], bond{p - 1, gap, gap == 0})
	}
	for _, near := range bonds {
		slices.SortFunc(near, func(p, q bond) int {
			return cmp.Or(cmp.Compare(p.gap, q.gap),
				cmp.Compare(regions[q.to].Area, regions[p.to].Area), cmp.Compare(p.to, q.to))
		})
	}
	return bonds
}

// What [nearestInk] says of a pixel: its pixel of ink, and as many times perStep as it is away.
const (
	perStep    = 1 << 23 // more than a working picture has pixels
	inkPixel   = perStep - 1
	outOfReach = (widestGap/2 + 2) * perStep // from here on it is nobody's
)

// nearestInk finds the pixel of ink that is nearest to each pixel, in steps along the axes, and of
// several the first. A pass down the page finds those above and beside it, one up the page the
// others (Rosenfeld and Pfaltz 1966, "Sequential operations in digital picture processing").
func nearestInk(class []uint8, w int) []uint32 {
	near := make([]uint32, len(class))
	beyond := slices.Repeat([]uint32{outOfReach}, w)
	above := beyond
	for at := 0; at < len(near); at += w {
		row, inked, v := near[at:at+w], class[at:at+w], uint32(outOfReach)
		above = above[:len(row)]
		for x := range row {
			n := min(above[x]+perStep, outOfReach) // apart, since v waits for the pixel before
			if inked[x] != 0 {
				n = uint32(at + x)
			}
			v = min(v+perStep, n)
			row[x] = v
		}
		above = row
	}
	below := beyond
	for at := len(near) - w; at >= 0; at -= w {
		row, v := near[at:at+w], uint32(outOfReach)
		below = below[:len(row)]
		for x := w - 1; x >= 0; x-- {
			n := min(row[x], below[x]+perStep)
			v = min(v+perStep, n)
			row[x] = v
		}
		below = row
	}
	return near
}

// meetings are the pairs of regions that meet, and how far from both.
type meetings struct {
	gaps map[[2]int32]uint32
	last [1 << 12]struct { // some of the pairs that met last: most meet again and again
		pair [2]int32
		d    uint32
	}
}

// meet notes that two regions, each grown by d pixels, lie beside each other.
func (m *meetings) meet(p, q int32, d uint32) {
	pair := [2]int32{min(p, q), max(p, q)}
	last := &m.last[(pair[0]*31+pair[1])%int32(len(m.last))]
	if d > widestGap/2 || last.pair == pair && last.d <= d {
		return
	}
	if known, met := m.gaps[pair]; met {
		d = min(d, known)
	}
	m.gaps[pair] = d
	last.pair, last.d = pair, d
}

// isRule says that a component is as long and thin as a ruled line. Strokes of a pen are straight
// too, upright ones for longer.
func isRule(c raster.Component) bool {
	const level, upright, slim = 72, 120, 8 // working pixels; the same; times as long as thick
	return c.Width() >= level && c.Width() > slim*c.Height() ||
		c.Height() >= upright && c.Height() > slim*c.Width()
}
