// Package restoretest has the pages that the tests of the stages work on.
package restoretest

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"math"
	"os"
	"testing"

	"unink/internal/raster"
)

// Page is a printed page of PageWidth × PageHeight pixels.
func Page() *image.RGBA { return PrintedPage(PageWidth, PageHeight) }

// PrintedPage draws lines of print-like characters, 24 px to the em, in words, with two rules, on
// white.
func PrintedPage(w, h int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = 255
	}
	seed := uint32(7)
	next := func(n int) int {
		seed = seed*1664525 + 1013904223
		return int(seed>>16) % n
	}
	box := func(x0, y0, x1, y1 int) {
		for y := y0; y < y1; y++ {
			for x := x0; x < x1; x++ {
				m.SetRGBA(x, y, color.RGBA{20, 20, 20, 255})
			}
		}
	}
	const margin, leading = 110, 36
	for line, y := 0, margin; y < h-margin; line, y = line+1, y+leading {
		if line%12 == 11 {
			box(margin, y-8, w-margin, y-5)
			continue
		}
		for x := margin; x < w-margin-16; x += 14 {
			if next(6) == 0 {
				continue // between words
			}
			top, foot := 12, 0
			switch next(6) {
			case 0:
				top = 18 // an ascender
			case 1:
				foot = 5 // a descender
			}
			// Open at the right like a c, so that it is as solid as a character.
			box(x, y-top, x+3, y+foot)
			box(x, y-top, x+10, y-top+3)
			box(x, y+foot-3, x+10, y+foot)
		}
	}
	return m
}

// Seen shows a page as a camera does: the pixel at x, y of the picture is the page's at(x, y).
func Seen(page *image.RGBA, at func(x, y float64) (float64, float64)) *image.RGBA {
	w, h := page.Rect.Dx(), page.Rect.Dy()
	return raster.NewWarp(w, h, w, h, at).Apply(page, 2)
}

// TurnedBy is a view, for [Seen], of a page of w × h turned about its middle.
func TurnedBy(degrees float64, w, h int) func(x, y float64) (float64, float64) {
	s, c := math.Sincos(degrees * math.Pi / 180)
	cx, cy := float64(w)/2, float64(h)/2
	return func(x, y float64) (float64, float64) {
		return cx + c*(x-cx) + s*(y-cy), cy - s*(x-cx) + c*(y-cy)
	}
}

// FromAbove is a view, for [OnDesk], of a page of w × h at an angle.
func FromAbove(w, h int) func(x, y float64) (float64, float64) {
	cx, cy, unit := float64(w)/2, float64(h)/2, PageWidth/float64(w)
	return func(x, y float64) (float64, float64) {
		x, y = x-cx, y-cy
		d := 0.8 + (0.0002*x+0.00025*y)*unit
		return cx + (1.02*x+0.06*y)/d, cy + (1.02*y-0.05*x)/d
	}
}

// OnDesk is [Seen] of a page that lies on a dark desk.
func OnDesk(page *image.RGBA, at func(x, y float64) (float64, float64)) *image.RGBA {
	photo := Seen(page, at)
	for y := range photo.Rect.Dy() {
		for x := range photo.Rect.Dx() {
			u, v := at(float64(x), float64(y))
			if u < 0 || v < 0 || u > float64(page.Rect.Dx()-1) || v > float64(page.Rect.Dy()-1) {
				photo.SetRGBA(x, y, color.RGBA{70, 60, 50, 255})
			}
		}
	}
	return photo
}

// PrintIn is the share, 0 to 1, of a result's print that another picture shows in the same place,
// at most so many pixels off; 0 where the result has no print. The pictures may differ in size.
func PrintIn(m, result *image.RGBA, off int) float64 {
	size, width, height := m.Rect.Size(), result.Rect.Dx(), result.Rect.Dy()
	dark, same := 0, 0
	for y := range height {
		for x := range width {
			if result.RGBAAt(x, y).G > 60 {
				continue
			}
			dark++
			if isDarkNear(m, x*size.X/width, y*size.Y/height, off) {
				same++
			}
		}
	}
	return float64(same) / float64(max(dark, 1))
}

// isDarkNear reports whether a picture has ink so close to a place that it is the same ink.
func isDarkNear(m *image.RGBA, x, y, off int) bool {
	around := image.Rect(x-off, y-off, x+off+1, y+off+1).Intersect(m.Rect)
	for y := around.Min.Y; y < around.Max.Y; y++ {
		for x := around.Min.X; x < around.Max.X; x++ {
			if m.RGBAAt(x, y).G < 160 {
				return true
			}
		}
	}
	return false
}

// The size of [Page] in pixels.
const (
	PageWidth  = 720
	PageHeight = 960
)

// Picture is a JPEG file, decoded.
func Picture(t testing.TB, path string) *image.RGBA {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	src := image.NewRGBA(m.Bounds())
	draw.Draw(src, src.Rect, m, m.Bounds().Min, draw.Src)
	return src
}

// The inks that test pages are written with.
var (
	Black = color.RGBA{30, 30, 32, 255}
	Blue  = color.RGBA{30, 40, 190, 255}
	Red   = color.RGBA{200, 30, 40, 255}
)

// Paper makes a sheet of uneven light with grain.
func Paper(w, h int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	noise := uint32(1)
	for y := range h {
		for x := range w {
			noise = noise*1664525 + 1013904223
			v := 238 - 30*float64(x)/float64(w) + float64(noise>>29) - 3
			m.SetRGBA(x, y, color.RGBA{uint8(v), uint8(v - 3), uint8(v - 8), 255})
		}
	}
	return m
}

// Bar fills a rectangle, to the nearest pixel.
func Bar(m *image.RGBA, x0, y0, x1, y1 float64, c color.RGBA) {
	r := image.Rect(int(math.Round(x0)), int(math.Round(y0)), int(math.Round(x1)),
		int(math.Round(y1)))
	r = r.Intersect(m.Rect)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			m.SetRGBA(x, y, c)
		}
	}
}

// Stroke draws a slanting line of width wide.
func Stroke(m *image.RGBA, x, y, length, slope, wide float64, c color.RGBA) {
	for t := 0.0; t < length; t++ {
		Bar(m, x+t, y+slope*t, x+t+wide, y+slope*t+wide, c)
	}
}

// Sheet draws lines of black print with a ruled line under each. em is the print's size.
func Sheet(w, h int, em float64) *image.RGBA {
	m := Paper(w, h)
	for y := 2 * em; y < float64(h)-2*em; y += 2.5 * em {
		for x := 2 * em; x < float64(w)-3*em; x += 0.6 * em {
			if int(x/em)%5 != 4 {
				Bar(m, x, y-0.7*em, x+0.15*em, y, Black)
				Bar(m, x, y-0.4*em, x+0.45*em, y-0.27*em, Black)
			}
		}
		Bar(m, 2*em, y+0.5*em, float64(w)-2*em, y+0.5*em+max(0.08*em, 1), Black)
	}
	return m
}

// Written is a sheet with strokes across its print and its ruled lines, and the sheet itself.
func Written(w, h int, em float64, c color.RGBA) (m, clean *image.RGBA) {
	clean = Sheet(w, h, em)
	m = image.NewRGBA(clean.Rect)
	copy(m.Pix, clean.Pix)
	for y := 2 * em; y < float64(h)-4*em; y += 5 * em {
		Stroke(m, 5*em, y-0.8*em, 5*em, 0.4, max(0.13*em, 2), c)
	}
	return m, clean
}

// Difference is the largest of two pixels' channels.
func Difference(a, b []uint8) (d int) {
	for i := range a[:3] {
		d = max(d, int(a[i])-int(b[i]), int(b[i])-int(a[i]))
	}
	return d
}
