package restore

import (
	"image"
	"math"

	"unink/internal/raster"
)

// An A4 page whose body text has an em of 24 px is about this long: the first guess at the print
// size of a page before any of its characters is looked at.
const (
	priorEm   = 24.0
	priorSide = 1754.0
)

// printSize estimates the em of a page's body text in its pixels, from the heights of the
// connected components that look like characters. Print repeats one size, so it is the mode of
// the heights; writing, being larger and joined up, is spread wide.
func printSize(src *image.RGBA, workers int) float64 {
	w, h := src.Rect.Dx(), src.Rect.Dy()
	prior := priorEm / priorSide * float64(max(w, h))
	const side = 2200 // enough to tell characters on a page
	reduce := math.Max(1, float64(max(w, h))/side)
	small := raster.Resize(src, int(float64(w)/reduce+0.5), int(float64(h)/reduce+0.5), workers)
	em, evidence := emOf(characterHeights(small, prior/reduce, workers))
	if evidence == 0 {
		return prior
	}
	em = min(max(em*reduce, prior/3), prior*3)
	const unsure = 25 // as many characters as the prior is worth
	trust := evidence / (evidence + unsure)
	return math.Exp(trust*math.Log(em) + (1-trust)*math.Log(prior))
}

// characterHeights lists the heights of ink components that may be characters.
func characterHeights(m *raster.RGB, prior float64, workers int) []float64 {
	ink := inkMap(m.Grey(), m.W, m.H, max(8, int(0.7*prior)), workers)
	_, components := raster.Components(ink, m.W)
	var heights []float64
	for _, c := range components {
		w, h := float64(c.Width()), float64(c.Height())
		solid := float64(c.Area) / (w * h)
		if h >= 5 && h >= prior/6 && h <= prior*4 && w >= 0.15*h && w <= 2*h && solid > 0.12 && solid < 0.9 {
			heights = append(heights, h)
		}
	}
	return heights
}

// inkMap marks the pixels that are clearly darker than the paper around them.
func inkMap(grey []uint8, w, h, cell, workers int) []uint8 {
	paper := raster.PaperGrid(grey, w, h, cell, 0.8, workers)
	ink := make([]uint8, len(grey))
	sampler := paper.Sample(w, h)
	raster.Rows(h, workers, func(y0, y1 int) {
		line, scratch := make([]float32, w), make([]float32, paper.W)
		for y := y0; y < y1; y++ {
			sampler.Row(line, scratch, y)
			row, out := grey[y*w:][:w], ink[y*w:][:w]
			for x, p := range line {
				if float32(row[x]) < 0.78*p-6 {
					out[x] = 1
				}
			}
		}
	})
	return ink
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
	return quantile(near, 0.75) / 0.75, float64(len(near))
}
