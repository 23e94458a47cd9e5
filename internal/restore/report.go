package restore

import (
	"image"
	"math"

	"unink/internal/raster"
)

// Confidence is how sure the stages were, each from 0 to 1; 0 also of a stage that was left out.
type Confidence struct {
	Orient  float64 // probability of the way up that was taken for the right one
	Flatten float64 // share of the lines that agree, or of their bend that was undone
	Segment float64 // share of the ink that is plainly writing or plainly print
}

// reportWarp notes what a warp undoes of a page, given the page's size before it and as the input.
func (p *Page) reportWarp(warp *raster.Warp, size, input image.Point) {
	x0, y0 := warp.At(float64(warp.W)/2-1, float64(warp.H)/2)
	x1, y1 := warp.At(float64(warp.W)/2+1, float64(warp.H)/2)
	p.Flattened, p.Skew = true, math.Atan2(y1-y0, x1-x0)*180/math.Pi
	sx, sy := float64(size.X)/float64(warp.SrcW), float64(size.Y)/float64(warp.SrcH)
	for i, c := range [4][2]float64{{0, 0}, {1, 0}, {1, 1}, {0, 1}} {
		x, y := warp.At(c[0]*float64(warp.W)-0.5, c[1]*float64(warp.H)-0.5)
		p.Corners[i] = unturn([2]float64{(x + 0.5) * sx, (y + 0.5) * sy}, p.Turned/90, input)
	}
}

// unturn brings a place of a page that was turned clockwise by quarters back to the input.
func unturn(p [2]float64, quarters int, input image.Point) [2]float64 {
	w, h := float64(input.X), float64(input.Y)
	switch quarters {
	case 1:
		return [2]float64{p[1], h - p[0]}
	case 2:
		return [2]float64{w - p[0], h - p[1]}
	case 3:
		return [2]float64{w - p[1], p[0]}
	}
	return p
}
