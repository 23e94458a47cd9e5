package raster

import (
	"fmt"
	"image"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func unwarped(w, h int) *Warp {
	return NewWarp(w, h, w, h, func(x, y float64) (float64, float64) { return x, y })
}

// A warp that moves nothing gives the picture back, found on a picture of any size.
func TestWarpOfNothingIsIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawRGBA(t)
		w, h := m.Rect.Dx(), m.Rect.Dy()
		for i := 3; i < len(m.Pix); i += 4 {
			m.Pix[i] = 255
		}
		k := rapid.IntRange(1, 3).Draw(t, "scale")
		got := unwarped(k*w, k*h).Apply(m, 2)
		if got.Rect != m.Rect {
			t.Fatalf("%v became %v", m.Rect, got.Rect)
		}
		for i, v := range got.Pix {
			if v != m.Pix[i] {
				t.Fatalf("byte %d: %d became %d", i, m.Pix[i], v)
			}
		}
	})
}

// smooth is a picture that is smooth enough to be known between its pixels.
func smooth(x, y float64) float64 { return 128 + 60*math.Sin(x/9) + 50*math.Cos(y/7+x/40) }

func drawn(w, h int, at func(x, y float64) float64) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := 0; i < len(m.Pix); i += 4 {
		v := uint8(at(float64(i/4%w), float64(i/4/w)) + 0.5)
		m.Pix[i], m.Pix[i+1], m.Pix[i+2], m.Pix[i+3] = v, v, v, 255
	}
	return m
}

// Each pixel has the colour of the place it comes from, also on a picture twice the size.
func TestWarpTakesEachPixelFromItsPlace(t *testing.T) {
	const w, h = 150, 130
	at := func(x, y float64) (float64, float64) {
		d := 1 + 0.0004*x - 0.0006*y
		return (20 + 0.8*x - 0.1*y) / d, (5 + 0.12*x + 0.85*y) / d
	}
	m := NewWarp(w, h, 120, 110, at)
	for _, k := range []float64{1, 2} {
		src := drawn(int(k*w), int(k*h), func(x, y float64) float64 {
			return smooth((x+0.5)/k-0.5, (y+0.5)/k-0.5)
		})
		got := m.Apply(src, 2)
		if got.Rect.Dx() != int(120*k) || got.Rect.Dy() != int(110*k) {
			t.Fatalf("the picture is %v", got.Rect)
		}
		for y := range got.Rect.Dy() {
			for x := range got.Rect.Dx() {
				sx, sy := at((float64(x)+0.5)/k-0.5, (float64(y)+0.5)/k-0.5)
				if sx < 1 || sy < 1 || sx > w-2 || sy > h-2 {
					continue
				}
				if v, want := float64(got.RGBAAt(x, y).G), smooth(sx, sy); math.Abs(v-want) > 2.5 {
					t.Fatalf("scale %g: pixel %d,%d is %g, want %g", k, x, y, v, want)
				}
			}
		}
	}
}

// What two warps do one after the other one does at once, found on pictures of other sizes, too.
func TestWarpAfterAnother(t *testing.T) {
	const w, h, degrees = 300, 200, 30
	first := Rotation(w, h, degrees, [2]float64{190, 0})
	if first.W != 380 || first.H != 173 {
		t.Fatalf("the picture that was turned is %d × %d", first.W, first.H)
	}
	const k = 2.0 // the second is found on the first's result at twice the size
	second := NewWarp(k*first.W, k*first.H, 400, 320, func(x, y float64) (float64, float64) {
		return 50 + x + 0.1*y, 40 + y - 0.2*x
	})
	both := second.After(first)
	if both.W != 200 || both.H != 160 {
		t.Fatalf("the result is %d × %d", both.W, both.H)
	}
	for _, p := range [][2]float64{{0, 0}, {199, 0}, {100, 80}, {31, 159}} {
		x, y := second.At((p[0]+0.5)*k-0.5, (p[1]+0.5)*k-0.5)
		wantX, wantY := first.At((x+0.5)/k-0.5, (y+0.5)/k-0.5)
		if x, y := both.At(p[0], p[1]); math.Hypot(x-wantX, y-wantY) > 0.01 {
			t.Errorf("%v comes from %.2f,%.2f, want %.2f,%.2f", p, x, y, wantX, wantY)
		}
	}
}

// Beyond the borders lies paper, though print touches them.
func TestWarpGoesOnAsPaper(t *testing.T) {
	const side = 400
	src := drawn(side, side, func(x, _ float64) float64 {
		if int(x)%9 < 3 {
			return 10
		}
		return 230
	})
	m := NewWarp(side, side, side+80, side+80, func(x, y float64) (float64, float64) {
		return x - 40, y - 40
	})
	got := m.Apply(src, 1)
	for y := range side + 80 {
		for x := range side + 80 {
			outside := x < 38 || y < 38 || x > side+42 || y > side+42
			if v := got.RGBAAt(x, y).R; outside && v != 230 {
				t.Fatalf("pixel %d,%d beyond the page is %d", x, y, v)
			}
		}
	}
}

func BenchmarkWarp(b *testing.B) {
	src := drawn(3024, 4032, smooth)
	m := NewWarp(1512, 2016, 1512, 2016, func(x, y float64) (float64, float64) {
		return x + 0.04*y - 40, y - 0.04*x + 30
	})
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			for b.Loop() {
				m.Apply(src, workers)
			}
		})
	}
}
