package restore

import (
	"image"
	"math"
	"slices"

	"unink/internal/raster"
)

// lightMap is the light on the paper, as gains that bring it to 1, and where it falls on a fill.
type lightMap struct {
	gain [3]*raster.Sampler
	cell int    // pixels of a cell's side
	w    int    // cells of a row
	fill []bool // cells of fills, and their neighbours
}

func (l *lightMap) row(dst [3][]float32, scratch []float32, y int) {
	for ch := range dst {
		l.gain[ch].Row(dst[ch], scratch, y) // a grid is never wider than its picture
	}
}

// light measures the paper in cells of about a quarter of an em, small enough to follow the edge
// of a shadow. What is thin and dark in them is no shadow and is closed. Cells of another tint
// than the page's paper or far darker than the paper round them (pictures, solid print), and fills
// with straight, sharp edges, are no paper: they take the light of their surroundings.
func (c *canvas) light(page *image.RGBA) *lightMap {
	cell := max(4, int(math.Round(priorEm*c.scale/4)))
	f := c.field(page, cell, func(i int) float32 {
		if c.flags[i]&(isPrint|nearInk) == 0 {
			return 1
		}
		return 0
	})
	l := &lightMap{cell: cell, w: f.W, fill: make([]bool, f.W*f.H)}
	pictures, sure := dropPictures(f)
	photographs := findPhotographs(f)
	for i, v := range photographs {
		if v {
			f.Weight[i] = 0
		}
	}
	measured := slices.Clone(f.Weight)
	known := f.Fill()
	if known {
		markFills(f, measured, l.fill, c.workers)
		near := make([]bool, len(l.fill))
		spread(near, l.fill, f.W, f.H, 2*thin)
		for i, fill := range l.fill {
			f.Weight[i] = 1
			if fill || near[i] && measured[i] < 1 { // what was filled in beside a fill has something of its colour
				f.Weight[i] = 0
			}
		}
		f.Fill()
	}
	keepPictures(f, pictures, sure, l.fill)
	spread(l.fill, photographs, f.W, f.H, 1)
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

// dropPictures makes holes of cells that are plainly not the page's paper, and tells which, and
// which of them are no stain either: far darker, or of a colour too strong.
func dropPictures(f *raster.Field) (out, sure []bool) {
	out, sure = make([]bool, len(f.Weight)), make([]bool, len(f.Weight))
	const reach = 6 // of the coarse cells, each of four by four
	coarse := f.Half().Half()
	bright, brightest := make([]float32, len(coarse.Weight)), make([]float32, len(coarse.Weight))
	for i, w := range coarse.Weight {
		if w > 0.5 {
			bright[i] = brightness(coarse.Colour[i])
		}
	}
	extreme(brightest, bright, coarse.W, coarse.H, reach, func(a, b float32) float32 { return max(a, b) })
	tint := pageTint(coarse, brightest)
	for i := range f.Weight {
		if f.Weight[i] == 0 {
			continue
		}
		around := brightest[i/f.W/4*coarse.W+i%f.W/4]
		dark, tinted := brightness(f.Colour[i]) < 0.45*around, tintDistance(f.Colour[i], tint)
		out[i], sure[i] = dark || tinted > 0.16, dark || tinted > 0.35
	}
	closeMask(sure, f.W, f.H, thin)
	closeMask(out, f.W, f.H, thin) // letters left white in solid print are no paper either
	for i, drop := range out {
		if drop {
			f.Weight[i] = 0
		}
	}
	return out, sure
}

// findPhotographs marks the areas in which there is no paper over many lines of print: halftones and
// drawings, which the network takes for print all over. Lines of text have paper between them.
func findPhotographs(f *raster.Field) []bool {
	const (
		least = 16  // cells of a side: about four em
		solid = 2   // cells round one, all without paper
		whole = 0.6 // share of the frame from which on it is all picture
	)
	inked := make([]bool, len(f.Weight))
	for i, w := range f.Weight {
		inked[i] = w == 0
	}
	openMask(inked, f.W, f.H, solid)
	closeMask(inked, f.W, f.H, thin)
	class := make([]uint8, len(inked))
	for i, v := range inked {
		if v {
			class[i] = 1
		}
	}
	labels, areas := raster.Components(class, f.W)
	out := make([]bool, len(inked))
	for n, a := range areas {
		if a.Width() < least || a.Height() < least {
			continue
		}
		desk := a.X0 == 0 || a.Y0 == 0 || a.X1 == f.W || a.Y1 == f.H
		framed := !desk && float64(a.Area) > whole*float64(a.Width()*a.Height())
		for y := a.Y0; y < a.Y1; y++ {
			for x := a.X0; x < a.X1; x++ {
				if i := y*f.W + x; framed || labels[i] == int32(n+1) {
					out[i] = true
				}
			}
		}
	}
	return out
}

// keepPictures marks the dropped areas that are sure or have straight edges, and their rims. The
// others are stains as often as not.
func keepPictures(f *raster.Field, dropped, sure, fill []bool) {
	class := make([]uint8, len(dropped))
	for i, v := range dropped {
		if v {
			class[i] = 1
		}
	}
	labels, areas := raster.Components(class, f.W)
	kept := make([]bool, len(areas))
	for n, a := range areas {
		o := follow(f, f, labels, int32(n+1), a)
		kept[n] = a.Area >= smallestFill && o.isStraight()
	}
	inside := make([]bool, len(labels))
	for i, n := range labels {
		inside[i] = sure[i] || n > 0 && kept[n-1]
	}
	spread(fill, inside, f.W, f.H, 1)
}

// closeGaps takes from the field what is dark and thinner than about an em (a morphological
// closing): print that nobody knows of. Steps, as of shadows, stay.
func closeGaps(f *raster.Field) { morph(f, thin, -thin) }

// openGaps takes from the field what is light and thinner than about an em: letters left white.
func openGaps(f *raster.Field) { morph(f, -thin, thin) }

const thin = 2 // cells either side

// morph takes the lightest value within so many cells of each, or the darkest for a negative
// number, one after the other.
func morph(f *raster.Field, reach ...int) {
	v := make([]float32, len(f.Weight))
	for ch := range 3 {
		for i := range v {
			v[i] = f.Colour[i][ch]
		}
		for _, d := range reach {
			if d < 0 {
				extreme(v, v, f.W, f.H, -d, func(a, b float32) float32 { return min(a, b) })
			} else {
				extreme(v, v, f.W, f.H, d, func(a, b float32) float32 { return max(a, b) })
			}
		}
		for i := range v {
			f.Colour[i][ch] = v[i]
		}
	}
}

func brightness(c [3]float32) float32 { return (c[0] + c[1] + c[2]) / 3 }

// pageTint is the median of the cells' channels relative to their brightness. Cells darker than
// what is round them are left out: a picture may be larger than the paper between the lines.
func pageTint(f *raster.Field, brightest []float32) (tint [3]float32) {
	for ch := range tint {
		var v []float64
		for i, w := range f.Weight {
			if b := brightness(f.Colour[i]); w > 0.5 && b > 0.8*brightest[i] {
				v = append(v, float64(f.Colour[i][ch]/max(b, 1)))
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
