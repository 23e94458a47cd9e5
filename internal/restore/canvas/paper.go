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
			for yy := max(y-ring, 0); yy <= min(y+ring, c.H-1); yy++ {
				raster.Or(marked[y*c.W:][:c.W], c.Flags[yy*c.W:])
			}
		}
	})
	raster.Rows(c.H, c.Workers, func(y0, y1 int) {
		flags := c.Flags[y0*c.W : y1*c.W]
		for i, v := range marked[y0*c.W : y1*c.W] {
			if v != 0 {
				flags[i] |= NearInk
			}
		}
	})
}

// Field averages a picture of the page by cells. weigh sets the weights of the pixels of a row,
// which lie in these flags and are so dark.
func (c *Canvas) Field(src *image.RGBA, cell int,
	weigh func(weights []float32, flags, dark []uint8)) *raster.Field {
	f := raster.NewField((c.W+cell-1)/cell, (c.H+cell-1)/cell)
	enough := float32(cell*cell) / 4
	raster.Rows(f.H, c.Workers, func(a, b int) {
		weights := make([]float32, c.W)
		for cy := a; cy < b; cy++ {
			sums, totals := f.Colour[cy*f.W:][:f.W], f.Weight[cy*f.W:][:f.W]
			for y := cy * cell; y < min((cy+1)*cell, c.H); y++ {
				weigh(weights, c.Flags[y*c.W:][:c.W], c.Dark[y*c.W:][:c.W])
				raster.AddCells(sums, totals, cell, src.Pix[y*src.Stride:][:4*c.W], weights)
			}
			for i, total := range totals {
				if total > 0 {
					for ch := range sums[i] {
						sums[i][ch] /= total
					}
					totals[i] = min(total/enough, 1)
				}
			}
		}
	})
	return f
}
