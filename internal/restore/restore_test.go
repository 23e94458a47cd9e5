package restore

import (
	"context"
	"image"
	"image/color"
	"testing"

	"unink/internal/nn"
)

// sheet draws a page of black "print" (words of bars on lines), a ruled line under each and blue
// strokes across some of them, on paper of uneven light with grain. em is the print's size.
func sheet(w, h int, em float64) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	noise := uint32(1)
	for y := range h {
		for x := range w {
			noise = noise*1664525 + 1013904223
			v := 235 - 30*float64(x)/float64(w) + float64(noise>>29) - 3
			m.SetRGBA(x, y, color.RGBA{uint8(v), uint8(v - 3), uint8(v - 8), 255})
		}
	}
	bar := func(x0, y0, x1, y1 float64, c color.RGBA) {
		for y := int(y0); y < int(y1); y++ {
			for x := int(x0); x < int(x1); x++ {
				if (image.Point{X: x, Y: y}).In(m.Rect) {
					m.SetRGBA(x, y, c)
				}
			}
		}
	}
	black, blue := color.RGBA{30, 30, 32, 255}, color.RGBA{30, 40, 170, 255}
	for y := 2 * em; y < float64(h)-3*em; y += 2 * em {
		for x := 2 * em; x < float64(w)-3*em; x += 0.6 * em {
			if int(x/em)%5 != 4 {
				bar(x, y-0.7*em, x+0.12*em, y, black)
				bar(x, y-0.4*em, x+0.4*em, y-0.3*em, black)
			}
		}
		bar(2*em, y+0.3*em, float64(w)-2*em, y+0.3*em+max(0.08*em, 1), black)
		if int(y/em)%3 == 0 {
			for t := 0.0; t < 6*em; t++ {
				bar(5*em+t, y-em+t/3, 5*em+t+0.15*em, y-em+t/3+0.15*em, blue)
			}
		}
	}
	return m
}

func engine() *Engine { return &Engine{Runner: nn.Fake{}, Em: 24, Threads: 2} }

func BenchmarkPhoto(b *testing.B) {
	src := sheet(4000, 3000, 55)
	e := engine()
	for b.Loop() {
		if _, err := e.Clean(context.Background(), src, Options{Finish: Scan}); err != nil {
			b.Fatal(err)
		}
	}
}
