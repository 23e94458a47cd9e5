package finish

import (
	"cmp"
	"encoding/binary"
	"image"
	"slices"

	"unink/internal/raster"
	"unink/internal/restore/canvas"
)

// reduceColours brings the text of a finished page to a few shades, which keeps edges smooth and
// files small: those of grey and of the page's inks, and its pictures to what colours are left,
// where these will do for a palette; else, beside pictures, those of colours that are merely
// coarse. Given are the tally of the page and how deep its text is.
func reduceColours(c *canvas.Canvas, page *image.RGBA, l *lightMap, m *inkMap, t *inkTally,
	depths *depthMap) {
	n := shadesFor(float64(t.soft) / float64(c.W*c.H))
	shade, tone := func(_, _ int, px []uint8) { fewer(px, n) }, func([]uint8) {}
	broad := mostShades
	inks, tones := t.palette(broad)
	if inks == nil {
		broad = n
		inks, tones = t.palette(broad)
	}
	if inks != nil {
		finder, settled := findInks(c, page, l, m, inks)
		shades := newInkShades(settled, n, broad)
		shade, tone = func(x, y int, px []uint8) {
			shades.shade(px, finder.ink(x, y, px), depths.within(x, y))
		}, tones
	}
	raster.Rows(c.H, c.Workers, func(y0, y1 int) {
		eachDark(c, page, l, m, y0, y1, 1, func(x, y int, px []uint8, text bool) {
			if text {
				shade(x, y, px)
			} else {
				tone(px)
			}
		})
	})
}

// shadesFor is how many shades, white included, ink is given: fewer on a page of dense text, of
// which a larger share is soft edges, so that its file is about as small as another's.
func shadesFor(soft float64) int {
	switch {
	case soft < 0.075:
		return mostShades
	case soft < 0.11:
		return 8
	case soft < 0.13:
		return 6
	}
	return 5
}

// shadeLevel is how dark the shade s of n is, as one of mostShades: the greys that PNG has in four
// bits.
func shadeLevel(s, n int) int { return ((mostShades-1)*s + (n-1)/2) / (n - 1) }

// eachDark goes over the pixels that are not white of the rows from y0 to y1 that are multiples of
// step, and tells those of text.
func eachDark(c *canvas.Canvas, page *image.RGBA, l *lightMap, m *inkMap, y0, y1, step int,
	do func(x, y int, px []uint8, text bool)) {
	for y := (y0 + step - 1) / step * step; y < y1; y += step {
		row := page.Pix[y*page.Stride:][:4*c.W]
		fills, text := l.fill[y/l.cell*l.w:], m.text[y/m.colour.Cell*m.colour.W:]
		for x := nextDark(row, 0); x < c.W; x = nextDark(row, x+1) {
			do(x, y, row[4*x:4*x+3:4*x+3], text[x/m.colour.Cell] && !fills[x/l.cell])
		}
	}
}

// nextDark is the first pixel of a row, of four bytes each, from x on that is not white.
func nextDark(row []uint8, x int) int {
	for ; 4*x+8 <= len(row) && binary.LittleEndian.Uint64(row[4*x:])|alphas == ^uint64(0); x += 2 {
	}
	for ; 4*x+4 <= len(row); x++ {
		if px := row[4*x : 4*x+3 : 4*x+3]; px[0]&px[1]&px[2] != 255 {
			break
		}
	}
	return x
}

// alphas are those of two pixels.
const alphas = 0xff000000ff000000

const (
	paletteSize = 256
	mostShades  = 16   // of an ink, from white to the darkest
	mostInks    = 12   // beside black
	apart       = 0.25 // of two inks' ratios: less is the noise of one
	alike       = 0.12 // after the inks have settled
	astray      = 0.4  // of a hue from all inks: more would show
	faint       = 0.2  // of an ink from black
)

// inkTally counts the hues of text and the colours of all else.
type inkTally struct {
	bins [ratios * ratios * ratios]hueBin
	soft int // pixels of text that are neither white nor black
	kept pictureTally
}

// hueBin sums what ink of about the same share of the channels absorbs.
type hueBin struct {
	sum    [3]int64
	chroma int64 // by how much the channels differ, in all
}

// ratios is the number of steps in which the shares of the channels are told apart.
const ratios = 13

// hueBinOf is the bin of ink that absorbs so much.
func hueBinOf(r, g, b int) int {
	most := max(r, g, b)
	step := func(v int) int { return (v*(ratios-1) + most/2) / most }
	return (step(r)*ratios+step(g))*ratios + step(b)
}

func newInkTally() *inkTally { return &inkTally{kept: newPictureTally()} }

// addRow counts the hues and colours of a row of the page, and notes how deep its text is.
func (t *inkTally) addRow(c *canvas.Canvas, page *image.RGBA, l *lightMap, m *inkMap, y int,
	deep *depthMap) {
	row := deep.v[y*c.W:][:c.W]
	eachDark(c, page, l, m, y, y+1, 1, func(x, _ int, px []uint8, text bool) {
		t.add(px, text)
		if text {
			row[x] = 255 - min(px[0], px[1], px[2])
		}
	})
}

func (t *inkTally) add(px []uint8, text bool) {
	if !text {
		t.kept.add(px)
		return
	}
	r, g, b := 255-int(px[0]), 255-int(px[1]), 255-int(px[2])
	if most := max(r, g, b); most > 10 && most < 240 {
		t.soft++
	}
	chroma := max(r, g, b) - min(r, g, b)
	if chroma == 0 {
		return
	}
	t.bins[hueBinOf(r, g, b)].merge(&hueBin{[3]int64{int64(r), int64(g), int64(b)}, int64(chroma)})
}

func (t *inkTally) merge(o *inkTally) {
	for i := range t.bins {
		t.bins[i].merge(&o.bins[i])
	}
	t.soft += o.soft
	t.kept.merge(&o.kept)
}

func (b *hueBin) merge(o *hueBin) {
	for ch, v := range o.sum {
		b.sum[ch] += v
	}
	b.chroma += o.chroma
}

// ratio is the ink's hue: what it absorbs of each channel, divided by what it absorbs of the one
// that it absorbs most of, so that the largest value is 1.
func (b *hueBin) ratio() (out [3]float32) {
	most := max(b.sum[0], b.sum[1], b.sum[2], 1)
	for ch, v := range b.sum {
		out[ch] = float32(v) / float32(most)
	}
	return out
}

// palette finds colours for a palette: the inks of the text, black first, each of n shades, and
// what brings all else to the colours left. The inks are nil where the palette would be too small.
func (t *inkTally) palette(n int) (inks [][3]float32, tone func([]uint8)) {
	inks = t.inks()
	if inks == nil {
		return nil, nil
	}
	room := paletteSize - 1 - len(inks)*(n-1)
	if len(t.kept.few) <= room {
		return inks, func([]uint8) {}
	}
	if table := t.kept.reduce(room); table != nil {
		return inks, table.shade
	}
	return nil, nil
}

// inks are the inks of the page's text, black first, or nil if there are too many.
func (t *inkTally) inks() [][3]float32 {
	var bins []*hueBin
	left := int64(0)
	for i := range t.bins {
		if b := &t.bins[i]; b.chroma > 0 {
			bins = append(bins, b)
			left += b.chroma
		}
	}
	slices.SortStableFunc(bins, func(a, b *hueBin) int { return cmp.Compare(b.chroma, a.chroma) })
	const (
		stray  = 20 * 255 // too little to tell an ink
		missed = 0.02     // share of the colour that may be that of another ink
	)
	all := left
	inks := [][3]float32{{1, 1, 1}}
	rest := slices.Clone(bins)
	for len(rest) > 0 && left > stray && len(inks) <= mostInks {
		ink := rest[0].ratio()
		inks = append(inks, ink)
		rest = slices.DeleteFunc(rest, func(b *hueBin) bool {
			if distance(b.ratio(), ink) > apart*apart {
				return false
			}
			left -= b.chroma
			return true
		})
	}
	inks = refineInks(inks, bins)
	left = 0
	for _, b := range bins {
		if ratio := b.ratio(); distance(inks[nearest(inks, ratio)], ratio) > astray*astray {
			left += b.chroma
		}
	}
	if left > stray && float64(left) > missed*float64(all) {
		return nil
	}
	distinct := inks[:1]
	// One that has settled beside another is its noise, and so is what is hardly coloured.
	for _, ink := range inks[1:] {
		near := nearest(distinct, ink)
		if d := distance(distinct[near], ink); near == 0 && d > faint*faint ||
			near > 0 && d > alike*alike {
			distinct = append(distinct, ink)
		}
	}
	return refineInks(distinct, bins)
}

// refineInks moves each ink but black into the middle of the bins that are nearest to it.
func refineInks(inks [][3]float32, bins []*hueBin) [][3]float32 {
	const rounds = 4 // of moving: few inks move longer
	for range rounds {
		sums := make([]hueBin, len(inks))
		for _, b := range bins {
			sums[nearest(inks, b.ratio())].merge(b)
		}
		for i := range sums {
			if i > 0 && sums[i].chroma > 0 {
				inks[i] = sums[i].ratio()
			}
		}
	}
	return inks
}

func nearest(inks [][3]float32, ratio [3]float32) int {
	best := 0
	for i, ink := range inks {
		if distance(ink, ratio) < distance(inks[best], ratio) {
			best = i
		}
	}
	return best
}

// distance is that of two inks' ratios, squared.
func distance(a, b [3]float32) (d float32) {
	for ch := range a {
		d += (a[ch] - b[ch]) * (a[ch] - b[ch])
	}
	return d
}

// fewer brings a pixel to one of so many shades of one of some hues.
func fewer(px []uint8, shades int) {
	const hue = 6 // steps of a channel's share in the absorption
	r, g, b := 255-float32(px[0]), 255-float32(px[1]), 255-float32(px[2])
	most := max(r, g, b)
	level := float32(17 * shadeLevel(int(most*float32(shades-1)/255+0.5), shades))
	for ch, v := range [3]float32{r, g, b} {
		px[ch] = uint8(255.5 - level*float32(int(v/most*hue+0.5))/hue)
	}
}
