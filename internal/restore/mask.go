package restore

import (
	"image"
	"math"

	"unink/internal/raster"
)

// What is known of a pixel at the page's full resolution.
const (
	isHand  uint8 = 1 << iota // a stroke to be removed, to its last grey pixel
	isPrint                   // print; with isHand, print under a stroke
	nearInk                   // too close to ink to be taken for paper

	// The upper bits of a stroke's pixel say how surely there is print under it.
	underShift = 3
	underMost  = 255 >> underShift
)

// canvas is the page at full resolution with what is known of its pixels.
type canvas struct {
	came    *image.RGBA // the page as it came to this stage
	src     *image.RGBA // the same without highlighter
	w, h    int
	workers int
	scale   float64 // full-resolution pixels per working pixel
	flags   []uint8
	dark    []uint8 // how much darker than the paper: the largest difference of the channels
	noise   uint8   // darkness up to which a pixel may be plain paper
}

// project brings the working picture's scores to full resolution: interpolated, then snapped to
// the ink that is really there.
func project(came, src *image.RGBA, s *scores, paper [3]*raster.Grid, workers int) *canvas {
	w, h := src.Rect.Dx(), src.Rect.Dy()
	c := &canvas{
		came: came, src: src, w: w, h: h, workers: workers,
		scale: float64(w) / float64(s.w),
		flags: make([]uint8, w*h),
		dark:  make([]uint8, w*h),
	}
	c.measureDarkness(paper)
	c.noise = c.noiseLevel(s)
	c.classify(s)
	c.growStrokes()
	return c
}

// paperGrids estimates the paper of each channel.
func paperGrids(m *raster.RGB, workers int) (g [3]*raster.Grid) {
	const cell = 17 // working pixels, where print has an em of about 24
	for ch := range g {
		g[ch] = raster.PaperGrid(m.Pix[ch], m.W, m.H, cell, 0.8, workers)
	}
	return g
}

func (c *canvas) measureDarkness(paper [3]*raster.Grid) {
	var samplers [3]*raster.Sampler
	for ch := range samplers {
		samplers[ch] = paper[ch].Sample(c.w, c.h)
	}
	raster.Rows(c.h, c.workers, func(y0, y1 int) {
		var line [3][]float32
		for ch := range line {
			line[ch] = make([]float32, c.w)
		}
		scratch := make([]float32, paper[0].W)
		for y := y0; y < y1; y++ {
			for ch := range line {
				samplers[ch].Row(line[ch], scratch, y)
			}
			row, out := c.src.Pix[y*c.src.Stride:][:4*c.w], c.dark[y*c.w:][:c.w]
			r, g, b := line[0], line[1], line[2]
			for x := range out {
				p := row[4*x : 4*x+3 : 4*x+3]
				d := max(r[x]-float32(p[0]), g[x]-float32(p[1]), b[x]-float32(p[2]), 0)
				out[x] = uint8(d)
			}
		}
	})
}

// noiseLevel is the darkness that all but a few per cent of the plain paper stays below.
func (c *canvas) noiseLevel(s *scores) uint8 {
	var hist [256]int
	total := 0
	for y := 0; y < s.h; y += 2 {
		at := min(int((float64(y)+0.5)*float64(c.h)/float64(s.h)), c.h-1) * c.w
		for x := 0; x < s.w; x += 2 {
			if i := y*s.w + x; s.hand[i] < -2*scoreUnit && s.print[i] < -2*scoreUnit {
				hist[c.dark[at+min(int((float64(x)+0.5)*float64(c.w)/float64(s.w)), c.w-1)]]++
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

// classify sets isHand and isPrint by the interpolated scores.
func (c *canvas) classify(s *scores) {
	at, frac := make([]int32, c.w), make([]int32, c.w)
	for x := range at {
		at[x], frac[x] = between(x, c.w, s.w)
	}
	raster.Rows(c.h, c.workers, func(y0, y1 int) {
		hand, print := make([]int32, s.w+1), make([]int32, s.w+1)
		for y := y0; y < y1; y++ {
			top, fy := between(y, c.h, s.h)
			lerpRows(hand, s.hand, s.w, int(top), min(int(top)+1, s.h-1), fy)
			lerpRows(print, s.print, s.w, int(top), min(int(top)+1, s.h-1), fy)
			out := c.flags[y*c.w:][:c.w]
			for x := range out {
				i, f := at[x], frac[x]
				var v uint8
				p := print[i]*(256-f) + print[i+1]*f
				if p > 0 {
					v = isPrint
				}
				if hand[i]*(256-f)+hand[i+1]*f > 0 {
					v |= isHand | under(p>>16)<<underShift
				}
				out[x] = v
			}
		}
	})
}

// under is how surely there is print, from 0 at log-odds of -1 to underMost at 1.
func under(score int32) uint8 {
	return uint8(min(max(score+scoreUnit, 0)*underMost/(2*scoreUnit), underMost))
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

// growStrokes widens the strokes over the ink that is connected to them and not print, down to
// the paper's noise, and then by a rim for what is lost in the noise. The network's outline is
// true to about one of its pixels.
func (c *canvas) growStrokes() {
	frontier := c.outline(isHand)
	reach := int(math.Ceil(1.5*c.scale)) + 1
	for range reach {
		frontier = c.spread(frontier, func(i int) bool { return c.dark[i] > c.noise })
	}
	rim := 1 + int(c.scale/2)
	frontier = c.outline(isHand)
	for range rim {
		frontier = c.spread(frontier, func(int) bool { return true })
	}
}

// outline lists the pixels with the flag that touch one without it.
func (c *canvas) outline(flag uint8) []int32 {
	var out []int32
	for y := range c.h {
		row := c.flags[y*c.w:][:c.w]
		for x, v := range row {
			if v&flag == 0 {
				continue
			}
			i := y*c.w + x
			if x > 0 && row[x-1]&flag == 0 || x+1 < c.w && row[x+1]&flag == 0 ||
				y > 0 && c.flags[i-c.w]&flag == 0 || y+1 < c.h && c.flags[i+c.w]&flag == 0 {
				out = append(out, int32(i))
			}
		}
	}
	return out
}

// spread adds to the strokes the free neighbours of the frontier that are wanted, and returns
// them as the next frontier.
func (c *canvas) spread(frontier []int32, wanted func(i int) bool) []int32 {
	var next []int32
	for _, f := range frontier {
		x, y := int(f)%c.w, int(f)/c.w
		for _, d := range [4][2]int{{0, -1}, {-1, 0}, {1, 0}, {0, 1}} {
			nx, ny := x+d[0], y+d[1]
			if nx < 0 || ny < 0 || nx >= c.w || ny >= c.h {
				continue
			}
			if i := ny*c.w + nx; c.flags[i]&(isHand|isPrint) == 0 && wanted(i) {
				c.flags[i] |= isHand
				next = append(next, int32(i))
			}
		}
	}
	return next
}
