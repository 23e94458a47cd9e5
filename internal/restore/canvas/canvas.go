// Package canvas is the page at full resolution with what is known of each of its pixels.
package canvas

import (
	"image"
	"image/color"

	"unink/internal/raster"
	"unink/internal/restore/segment"
)

// What is known of a pixel at the page's full resolution.
const (
	IsHand  uint8 = 1 << iota // a stroke to be removed, to its last grey pixel
	IsPrint                   // print; with IsHand, print under a stroke
	NearInk                   // too close to ink to be taken for paper

	// The upper bits of a stroke's pixel say how surely there is print under it.
	UnderShift = 3
	UnderMost  = 255 >> UnderShift
)

// Canvas is the page at full resolution with what is known of its pixels.
type Canvas struct {
	Input   *image.RGBA // the page as it came to this stage
	Src     *image.RGBA // the same without highlighter
	W, H    int
	Workers int
	Scale   float64 // full-resolution pixels per working pixel
	Flags   []uint8
	Dark    []uint8 // how much darker than the paper: the largest difference of the channels
	Noise   uint8   // darkness up to which a pixel may be plain paper
}

// Em is that of the page's body text, in pixels.
func (c *Canvas) Em() float64 { return segment.WorkingEm * c.Scale }

// Project brings the working picture's scores to full resolution: interpolated, then snapped to
// the ink that is really there.
func Project(came, src *image.RGBA, s *segment.Scores, paper [3]*raster.Grid, workers int) *Canvas {
	w, h := src.Rect.Dx(), src.Rect.Dy()
	c := &Canvas{
		Input: came, Src: src, W: w, H: h, Workers: workers,
		Scale: float64(w) / float64(s.W),
		Flags: make([]uint8, w*h),
		Dark:  make([]uint8, w*h),
	}
	c.measureDarkness(paper)
	c.Noise = c.noiseLevel(s)
	c.classify(s)
	c.growStrokes()
	return c
}

func (c *Canvas) measureDarkness(paper [3]*raster.Grid) {
	var samplers [3]*raster.Sampler
	for ch := range samplers {
		samplers[ch] = paper[ch].Sample(c.W, c.H)
	}
	raster.Rows(c.H, c.Workers, func(y0, y1 int) {
		var line [3][]float32
		for ch := range line {
			line[ch] = make([]float32, c.W)
		}
		scratch := make([]float32, paper[0].W)
		for y := y0; y < y1; y++ {
			for ch := range line {
				samplers[ch].Row(line[ch], scratch, y)
			}
			raster.Darkness(c.Dark[y*c.W:][:c.W], c.Src.Pix[y*c.Src.Stride:], &line)
		}
	})
}

// noiseLevel is the darkness that all but a few per cent of the plain paper stays below.
func (c *Canvas) noiseLevel(s *segment.Scores) uint8 {
	var hist [256]int
	total := 0
	for y := 0; y < s.H; y += 2 {
		at := min(int((float64(y)+0.5)*float64(c.H)/float64(s.H)), c.H-1) * c.W
		for x := 0; x < s.W; x += 2 {
			if i := y*s.W + x; s.Hand[i] < -2*segment.Unit && s.Print[i] < -2*segment.Unit {
				hist[c.Dark[at+min(int((float64(x)+0.5)*float64(c.W)/float64(s.W)), c.W-1)]]++
				total++
			}
		}
	}
	seen := 0
	for v, n := range hist {
		if seen += n; float64(seen) > 0.94*float64(total) {
			return uint8(min(max(v, 4), 28))
		}
	}
	return 8
}

// classify sets IsHand and IsPrint by the interpolated scores.
func (c *Canvas) classify(s *segment.Scores) {
	frac := make([]int32, c.W)
	from := make([]int, 0, s.W+1) // the first pixel after each sample, and the row's end
	for x := range frac {
		var at int32
		for at, frac[x] = between(x, c.W, s.W); len(from) <= int(at); {
			from = append(from, x)
		}
	}
	for len(from) <= s.W {
		from = append(from, c.W)
	}
	raster.Rows(c.H, c.Workers, func(y0, y1 int) {
		hand, print := make([]int32, s.W+1), make([]int32, s.W+1)
		for y := y0; y < y1; y++ {
			top, fy := between(y, c.H, s.H)
			lerpRows(hand, s.Hand, s.W, int(top), min(int(top)+1, s.H-1), fy)
			lerpRows(print, s.Print, s.W, int(top), min(int(top)+1, s.H-1), fy)
			out := c.Flags[y*c.W:][:c.W]
			for i := range s.W {
				if max(hand[i], hand[i+1], print[i], print[i+1]) <= 0 {
					continue // there is no ink between the two
				}
				for x := from[i]; x < from[i+1]; x++ {
					f := frac[x]
					p := print[i]*(256-f) + print[i+1]*f
					if p > 0 {
						out[x] = IsPrint
					}
					if hand[i]*(256-f)+hand[i+1]*f > 0 {
						out[x] |= IsHand | under(p>>16)<<UnderShift
					}
				}
			}
		}
	})
}

// under is how surely there is print, from 0 at log-odds of -1 to UnderMost at 1.
func under(score int32) uint8 {
	return uint8(min(max(score+segment.Unit, 0)*UnderMost/(2*segment.Unit), UnderMost))
}

// between locates pixel i of n among m samples: the one at or before it, and the way to the next
// in 256ths.
func between(i, n, m int) (at, frac int32) {
	p := (float64(i)+0.5)*float64(m)/float64(n) - 0.5
	p = min(max(p, 0), float64(m-1))
	at = int32(p)
	return at, int32((p - float64(at)) * 256)
}

// lerpRows blends rows a and b of a plane; the last value is repeated once.
func lerpRows(dst []int32, plane []int8, w, a, b int, f int32) {
	top, low := plane[a*w:][:w], plane[b*w:][:w]
	for x := range top {
		dst[x] = int32(top[x])*(256-f) + int32(low[x])*f
	}
	dst[w] = dst[w-1]
}

// Segmented shows what was found: writing red, print black.
func (c *Canvas) Segmented() *image.RGBA {
	m := image.NewRGBA(c.Src.Rect)
	for i, v := range c.Flags {
		px := color.RGBA{255, 255, 255, 255}
		switch {
		case v&IsHand != 0:
			px = color.RGBA{220, 30, 30, 255}
		case v&IsPrint != 0:
			px = color.RGBA{0, 0, 0, 255}
		}
		m.Pix[4*i], m.Pix[4*i+1], m.Pix[4*i+2], m.Pix[4*i+3] = px.R, px.G, px.B, px.A
	}
	return m
}
