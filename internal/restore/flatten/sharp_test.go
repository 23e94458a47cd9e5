package flatten

import (
	"image"
	"image/color"
	"image/draw"
	"math"
	"testing"
)

// hanging is a straight page of letters that hang from their line, and rise above it, as in Arabic:
// every line's more in the middle than at the ends, so that their feet lie on a curve.
func hanging() *image.RGBA {
	const w, h, em = 900, 1200, 24
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(m, m.Rect, image.White, image.Point{}, draw.Src)
	fill := func(x0, y0, x1, y1 int) {
		draw.Draw(m, image.Rect(x0, y0, x1, y1), image.NewUniform(color.Black), image.Point{},
			draw.Src)
	}
	seed := uint32(5)
	for line := 2 * em; line < h-2*em; line += 2 * em {
		for x := 3 * em; x < w-3*em; x += em * 3 / 4 {
			seed = seed*1664525 + 1013904223
			tail := int(0.3 * em * math.Sin(math.Pi*float64(x-3*em)/(w-6*em)))
			fill(x, line-em/3, x+em/2, line)
			fill(x, line-em/3-int(seed>>24)%(em/2), x+2, line)
			fill(x+em/4, line, x+em/4+2, line+2+tail)
		}
	}
	return m
}

func TestFlattenIsNotLedAstrayByLettersThatHang(t *testing.T) {
	if f := flattened(t, hanging()); f.Warp != nil {
		t.Errorf("a straight page is warped: curl %g, confidence %g", f.Curl, f.Confidence)
	}
}
