package finish

import (
	"encoding/binary"
	"image"
	"math"

	"unink/internal/raster"
	"unink/internal/restore/canvas"
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
	page          *image.RGBA
	workers       int
	cell          int // its side in pixels
	w, h          int
	ground        []float32  // the median light of what is round a cell
	light, dark   []float32  // and nearly its lightest and darkest
	contrast      []polarity // of the print that there is in a cell, if it is print
	sample, perEm int        // pixels between two samples, samples in an em
	sw, sh        int        // samples
}

// lightCell is the side of the cells in which light is measured: a quarter of an em, in pixels.
func lightCell(c *canvas.Canvas) int {
	return max(4, int(math.Round(c.Em()/4)))
}

// measureTones looks at a page in windows of about an em. What is thin in them and of another light
// than most of the window is print.
func measureTones(c *canvas.Canvas, page *image.RGBA) *toneMap {
	cell := lightCell(c)
	t := &toneMap{page: page, workers: c.Workers, cell: cell, w: (c.W + cell - 1) / cell,
		h: (c.H + cell - 1) / cell, sample: max(1, cell/4)}
	t.perEm = 4 * cell / t.sample
	t.sw, t.sh = (c.W+t.sample-1)/t.sample, (c.H+t.sample-1)/t.sample
	n := t.w * t.h
	t.ground, t.light, t.dark = make([]float32, n), make([]float32, n), make([]float32, n)
	t.contrast = make([]polarity, n)
	raster.Rows(t.h, c.Workers, t.measureRows)
	return t
}

// windowReach is the reach of a cell's window, in cells.
const windowReach = 2

// edge is the first of n samples, across or down, that lies in a cell.
func (t *toneMap) edge(cell, n int) int { return min(max(cell*t.cell/t.sample, 0), n) }

// measureRows measures rows of cells. Of two windows side by side, or one above the other, most is
// the same: what is counted is kept by columns of cells, and the windows' sums are moved along.
func (t *toneMap) measureRows(y0, y1 int) {
	const high = 2*windowReach + 1
	var rows [high][]cellCounts // of the windows, by turns
	for i := range rows {
		rows[i] = make([]cellCounts, t.w)
	}
	next, columns := make([]cellCounts, t.w), make([]lightCounts, windowReach+t.w+windowReach)
	for y := y0 - windowReach; y < y1+windowReach; y++ {
		gone := &rows[(y+high)%high]
		t.count(next, y)
		for x := range next {
			columns[windowReach+x].exchange(&next[x], &(*gone)[x])
		}
		*gone, next = next, *gone
		if y-windowReach >= y0 {
			t.measureRow(y-windowReach, columns)
		}
	}
}

// count counts the samples of a row of cells.
func (t *toneMap) count(cells []cellCounts, y int) {
	clear(cells)
	step := 4 * t.sample // bytes
	for sy := t.edge(y, t.sh); sy < t.edge(y+1, t.sh); sy++ {
		row := t.page.Pix[sy*t.sample*t.page.Stride:]
		at := 0
		for x := range cells {
			cell := &cells[x]
			for end := t.edge(x+1, t.sw) * step; at < end; at += step {
				light := thirds(row[at:]) / 3
				cell[light/8%32][light%8]++
			}
		}
	}
}

// measureRow measures a row of cells, given what is counted of the columns of its windows.
func (t *toneMap) measureRow(y int, columns []lightCounts) {
	var window, none lightCounts
	for x := range 2 * windowReach {
		window.move(&columns[x], &none)
	}
	gone := &none
	for x := range t.w {
		window.move(&columns[x+2*windowReach], gone)
		t.measure(y*t.w+x, &window)
		gone = &columns[x]
	}
}

// cellCounts counts how often each light is there in a cell, which has fewer than 256 samples.
type cellCounts [32][8]uint8

// thirds is three times the light of a pixel.
func thirds(px []uint8) uint16 {
	px = px[:3]
	return uint16(px[0]) + uint16(px[1]) + uint16(px[2])
}

// lightCounts counts how often each light is there, in 16 bits each. Of eight lights the even ones
// share a word and the odd ones the next.
type lightCounts [64]uint64

// exchange adds a cell, and takes another away.
func (n *lightCounts) exchange(added, gone *cellCounts) {
	const evens = 0x00ff00ff00ff00ff
	for i := range added {
		a := binary.LittleEndian.Uint64(added[i][:])
		b := binary.LittleEndian.Uint64(gone[i][:])
		if a == b {
			continue // most lights are in neither
		}
		n[2*i] += a&evens - b&evens
		n[2*i+1] += a>>8&evens - b>>8&evens
	}
}

func (n *lightCounts) of(light int) int {
	return int(uint16(n[light/8*2+light%2] >> (light / 2 % 4 * 16)))
}

// move adds what is new in a window, and takes away what is gone.
func (n *lightCounts) move(added, gone *lightCounts) {
	for i := range n {
		n[i] += added[i] - gone[i]
	}
}

// quantiles are the lights that each of the shares, which rise, of what was counted does not
// exceed.
func (n *lightCounts) quantiles(shares [3]float64) (out [3]float32) {
	const step = 8 // lights that are passed over at once
	var sums [256 / step]int
	total := 0
	for i := range sums {
		four := n[2*i] + n[2*i+1]
		sums[i] = int(four * 0x0001000100010001 >> 48) // of all four: no window has 1<<16 samples
		total += sums[i]
	}
	at, seen := 0, 0
	for i, share := range shares {
		least := int(math.Ceil(share * float64(total)))
		for seen+sums[at] < least {
			seen += sums[at]
			at++
		}
		light := at * step
		for upTo := seen + n.of(light); upTo < least; upTo += n.of(light) {
			light++
		}
		out[i] = float32(light)
	}
	return out
}

// measure fills cell i with what its window holds.
func (t *toneMap) measure(i int, counts *lightCounts) {
	const few = 0.02 // share of the window that is lighter, or darker
	q := counts.quantiles([3]float64{few, 0.5, 1 - few})
	dark, ground, light := q[0], q[1], q[2]
	t.dark[i], t.ground[i], t.light[i] = dark, ground, light

	// The larger of two contrasts is the print's, if it is print.
	up, down := light-ground, ground-dark
	const least, share = 50, 0.7 // of contrast; of the ground in the light
	switch {
	case max(up, down) < least || min(up, down) > max(up, down)/2:
	case down > up && dark <= share*ground:
		t.contrast[i] = darkOnLight
	case down <= up && ground <= share*light:
		t.contrast[i] = lightOnDark
	}
}

// print tells what print there is in the cells that are asked for: what contrasts with the ground,
// is the lesser part of the window and thin. That takes long, so only few should be asked for.
func (t *toneMap) print(asked []bool) []polarity {
	print := make([]polarity, len(asked))
	for _, kind := range []polarity{darkOnLight, lightOnDark} {
		var cells []int
		for i, contrast := range t.contrast {
			if asked[i] && contrast == kind {
				cells = append(cells, i)
			}
		}
		if len(cells) == 0 {
			continue
		}
		tones := t.samples(kind)
		closed := t.closed(tones)
		raster.Rows(len(cells), t.workers, func(from, to int) {
			for _, i := range cells[from:to] {
				if t.isPrint(i, kind, tones, closed) {
					print[i] = kind
				}
			}
		})
	}
	return print
}

const fullLight = 3 * 255 // in thirds of a light

// samples is the page, or for what is light on dark its negative, in thirds of a light.
func (t *toneMap) samples(kind polarity) []uint16 {
	out := make([]uint16, t.sw*t.sh)
	raster.Rows(t.sh, t.workers, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			row := t.page.Pix[y*t.sample*t.page.Stride:]
			for x := range t.sw {
				v := thirds(row[4*x*t.sample:])
				if kind == lightOnDark {
					v = fullLight - v
				}
				out[y*t.sw+x] = v
			}
		}
	})
	return out
}

// closed is without what is darker than its surroundings and thinner than half an em.
func (t *toneMap) closed(tones []uint16) []uint16 {
	reach := max(1, t.perEm/4)
	out := make([]uint16, len(tones))
	negative := func() {
		for i, v := range out {
			out[i] = fullLight - v
		}
	}
	raster.Most(out, tones, t.sw, t.sh, reach)
	negative()
	raster.Most(out, out, t.sw, t.sh, reach)
	negative()
	return out
}

// isPrint tells whether what contrasts in a cell's window is print.
func (t *toneMap) isPrint(cell int, kind polarity, tones, closed []uint16) bool {
	ground := 3 * int(t.ground[cell])
	limit := (ground + 3*int(t.dark[cell])) / 2 // half way from the ground to the print
	if kind == lightOnDark {
		limit = fullLight - 1 - (ground+3*int(t.light[cell]))/2
	}
	cx, cy := cell%t.w, cell/t.w
	x0, x1 := t.edge(cx-windowReach, t.sw), t.edge(cx+windowReach+1, t.sw)
	y0, y1 := t.edge(cy-windowReach, t.sh), t.edge(cy+windowReach+1, t.sh)
	strokes, thick := 0, 0
	for y := y0; y < y1; y++ {
		rest := closed[y*t.sw+x0 : y*t.sw+x1]
		for x, v := range tones[y*t.sw+x0 : y*t.sw+x1] {
			if int(v) > limit {
				continue
			}
			strokes++
			if int(rest[x]) <= limit {
				thick++
			}
		}
	}
	const most = 0.45 // of the window
	return float64(strokes) < most*float64((x1-x0)*(y1-y0)) && 5*thick < strokes
}

// panels are the cells of the areas that are printed light on dark.
func (t *toneMap) panels() []bool {
	const (
		near   = 24  // cells in which the lightest is looked for
		dark   = 0.8 // of that
		share  = 0.6 // of the page's lightest, which that is at least
		enough = 40  // cells of such print
	)
	lightest, page := make([]float32, len(t.light)), float32(0)
	raster.Most(lightest, t.light, t.w, t.h, near)
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
	// Only where enough contrasts is it worth looking at.
	contrasting := make([]int, len(areas)+1)
	for i, n := range labels {
		if t.contrast[i] == lightOnDark {
			contrasting[n]++
		}
	}
	asked := make([]bool, len(labels))
	for i, n := range labels {
		asked[i] = n > 0 && contrasting[n] > enough
	}
	votes := make([][3]int, len(areas)+1)
	for i, kind := range t.print(asked) {
		votes[labels[i]][kind]++
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
	gone, all := make([]bool, len(t.contrast)), make([]bool, len(t.contrast))
	faded := 0
	for i, kind := range t.contrast {
		all[i] = true
		gone[i] = after.light[i]-after.dark[i] < hardly*(t.light[i]-t.dark[i])
		if gone[i] && kind != noPrint {
			faded++
		}
	}
	if faded < least {
		return false
	}
	prints, lost := 0, 0
	for i, kind := range t.print(all) {
		if kind == noPrint {
			continue
		}
		prints++
		if gone[i] {
			lost++
		}
	}
	return lost >= least && float64(lost) > much*float64(prints)
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
