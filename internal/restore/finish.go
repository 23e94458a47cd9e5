package restore

import (
	"image"
	"math"

	"unink/internal/raster"
)

// scan evens the cleaned page out, in place: its paper becomes white whatever the light, and its
// print dark. Colours are kept; what is nearly grey becomes grey.
func (c *canvas) scan(page *image.RGBA) {
	light := c.light(page)
	tone := c.toneCurve(page, light)
	raster.Rows(c.h, c.workers, func(y0, y1 int) {
		var line [3][]float32
		for ch := range line {
			line[ch] = make([]float32, c.w)
		}
		for y := y0; y < y1; y++ {
			light.row(line, y)
			row := page.Pix[y*page.Stride:][:4*c.w]
			for x := range c.w {
				px := row[4*x : 4*x+3 : 4*x+3]
				var v [3]float32
				for ch := range v {
					v[ch] = tone.at(float32(px[ch]) * line[ch][x])
				}
				calm(&v)
				for ch := range v {
					px[ch] = uint8(v[ch] + 0.5)
				}
			}
		}
	})
}

// calm takes the faint tint from nearly grey values: it is the camera's, not the print's.
func calm(v *[3]float32) {
	const tint, colour = 28, 70 // spread of the channels up to which it is a tint; from which a colour
	low, high := min(v[0], v[1], v[2]), max(v[0], v[1], v[2])
	if spread := high - low; spread < colour {
		keep := max(spread-tint, 0) / (colour - tint)
		grey := 0.3*v[0] + 0.59*v[1] + 0.11*v[2]
		for ch := range v {
			v[ch] = grey + keep*(v[ch]-grey)
		}
	}
}

// lightMap is the light on the paper, as gains that bring it to 1.
type lightMap struct{ gain [3]*raster.Sampler }

func (l *lightMap) row(dst [3][]float32, y int) {
	scratch := make([]float32, len(dst[0])) // a grid is never wider than its picture
	for ch := range dst {
		l.gain[ch].Row(dst[ch], scratch, y)
	}
}

// light measures the paper in cells of about one em. Cells of another tint than the page's paper
// (coloured panels) or far darker than the paper round them (pictures, solid print) are no paper:
// they take the light of their surroundings.
func (c *canvas) light(page *image.RGBA) *lightMap {
	cell := max(8, int(math.Round(priorEm*c.scale)))
	f := c.field(page, cell, func(i int) float32 {
		if c.flags[i]&(isPrint|nearInk) == 0 {
			return 1
		}
		return 0
	})
	dropPanels(f)
	l := &lightMap{}
	known := f.Fill()
	for ch := range l.gain {
		g := raster.NewGrid(c.w, c.h, cell)
		for i := range g.V {
			g.V[i] = 1.0 / 255
			if known {
				g.V[i] = 1 / max(f.Colour[i][ch], 32)
			}
		}
		l.gain[ch] = g.Sample(c.w, c.h)
	}
	return l
}

// dropPanels makes holes of cells that are not the page's paper.
func dropPanels(f *raster.Field) {
	const reach = 6
	tint := pageTint(f)
	drop := make([]bool, len(f.Weight))
	for y := range f.H {
		for x := range f.W {
			i := y*f.W + x
			if f.Weight[i] == 0 {
				continue
			}
			brightest := float32(0)
			for yy := max(y-reach, 0); yy <= min(y+reach, f.H-1); yy++ {
				for xx := max(x-reach, 0); xx <= min(x+reach, f.W-1); xx++ {
					if j := yy*f.W + xx; f.Weight[j] > 0.5 {
						brightest = max(brightest, brightness(f.Colour[j]))
					}
				}
			}
			b := brightness(f.Colour[i])
			drop[i] = b < 0.45*brightest || tintDistance(f.Colour[i], tint) > 0.16
		}
	}
	for i, d := range drop {
		if d {
			f.Weight[i] = 0
		}
	}
}

func brightness(c [3]float32) float32 { return (c[0] + c[1] + c[2]) / 3 }

// pageTint is the median of the cells' channels relative to their brightness.
func pageTint(f *raster.Field) (tint [3]float32) {
	for ch := range tint {
		var v []float64
		for i, w := range f.Weight {
			if w > 0.5 {
				v = append(v, float64(f.Colour[i][ch]/max(brightness(f.Colour[i]), 1)))
			}
		}
		tint[ch] = 1
		if len(v) > 0 {
			tint[ch] = float32(quantile(v, 0.5))
		}
	}
	return tint
}

func tintDistance(c, tint [3]float32) (d float32) {
	b := max(brightness(c), 1)
	for ch := range c {
		d = max(d, float32(math.Abs(float64(c[ch]/b-tint[ch]))))
	}
	return d
}

// toneCurve maps a share of the paper's light to 0..255.
type toneCurve [1025]float32

func (t *toneCurve) at(v float32) float32 { return t[int(min(max(v, 0), 1)*1024)] }

// toneCurve puts white a little below the paper, so that its texture goes, and black a little
// above the darkest print, with a gentle S between.
func (c *canvas) toneCurve(page *image.RGBA, l *lightMap) *toneCurve {
	black, white := c.levels(page, l)
	t := &toneCurve{}
	for i := range t {
		v := (float64(i)/1024 - black) / (white - black)
		v = min(max(v, 0), 1)
		s := v * v * (3 - 2*v)
		t[i] = float32(255 * (0.6*v + 0.4*s))
	}
	return t
}

// levels finds black and white from the shares of light of the page's print and its paper.
func (c *canvas) levels(page *image.RGBA, l *lightMap) (black, white float64) {
	var print, paper []float64
	var line [3][]float32
	for ch := range line {
		line[ch] = make([]float32, c.w)
	}
	const step = 7 // a sample is enough
	for y := step / 2; y < c.h; y += step {
		l.row(line, y)
		for x := step / 2; x < c.w; x += step {
			i := y*c.w + x
			px := page.Pix[4*i : 4*i+3 : 4*i+3]
			share := 0.0
			for ch := range px {
				share += float64(float32(px[ch])*line[ch][x]) / 3
			}
			switch c.flags[i] & (isHand | isPrint | nearInk) {
			case isPrint, isPrint | nearInk:
				print = append(print, share)
			case 0:
				paper = append(paper, share)
			}
		}
	}
	black, white = 0.2, 0.92
	if len(print) > 50 {
		black = min(max(quantile(print, 0.1), 0.05), 0.5)
	}
	if len(paper) > 50 {
		white = min(max(quantile(paper, 0.04), 0.75), 0.96)
	}
	return black, max(white, black+0.2)
}
