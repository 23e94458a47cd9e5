package raster

import "image"

// loops are those that most of a page's time goes to, as fast as this processor can.
var loops = plainLoops

// loopSet is one way to run them. All ways give the same, to the bit.
type loopSet struct {
	resize      func(dst *RGB, src *image.RGBA, xs, ys *taps, y0, y1 int)
	interpolate func(to, way, columns []float32, from []int32)
	addCells    func(sums [][3]float32, totals []float32, cell int, row []uint8, weights []float32)
	darkness    func(to, row []uint8, paper *[3][]float32)
}

var plainLoops = loopSet{resizePlain, interpolatePlain, addCellsPlain, darknessPlain}

// Darkness is how much darker than the paper each pixel of a row, of four bytes, is: in the channel
// that differs most, 0 to 255. The paper's light is from 0 to 255 too.
func Darkness(to, row []uint8, paper *[3][]float32) {
	for _, light := range paper {
		_ = light[:len(to)]
	}
	loops.darkness(to, row[:4*len(to)], paper)
}

func darknessPlain(to, row []uint8, paper *[3][]float32) {
	r, g, b := paper[0][:len(to)], paper[1][:len(to)], paper[2][:len(to)]
	for x := range to {
		p := row[4*x : 4*x+3 : 4*x+3]
		to[x] = uint8(max(int32(r[x]-float32(p[0])), int32(g[x]-float32(p[1])),
			int32(b[x]-float32(p[2])), 0))
	}
}

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
