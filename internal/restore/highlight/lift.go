package highlight

import (
	"image"
	"math"

	"unink/internal/raster"
)

// tintPatch is the part of a page that a tint lies on.
type tintPatch struct {
	tint
	box       image.Rectangle
	src       *image.RGBA
	low, high int       // channels that the marker takes most and least of
	amount    []float32 // of the marker's ink, 1 where it lies once; 0 off the tint
	weight    []float32 // how far a pixel tells it: dark ones do not
}

// mostTint is how many times over the ink may lie.
const mostTint = 1.8

// measure finds how much of the marker's ink lies on each pixel, by how much more of one channel is
// missing than of the other. Paper and print, being grey, do not change that (Beer's law: ink on
// ink multiplies).
func (p *tintPatch) measure(lights func(y int) [3][]float32, near func(x, y int) bool) {
	full := math.Log(p.through[p.low] / p.through[p.high])
	for y := p.box.Min.Y; y < p.box.Max.Y; y++ {
		light := lights(y)
		for x := p.box.Min.X; x < p.box.Max.X; x++ {
			if !near(x, y) {
				continue
			}
			px := p.src.Pix[y*p.src.Stride+4*x:][:3]
			low := max(float64(px[p.low])/float64(light[p.low][x]), 0.02)
			high := max(float64(px[p.high])/float64(light[p.high][x]), 0.02)
			i := (y-p.box.Min.Y)*p.box.Dx() + x - p.box.Min.X
			p.amount[i] = float32(min(max(math.Log(low/high)/full, 0), mostTint))
			bright := float32(min(high, 1))
			p.weight[i] = bright * bright * bright
		}
	}
}

// divideOut divides the ink out. The channel that it takes least of says how much light print and
// paper leave, and the others follow as far as there is too little of them to tell.
func (p *tintPatch) divideOut(dst *image.RGBA, lights func(y int) [3][]float32, reach int) {
	const trace = 0.1 // less is the paper's own colour
	around := p.smooth(reach)
	var log [3]float64
	for ch, t := range p.through {
		log[ch] = math.Log(t)
	}
	for y := p.box.Min.Y; y < p.box.Max.Y; y++ {
		light := lights(y)
		for x := p.box.Min.X; x < p.box.Max.X; x++ {
			i := (y-p.box.Min.Y)*p.box.Dx() + x - p.box.Min.X
			amount := float64(p.weight[i]*p.amount[i] + (1-p.weight[i])*around[i])
			if p.weight[i] == 0 || amount < trace {
				continue
			}
			px, out := p.src.Pix[y*p.src.Stride+4*x:][:3], dst.Pix[y*dst.Stride+4*x:][:3]
			// Twice the ink takes no more of what it lets through.
			left := float64(px[p.high]) / (float64(light[p.high][x]) *
				math.Exp(min(amount, 1)*log[p.high]))
			for ch := range out {
				told := math.Exp(amount * log[ch])
				out[ch] = raster.Clamp8(float32(float64(px[ch]) +
					(1-told)*left*float64(light[ch][x])))
			}
		}
	}
}

// smooth is the mean amount round each pixel, of the bright ones most.
func (p *tintPatch) smooth(reach int) []float32 {
	w, h := p.box.Dx(), p.box.Dy()
	sum, weight := make([]float32, len(p.amount)), make([]float32, len(p.amount))
	for i, a := range p.amount {
		sum[i], weight[i] = a*p.weight[i], p.weight[i]
	}
	raster.BoxBlur(sum, w, h, reach)
	raster.BoxBlur(weight, w, h, reach)
	for i := range sum {
		sum[i] /= max(weight[i], 1e-6)
	}
	return sum
}
