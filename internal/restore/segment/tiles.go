package segment

import (
	"image"
	"math"

	"unink/internal/nn"
	"unink/internal/raster"
)

// Bounds of the working picture. Above maxPixels the page is worked on smaller than the network
// likes best; enlarging beyond maxEnlarge shows it nothing new.
const (
	maxPixels  = 4.5e6
	maxEnlarge = 2.0
	tileMargin = 32 // pixels at a tile's edge that lack context
)

// workingSize is the size at which the network sees the page: body text at its em. To save a row
// or column of tiles the size may shrink a little.
func workingSize(w, h int, em, modelEm float64) (ww, wh int) {
	scale := min(modelEm/em, maxEnlarge, math.Sqrt(maxPixels/float64(w*h)))
	const shrink = 0.93
	tile := shapeFor(w, h)
	need := func(s float64) int {
		return tileCount(raster.Scaled(w, s), tile.W) * tileCount(raster.Scaled(h, s), tile.H)
	}
	best := scale
	for _, s := range []float64{scale, fitScale(w, scale, tile.W), fitScale(h, scale, tile.H)} {
		if s >= shrink*scale && need(s) < need(best) {
			best = s
		}
	}
	return raster.Scaled(w, best), raster.Scaled(h, best)
}

// shapeFor is the shape of tiles for a page.
func shapeFor(w, h int) nn.Shape {
	if w > h {
		return nn.Landscape
	}
	return nn.Portrait
}

// tileCount is how many tiles of a side cover n pixels.
func tileCount(n, side int) int {
	step := side - 2*tileMargin
	return max(1, (n-2*tileMargin+step-1)/step)
}

// fitScale is the scale just below s at which a side of n needs one tile less.
func fitScale(n int, s float64, side int) float64 {
	t := tileCount(raster.Scaled(n, s), side) - 1
	return float64(t*(side-2*tileMargin)+2*tileMargin) / float64(n)
}

// tileSpan is one tile along an axis: it starts at pixel at (which may be negative when the picture
// is smaller than the tile) and its answer counts from core0 to core1.
type tileSpan struct{ at, core0, core1 int }

// tileSpans spreads tiles evenly over n pixels. Each pixel belongs to one tile, the one whose
// centre is nearest, so that stitching is exact and in any order the same.
func tileSpans(n, side int) []tileSpan {
	count := tileCount(n, side)
	out := make([]tileSpan, count)
	if count == 1 {
		out[0] = tileSpan{(n - side) / 2, 0, n}
		return out
	}
	for i := range out {
		out[i].at = i * (n - side) / (count - 1)
		out[i].core1 = n
		if i > 0 {
			out[i].core0 = (out[i-1].at + side + out[i].at) / 2
			out[i-1].core1 = out[i].core0
		}
	}
	return out
}

// cut fills a tile from the picture at x, y, mirrored beyond its borders.
func cut(to []float32, m *raster.RGB, gain [3]float32, tile nn.Shape, x, y int) {
	cols := make([]int, tile.W)
	for i := range cols {
		cols[i] = raster.Reflect(x+i, m.W)
	}
	for c, plane := range m.Pix {
		scale := gain[c] / 255
		for i := range tile.H {
			row := plane[raster.Reflect(y+i, m.H)*m.W:][:m.W]
			dst := to[(c*tile.H+i)*tile.W:][:tile.W]
			for j, col := range cols {
				dst[j] = min(float32(row[col])*scale, 1)
			}
		}
	}
}

// WorkingPicture brings the page to the size the network wants.
func WorkingPicture(src *image.RGBA, em, modelEm float64, workers int) *raster.RGB {
	w, h := workingSize(src.Rect.Dx(), src.Rect.Dy(), em, modelEm)
	return raster.Resize(src, w, h, workers)
}
