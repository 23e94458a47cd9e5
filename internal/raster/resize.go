package raster

import (
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

// span is the source pixels that make one target pixel, in one direction.
type span struct {
	from   int
	weight []uint32 // sums to 1<<weightBits
}

const weightBits = 12

// spans works out the weights that bring n samples to m: each target averages the area it covers
// and, when enlarging, blends the two nearest (a triangle filter in both cases).
func spans(n, m int) []span {
	scale := float64(n) / float64(m)
	radius := max(scale, 1)
	if scale > 1 { // reducing: the pixel's own area, softened to the box's width
		radius = scale/2 + 0.5
	}
	out := make([]span, m)
	for i := range out {
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
		out[i] = span{from, quantise(w, sum)}
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
	xs, ys := spans(sw, w), spans(sh, h)
	Rows(h, workers, func(y0, y1 int) {
		line := make([]uint32, 3*sw) // source rows of one target row, summed
		for y := y0; y < y1; y++ {
			sumRows(line, src, ys[y])
			for c := range dst.Pix {
				shrinkRow(dst.Pix[c][y*w:][:w], line[c*sw:][:sw], xs)
			}
		}
	})
	return dst
}

// ResizeGrey brings one plane of sw × sh to w × h, as [Resize] does.
func ResizeGrey(src []uint8, sw, sh, w, h, workers int) []uint8 {
	dst := make([]uint8, w*h)
	xs, ys := spans(sw, w), spans(sh, h)
	Rows(h, workers, func(y0, y1 int) {
		line := make([]uint32, sw)
		for y := y0; y < y1; y++ {
			clear(line)
			for i, k := range ys[y].weight {
				for x, v := range src[(ys[y].from+i)*sw:][:sw] {
					line[x] += uint32(v) * k
				}
			}
			shrinkRow(dst[y*w:][:w], line, xs)
		}
	})
	return dst
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

// sumRows adds the rows of a span, weighted, into three planes of 8.12 fixed point.
func sumRows(line []uint32, src *image.RGBA, s span) {
	w := src.Rect.Dx()
	r, g, b := line[:w], line[w:2*w], line[2*w:3*w]
	clear(line)
	for i, k := range s.weight {
		row := src.Pix[(s.from+i)*src.Stride:][:4*w]
		for x := range r {
			p := row[4*x : 4*x+4 : 4*x+4]
			r[x] += uint32(p[0]) * k
			g[x] += uint32(p[1]) * k
			b[x] += uint32(p[2]) * k
		}
	}
}

// shrinkRow weighs along a row. 255 with the weights of both directions just fits 32 bits.
func shrinkRow(dst []uint8, line []uint32, xs []span) {
	const rounding = 1 << (2*weightBits - 1)
	for x := range dst {
		s := &xs[x]
		sum := uint32(rounding)
		from := line[s.from:][:len(s.weight)]
		for i, k := range s.weight {
			sum += from[i] * k
		}
		dst[x] = uint8(sum >> (2 * weightBits))
	}
}

// Grey is the luminance of a picture (BT.601).
func (m *RGB) Grey(workers int) []uint8 {
	out := make([]uint8, m.W*m.H)
	Rows(m.H, workers, func(y0, y1 int) {
		to := out[y0*m.W : y1*m.W]
		r, g, b := m.Pix[0][y0*m.W:][:len(to)], m.Pix[1][y0*m.W:][:len(to)],
			m.Pix[2][y0*m.W:][:len(to)]
		for i := range to {
			to[i] = uint8((77*uint32(r[i]) + 150*uint32(g[i]) + 29*uint32(b[i]) + 128) >> 8)
		}
	})
	return out
}
