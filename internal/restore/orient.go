package restore

import (
	"context"
	"math"

	"unink/internal/nn"
	"unink/internal/raster"
)

const (
	orientEm = 14    // pixels: the em of body text that the orientation network wants
	sure     = 0.985 // below this probability a page is left as it lies
)

// quartersToUpright is how often the page of the working picture must be turned clockwise by 90° to
// stand upright, 0 to 3, and with what probability it then does; 0 also when the network is not sure.
// em is the print's size in the picture.
func quartersToUpright(ctx context.Context, runner nn.Runner, m *raster.RGB, em float64, workers int) (quarters int, p float64, err error) {
	in, logits := make([]float32, nn.Window.Pixels()), make([]float32, 4)
	busiestWindow(in, m, em, workers)
	if err := runner.Run(ctx, nn.Window, in, logits); err != nil {
		return 0, 0, err
	}
	turned, p := likeliest(logits)
	if p < sure {
		return 0, p, nil
	}
	return (4 - turned) % 4, p, nil
}

// busiestWindow fills the network's picture with the part of the page that has the most print in it, grey; where the page is
// smaller, its paper's grey surrounds it.
func busiestWindow(to []float32, m *raster.RGB, em float64, workers int) {
	side := nn.Window.W
	w, h := scaled(m.W, orientEm/em), scaled(m.H, orientEm/em)
	grey := raster.ResizeGrey(m.Grey(), m.W, m.H, w, h, workers)
	left, top := busiest(grey, w, h, side)
	cw, ch := min(w, side), min(h, side)
	window := make([]uint8, 0, cw*ch)
	for y := top; y < top+ch; y++ {
		window = append(window, grey[y*w+left:][:cw]...)
	}
	paper := float32(medianOf(window)) / 255
	for i := range to {
		to[i] = paper
	}
	for y := range ch {
		row := to[((side-ch)/2+y)*side+(side-cw)/2:][:cw]
		for x, v := range window[y*cw:][:cw] {
			row[x] = float32(v) / 255
		}
	}
}

// busiest is where the window lies that has the most steps from light to dark in it.
func busiest(grey []uint8, w, h, side int) (x, y int) {
	const step = 64 // pixels between the windows that are compared
	sums := edgeSums(grey, w, h)
	most := int32(-1)
	for top := 0; ; top = min(top+step, h-side) {
		for left := 0; ; left = min(left+step, w-side) {
			bottom, right := min(top+side, h), min(left+side, w)
			n := sums[bottom*(w+1)+right] - sums[top*(w+1)+right] - sums[bottom*(w+1)+left] + sums[top*(w+1)+left]
			if n > most {
				most, x, y = n, left, top
			}
			if right == w {
				break
			}
		}
		if top+side >= h {
			return x, y
		}
	}
}

// edgeSums counts the steps from light to dark above and left of each corner of a pixel.
func edgeSums(grey []uint8, w, h int) []int32 {
	const edge = 40 // grey levels
	sums := make([]int32, (w+1)*(h+1))
	for y := range h {
		row := int32(0)
		for x := range w {
			i := y*w + x
			d := int(grey[min(y+1, h-1)*w+x]) - int(grey[i])
			e := int(grey[y*w+min(x+1, w-1)]) - int(grey[i])
			if max(d, -d)+max(e, -e) > edge {
				row++
			}
			sums[(y+1)*(w+1)+x+1] = sums[y*(w+1)+x+1] + row
		}
	}
	return sums
}

func medianOf(v []uint8) uint8 {
	var count [256]int
	for _, x := range v {
		count[x]++
	}
	at, seen := 0, 0
	for seen += count[0]; 2*seen < len(v); seen += count[at] {
		at++
	}
	return uint8(at)
}

// likeliest is the class of the largest logit and its probability.
func likeliest(logits []float32) (best int, p float64) {
	for i, v := range logits {
		if v > logits[best] {
			best = i
		}
	}
	sum := 0.0
	for _, v := range logits {
		sum += math.Exp(float64(v - logits[best]))
	}
	return best, 1 / sum
}
