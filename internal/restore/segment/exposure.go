package segment

import (
	"unink/internal/raster"
)

// Paper estimates the paper of each channel.
func Paper(m *raster.RGB, workers int) (g [3]*raster.Grid) {
	const cell = 17 // working pixels
	for ch := range g {
		g[ch] = raster.PaperGrid(m.Pix[ch], m.W, m.H, cell, 0.8, workers)
	}
	return g
}

// Exposure is the gains of the planes that make a dim page's paper as light as the network saw
// most: as it lies in the better lit parts, the desk and shadows left aside.
func Exposure(paper [3]*raster.Grid) (gain [3]float32) {
	const wanted, most = 255, 4
	for ch, g := range paper {
		light := make([]float64, len(g.V))
		for i, v := range g.V {
			light[i] = float64(v)
		}
		gain[ch] = float32(min(max(wanted/max(raster.Quantile(light, 0.75), 1), 1), most))
	}
	return gain
}
