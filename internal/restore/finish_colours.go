package restore

import (
	"cmp"
	"image"
	"slices"
	"sync"

	"unink/internal/raster"
)

// reduce brings the text of a finished page to a few shades, which keeps edges smooth and files
// small: those of grey and of the page's inks where the page then has few enough colours for a
// palette, and else, beside pictures, those of colours that are merely coarse.
func (c *canvas) reduce(page *image.RGBA, l *lightMap, m *inkMap) {
	shade := fewer
	if inks := c.tally(page, l, m).inks(); inks != nil {
		shade = newInkTable(inks).shade
	}
	raster.Rows(c.h, c.workers, func(y0, y1 int) {
		c.eachDark(page, l, m, y0, y1, func(px []uint8, text bool) {
			if text {
				shade(px)
			}
		})
	})
}

// eachDark goes over the pixels that are not white, and tells those of text.
func (c *canvas) eachDark(page *image.RGBA, l *lightMap, m *inkMap, y0, y1 int, do func(px []uint8, text bool)) {
	for y := y0; y < y1; y++ {
		row := page.Pix[y*page.Stride:][:4*c.w]
		fills, text := l.fill[y/l.cell*l.w:], m.text[y/m.colour.Cell*m.colour.W:]
		for x := range c.w {
			if px := row[4*x : 4*x+3 : 4*x+3]; px[0]&px[1]&px[2] != 255 {
				do(px, text[x/m.colour.Cell] && !fills[x/l.cell])
			}
		}
	}
}

const (
	paletteSize = 256
	shades      = 16 // of an ink, from white to the darkest
	shadeStep   = 255 / (shades - 1)
	mostInks    = 12   // beside black
	apart       = 0.25 // of two inks' ratios: less is the noise of one
)

// inkTally counts the hues of text, and the colours of all else until they are too many.
type inkTally struct {
	bins [ratios * ratios * ratios]hueBin
	kept map[[3]uint8]struct{}
}

// hueBin sums what ink of about the same share of the channels absorbs.
type hueBin struct {
	sum    [3]int64
	chroma int64 // by how much the channels differ, in all
}

// ratios is at how many steps the shares of the channels in what ink absorbs are told apart.
const ratios = 13

// hueBinOf is the bin of ink that absorbs so much.
func hueBinOf(r, g, b int) int {
	most := max(r, g, b)
	step := func(v int) int { return (v*(ratios-1) + most/2) / most }
	return (step(r)*ratios+step(g))*ratios + step(b)
}

func (c *canvas) tally(page *image.RGBA, l *lightMap, m *inkMap) *inkTally {
	all := &inkTally{kept: map[[3]uint8]struct{}{}}
	var mu sync.Mutex
	raster.Rows(c.h, c.workers, func(y0, y1 int) {
		t := &inkTally{kept: map[[3]uint8]struct{}{}}
		c.eachDark(page, l, m, y0, y1, t.add)
		mu.Lock()
		defer mu.Unlock()
		all.take(t)
	})
	return all
}

func (t *inkTally) add(px []uint8, text bool) {
	if !text {
		if len(t.kept) <= paletteSize {
			t.kept[[3]uint8(px)] = struct{}{}
		}
		return
	}
	r, g, b := 255-int(px[0]), 255-int(px[1]), 255-int(px[2])
	chroma := max(r, g, b) - min(r, g, b)
	if chroma == 0 {
		return
	}
	t.bins[hueBinOf(r, g, b)].take(&hueBin{[3]int64{int64(r), int64(g), int64(b)}, int64(chroma)})
}

func (t *inkTally) take(o *inkTally) {
	for i := range t.bins {
		t.bins[i].take(&o.bins[i])
	}
	for px := range o.kept {
		t.kept[px] = struct{}{}
	}
}

func (b *hueBin) take(o *hueBin) {
	for ch, v := range o.sum {
		b.sum[ch] += v
	}
	b.chroma += o.chroma
}

// ratio is what the ink absorbs as shares of what it does of the channel it absorbs most of.
func (b *hueBin) ratio() (out [3]float32) {
	most := max(b.sum[0], b.sum[1], b.sum[2], 1)
	for ch, v := range b.sum {
		out[ch] = float32(v) / float32(most)
	}
	return out
}

// inks are the inks of the page's text, black first, or nil if there are too many colours on the
// page for a palette.
func (t *inkTally) inks() [][3]float32 {
	room := (paletteSize - shades - len(t.kept)) / (shades - 1)
	if room < 0 {
		return nil
	}
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
	for len(rest) > 0 && left > stray && len(inks) <= min(room, mostInks) {
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
	if left > stray && float64(left) > missed*float64(all) {
		return nil
	}
	return settle(inks, bins)
}

// settle moves each ink but black into the middle of the bins that are nearest to it.
func settle(inks [][3]float32, bins []*hueBin) [][3]float32 {
	const rounds = 4
	for range rounds {
		sums := make([]hueBin, len(inks))
		for _, b := range bins {
			sums[nearest(inks, b.ratio())].take(b)
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

// inkTable has for each bin the nearest ink, and the inks' shades.
type inkTable struct {
	ink    [ratios * ratios * ratios]uint8
	ratio  [][3]float32
	colour [][shades][3]uint8
}

func newInkTable(inks [][3]float32) *inkTable {
	t := &inkTable{ratio: make([][3]float32, len(inks)), colour: make([][shades][3]uint8, len(inks))}
	for i := range t.ink {
		r := [3]float32{float32(i / ratios / ratios), float32(i / ratios % ratios), float32(i % ratios)}
		for ch := range r {
			r[ch] /= ratios - 1
		}
		t.ink[i] = uint8(nearest(inks, r))
	}
	for i, ink := range inks {
		length := distance(ink, [3]float32{})
		for ch, v := range ink {
			t.ratio[i][ch] = v / length / shadeStep
			for s := range shades {
				t.colour[i][s][ch] = uint8(255.5 - float32(s*shadeStep)*v)
			}
		}
	}
	return t
}

// shade brings a pixel to the nearest shade of its ink.
func (t *inkTable) shade(px []uint8) {
	r, g, b := 255-int(px[0]), 255-int(px[1]), 255-int(px[2])
	ink := t.ink[hueBinOf(r, g, b)]
	k := &t.ratio[ink]
	s := int(float32(r)*k[0] + float32(g)*k[1] + float32(b)*k[2] + 0.5)
	copy(px, t.colour[ink][min(s, shades-1)][:])
}

// fewer brings a pixel to one of a few shades of one of some hues.
func fewer(px []uint8) {
	const hue = 6 // steps of a channel's share in the absorption
	r, g, b := 255-float32(px[0]), 255-float32(px[1]), 255-float32(px[2])
	most := max(r, g, b)
	level := float32(int(most/shadeStep+0.5)) * shadeStep
	for ch, v := range [3]float32{r, g, b} {
		px[ch] = uint8(255.5 - level*float32(int(v/most*hue+0.5))/hue)
	}
}
