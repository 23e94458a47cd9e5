package segment

import (
	"image"
	"math"

	"unink/internal/nn"
	"unink/internal/raster"
)

// WorkingEm is the em of body text in the working picture, in pixels. In these pixels the stages
// measure ink.
const WorkingEm = 24

// Bounds of the pictures that the stages and the network see. Above maxPixels a page is worked on
// smaller than they like best; enlarging it beyond maxEnlarge shows nothing new.
const (
	maxPixels  = 4.5e6 // of the working picture
	maxEnlarge = 2.0   // times the page
)

// sizeAt is the size of a page whose body text, of an em of so many pixels, is brought to another.
func sizeAt(w, h int, em, wanted float64) (ww, wh int) {
	scale := min(wanted/em, maxEnlarge, math.Sqrt(maxPixels/float64(w*h)))
	return raster.Scaled(w, scale), raster.Scaled(h, scale)
}

const (
	tileMargin = 32  // pixels at a tile's edge that lack context
	leastSide  = 384 // of several tiles: that of the windows which the network learned from
)

// tiling is how a picture is divided into tiles of one shape, columns by rows.
type tiling struct {
	columns, rows int
	shape         nn.Shape
}

// tilingOf is the one with the fewest pixels in all. Tiles are worked on two at once, or more, so
// that one without another costs as much as two.
func tilingOf(w, h int) (best tiling) {
	least := math.MaxInt
	for columns := 1; columns == 1 || tileSide(w, columns) >= leastSide; columns++ {
		for rows := 1; rows == 1 || tileSide(h, rows) >= leastSide; rows++ {
			t := tiling{columns, rows, nn.Shape{W: tileSide(w, columns), H: tileSide(h, rows)}}
			pairs := (columns*rows + 1) / 2
			if n := pairs * t.shape.Pixels(); t.shape.Pixels() <= nn.LargestTile.Pixels() && n < least {
				best, least = t, n
			}
		}
	}
	return best
}

// tileSide is the side of so many tiles that cover n pixels.
func tileSide(n, count int) int {
	side := (n + 2*tileMargin*(count-1) + count - 1) / count
	return (side + nn.Cell - 1) / nn.Cell * nn.Cell
}

// tileSpan is one tile along an axis: it starts at pixel at (which may be negative when the picture
// is smaller than the tile) and its answer counts from core0 to core1.
type tileSpan struct{ at, core0, core1 int }

// tileSpans spreads tiles evenly over n pixels from one on. Each pixel belongs to one tile, the one
// whose centre is nearest, so that stitching is exact and in any order the same.
func tileSpans(from, n, side, count int) []tileSpan {
	out := make([]tileSpan, count)
	if count == 1 {
		out[0] = tileSpan{from + (n-side)/2, from, from + n}
		return out
	}
	for i := range out {
		out[i].at = from + i*(n-side)/(count-1)
		out[i].core0, out[i].core1 = from, from+n
		if i > 0 {
			out[i].core0 = (out[i-1].at + side + out[i].at) / 2
			out[i-1].core1 = out[i].core0
		}
	}
	return out
}

// cut fills a tile from the picture at x, y, mirrored beyond its borders.
func cut(to []float32, m *raster.RGB, gain [3]float32, tile nn.Shape, x, y int) {
	row := make([]uint8, tile.W)
	first, end := min(max(-x, 0), tile.W), max(min(m.W-x, tile.W), 0) // columns within the picture
	for c, plane := range m.Pix {
		var light [256]float32 // of each value
		for v := range light {
			light[v] = min(float32(v)*(gain[c]/255), 1)
		}
		for i := range tile.H {
			from := plane[raster.Reflect(y+i, m.H)*m.W:][:m.W]
			copy(row[first:end], from[x+first:])
			for j := range first {
				row[j] = from[raster.Reflect(x+j, m.W)]
			}
			for j := end; j < tile.W; j++ {
				row[j] = from[raster.Reflect(x+j, m.W)]
			}
			line := nn.Line(to, tile, c, i)
			even, odd := line[0], line[1][:len(line[0])]
			for j := range even {
				even[j], odd[j] = light[row[2*j]], light[row[2*j+1]]
			}
		}
	}
}

// WorkingPicture brings a page to the size at which the stages measure it. em is that of its body
// text.
func WorkingPicture(src *image.RGBA, em float64, workers int) *raster.RGB {
	w, h := sizeAt(src.Rect.Dx(), src.Rect.Dy(), em, WorkingEm)
	return raster.Resize(src, w, h, workers)
}
