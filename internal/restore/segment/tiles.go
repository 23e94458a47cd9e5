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

// levels are the bytes by which a network is told the values of each channel.
type levels [3][256]uint8

// levelsOf are those of a picture whose planes have such gains, as the network has numbers rounded.
func levelsOf(gain [3]float32, round func(float32) uint8) *levels {
	var out levels
	for c := range out {
		for v := range out[c] {
			out[c][v] = round(min(float32(v)*(gain[c]/255), 1) - 0.5)
		}
	}
	return &out
}

// cut fills the squares of a tile from the picture at x, y, mirrored beyond its borders.
func cut(to []uint8, m *raster.RGB, told *levels, tile nn.Shape, x, y int) {
	var lines [nn.SquareSide][]uint8
	for i := range lines {
		lines[i] = make([]uint8, tile.W)
	}
	for c, plane := range m.Pix {
		for i := 0; i < tile.H; i += nn.SquareSide {
			for k, line := range lines {
				mirrored(line, plane[raster.Reflect(y+i+k, m.H)*m.W:][:m.W], x)
			}
			row := to[i/nn.SquareSide*(tile.W/nn.SquareSide)*nn.SquareInputs:]
			square(row[c*nn.SquarePixels:], lines, &told[c])
		}
	}
}

// mirrored fills to with a line from x on, mirrored beyond its ends.
func mirrored(to, line []uint8, x int) {
	first, end := min(max(-x, 0), len(to)), max(min(len(line)-x, len(to)), 0) // within the line
	if first < end {
		copy(to[first:end], line[x+first:])
	}
	for j := range first {
		to[j] = line[raster.Reflect(x+j, len(line))]
	}
	for j := max(first, end); j < len(to); j++ {
		to[j] = line[raster.Reflect(x+j, len(line))]
	}
}

// square fills one channel of a row of squares from the lines of pixels.
func square(to []uint8, lines [nn.SquareSide][]uint8, told *[256]uint8) {
	top, bottom := lines[0], lines[1][:len(lines[0])]
	for j := 0; j+1 < len(top); j += nn.SquareSide {
		at := (*[nn.SquarePixels]uint8)(to[j/nn.SquareSide*nn.SquareInputs:])
		at[0], at[1] = told[top[j]], told[top[j+1]]
		at[2], at[3] = told[bottom[j]], told[bottom[j+1]]
	}
}

// WorkingPicture brings a page to the size at which the stages measure it. em is that of its body
// text.
func WorkingPicture(src *image.RGBA, em float64, workers int) *raster.RGB {
	w, h := sizeAt(src.Rect.Dx(), src.Rect.Dy(), em, WorkingEm)
	return raster.Resize(src, w, h, workers)
}
