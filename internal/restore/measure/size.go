// Package measure tells the size of a page's print, and how dark its ink is.
package measure

import (
	"cmp"
	"image"
	"math"
	"slices"

	"unink/internal/raster"
)

// An A4 page whose body text has an em of 24 px is about this long: the first guess at the print
// size of a page before any of its characters is looked at.
const (
	PriorEm   = 24.0   // pixels
	priorSide = 1754.0 // pixels: the longer side of A4 with print of that em
)

// fewCharacters tell as much of the print's size as the first guess. With fewer, print of another
// size is looked for.
const fewCharacters = 25

// How large the network may be shown print, against what it wants: as it has learned to see it.
const (
	smallest = 0.4 // times its size
	largest  = 1.8 // times its size
)

// Size is the em of a page's body text in a picture's pixels if its lines run across and if they
// run down, and how many characters say so.
type Size struct {
	Em, characters [2]float64
}

// clearly is how many times as many characters must stand in lines that run down a picture as in
// those across it.
const clearly = 2

// Lines is which way they likely run, as long as it is not known how the page lies: 0 is across, 1
// down.
func (s Size) Lines() int {
	if s.characters[1] > clearly*s.characters[0] {
		return 1
	}
	return 0
}

// Likely is the size if the lines run as they likely do.
func (s Size) Likely() float64 { return s.Em[s.Lines()] }

// leastEm is that of print whose letters still have a shape that tells which way up they stand,
// pixels.
const leastEm = 3

// Legible tells whether there is any use in looking at the print.
func (s Size) Legible() bool { return max(s.Em[0], s.Em[1]) >= leastEm }

// Turned is the size in the picture turned by so many quarters.
func (s Size) Turned(quarters int) Size {
	if quarters%2 == 1 {
		s.Em[0], s.Em[1] = s.Em[1], s.Em[0]
		s.characters[0], s.characters[1] = s.characters[1], s.characters[0]
	}
	return s
}

// Times is the size in the picture at another scale.
func (s Size) Times(scale float64) Size {
	s.Em[0] *= scale
	s.Em[1] *= scale
	return s
}

// Print estimates the size of a page's print from the heights of the
// connected components that look like characters. Print repeats one size, so it is the mode of
// the heights; writing, being larger and joined up, is spread wide.
func Print(src *image.RGBA, workers int) Size {
	prior := PriorEm / priorSide * float64(max(src.Rect.Dx(), src.Rect.Dy()))
	size := printNear(src, prior, workers)
	if max(size.characters[0], size.characters[1]) < fewCharacters {
		// The picture may be of a part of a page, or of a few large words.
		larger := printNear(src, 4*prior, workers)
		if larger.characters[0]+larger.characters[1] > size.characters[0]+size.characters[1] {
			size = larger
		}
	}
	for way, n := range size.characters {
		size.Em[way] = likely(size.Em[way], n, prior)
	}
	return size
}

// likely is the em that the heights of so many characters and the first guess make likely. It may
// differ from that of the heights by no more than the network has learned to bear.
func likely(seen, characters, prior float64) float64 {
	if characters == 0 {
		return prior
	}
	trust := characters / (characters + fewCharacters)
	em := math.Pow(seen, trust) * math.Pow(prior, 1-trust)
	return min(max(em, seen/largest), seen/smallest)
}

// printNear looks for characters of about the size of a guess.
func printNear(src *image.RGBA, guess float64, workers int) Size {
	const enough = 30 // pixels of an em, to tell characters
	reduce := math.Max(1, guess/enough)
	guess /= reduce
	w, h := raster.Scaled(src.Rect.Dx(), 1/reduce), raster.Scaled(src.Rect.Dy(), 1/reduce)
	contrast := Contrast(raster.GreyOf(src, w, h, workers), w, h, PaperCell(guess), workers)
	runs, components := raster.Connected(raster.Threshold(contrast, MinContrast), w, 1)
	dark := meanValues(contrast, runs, components)
	var size Size
	for way := range size.Em {
		if em, characters := emOf(characterHeights(components, dark, guess)); characters > 0 {
			size.Em[way], size.characters[way] = em*reduce, characters
		}
		for i, c := range components {
			components[i].X0, components[i].Y0, components[i].X1, components[i].Y1 = c.Y0, c.X0,
				c.Y1, c.X1
		}
	}
	return size
}

// characterHeights lists the heights of ink components that may be characters: of a character's
// shape, as dark as print is, and standing in a line with another of about the same height.
func characterHeights(components []raster.Component, dark []float64, prior float64) []float64 {
	var candidates []raster.Component
	var darkness []float64
	for i, c := range components {
		w, h := float64(c.Width()), float64(c.Height())
		solid := float64(c.Area) / (w * h)
		if h >= 5 && h >= prior/6 && h <= prior*4 && w >= 0.15*h && w <= 2*h && solid > 0.27 &&
			solid < 0.9 {
			candidates = append(candidates, c)
			darkness = append(darkness, dark[i])
		}
	}
	if len(candidates) == 0 {
		return nil
	}
	// Specks, texture and print showing through are fainter than the page's own print.
	faint := 0.6 * raster.Quantile(darkness, 0.8)
	var clear []raster.Component
	for i, c := range candidates {
		if dark := darkness[i]; dark >= faint {
			clear = append(clear, c)
		}
	}
	return lineHeights(clear)
}

// lineHeights keeps the heights of components with a neighbour beside them of similar height.
func lineHeights(components []raster.Component) []float64 {
	slices.SortFunc(components, func(a, b raster.Component) int {
		return cmp.Or(cmp.Compare(a.X0, b.X0), cmp.Compare(a.Y0, b.Y0))
	})
	paired := make([]bool, len(components))
	for i, a := range components {
		reach := a.X1 + a.Height()
		for j := i + 1; j < len(components) && components[j].X0 <= reach; j++ {
			b := components[j]
			overlap := min(a.Y1, b.Y1) - max(a.Y0, b.Y0)
			short, tall := min(a.Height(), b.Height()), max(a.Height(), b.Height())
			if 3*short >= 2*tall-3 && 2*overlap >= short {
				paired[i], paired[j] = true, true
			}
		}
	}
	var heights []float64
	for i, c := range components {
		if paired[i] {
			heights = append(heights, float64(c.Height()))
		}
	}
	return heights
}

// LetterSized says that a component of ink is as large as a character of print of an em may be.
// Rules, drawings and what lies on the desk are larger, specks smaller.
func LetterSized(c raster.Component, em float64) bool {
	size := float64(max(c.Width(), c.Height()))
	return size >= em/3 && size <= 2*em
}

// LetterRuns are those runs of ink whose components are as large as characters of print of an em
// may be. The others are taken out of runs.
func LetterRuns(runs []raster.Run, components []raster.Component, em float64) []raster.Run {
	other := make([]bool, len(components))
	for i, c := range components {
		other[i] = !LetterSized(c, em)
	}
	return slices.DeleteFunc(runs, func(r raster.Run) bool { return other[r.Label-1] })
}

// meanValues averages a plane over each component.
func meanValues(plane []uint8, runs []raster.Run, components []raster.Component) []float64 {
	sums := make([]float64, len(components))
	for _, r := range runs {
		for _, v := range plane[r.From:r.To] {
			sums[r.Label-1] += float64(v)
		}
	}
	for i, c := range components {
		sums[i] /= float64(c.Area)
	}
	return sums
}

// emOf finds the mode of the heights and turns it into an em. The taller characters of the mode's
// neighbourhood (capitals and ascenders of an alphabet, whole ideographs) are about 0.75 em high.
// The evidence is the number of heights that agree.
func emOf(heights []float64) (em, evidence float64) {
	const perOctave, octaves = 8, 9
	var hist, smooth [perOctave * octaves]float64
	bin := func(h float64) int { return min(int(math.Log2(h)*perOctave), len(hist)-1) }
	for _, h := range heights {
		hist[bin(h)]++
	}
	best := 0
	for i := range smooth {
		for d, k := range []float64{0.3, 0.7, 1, 0.7, 0.3} {
			if j := i + d - 2; j >= 0 && j < len(hist) {
				smooth[i] += k * hist[j]
			}
		}
		if smooth[i] > smooth[best] {
			best = i
		}
	}
	mode := math.Exp2((float64(best) + 0.5) / perOctave)
	var near []float64
	for _, h := range heights {
		if h >= 0.65*mode && h <= 1.7*mode {
			near = append(near, h)
		}
	}
	if len(near) == 0 {
		return 0, 0
	}
	return raster.Quantile(near, 0.75) / 0.75, float64(len(near))
}
