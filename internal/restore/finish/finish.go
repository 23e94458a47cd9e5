// Package finish makes a cleaned page look like a scan: white paper, dark print, few colours.
package finish

import (
	"image"
	"sync"

	"unink/internal/raster"
	"unink/internal/restore/canvas"
)

// Scan evens the cleaned page out, in place: its paper becomes white whatever the light, and its
// print dark. Colours of the print, fills and pictures keep their hue; what is grey becomes
// wholly grey. Panels that are printed light on dark stay.
//
// It reports false, and leaves the page as it is, where most of it is light on dark, or where print
// would be lost.
func Scan(c *canvas.Canvas, page *image.RGBA) bool {
	const most = 0.6 // of the page
	kept := raster.Clone(page, c.Workers)
	before := measureTones(c, kept)
	panels := before.panels()
	if shareOf(panels) > most {
		return false
	}
	evenOut(c, page, panels)
	if before.lost(measureTones(c, page)) {
		copy(page.Pix, kept.Pix)
		return false
	}
	return true
}

func evenOut(c *canvas.Canvas, page *image.RGBA, panels []bool) {
	light := measureLight(c, page, panels)
	lv := measureLevels(c, page, light)
	inks := mapInks(c, page, light)
	colour := inks.colour.Sample(c.W, c.H)
	plain, crisp := toneCurve(0), toneCurve(0.25)
	tally, depths := newInkTally(), newDepths(c.W, c.H)
	var mu sync.Mutex
	raster.Rows(c.H, c.Workers, func(y0, y1 int) {
		part := newInkTally()
		var line [3][]float32
		for ch := range line {
			line[ch] = make([]float32, c.W)
		}
		white, keep, scratch := make([]float32, c.W), make([]float32, c.W), make([]float32, c.W)
		for y := y0; y < y1; y++ {
			light.row(line, scratch, y)
			lv.white.Row(white, scratch, y)
			colour.Row(keep, scratch, y)
			row, flags := page.Pix[y*page.Stride:][:4*c.W], c.Flags[y*c.W:][:c.W]
			fills := light.fill[y/light.cell*light.w:]
			for x, w := range white {
				px := row[4*x : 4*x+3 : 4*x+3]
				r, g, b := float32(px[0])*line[0][x], float32(px[1])*line[1][x],
					float32(px[2])*line[2][x]
				if flags[x] != 0 {
					w = raster.Larger(w, inkWhite)
				}
				if r >= w && g >= w && b >= w {
					px[0], px[1], px[2] = 255, 255, 255
					continue
				}
				if fills[x/light.cell] {
					plain.paint(px, w, fillGain*lv.black, keep[x], r, g, b)
				} else {
					crisp.paint(px, w, lv.black, keep[x], r, g, b)
				}
			}
			part.addRow(c, page, light, &inks, y, depths)
		}
		mu.Lock()
		defer mu.Unlock()
		tally.merge(part)
	})
	reduceColours(c, page, light, &inks, tally, depths)
}

// inkWhite is the least share of the paper's light from which a pixel in ink or close to it turns
// white. Elsewhere the bound may be lower, so that print showing through from the back goes; what
// is faint where the network sees print is faint print.
const inkWhite = 1 - inkLeast

// fillGain is how much of the stretch to black fills and pictures get: they are to look as they
// did.
const fillGain = 0.4

// toneTable maps what a pixel absorbs, as a share of what the darkest print does, to how many
// times as much it shall absorb.
type toneTable [1025]float32

// toneCurve is straight, with a share of an S, which makes the edges of the print crisp.
func toneCurve(s float64) *toneTable {
	t := &toneTable{}
	t[0] = float32(1 - s)
	for i := 1; i < len(t); i++ {
		v := float64(i) / 1024
		t[i] = float32(1 - s + s*v*(3-2*v))
	}
	return t
}

// paint writes a colour, given as shares of the paper's light. All channels are absorbed by one
// factor, so that the hue stays; keep says how much of the colour does.
func (t *toneTable) paint(px []uint8, white, black, keep, r, g, b float32) {
	k := 1 / (white - black)
	r, g, b = raster.Larger(white-r, 0)*k, raster.Larger(white-g, 0)*k, raster.Larger(white-b, 0)*k
	if keep < 1 {
		grey := 0.3*r + 0.59*g + 0.11*b
		r, g, b = grey+keep*(r-grey), grey+keep*(g-grey), grey+keep*(b-grey)
	}
	most := raster.Larger(raster.Larger(r, g), b)
	factor := 255 * t[1024]
	if most < 1 {
		factor = 255 * t[int(most*1024)]
	} else {
		factor /= most
	}
	px[0], px[1], px[2] = uint8(255.5-factor*r), uint8(255.5-factor*g), uint8(255.5-factor*b)
}

// levels are the shares of the paper's light that become white and black.
type levels struct {
	white *raster.Sampler
	black float32
}

// shareBins is the resolution at which shares of light are counted, from 0 to 1.
const shareBins = 128

// shareCounts counts how often plain paper has each share of the paper's light.
type shareCounts [shareBins + 1]int32

func (s *shareCounts) add(o *shareCounts) {
	for i, n := range o {
		s[i] += n
	}
}

func (s *shareCounts) total() (n int32) {
	for _, v := range s {
		n += v
	}
	return n
}

func (s *shareCounts) quantile(q float64) float64 {
	want, seen := q*float64(s.total()), 0.0
	for i, n := range s {
		if seen += float64(n); n > 0 && seen >= want {
			return float64(i) / shareBins
		}
	}
	return 1
}

// measureLevels finds black from the page's print, and white place by place from the paper: below
// its texture, its noise and what shows through, but not below a faint thing here and there, which
// may be print.
func measureLevels(c *canvas.Canvas, page *image.RGBA, l *lightMap) levels {
	const perBlock = 10 // cells
	side := perBlock * l.cell
	g := raster.NewGrid(c.W, c.H, side)
	counts := make([]shareCounts, len(g.V))
	prints := make([]shareCounts, g.H)
	raster.Rows(g.H, c.Workers, func(a, b int) {
		for by := a; by < b; by++ {
			countShares(c, page, l, by*side, min((by+1)*side, c.H), side, counts[by*g.W:][:g.W],
				&prints[by])
		}
	})
	var all, print shareCounts
	for i := range counts {
		all.add(&counts[i])
	}
	for i := range prints {
		print.add(&prints[i])
	}
	usual := whiteOf(&all)
	for by := range g.H {
		for bx := range g.W {
			var near shareCounts
			for y := max(by-1, 0); y <= min(by+1, g.H-1); y++ {
				for x := max(bx-1, 0); x <= min(bx+1, g.W-1); x++ {
					near.add(&counts[y*g.W+x])
				}
			}
			g.V[by*g.W+bx] = usual
			if near.total() > 300 {
				g.V[by*g.W+bx] = whiteOf(&near)
			}
		}
	}
	lv := levels{black: 0.2}
	if print.total() > 50 {
		lv.black = float32(min(max(0.8*print.quantile(0.12), 0.05), 0.55))
	}
	lv.white = whiteOfFills(c, g, l).Sample(c.W, c.H)
	return lv
}

// countShares counts a sample of the pixels of the rows y0 to y1.
func countShares(c *canvas.Canvas, page *image.RGBA, l *lightMap, y0, y1, side int,
	paper []shareCounts, print *shareCounts) {
	const step = 3 // pixels between those counted
	var line [3][]float32
	for ch := range line {
		line[ch] = make([]float32, c.W)
	}
	scratch := make([]float32, c.W)
	for y := y0 + 1; y < y1; y += step {
		l.row(line, scratch, y)
		for x := 1; x < c.W; x += step {
			i := y*c.W + x
			px := page.Pix[4*i : 4*i+3 : 4*i+3]
			r, g, b := float32(px[0])*line[0][x], float32(px[1])*line[1][x],
				float32(px[2])*line[2][x]
			switch c.Flags[i] & (canvas.IsHand | canvas.IsPrint | canvas.NearInk) {
			case canvas.IsPrint, canvas.IsPrint | canvas.NearInk:
				print[int(min((r+g+b)/3, 1)*shareBins)]++
			case 0:
				if !l.fill[y/l.cell*l.w+x/l.cell] {
					paper[x/side][int(min(r, g, b, 1)*shareBins)]++
				}
			}
		}
	}
}

// whiteOf is the share of light that all but a little of the paper has.
func whiteOf(s *shareCounts) float32 {
	if s.total() == 0 {
		return 0.92
	}
	middle, low := s.quantile(0.5), s.quantile(0.1)
	const few = 3.2 // times what a tenth of the paper is darker by: noise does not reach there
	least := middle - few*(middle-low) - 0.02
	return float32(min(max(s.quantile(0.012)-0.5/shareBins, least, 0.72), 0.97))
}

// whiteOfFills brings the white to the cells of the light and lifts it in the fills.
func whiteOfFills(c *canvas.Canvas, blocks *raster.Grid, l *lightMap) *raster.Grid {
	const fillWhite = 0.985 // of the light: what is lighter turns white
	g := raster.NewGrid(c.W, c.H, l.cell)
	s, scratch := blocks.Sample(g.W, g.H), make([]float32, blocks.W)
	for y := range g.H {
		row := g.V[y*g.W:][:g.W]
		s.Row(row, scratch, y)
		for x := range row {
			if l.fill[y*l.w+x] {
				row[x] = fillWhite
			}
		}
	}
	return g
}

// inkMap is what squares of the page hold.
type inkMap struct {
	colour *raster.Grid // 1 where print has a colour of its own, 0 where it is grey
	text   []bool       // strokes on paper, no picture
}

// mapInks sums up the ink in squares, since over a few strokes the fringes of a lens and the noise
// of compression cancel out, and the ink's colour does not.
func mapInks(c *canvas.Canvas, page *image.RGBA, l *lightMap) inkMap {
	const perSquare = 2 // cells
	side := perSquare * l.cell
	g := raster.NewGrid(c.W, c.H, side)
	paper := make([]float32, len(g.V))
	chroma := make([]float32, len(g.V)) // above the tint of the paper
	raster.Rows(g.H, c.Workers, func(a, b int) {
		var line [3][]float32
		for ch := range line {
			line[ch] = make([]float32, c.W)
		}
		scratch := make([]float32, c.W)
		sums := make([]absorbed, g.W)
		for gy := a; gy < b; gy++ {
			clear(sums)
			free := paper[gy*g.W:][:g.W]
			for y := gy * side; y < min((gy+1)*side, c.H); y += 2 {
				l.row(line, scratch, y)
				row, fills := page.Pix[y*page.Stride:][:4*c.W], l.fill[y/l.cell*l.w:]
				for gx := range sums {
					for cell := perSquare * gx; cell < min(perSquare*(gx+1), l.w); cell++ {
						least := float32(inkLeast)
						if fills[cell] {
							least = fillLeast
						}
						free[gx] += sums[gx].add(row, &line, least, cell*l.cell,
							min((cell+1)*l.cell, c.W))
					}
				}
			}
			for gx, s := range sums {
				g.V[gy*g.W+gx] = colourful(s)
				x := gx * side
				differ := max(s[0], s[1], s[2]) - min(s[0], s[1], s[2])
				chroma[gy*g.W+gx] = differ/float32(side*side/2) - tintAt(line, x)
			}
		}
	})
	keepFillsWhole(g, l, side)
	greyPhotographs(g, l, side, chroma)
	m := inkMap{colour: widen(g), text: make([]bool, len(paper))}
	most := make([]float32, len(paper))
	raster.Most(most, paper, g.W, g.H, 1)
	for i, n := range most {
		m.text[i] = n > 0.2*float32(side*side/2)
	}
	return m
}

// absorbed is the sum of the shares of light that ink takes away.
type absorbed [3]float32

// add adds the pixels of a row from one to before another that take away more than least, and
// counts the others.
func (s *absorbed) add(row []uint8, gains *[3][]float32, least float32, from, to int) (
	free float32) {
	row = row[4*from : 4*to]
	red, green, blue := gains[0][from:to], gains[1][from:to], gains[2][from:to]
	for x := range red {
		px := row[4*x : 4*x+3 : 4*x+3]
		r, g, b := 1-float32(px[0])*red[x], 1-float32(px[1])*green[x], 1-float32(px[2])*blue[x]
		if r > least || g > least || b > least {
			s[0], s[1], s[2] = s[0]+r, s[1]+g, s[2]+b
		} else {
			free++
		}
	}
	return free
}

// keepFillsWhole gives a fill or picture all of its colours where a good part of the squares around
// has some, lest it be grey in places: its squares are fewer pixels of ink than it takes to tell a
// weak colour from the noise.
func keepFillsWhole(g *raster.Grid, l *lightMap, side int) {
	const reach, good = 3, 0.3 // squares; share of them
	inside, coloured := make([]bool, len(g.V)), make([]bool, len(g.V))
	for i, v := range l.fill {
		if v {
			inside[i/l.w*l.cell/side*g.W+i%l.w*l.cell/side] = true
		}
	}
	for i, v := range g.V {
		coloured[i] = inside[i] && v > 0.5
	}
	for i, is := range inside {
		if !is {
			continue
		}
		all, some := 0, 0
		for y := max(i/g.W-reach, 0); y <= min(i/g.W+reach, g.H-1); y++ {
			for x := max(i%g.W-reach, 0); x <= min(i%g.W+reach, g.W-1); x++ {
				if inside[y*g.W+x] {
					all++
				}
				if coloured[y*g.W+x] {
					some++
				}
			}
		}
		if float64(some) > good*float64(all) {
			g.V[i] = 1
		}
	}
}

// tintAt is by how much the light that the paper reflects differs from channel to channel, as a
// share, given the gains of a row.
func tintAt(gains [3][]float32, x int) float32 {
	r, g, b := gains[0][x], gains[1][x], gains[2][x]
	return 1 - min(r, g, b)/max(r, g, b)
}

// greyPhotographs takes the colour from photographs that have hardly more than the paper's tint
// makes: they are grey, and printed on paper that has yellowed less, or more, than that around
// them. chroma is by how much the channels differ in each square, in the mean, above the paper's
// tint.
func greyPhotographs(g *raster.Grid, l *lightMap, side int, chroma []float32) {
	const hardly, most = 0.05, 0.98 // colour, of the light; share of the squares
	class := make([]uint8, len(g.V))
	for i, v := range l.photographs {
		if v {
			class[i/l.w*l.cell/side*g.W+i%l.w*l.cell/side] = 1
		}
	}
	labels, pictures := raster.Components(class, g.W)
	of := make([][]float64, len(pictures))
	for i, n := range labels {
		if n > 0 {
			of[n-1] = append(of[n-1], float64(chroma[i]))
		}
	}
	grey := make([]bool, len(pictures))
	for n, v := range of {
		grey[n] = raster.Quantile(v, most) < hardly
	}
	for i, n := range labels {
		if n > 0 && grey[n-1] {
			g.V[i] = 0
		}
	}
}

// inkLeast is the share of light that ink takes away at least, and fillLeast what a fill does,
// which is even.
const inkLeast, fillLeast = 0.1, 0.03

// colourful is 1 for ink of a colour, given what it absorbs, and 0 for grey.
func colourful(sum [3]float32) float32 {
	const little = 1.5              // pixels of ink: too few to tell
	const grey, colour = 0.12, 0.25 // shares of what is absorbed, by which the channels differ
	most, least := max(sum[0], sum[1], sum[2]), min(sum[0], sum[1], sum[2])
	if most < little {
		return 0
	}
	return min(max(((most-least)/most-grey)/(colour-grey), 0), 1)
}

// widen takes each value over to the neighbouring cells, since a stroke does not end at a cell.
func widen(g *raster.Grid) *raster.Grid {
	out := *g
	out.V = make([]float32, len(g.V))
	raster.Most(out.V, g.V, g.W, g.H, 1)
	return &out
}
