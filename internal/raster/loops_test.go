package raster

import (
	"image"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The fast loops of this processor, if it has any, give what the plain ones give, to the bit.
func TestLoopsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint32().Draw(t, "seed")
		random := func() uint8 {
			seed = seed*1664525 + 1013904223
			return uint8(seed >> 24)
		}
		side := rapid.IntRange(1, 90)
		src := image.NewRGBA(image.Rect(0, 0, side.Draw(t, "sw"), side.Draw(t, "sh")))
		for i := range src.Pix {
			src.Pix[i] = random()
		}
		w, h := side.Draw(t, "w"), side.Draw(t, "h")
		xs, ys := tapsOf(src.Rect.Dx(), w), tapsOf(src.Rect.Dy(), h)
		resized := func(l loopSet) *RGB {
			m := NewRGB(w, h)
			l.resize(m, src, xs, ys, 0, h/2)
			l.resize(m, src, xs, ys, h/2, h)
			return m
		}
		if !reflect.DeepEqual(resized(loops), resized(plainLoops)) {
			t.Errorf("%v becomes another picture of %d×%d", src.Rect.Max, w, h)
		}

		g := NewGrid(w, h, rapid.IntRange(1, 20).Draw(t, "cell"))
		for i := range g.V {
			g.V[i] = float32(random()) / 3
		}
		s, line := g.Sample(w, h), make([]float32, g.W)
		for i := range line {
			line[i] = float32(random()) / 7
		}
		interpolated := func(l loopSet) []float32 {
			to := make([]float32, w)
			l.interpolate(to, s.frac, line, s.from)
			return to
		}
		if a, b := interpolated(loops), interpolated(plainLoops); !slices.Equal(a, b) {
			t.Errorf("interpolated it is %v, want %v", a, b)
		}

		var paper [3][]float32
		for ch := range paper {
			for range src.Rect.Dx() {
				paper[ch] = append(paper[ch], float32(random())+float32(random())/256)
			}
		}
		darkness := func(l loopSet) []uint8 {
			to := make([]uint8, src.Rect.Dx())
			l.darkness(to, src.Pix[:4*len(to)], &paper)
			return to
		}
		if a, b := darkness(loops), darkness(plainLoops); !slices.Equal(a, b) {
			t.Errorf("its first row is so dark: %v, want %v", a, b)
		}

		largest := func(l loopSet) []float32 {
			to := make([]float32, len(paper[0]))
			l.larger(to, paper[0], paper[1])
			return to
		}
		if a, b := largest(loops), largest(plainLoops); !slices.Equal(a, b) {
			t.Errorf("the larger ones are %v, want %v", a, b)
		}

		lack := func(l loopSet) []uint8 {
			to := make([]uint8, len(paper[0]))
			l.lack(to, src.Pix[:len(to)], paper[0])
			return to
		}
		if a, b := lack(loops), lack(plainLoops); !slices.Equal(a, b) {
			t.Errorf("its first row lacks %v, want %v", a, b)
		}
		share := func(l loopSet) []uint8 {
			to := make([]uint8, src.Rect.Dx())
			l.share(to, src.Pix[:len(to)], paper[0])
			return to
		}
		if a, b := share(loops), share(plainLoops); !slices.Equal(a, b) {
			t.Errorf("its first row has %v, want %v", a, b)
		}

		weights := make([]uint8, src.Rect.Dx())
		for i := range weights {
			if v := random(); v > 100 {
				weights[i] = v
			}
		}
		clear(weights[len(weights)/2:])
		added := func(l loopSet) []uint32 {
			sums := make([]uint32, 4*len(weights))
			for y := range min(src.Rect.Dy(), 3) {
				l.addPixels(sums, src.Pix[y*src.Stride:][:4*len(weights)], weights)
			}
			return sums
		}
		if a, b := added(loops), added(plainLoops); !slices.Equal(a, b) {
			t.Errorf("its pixels add up to %v, want %v", a, b)
		}
	})
}
