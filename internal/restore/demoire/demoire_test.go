package demoire

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"unink/internal/raster"
	"unink/internal/restore/restoretest"
)

// screened is a picture as a photograph of a screen shows it: two waves, each channel at its own
// phase, that bend over the page.
func screened(m *image.RGBA) *image.RGBA {
	out := image.NewRGBA(m.Rect)
	for i := range out.Pix {
		if i%4 == 3 {
			out.Pix[i] = 255
			continue
		}
		x, y := float64(i/4%m.Rect.Dx()), float64(i/4/m.Rect.Dx())
		bend := 4 * math.Sin(x/90) * math.Cos(y/110)
		v := 1 + 0.07*math.Sin(2*math.Pi/6.3*(0.8*x+0.6*y+bend)+1.2*float64(i%4))
		v += 0.03 * math.Sin(2*math.Pi/3.1*(0.3*x-0.95*y+bend)+float64(i%4))
		out.Pix[i] = raster.Clamp8(float32(0.9 * v * float64(m.Pix[i])))
	}
	return out
}

// grainyPage is a page of print on paper with grain.
func grainyPage() *image.RGBA {
	m := restoretest.Page()
	r := rand.New(rand.NewPCG(5, 6))
	for i := range m.Pix {
		if i%4 < 3 {
			m.Pix[i] = raster.Clamp8(0.85*float32(m.Pix[i]) + 15 + float32(r.NormFloat64()))
		}
	}
	return m
}

func squared(a, b *image.RGBA, scale float64) (sum float64) {
	for i := range a.Pix {
		if i%4 < 3 {
			d := float64(a.Pix[i]) - scale*float64(b.Pix[i])
			sum += d * d
		}
	}
	return sum / float64(len(a.Pix)/4*3)
}

func TestAScreensPatternIsTakenAwayAndPrintStays(t *testing.T) {
	page := grainyPage()
	seen := screened(page)
	got, waves := Remove(seen, 2)
	if waves < 2 {
		t.Fatalf("%d waves found, want 2", waves)
	}
	before, after := squared(seen, page, 0.9), squared(got, page, 0.9)
	if after > before/8 {
		t.Errorf("the mean square error is %.1f of %.1f, want an eighth", after, before)
	}
	// Edges of the print are as steep as they were.
	steep := func(m *image.RGBA) (sum float64) {
		for i := 0; i+7 < len(m.Pix); i += 4 {
			if d := math.Abs(float64(m.Pix[i]) - float64(m.Pix[i+4])); d > 80 {
				sum += d
			}
		}
		return sum
	}
	if a, b := steep(got), 0.9*steep(page); a < 0.95*b {
		t.Errorf("the edges sum up to %.0f, were %.0f", a, b)
	}
}

func TestPagesWithoutAPatternAreLeft(t *testing.T) {
	pages := map[string]*image.RGBA{"grain": grainyPage(),
		"white": restoretest.Page(),
		"light": restoretest.Sheet(600, 500, 24)}
	ruled := grainyPage()
	for y := 0; y < restoretest.PageHeight; y += 40 {
		restoretest.Bar(ruled, 0, float64(y), restoretest.PageWidth, float64(y+1), restoretest.Blue)
	}
	pages["ruled"] = ruled
	squares := grainyPage()
	for i := 0; i < max(restoretest.PageWidth, restoretest.PageHeight); i += 24 {
		restoretest.Bar(squares, 0, float64(i), restoretest.PageWidth, float64(i+1),
			restoretest.Blue)
		restoretest.Bar(squares, float64(i), 0, float64(i+1), restoretest.PageHeight,
			restoretest.Blue)
	}
	pages["squared paper"] = squares
	for name, m := range pages {
		if got, waves := Remove(m, 2); got != m || waves != 0 {
			t.Errorf("%s: %d waves were taken away", name, waves)
		}
	}
}

func TestThePatternIsTakenAwayTheSameWhateverTheNumberOfWorkers(t *testing.T) {
	seen := screened(grainyPage())
	one, _ := Remove(seen, 1)
	four, _ := Remove(seen, 4)
	if string(one.Pix) != string(four.Pix) {
		t.Error("the pictures differ")
	}
}
