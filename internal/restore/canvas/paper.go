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
// which lie in these flags and are so dark. The sums of a cell fit for weights of 1, and for larger
// ones in cells of up to 256 pixels a side.
func (c *Canvas) Field(src *image.RGBA, cell int, weigh func(weights, flags, dark []uint8),
) *raster.Field {
	f := raster.NewField((c.W+cell-1)/cell, (c.H+cell-1)/cell)
	raster.Rows(f.H, c.Workers, func(a, b int) {
		weights, sums := make([]uint8, c.W), make([]uint32, 4*c.W)
		for cy := a; cy < b; cy++ {
			clear(sums)
			for y := cy * cell; y < min((cy+1)*cell, c.H); y++ {
				weigh(weights, c.Flags[y*c.W:][:c.W], c.Dark[y*c.W:][:c.W])
				raster.AddPixels(sums, src.Pix[y*src.Stride:], weights)
			}
			average(f.Colour[cy*f.W:][:f.W], f.Weight[cy*f.W:][:f.W], sums, cell)
		}
	})
	return f
}

// average makes a row of cells of the sums of its columns of pixels.
func average(colours [][3]float32, weights []float32, sums []uint32, cell int) {
	enough := float32(cell*cell) / 4
	for i := range colours {
		var sum [4]uint32
		for of := sums[4*i*cell : min(4*(i+1)*cell, len(sums))]; len(of) >= 4; of = of[4:] {
			sum[0] += of[0]
			sum[1] += of[1]
			sum[2] += of[2]
			sum[3] += of[3]
		}
		if total := float32(sum[3]); total > 0 {
			for ch := range colours[i] {
				colours[i][ch] = float32(sum[ch]) / total
			}
			weights[i] = min(total/enough, 1)
		}
	}
}
