package restore

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"testing"
)

// painted is a picture of which a function says the colours.
func painted(w, h int, at func(x, y int) (r, g, b float64)) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	level := func(v float64) uint8 { return uint8(math.Round(max(0, min(255, v)))) }
	for y := range h {
		for x := range w {
			r, g, b := at(x, y)
			m.SetRGBA(x, y, color.RGBA{level(r), level(g), level(b), 255})
		}
	}
	return m
}

// photographed is a picture as a camera's JPEG keeps it.
func photographed(t *testing.T, m image.Image, quality int) *image.RGBA {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: quality}); err != nil {
		t.Fatal(err)
	}
	back, err := jpeg.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	rgba := image.NewRGBA(back.Bounds())
	draw.Draw(rgba, rgba.Rect, back, image.Point{}, draw.Src)
	return rgba
}

func TestPicturesWithoutContent(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	even := func(r, g, b float64) func(int, int) (float64, float64, float64) {
		return func(int, int) (float64, float64, float64) { return r, g, b }
	}
	noise := func(most float64) func(int, int) (float64, float64, float64) {
		return func(int, int) (float64, float64, float64) {
			return rng.Float64() * most, rng.Float64() * most, rng.Float64() * most
		}
	}
	sensor := func(mean, sigma float64) func(int, int) (float64, float64, float64) {
		return func(int, int) (float64, float64, float64) {
			n := mean + sigma*rng.NormFloat64()
			return n + rng.NormFloat64(), n, n + rng.NormFloat64()
		}
	}
	for name, at := range map[string]func(x, y int) (r, g, b float64){
		"black":            even(0, 0, 0),
		"navy":             even(0, 0, 128),
		"red":              even(255, 0, 0),
		"white":            even(255, 255, 255),
		"near-black noise": noise(12),
		"very dark noise":  noise(2),
		"a covered lens":   sensor(-4, 5),
		"a grey wall":      sensor(120, 6),
		"random noise":     noise(255),
		"a gradient": func(x, _ int) (float64, float64, float64) {
			return float64(x) / 4, float64(x) / 4, float64(x) / 4
		},
		"a gradient of colours": func(x, y int) (float64, float64, float64) {
			return float64(x) / 4, float64(y) / 4, 255 - float64(x)/4
		},
		"a light in the middle": func(x, y int) (float64, float64, float64) {
			v := 255 - math.Hypot(float64(x-300), float64(y-225))/3
			return v, v, v
		},
		"noise over a gradient": func(x, y int) (float64, float64, float64) {
			v := float64(x+y)/8 + 8*rng.NormFloat64()
			return v, v, v
		},
	} {
		for size, wh := range map[string][2]int{"large": {600, 450}, "small": {64, 48}} {
			m := painted(wh[0], wh[1], at)
			for how, m := range map[string]*image.RGBA{
				"": m, ", JPEG": photographed(t, m, 90), ", coarse JPEG": photographed(t, m, 60),
			} {
				if !contentless(m, 2) {
					t.Errorf("%s, %s%s: taken for a page", name, size, how)
				}
			}
		}
	}
}

func TestPicturesWithContent(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	// A word on paper: strokes of a width and of so much less light, under noise.
	word := func(paper, less, width, sigma float64) func(x, y int) (float64, float64, float64) {
		return func(x, y int) (float64, float64, float64) {
			v := paper + sigma*rng.NormFloat64()
			if dx := math.Mod(float64(x), 30); y > 300 && y < 330 && x > 300 && x < 500 && dx < width {
				v -= less
			}
			return v, v, v
		}
	}
	for name, at := range map[string]func(x, y int) (float64, float64, float64){
		"a word in black":                 word(240, 200, 3, 0),
		"a word in faint pencil":          word(235, 22, 3, 2),
		"faint pencil under noise":        word(225, 35, 4, 5),
		"a word in the dark":              word(40, 28, 4, 3),
		"a word in white on a blackboard": word(30, -60, 4, 4),
	} {
		m := painted(900, 700, at)
		for how, m := range map[string]*image.RGBA{"": m, ", JPEG": photographed(t, m, 85)} {
			if contentless(m, 2) {
				t.Errorf("%s%s: taken for nothing", name, how)
			}
		}
	}
	small := painted(64, 64, func(x, y int) (float64, float64, float64) {
		if x%12 < 6 && y%20 < 9 {
			return 0, 0, 0
		}
		return 255, 255, 255
	})
	if contentless(small, 2) {
		t.Error("a small page: taken for nothing")
	}
	line := painted(4000, 16, func(x, y int) (float64, float64, float64) {
		v := 255 * float64(x/5%2*(y/8))
		return v, v, v
	})
	if contentless(line, 2) {
		t.Error("a long line: taken for nothing")
	}
}
