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
	in, logits := make([]float32, nn.Middle.Pixels()), make([]float32, 4)
	middleOfPage(in, m, em, workers)
	if err := runner.Run(ctx, nn.Middle, in, logits); err != nil {
		return 0, 0, err
	}
	turned, p := likeliest(logits)
	if p < sure {
		return 0, p, nil
	}
	return (4 - turned) % 4, p, nil
}

// middleOfPage fills the network's picture with the middle of the page, grey; where the page is smaller,
// its paper's grey surrounds it.
func middleOfPage(to []float32, m *raster.RGB, em float64, workers int) {
	side := nn.Middle.W
	w, h := scaled(m.W, orientEm/em), scaled(m.H, orientEm/em)
	grey := raster.ResizeGrey(m.Grey(), m.W, m.H, w, h, workers)
	paper := float32(medianOf(grey)) / 255
	for i := range to {
		to[i] = paper
	}
	cw, ch := min(w, side), min(h, side)
	for y := range ch {
		row := to[((side-ch)/2+y)*side+(side-cw)/2:][:cw]
		for x, v := range grey[((h-ch)/2+y)*w+(w-cw)/2:][:cw] {
			row[x] = float32(v) / 255
		}
	}
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
