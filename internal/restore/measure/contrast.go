package measure

import (
	"unink/internal/raster"
)

// MinContrast is the least share of the paper's light, in 255ths, that ink takes away.
const MinContrast = 50

// PaperCell is the side, in pixels, of the cells in which paper is looked for between print of an
// em: so large that each has some beside its strokes.
func PaperCell(em float64) int { return max(8, int(0.7*em)) }

// Contrast is the share of the paper's light, in 255ths, that each pixel lacks.
func Contrast(grey []uint8, w, h, cell, workers int) []uint8 {
	paper := raster.PaperGrid(grey, w, h, cell, 0.8, workers)
	out := make([]uint8, len(grey))
	sampler := paper.Sample(w, h)
	raster.Rows(h, workers, func(y0, y1 int) {
		line, scratch := make([]float32, w), make([]float32, paper.W)
		for y := y0; y < y1; y++ {
			sampler.Row(line, scratch, y)
			raster.Lack(out[y*w:][:w], grey[y*w:], line)
		}
	})
	return out
}
