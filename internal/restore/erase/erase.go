// Package erase paints paper, print and ruled lines over the strokes that go.
package erase

import (
	"image"
	"math"
	"sync"

	"unink/internal/raster"
	"unink/internal/restore/canvas"
	"unink/internal/restore/strokes"
)

// Erase paints the paper, and the print where there is some, over the strokes, and continues the
// printed lines through them. It returns a picture of its own; pixels that are not strokes are
// the page's.
func Erase(c *canvas.Canvas, rules []strokes.Rule, marks []strokes.Mark) *image.RGBA {
	dst := raster.Clone(c.Src, c.Workers)
	c.MarkNearInk()
	cell := min(max(int(math.Round(2.4*c.Scale)), 2), 8)
	paper, print := fields(c, cell)
	if paper == nil {
		return dst // no paper anywhere: nothing to continue
	}
	rows := (c.H + block - 1) / block
	raster.Rows(rows, c.Workers, func(a, b int) {
		for y := a; y < b; y++ {
			for x := 0; x < c.W; x += block {
				eraseBlock(c, dst, image.Rect(x, y*block, min(x+block, c.W), min((y+1)*block, c.H)),
					cell, paper, print)
			}
		}
	})
	for _, r := range rules {
		continueRule(c, dst, r, marks)
	}
	for _, m := range marks {
		drawBox(c, dst, m, paper, cell)
	}
	return dst
}

// fields are the colours of the paper and of the print all over the page; nil of what there is not.
func fields(c *canvas.Canvas, cell int) (paper, print *raster.Field) {
	var wg sync.WaitGroup
	wg.Go(func() {
		paper = filled(c.Field(c.Src, cell, func(weights, flags, _ []uint8) {
			for x, v := range flags {
				weights[x] = 0
				if v == 0 {
					weights[x] = 1
				}
			}
		}))
	})
	print = filled(c.Field(c.Src, cell, func(weights, flags, dark []uint8) {
		for x, v := range flags {
			weights[x] = 0
			if v&(canvas.IsPrint|canvas.IsHand) == canvas.IsPrint {
				weights[x] = dark[x]
			}
		}
	}))
	wg.Wait()
	return paper, print
}

// filled is the field without its holes, or nil if it has nothing else.
func filled(f *raster.Field) *raster.Field {
	if !f.Fill() {
		return nil
	}
	return f
}

// block is the side of JPEG's blocks: grain copied by whole blocks keeps their rhythm.
const block = 8

func eraseBlock(c *canvas.Canvas, dst *image.RGBA, r image.Rectangle, cell int,
	paper, print *raster.Field) {
	if !anyHand(c, r) {
		return
	}
	from := grainSource(c, r)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			v := c.Flags[y*c.W+x]
			if v&canvas.IsHand == 0 {
				continue
			}
			out := dst.Pix[y*dst.Stride+4*x:][:3]
			fill := paper.At(x, y, cell)
			g := grain(c, paper, cell, x+from.X, y+from.Y)
			for ch := range fill {
				fill[ch] += g[ch]
			}
			if sure := v >> canvas.UnderShift; sure > 0 && print != nil {
				fill = printUnder(out, fill, print.At(x, y, cell), float32(sure)/canvas.UnderMost)
			}
			for ch := range out {
				out[ch] = raster.Clamp8(fill[ch])
			}
		}
	}
}

// printUnder blends the print's colour over the paper where writing crosses print. Ink over ink
// only darkens: there is no more print than leaves the pixel as dark as it is.
func printUnder(px []uint8, paper, print [3]float32, cover float32) [3]float32 {
	const telling = 30 // difference of print and paper that says something
	for ch := range paper {
		if d := paper[ch] - print[ch]; d > telling {
			cover = min(cover, max(paper[ch]-float32(px[ch]), 0)/d)
		}
	}
	for ch := range paper {
		paper[ch] += cover * (print[ch] - paper[ch])
	}
	return paper
}

func anyHand(c *canvas.Canvas, r image.Rectangle) bool {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for _, v := range c.Flags[y*c.W:][r.Min.X:r.Max.X] {
			if v&canvas.IsHand != 0 {
				return true
			}
		}
	}
	return false
}

// grainSource finds the way to a block nearby that is plain paper, or to the plainest.
func grainSource(c *canvas.Canvas, r image.Rectangle) (best image.Point) {
	most := 0
	start := r.Min.X/block*7 + r.Min.Y/block*13 // neighbours look elsewhere, so no pattern repeats
	for ring := 1; ring <= 6; ring++ {
		for k := range 8 {
			d := compass[(start+k)%8].Mul(ring * block)
			if n := countPlain(c, r.Add(d)); n > most {
				most, best = n, d
			}
			if most == block*block {
				return best
			}
		}
	}
	return best
}

var compass = [8]image.Point{{1, 0}, {-1, 1}, {0, -1}, {1, 1}, {-1, 0}, {1, -1}, {0, 1}, {-1, -1}}

// countPlain counts the pixels of plain paper.
func countPlain(c *canvas.Canvas, r image.Rectangle) (n int) {
	r = r.Intersect(c.Src.Rect)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for _, v := range c.Flags[y*c.W:][r.Min.X:r.Max.X] {
			if v == 0 {
				n++
			}
		}
	}
	return n
}

// grain is the paper's texture at a pixel: what it differs from the smooth paper. It is nothing
// where the pixel is not plain paper, and bounded, since what is strong is no grain.
func grain(c *canvas.Canvas, paper *raster.Field, cell, x, y int) (out [3]float32) {
	if !(image.Point{X: x, Y: y}).In(c.Src.Rect) || c.Flags[y*c.W+x] != 0 {
		return out
	}
	smooth := paper.At(x, y, cell)
	bound := float32(c.Noise)
	px := c.Src.Pix[y*c.Src.Stride+4*x:][:3]
	for ch := range out {
		out[ch] = min(max(float32(px[ch])-smooth[ch], -bound), bound)
	}
	return out
}
