// Package drawn draws the page that the commands measuring speed clean: text-like print with ruled
// lines, and strokes over it.
package drawn

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"math"
)

// Page is a JPEG of a page as a camera would store it, w by h pixels: print of an em, and strokes
// of a pen over it.
func Page(w, h int, em float64) ([]byte, error) {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	noise := uint32(w*7 + h)
	for i := 0; i < len(m.Pix); i += 4 {
		noise = noise*1664525 + 1013904223
		v := uint8(228 + noise>>29)
		m.Pix[i], m.Pix[i+1], m.Pix[i+2], m.Pix[i+3] = v, v, v-6, 255
	}
	for y := 2 * em; y < float64(h)-2*em; y += 1.7 * em {
		for x := 2 * em; x < float64(w)-2*em; x += 0.55 * em {
			if letter := (int(x*7)^int(y*3))%6 + 1; letter < 6 {
				glyph(m, x, y, em, letter)
			}
		}
	}
	ink := color.RGBA{35, 45, 160, 255}
	for k := range 12 {
		x0, y0 := float64(w)*float64(k%3+1)/5, float64(h)*float64(k/3+1)/6
		for t := 0.0; t < 8*em; t += 0.5 {
			dot(m, x0+t, y0+0.6*em*math.Sin(t/em*4), 0.08*em, ink)
		}
	}
	var b bytes.Buffer
	err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 90})
	return b.Bytes(), err
}

// glyph draws some of a letter's strokes: stem, bars, bowl.
func glyph(m *image.RGBA, x, y, em float64, parts int) {
	ink := color.RGBA{30, 30, 34, 255}
	for t := 0.0; t < 1; t += 0.04 {
		if parts&1 != 0 {
			dot(m, x, y-0.7*em*t, 0.05*em, ink)
		}
		if parts&2 != 0 {
			dot(m, x+0.35*em*t, y-0.35*em, 0.04*em, ink)
		}
		if parts&4 != 0 {
			s, c := math.Sincos(t * 2 * math.Pi)
			dot(m, x+0.2*em+0.18*em*c, y-0.22*em+0.2*em*s, 0.045*em, ink)
		}
	}
}

func dot(m *image.RGBA, x, y, r float64, c color.RGBA) {
	for py := int(y - r); py <= int(y+r); py++ {
		for px := int(x - r); px <= int(x+r); px++ {
			if (image.Point{X: px, Y: py}).In(m.Rect) {
				m.SetRGBA(px, py, c)
			}
		}
	}
}
