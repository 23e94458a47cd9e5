package raster

import "image"

// loops are those that most of a page's time goes to, as fast as this processor can.
var loops = plainLoops

// loopSet is one way to run them. All ways give the same, to the bit.
type loopSet struct {
	resize      func(dst *RGB, src *image.RGBA, xs, ys *taps, y0, y1 int)
	interpolate func(to, way, columns []float32, from []int32)
	addPixels   func(sums []uint32, row, weights []uint8)
	darkness    func(to, row []uint8, paper *[3][]float32)
	larger      func(dst, a, b []float32)
	lack, share func(to, from []uint8, paper []float32)
}

var plainLoops = loopSet{resizePlain, interpolatePlain, addPixelsPlain, darknessPlain,
	largerPlain[float32], lackPlain, sharePlain}

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

// AddPixels adds the pixels of a row, four bytes each, to sums, of four numbers each: to the first
// three its red, green and blue times its weight, to the last the weight.
func AddPixels(sums []uint32, row, weights []uint8) {
	loops.addPixels(sums[:4*len(weights)], row[:4*len(weights)], weights)
}

func addPixelsPlain(sums []uint32, row, weights []uint8) {
	for x, weight := range weights {
		if weight == 0 {
			continue
		}
		k, px, sum := uint32(weight), row[4*x:4*x+3:4*x+3], sums[4*x:4*x+4:4*x+4]
		sum[0] += k * uint32(px[0])
		sum[1] += k * uint32(px[1])
		sum[2] += k * uint32(px[2])
		sum[3] += k
	}
}

// Lack is the share of the paper's light, in 255ths, that each pixel of a row lacks. The paper's
// light is from 0 to 255.
func Lack(to, from []uint8, paper []float32) {
	loops.lack(to, from[:len(to)], paper[:len(to)])
}

func lackPlain(to, from []uint8, paper []float32) {
	for x, light := range paper {
		to[x] = uint8(max(int32((light-float32(from[x]))/Larger(light, 1)*255), 0))
	}
}

// Share is the share of the paper's light, in 255ths and no more than all, that each pixel of a row
// has. The paper's light is from 0 to 255.
func Share(to, from []uint8, paper []float32) {
	loops.share(to, from[:len(to)], paper[:len(to)])
}

func sharePlain(to, from []uint8, paper []float32) {
	for x, light := range paper {
		to[x] = uint8(min(int32(float32(from[x])/Larger(light, 1)*255), 255))
	}
}
