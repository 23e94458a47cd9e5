package raster

import "image"

// loops are those that most of a page's time goes to, as fast as this processor can.
var loops = plainLoops

// loopSet is one way to run them. All ways give the same, to the bit.
type loopSet struct {
	resize      func(dst *RGB, src *image.RGBA, xs, ys *taps, y0, y1 int)
	interpolate func(to, way, columns []float32, from []int32)
	addCells    func(sums [][3]float32, totals []float32, cell int, row []uint8, weights []float32)
}

var plainLoops = loopSet{resizePlain, interpolatePlain, addCellsPlain}

// AddCells adds the pixels of a row, four bytes each, to the cells that they lie in, each with its
// weight: to the sums of a cell its red, green and blue, to the total its weight.
func AddCells(sums [][3]float32, totals []float32, cell int, row []uint8, weights []float32) {
	loops.addCells(sums[:len(totals)], totals, cell, row[:4*len(weights)], weights)
}

func addCellsPlain(sums [][3]float32, totals []float32, cell int, row []uint8, weights []float32) {
	for i := range totals {
		sum, total := sums[i], totals[i]
		for x := i * cell; x < min((i+1)*cell, len(weights)); x++ {
			k := weights[x]
			if k == 0 {
				continue
			}
			px := row[4*x:][:3]
			total += k
			sum[0] += k * float32(px[0])
			sum[1] += k * float32(px[1])
			sum[2] += k * float32(px[2])
		}
		sums[i], totals[i] = sum, total
	}
}
