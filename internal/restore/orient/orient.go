// Package orient tells which way up a page lies.
package orient

import (
	"context"
	"image"
	"math"

	"unink/internal/nn"
	"unink/internal/raster"
	"unink/internal/restore/measure"
	"unink/models"
)

// How the network is shown a page and when it is believed, as training has it too.
var (
	orienter = models.Of("orient")
	look     = orienter.Look
)

const (
	// Grey levels: a picture whose paper is darker shows noise and no print.
	darkest = 16
	sides   = nn.Votes - 1
)

// notable is the ratio from which it matters which of two sizes the print has.
const notable = 1.15

// candidateSizes lists the sizes of print at which the page is looked at, until it is sure: the
// likely one, the other one where it matters which way the lines run, and three more, since the
// likely one may be misjudged, what tells may be larger or smaller than most of the print, and what
// is blurred shows smaller. Each tells for itself, and all together where none does.
func candidateSizes(size measure.Size) []float64 {
	em, other := size.Likely(), size.Em[1-size.Lines()]
	list := []float64{em}
	if max(em, other) > notable*min(em, other) {
		list = append(list, other)
	}
	for _, size := range look.Sizes {
		list = append(list, em*float64(size[0])/float64(size[1]))
	}
	return list
}

// Quarters is how often the page of the working picture must be turned clockwise by 90° to stand
// upright, 0 to 3, and with what probability it then does; 0 also when the network is not sure.
// size is the print's in that picture.
func Quarters(ctx context.Context, runner nn.Runner, m *raster.RGB, size measure.Size,
	workers int) (quarters int, p float64, err error) {
	grey := m.Grey(workers)
	if raster.HistogramQuantile(raster.Histogram(grey), 0.8) < darkest {
		return 0, 0, nil
	}
	var all votes
	for _, em := range candidateSizes(size) {
		v, err := printOf(grey, m.W, m.H, orienter.Em/em, workers).askNetwork(ctx, runner, workers)
		if err != nil {
			return 0, 0, err
		}
		if turned, p := v.likeliest(); p >= look.Sure {
			return (sides - turned) % sides, p, nil
		}
		all.add(v, 0)
	}
	turned, p := all.likeliest()
	if p < look.SureTogether {
		turned = 0
	}
	return (sides - turned) % sides, p, nil
}

// votes are the sums of the network's votes for each class, and of what they weigh.
type votes [nn.Votes]float32

// add adds the votes of a picture that had been turned anticlockwise by so many quarters.
func (v *votes) add(of votes, back int) {
	for i, n := range of[:sides] {
		v[(i+back)%sides] += n
	}
	v[sides] += of[sides]
}

// printed is a grey page in even light.
type printed struct {
	grey []uint8
	w, h int
}

// printOf is a grey picture at the given scale, its paper even and its strongest print dark,
// whatever the light and the exposure were.
func printOf(grey []uint8, sw, sh int, scale float64, workers int) printed {
	w, h := raster.Scaled(sw, scale), raster.Scaled(sh, scale)
	contrast := measure.Contrast(raster.ResizeGrey(grey, sw, sh, w, h, workers), w, h, look.Cell,
		workers)
	count := raster.Histogram(contrast)
	clear(count[:look.Faint])
	gain := min(max((look.Paper-look.Ink)/float64(max(raster.HistogramQuantile(count, 0.9), 1)),
		1), look.Gain)
	var level [256]uint8
	for c := range level {
		level[c] = uint8(max(look.Paper-gain*float64(c), 0))
	}
	raster.Rows(h, workers, func(y0, y1 int) {
		band := contrast[y0*w : y1*w]
		for i, c := range band {
			band[i] = level[c]
		}
	})
	return printed{contrast, w, h}
}

// askNetwork asks the network about a page's windows, the busiest first, until the votes are sure
// how many quarters clockwise the page lies turned. A window that does not surely lie upright is
// seen from its other three sides too: what is misread one way up is seldom misread as surely
// another.
func (p printed) askNetwork(ctx context.Context, runner nn.Runner, workers int) (sum votes,
	err error) {
	in := make([]float32, nn.Window.Pixels())
	side := nn.Window.W
	edges := edgesOf(p.grey, p.w, p.h, workers)
	for seen := range look.Windows {
		at, n := busiest(edges, p.w, p.h, side)
		if seen > 0 && float64(n) < look.Least*float64(side*side) {
			break
		}
		window(in, p.grey, p.w, at, side)
		for back := range sides {
			var out votes
			if err := runner.Run(ctx, nn.Look(in), nn.LookAnswer(out[:])); err != nil {
				return sum, err
			}
			if turned, probability := out.likeliest(); back == 0 && turned == 0 &&
				probability >= look.SureAlone {
				return out, nil
			}
			for i := range out {
				out[i] /= sides
			}
			sum.add(out, back)
			in = anticlockwise(in, side)
		}
		if _, probability := sum.likeliest(); probability >= look.Sure {
			break
		}
		for y := at.Min.Y; y < at.Max.Y; y++ {
			clear(edges[y*p.w+at.Min.X : y*p.w+at.Max.X])
		}
	}
	return sum, nil
}

// anticlockwise is a square picture turned by 90°.
func anticlockwise(in []float32, side int) []float32 {
	out := make([]float32, 0, len(in))
	for x := side - 1; x >= 0; x-- {
		for y := range side {
			out = append(out, in[y*side+x])
		}
	}
	return out
}

// window fills the network's picture with a part of the page.
func window(to []float32, grey []uint8, w int, at image.Rectangle, side int) {
	part := make([]uint8, 0, at.Dx()*at.Dy())
	for y := at.Min.Y; y < at.Max.Y; y++ {
		part = append(part, grey[y*w+at.Min.X:][:at.Dx()]...)
	}
	raster.PadCentered(to, side, side, part, at.Dx(), at.Dy())
}

// busiest is the window that has the most edges in it, and how many.
func busiest(edges []uint8, w, h, side int) (at image.Rectangle, most int32) {
	sums := sumsOf(edges, w, h)
	most = -1
	for top := 0; ; top = min(top+look.Step, h-side) {
		for left := 0; ; left = min(left+look.Step, w-side) {
			bottom, right := min(top+side, h), min(left+side, w)
			upper, lower := sums[top*(w+1):], sums[bottom*(w+1):]
			n := lower[right] - upper[right] - lower[left] + upper[left]
			if n > most {
				most, at = n, image.Rect(left, top, right, bottom)
			}
			if right == w {
				break
			}
		}
		if top+side >= h {
			return at, most
		}
	}
}

// edgesOf is 1 at steps from light to dark, which print has.
func edgesOf(grey []uint8, w, h, workers int) []uint8 {
	edges, step := make([]uint8, w*h), look.Edge
	raster.Rows(h, workers, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			row, below, out := grey[y*w:][:w], grey[min(y+1, h-1)*w:][:w], edges[y*w:][:w]
			for x, v := range row {
				d, e := int(below[x])-int(v), int(row[min(x+1, w-1)])-int(v)
				if max(d, -d)+max(e, -e) > step {
					out[x] = 1
				}
			}
		}
	})
	return edges
}

// sumsOf sums what lies above and left of each corner of a pixel.
func sumsOf(edges []uint8, w, h int) []int32 {
	sums := make([]int32, (w+1)*(h+1))
	for y := range h {
		sum, above, here := int32(0), sums[y*(w+1)+1:][:w], sums[(y+1)*(w+1)+1:][:w]
		for x, v := range edges[y*w:][:w] {
			sum += int32(v)
			here[x] = above[x] + sum
		}
	}
	return sums
}

// likeliest is the class with the most votes and its probability. Votes add up as evidence half
// dependent does, with the root of their weight.
func (v votes) likeliest() (best int, p float64) {
	for i, n := range v[:sides] {
		if n > v[best] {
			best = i
		}
	}
	sum := 0.0
	for _, n := range v[:sides] {
		sum += math.Exp(float64(n-v[best]) / math.Sqrt(float64(v[sides])+1))
	}
	return best, 1 / sum
}
