package finish

import (
	"image"
	"math"
	"slices"

	"unink/internal/raster"
	"unink/internal/restore/canvas"
)

// lightMap is the light on the paper, as gains that bring it to 1, and where it falls on a fill.
type lightMap struct {
	gain        [3]*raster.Sampler
	cell        int    // pixels of a cell's side
	w           int    // cells of a row
	fill        []bool // cells of fills, and their neighbours
	photographs []bool // and of what is print all over, which are fills, too
}

func (l *lightMap) row(dst [3][]float32, scratch []float32, y int) {
	for ch := range dst {
		l.gain[ch].Row(dst[ch], scratch, y) // a grid is never wider than its picture
	}
}

// measureLight measures the paper in cells of about a quarter of an em, small enough to follow the
// edge of a shadow. What is thin and dark in them is no shadow and is closed. Cells of another tint
// than the page's paper or far darker than the paper round them (pictures, solid print), and fills
// with straight, sharp edges, are no paper: they take the light of their surroundings.
// So do the panels, which are printed light on dark.
func measureLight(c *canvas.Canvas, page *image.RGBA, panels []bool) *lightMap {
	cell := lightCell(c)
	f := c.Field(page, cell, func(weights, flags, _ []uint8) {
		for x, v := range flags {
			weights[x] = 0
			if v&(canvas.IsPrint|canvas.NearInk) == 0 {
				weights[x] = 1
			}
		}
	})
	l := &lightMap{cell: cell, w: f.W, fill: make([]bool, f.W*f.H),
		photographs: make([]bool, f.W*f.H)}
	pictures, sure := dropPictures(f)
	for i, v := range panels {
		if v {
			f.Weight[i], sure[i] = 0, true
		}
	}
	photographs := findPhotographs(f)
	for i, v := range photographs {
		if v {
			f.Weight[i] = 0
		}
	}
	measured := slices.Clone(f.Weight)
	known := f.Fill()
	if known {
		markFills(f, measured, l.fill, c.Workers)
		near := make([]bool, len(l.fill))
		raster.SpreadMask(near, l.fill, f.W, f.H, 2*thin)
		for i, fill := range l.fill {
			f.Weight[i] = 1
			// What was filled in beside a fill has something of its colour.
			if fill || near[i] && measured[i] < 1 {
				f.Weight[i] = 0
			}
		}
		f.Fill()
	}
	keepPictures(f, pictures, sure, l.fill)
	raster.SpreadMask(l.photographs, photographs, f.W, f.H, 1)
	for i, v := range l.photographs {
		l.fill[i] = l.fill[i] || v
	}
	for ch := range l.gain {
		g := raster.NewGrid(c.W, c.H, cell)
		for i := range g.V {
			g.V[i] = 1.0 / 255
			if known {
				g.V[i] = 1 / max(f.Colour[i][ch], 32)
			}
		}
		l.gain[ch] = g.Sample(c.W, c.H)
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
			bright[i] = raster.Brightness(coarse.Colour[i])
		}
	}
	raster.Most(brightest, bright, coarse.W, coarse.H, reach)
	tint := raster.PageTint(coarse, brightest)
	for i := range f.Weight {
		if f.Weight[i] == 0 {
			continue
		}
		around := brightest[i/f.W/4*coarse.W+i%f.W/4]
		dark, tinted := raster.Brightness(f.Colour[i]) < 0.45*around,
			tintDistance(f.Colour[i], tint)
		out[i], sure[i] = dark || tinted > 0.16, dark || tinted > 0.35
	}
	growTints(f, out, tint)
	raster.CloseMask(sure, f.W, f.H, thin)
	raster.CloseMask(out, f.W, f.H, thin) // letters left white in solid print are no paper either
	for i, drop := range out {
		if drop {
			f.Weight[i] = 0
		}
	}
	return out, sure
}

// growTints marks also the cells beside marked ones whose tint is closer to theirs than to the
// paper's, and the ink among them: uneven light makes one side of a panel paler than the other.
func growTints(f *raster.Field, out []bool, paper [3]float32) {
	const (
		least = 0.08 // distance of a tint from the paper's
		reach = 6    // cells of ink in a row that are looked beyond
	)
	type step struct {
		at, ink int
		tint    [3]float32 // of the last marked cell on the way here
	}
	var front []step
	for i, v := range out {
		if v {
			front = append(front, step{i, 0, evened(f.Colour[i])})
		}
	}
	reached := slices.Clone(out)
	for ; len(front) > 0; front = front[1:] {
		from := front[0]
		for _, j := range beside(from.at, f.W, f.H) {
			if reached[j] {
				continue
			}
			if f.Weight[j] == 0 {
				if reached[j] = from.ink < reach; reached[j] {
					front = append(front, step{j, from.ink + 1, from.tint})
				}
				continue
			}
			off := tintDistance(f.Colour[j], paper)
			if off > least && tintDistance(f.Colour[j], from.tint) < off {
				out[j], reached[j] = true, true
				front = append(front, step{j, 0, evened(f.Colour[j])})
			}
		}
	}
	closed := slices.Clone(out)
	raster.CloseMask(closed, f.W, f.H, reach/2)
	for i, v := range closed {
		out[i] = out[i] || v && f.Weight[i] == 0
	}
}

// findPhotographs marks the areas in which there is no paper over many lines of print: halftones
// and drawings, which the network takes for print all over. Lines of text have paper between them.
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
	raster.OpenMask(inked, f.W, f.H, solid)
	raster.CloseMask(inked, f.W, f.H, thin)
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
		picture, area := withoutHoles(labels, f.W, int32(n+1), a)
		desk := a.X0 == 0 || a.Y0 == 0 || a.X1 == f.W || a.Y1 == f.H
		framed := !desk && float64(area) > whole*float64(a.Width()*a.Height())
		for i, v := range picture {
			if framed || v {
				out[(a.Y0+i/a.Width())*f.W+a.X0+i%a.Width()] = true
			}
		}
	}
	return out
}

// withoutHoles is an area in its frame, with what it has all round it, the lightest parts of a
// picture, unless that is so large that it may be paper; and how large it then is.
func withoutHoles(labels []int32, w int, label int32, a raster.Component) (inside []bool,
	area int) {
	const large = 0.2 // of the area
	wide, high := a.Width(), a.Height()
	class := make([]uint8, wide*high)
	for i := range class {
		if labels[(a.Y0+i/wide)*w+a.X0+i%wide] != label {
			class[i] = 1
		}
	}
	gaps, holes := raster.Components(class, wide)
	inside, area = make([]bool, len(class)), a.Area
	enclosed := make([]bool, len(holes))
	for n, h := range holes {
		enclosed[n] = h.X0 > 0 && h.Y0 > 0 && h.X1 < wide && h.Y1 < high &&
			float64(h.Area) < large*float64(a.Area)
		if enclosed[n] {
			area += h.Area
		}
	}
	for i, n := range gaps {
		inside[i] = n == 0 || enclosed[n-1]
	}
	return inside, area
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
		o := followOutline(f, f, labels, int32(n+1), a)
		kept[n] = a.Area >= smallestFill && o.isStraight()
	}
	inside := make([]bool, len(labels))
	for i, n := range labels {
		inside[i] = sure[i] || n > 0 && kept[n-1]
	}
	raster.SpreadMask(fill, inside, f.W, f.H, 1)
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
				raster.Least(v, v, f.W, f.H, -d)
			} else {
				raster.Most(v, v, f.W, f.H, d)
			}
		}
		for i := range v {
			f.Colour[i][ch] = v[i]
		}
	}
}

// evened is a colour at a brightness of 1.
func evened(c [3]float32) [3]float32 {
	b := max(raster.Brightness(c), 1)
	return [3]float32{c[0] / b, c[1] / b, c[2] / b}
}

func tintDistance(c, tint [3]float32) (d float32) {
	b := max(raster.Brightness(c), 1)
	for ch := range c {
		d = max(d, float32(math.Abs(float64(c[ch]/b-tint[ch]))))
	}
	return d
}
