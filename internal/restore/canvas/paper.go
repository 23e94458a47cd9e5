package canvas

import (
	"image"
	"math"

	"unink/internal/raster"
)

// MarkNearInk sets NearInk in a safety ring round strokes and print, so that no grey rim is taken
// for paper.
func (c *Canvas) MarkNearInk() {
	ring := int(math.Ceil(2.2 * c.Scale))
	raster.Rows(c.H, c.Workers, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			row := c.Flags[y*c.W:][:c.W]
			last := -ring - 1
			for x, v := range row {
				if v&(IsHand|IsPrint) != 0 {
					if x-last > 1 {
						for i := max(x-ring, last+1, 0); i < x; i++ {
							row[i] |= NearInk
						}
					}
					last = x
				} else if x-last <= ring {
					row[x] |= NearInk
				}
			}
		}
	})
	// Down the columns: what is ink in one of the ring's rows marks this row.
	marked := make([]uint8, len(c.Flags))
	raster.Rows(c.H, c.Workers, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			out := marked[y*c.W:][:c.W]
			for yy := max(y-ring, 0); yy <= min(y+ring, c.H-1); yy++ {
				for x, v := range c.Flags[yy*c.W:][:c.W] {
					out[x] |= v
				}
			}
		}
	})
	for i, v := range marked {
		if v != 0 {
			c.Flags[i] |= NearInk
		}
	}
}

// Field averages a picture of the page by cells, each pixel with its weight.
func (c *Canvas) Field(src *image.RGBA, cell int, weight func(i int) float32) *raster.Field {
	f := raster.NewField((c.W+cell-1)/cell, (c.H+cell-1)/cell)
	enough := float32(cell*cell) / 4
	raster.Rows(f.H, c.Workers, func(a, b int) {
		for cy := a; cy < b; cy++ {
			for cx := range f.W {
				var sum [3]float32
				var total float32
				for y := cy * cell; y < min((cy+1)*cell, c.H); y++ {
					for x := cx * cell; x < min((cx+1)*cell, c.W); x++ {
						k := weight(y*c.W + x)
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
