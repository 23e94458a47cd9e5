package restore

import (
	"image"
	"math"

	"unink/internal/raster"
)

// erase paints the paper, and the print where there is some, over the strokes, and continues the
// printed lines through them. It returns a picture of its own; pixels that are not strokes are
// the page's.
func (c *canvas) erase(rules []rule, marks []*mark) *image.RGBA {
	dst := image.NewRGBA(c.src.Rect)
	copy(dst.Pix, c.src.Pix)
	c.markNearInk()
	cell := min(max(int(math.Round(2.4*c.scale)), 2), 8)
	paper := c.field(c.src, cell, func(i int) float32 {
		if c.flags[i] == 0 {
			return 1
		}
		return 0
	})
	if !paper.Fill() {
		return dst // no paper anywhere: nothing to continue
	}
	print := c.field(c.src, cell, func(i int) float32 {
		if c.flags[i]&(isPrint|isHand) == isPrint {
			return float32(c.dark[i])
		}
		return 0
	})
	if !print.Fill() {
		print = nil
	}
	rows := (c.h + block - 1) / block
	raster.Rows(rows, c.workers, func(a, b int) {
		for y := a; y < b; y++ {
			for x := 0; x < c.w; x += block {
				c.eraseBlock(dst, image.Rect(x, y*block, min(x+block, c.w), min((y+1)*block, c.h)), cell, paper, print)
			}
		}
	})
	for _, r := range rules {
		c.continueRule(dst, r)
	}
	for _, m := range marks {
		c.drawBox(dst, m, paper, cell)
	}
	return dst
}

// block is the side of JPEG's blocks: grain copied by whole blocks keeps their rhythm.
const block = 8

func (c *canvas) eraseBlock(dst *image.RGBA, r image.Rectangle, cell int, paper, print *raster.Field) {
	if !c.anyHand(r) {
		return
	}
	from := c.grainSource(r)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			v := c.flags[y*c.w+x]
			if v&isHand == 0 {
				continue
			}
			out := dst.Pix[y*dst.Stride+4*x:][:3]
			fill := paper.At(x, y, cell)
			g := c.grain(paper, cell, x+from.X, y+from.Y)
			for ch := range fill {
				fill[ch] += g[ch]
			}
			if sure := v >> underShift; sure > 0 && print != nil {
				fill = printUnder(out, fill, print.At(x, y, cell), float32(sure)/underMost)
			}
			for ch := range out {
				out[ch] = clamp8(fill[ch])
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

func (c *canvas) anyHand(r image.Rectangle) bool {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for _, v := range c.flags[y*c.w:][r.Min.X:r.Max.X] {
			if v&isHand != 0 {
				return true
			}
		}
	}
	return false
}

// grainSource finds the way to a block nearby that is plain paper, or to the plainest.
func (c *canvas) grainSource(r image.Rectangle) (best image.Point) {
	most := 0
	start := r.Min.X/block*7 + r.Min.Y/block*13 // neighbours look elsewhere, so no pattern repeats
	for ring := 1; ring <= 6; ring++ {
		for k := range 8 {
			d := compass[(start+k)%8].Mul(ring * block)
			if n := c.plain(r.Add(d)); n > most {
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

// plain counts the pixels of plain paper.
func (c *canvas) plain(r image.Rectangle) (n int) {
	r = r.Intersect(c.src.Rect)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for _, v := range c.flags[y*c.w:][r.Min.X:r.Max.X] {
			if v == 0 {
				n++
			}
		}
	}
	return n
}

// grain is the paper's texture at a pixel: what it differs from the smooth paper. It is nothing
// where the pixel is not plain paper, and bounded, since what is strong is no grain.
func (c *canvas) grain(paper *raster.Field, cell, x, y int) (out [3]float32) {
	if !(image.Point{X: x, Y: y}).In(c.src.Rect) || c.flags[y*c.w+x] != 0 {
		return out
	}
	smooth := paper.At(x, y, cell)
	bound := float32(c.noise)
	px := c.src.Pix[y*c.src.Stride+4*x:][:3]
	for ch := range out {
		out[ch] = min(max(float32(px[ch])-smooth[ch], -bound), bound)
	}
	return out
}

func clamp8(v float32) uint8 { return uint8(min(max(v+0.5, 0), 255)) }

// markNearInk sets nearInk in a safety ring round strokes and print, so that no grey rim is taken
// for paper.
func (c *canvas) markNearInk() {
	ring := int(math.Ceil(2.2 * c.scale))
	raster.Rows(c.h, c.workers, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			row := c.flags[y*c.w:][:c.w]
			last := -ring - 1
			for x, v := range row {
				if v&(isHand|isPrint) != 0 {
					if x-last > 1 {
						for i := max(x-ring, last+1, 0); i < x; i++ {
							row[i] |= nearInk
						}
					}
					last = x
				} else if x-last <= ring {
					row[x] |= nearInk
				}
			}
		}
	})
	// Down the columns: what is ink in one of the ring's rows marks this row.
	marked := make([]uint8, len(c.flags))
	raster.Rows(c.h, c.workers, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			out := marked[y*c.w:][:c.w]
			for yy := max(y-ring, 0); yy <= min(y+ring, c.h-1); yy++ {
				for x, v := range c.flags[yy*c.w:][:c.w] {
					out[x] |= v
				}
			}
		}
	})
	for i, v := range marked {
		if v != 0 {
			c.flags[i] |= nearInk
		}
	}
}

// field averages a picture of the page by cells, each pixel with its weight.
func (c *canvas) field(src *image.RGBA, cell int, weight func(i int) float32) *raster.Field {
	f := raster.NewField((c.w+cell-1)/cell, (c.h+cell-1)/cell)
	enough := float32(cell*cell) / 4
	raster.Rows(f.H, c.workers, func(a, b int) {
		for cy := a; cy < b; cy++ {
			for cx := range f.W {
				var sum [3]float32
				var total float32
				for y := cy * cell; y < min((cy+1)*cell, c.h); y++ {
					for x := cx * cell; x < min((cx+1)*cell, c.w); x++ {
						k := weight(y*c.w + x)
						if k == 0 {
							continue
						}
						px := src.Pix[y*src.Stride+4*x:][:3]
						total += k
						for ch := range sum {
							sum[ch] += k * float32(px[ch])
						}
					}
				}
				if total == 0 {
					continue
				}
				i := cy*f.W + cx
				for ch := range sum {
					f.Colour[i][ch] = sum[ch] / total
				}
				f.Weight[i] = min(total/enough, 1)
			}
		}
	})
	return f
}
