package raster

import (
	"encoding/binary"
	"image"
	"math"
)

// RGB is a picture of three planes.
type RGB struct {
	W, H int
	Pix  [3][]uint8
}

// NewRGB makes a black picture.
func NewRGB(w, h int) *RGB {
	m := &RGB{W: w, H: h}
	buf := make([]uint8, 3*w*h)
	for c := range m.Pix {
		m.Pix[c] = buf[c*w*h : (c+1)*w*h : (c+1)*w*h]
	}
	return m
}

// taps are the source pixels that make each target pixel, in one direction: from the pixel from[i]
// on, with the weights from first[i] to first[i+1].
type taps struct {
	from, first []int32
	weight      []uint32 // those of a target pixel sum to 1<<weightBits
}

// of is the first source pixel of a target pixel, and the weights of it and those after it.
func (t *taps) of(i int) (from int, weight []uint32) {
	return int(t.from[i]), t.weight[t.first[i]:t.first[i+1]]
}

const (
	weightBits = 12
	// Half of a sum of weights along both axes: added before these are cut off, it rounds.
	weightHalf = 1 << (2*weightBits - 1)
)

// tapsOf works out the weights that bring n samples to m: each target averages the area it covers
// and, when enlarging, blends the two nearest (a triangle filter in both cases).
func tapsOf(n, m int) *taps {
	scale := float64(n) / float64(m)
	radius := max(scale, 1)
	if scale > 1 { // reducing: the pixel's own area, softened to the box's width
		radius = scale/2 + 0.5
	}
	out := &taps{from: make([]int32, m), first: make([]int32, 1, m+1)}
	for i := range m {
		centre := (float64(i)+0.5)*scale - 0.5
		from := max(0, int(math.Floor(centre-radius))+1) // beyond these the filter is zero
		to := min(n-1, int(math.Ceil(centre+radius))-1)
		w := make([]float64, 0, to-from+1)
		sum := 0.0
		for j := from; j <= to; j++ {
			v := radius - math.Abs(float64(j)-centre)
			if scale > 1 {
				v = min(v, 1) // flat inside, linear at the rim: area coverage
			}
			v = max(v, 0)
			w = append(w, v)
			sum += v
		}
		out.from[i] = int32(from)
		out.weight = append(out.weight, quantise(w, sum)...)
		out.first = append(out.first, int32(len(out.weight)))
	}
	return out
}

// quantise scales weights to integers that sum to exactly 1<<weightBits.
func quantise(w []float64, sum float64) []uint32 {
	q := make([]uint32, len(w))
	left, best := uint32(1<<weightBits), 0
	for i, v := range w {
		q[i] = uint32(v / sum * (1 << weightBits))
		left -= q[i]
		if v > w[best] {
			best = i
		}
	}
	q[best] += left
	return q
}

// Resize brings an opaque picture to w × h: area averaging when reducing, bilinear when enlarging.
func Resize(src *image.RGBA, w, h, workers int) *RGB {
	dst := NewRGB(w, h)
	sw, sh := src.Rect.Dx(), src.Rect.Dy()
	if w == sw && h == sh {
		dst.split(src, workers)
		return dst
	}
	xs, ys := tapsOf(sw, w), tapsOf(sh, h)
	Rows(h, workers, func(y0, y1 int) { loops.resize(dst, src, xs, ys, y0, y1) })
	return dst
}

// resizePlain makes the rows from y0 to y1.
func resizePlain(dst *RGB, src *image.RGBA, xs, ys *taps, y0, y1 int) {
	w, sw := dst.W, src.Rect.Dx()
	line := make([]rowSum, sw) // source rows of one target row
	for y := y0; y < y1; y++ {
		clear(line)
		from, weight := ys.of(y)
		for i, k := range weight {
			addRow(line, src.Pix[(from+i)*src.Stride:][:4*sw], k)
		}
		shrinkSums(dst.Pix[0][y*w:][:w], dst.Pix[1][y*w:][:w], dst.Pix[2][y*w:][:w], line, xs)
	}
}

// Clone copies a picture with its origin at 0,0, row by row: while the runtime copies a whole one,
// its collector waits.
func Clone(src *image.RGBA, workers int) *image.RGBA {
	dst := image.NewRGBA(src.Rect)
	Rows(src.Rect.Dy(), workers, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			copy(dst.Pix[y*dst.Stride:][:dst.Stride], src.Pix[y*src.Stride:])
		}
	})
	return dst
}

// ResizeGrey brings one plane of sw × sh to w × h, as [Resize] does.
func ResizeGrey(src []uint8, sw, sh, w, h, workers int) []uint8 {
	dst := make([]uint8, w*h)
	xs, ys := tapsOf(sw, w), tapsOf(sh, h)
	Rows(h, workers, func(y0, y1 int) {
		line := make([]uint32, sw)
		for y := y0; y < y1; y++ {
			clear(line)
			from, weight := ys.of(y)
			for i, k := range weight {
				for x, v := range src[(from+i)*sw:][:sw] {
					line[x] += uint32(v) * k
				}
			}
			shrinkRow(dst[y*w:][:w], line, xs)
		}
	})
	return dst
}

// ResizePair brings two planes of signed values of sw × sh to w × h at once, as [Resize] does.
func ResizePair(a, b []int8, sw, sh, w, h, workers int) (toA, toB []int8) {
	// Pairs lie in the halves of 64 bits, as values from 0 on, so that none runs over.
	const zero, upper = 128, 32
	toA, toB = make([]int8, w*h), make([]int8, w*h)
	xs, ys := tapsOf(sw, w), tapsOf(sh, h)
	Rows(h, workers, func(y0, y1 int) {
		line := make([]uint64, sw)
		for y := y0; y < y1; y++ {
			clear(line)
			first, weight := ys.of(y)
			for i, k := range weight {
				at := (first + i) * sw
				rowA, rowB := a[at:][:len(line)], b[at:][:len(line)]
				for x := range line {
					line[x] += (uint64(uint8(rowA[x])^zero) | uint64(uint8(rowB[x])^zero)<<upper) * uint64(k)
				}
			}
			rowA, rowB := toA[y*w:][:w], toB[y*w:][:w]
			for x := range rowA {
				at, weight := xs.of(x)
				sum := uint64(weightHalf | weightHalf<<upper)
				from := line[at:][:len(weight)]
				for i, k := range weight {
					sum += from[i] * uint64(k)
				}
				rowA[x] = int8(uint8(sum>>(2*weightBits)) ^ zero)
				rowB[x] = int8(uint8(sum>>(upper+2*weightBits)) ^ zero)
			}
		}
	})
	return toA, toB
}

// split copies a picture of the same size.
func (m *RGB) split(src *image.RGBA, workers int) {
	Rows(m.H, workers, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			row := src.Pix[y*src.Stride:][:4*m.W]
			r, g, b := m.Pix[0][y*m.W:][:m.W], m.Pix[1][y*m.W:][:m.W], m.Pix[2][y*m.W:][:m.W]
			for x := range r {
				p := row[4*x : 4*x+3 : 4*x+3]
				r[x], g[x], b[x] = p[0], p[1], p[2]
			}
		}
	})
}

// rowSum is the weighed sum of a column's pixels in 8.12 fixed point: red in the lower half of
// redBlue and blue in the upper. 255 with the weights of both directions just fits 32 bits, so one
// half never runs over into the other.
type rowSum struct{ redBlue, green uint64 }

// addRow adds a row of pixels with a weight.
func addRow(line []rowSum, row []uint8, weight uint32) {
	k := uint64(weight)
	for x := range line {
		p := uint64(binary.LittleEndian.Uint32(row[4*x:]))
		s := &line[x]
		s.redBlue += (p&0xff | p<<16&(0xff<<32)) * k
		s.green += (p >> 8 & 0xff) * k
	}
}

// shrinkSums weighs along a row.
func shrinkSums(r, g, b []uint8, line []rowSum, xs *taps) {
	for x := range r {
		at, weight := xs.of(x)
		sum := rowSum{weightHalf | weightHalf<<32, weightHalf}
		from := line[at:][:len(weight)]
		for i, k := range weight {
			sum.redBlue += from[i].redBlue * uint64(k)
			sum.green += from[i].green * uint64(k)
		}
		r[x], b[x] = uint8(sum.redBlue>>(2*weightBits)), uint8(sum.redBlue>>(32+2*weightBits))
		g[x] = uint8(sum.green >> (2 * weightBits))
	}
}

// shrinkRow weighs along a row of one plane.
func shrinkRow(dst []uint8, line []uint32, xs *taps) {
	for x := range dst {
		at, weight := xs.of(x)
		sum := uint32(weightHalf)
		from := line[at:][:len(weight)]
		for i, k := range weight {
			sum += from[i] * k
		}
		dst[x] = uint8(sum >> (2 * weightBits))
	}
}

// GreyOf is the luminance of an opaque picture brought to w × h.
func GreyOf(src *image.RGBA, w, h, workers int) []uint8 {
	if w != src.Rect.Dx() || h != src.Rect.Dy() {
		return Resize(src, w, h, workers).Grey(workers)
	}
	out := make([]uint8, w*h)
	Rows(h, workers, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			row, to := src.Pix[y*src.Stride:][:4*w], out[y*w:][:w]
			for x := range to {
				px := row[4*x : 4*x+3 : 4*x+3]
				to[x] = luminance(px[0], px[1], px[2])
			}
		}
	})
	return out
}

// luminance is that of a colour (BT.601).
func luminance(r, g, b uint8) uint8 {
	return uint8((77*uint32(r) + 150*uint32(g) + 29*uint32(b) + 128) >> 8)
}

// Grey is the luminance of a picture.
func (m *RGB) Grey(workers int) []uint8 {
	out := make([]uint8, m.W*m.H)
	Rows(m.H, workers, func(y0, y1 int) {
		to := out[y0*m.W : y1*m.W]
		r, g, b := m.Pix[0][y0*m.W:][:len(to)], m.Pix[1][y0*m.W:][:len(to)],
			m.Pix[2][y0*m.W:][:len(to)]
		for i := range to {
			to[i] = luminance(r[i], g[i], b[i])
		}
	})
	return out
}
