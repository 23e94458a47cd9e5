package restore

import (
	"context"
	"image"
	"math"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"unink/internal/nn"
	"unink/internal/raster"
)

// scores are what the network says of each pixel of the working picture, as log-odds in steps of
// 1/scoreUnit. Above zero in one, the pixel holds that kind of ink; above zero in both, writing
// lies over print.
type scores struct {
	w, h  int
	hand  []int8 // the better of handwriting and both, over the better of paper and print
	print []int8 // the better of print and both, over the better of paper and handwriting
}

const scoreUnit = 16

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
	need := func(s float64) int { return tileCount(scaled(w, s), tile.W) * tileCount(scaled(h, s), tile.H) }
	best := scale
	for _, s := range []float64{scale, fitScale(w, scale, tile.W), fitScale(h, scale, tile.H)} {
		if s >= shrink*scale && need(s) < need(best) {
			best = s
		}
	}
	return scaled(w, best), scaled(h, best)
}

func scaled(n int, s float64) int { return max(1, int(float64(n)*s+0.5)) }

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
	t := tileCount(scaled(n, s), side) - 1
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

// segment classifies every pixel of the working picture, each plane times its gain, so many tiles at once.
func segment(ctx context.Context, runner nn.Runner, m *raster.RGB, gain [3]float32, workers int) (*scores, error) {
	s := &scores{w: m.W, h: m.H, hand: make([]int8, m.W*m.H), print: make([]int8, m.W*m.H)}
	shape := shapeFor(m.W, m.H)
	var tiles [][2]tileSpan
	for _, ty := range tileSpans(m.H, shape.H) {
		for _, tx := range tileSpans(m.W, shape.W) {
			tiles = append(tiles, [2]tileSpan{tx, ty})
		}
	}
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range min(workers, len(tiles)) {
		group.Go(func() error {
			in, out := make([]float32, 3*shape.Pixels()), make([]float32, nn.Classes*shape.Pixels())
			for i := next.Add(1) - 1; i < int64(len(tiles)); i = next.Add(1) - 1 {
				if err := ctx.Err(); err != nil {
					return err
				}
				tx, ty := tiles[i][0], tiles[i][1]
				cut(in, m, gain, shape, tx.at, ty.at)
				if err := runner.Run(ctx, shape, in, out); err != nil {
					return err
				}
				s.paste(out, shape, tx, ty)
			}
			return nil
		})
	}
	return s, group.Wait()
}

// exposure is the gains of the planes that make a dim page's paper as light as the network saw most: as
// it lies in the better lit parts, the desk and shadows left aside.
func exposure(paper [3]*raster.Grid) (gain [3]float32) {
	const wanted, most = 255, 4
	for ch, g := range paper {
		light := make([]float64, len(g.V))
		for i, v := range g.V {
			light[i] = float64(v)
		}
		gain[ch] = float32(min(max(wanted/max(quantile(light, 0.75), 1), 1), most))
	}
	return gain
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

// paste takes a tile's core over into the scores.
func (s *scores) paste(logits []float32, tile nn.Shape, tx, ty tileSpan) {
	plane := tile.Pixels()
	for y := ty.core0; y < ty.core1; y++ {
		from := (y-ty.at)*tile.W + tx.core0 - tx.at
		n := tx.core1 - tx.core0
		paper, print := logits[nn.Paper*plane+from:][:n], logits[nn.Print*plane+from:][:n]
		hand, both := logits[nn.Handwriting*plane+from:][:n], logits[nn.Both*plane+from:][:n]
		toHand, toPrint := s.hand[y*s.w+tx.core0:][:n], s.print[y*s.w+tx.core0:][:n]
		for i := range n {
			toHand[i] = score(max(hand[i], both[i]) - max(paper[i], print[i]))
			toPrint[i] = score(max(print[i], both[i]) - max(paper[i], hand[i]))
		}
	}
}

func score(v float32) int8 { return int8(min(max(v*scoreUnit, -127), 127)) }

// working brings the page to the size the network wants.
func working(src *image.RGBA, em, modelEm float64, workers int) *raster.RGB {
	w, h := workingSize(src.Rect.Dx(), src.Rect.Dy(), em, modelEm)
	return raster.Resize(src, w, h, workers)
}

func quantile(v []float64, q float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[min(int(q*float64(len(s))), len(s)-1)]
}
