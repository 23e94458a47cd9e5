package raster

import "encoding/binary"

// Most is the largest value within d rows and columns. dst may be src.
func Most[T uint8 | uint16 | float32](dst, src []T, w, h, d int) {
	down := make([]T, len(src))
	mostDown(down, src, w, h, d)
	across := Transpose(down, w, h)
	mostDown(down, across, h, w, d)
	transpose(dst, down, h, w)
}

// mostDown is the largest value within d rows, in the same number of steps for any d (van Herk
// 1992, "A fast algorithm for local minimum and maximum filters on rectangular and octagonal
// kernels"): rows are taken in blocks as high as a window, so that each window is the end of one
// block and the start of the next. Beyond the border lies the row that is at it.
func mostDown[T uint8 | uint16 | float32](dst, src []T, w, h, d int) {
	side := 2*d + 1
	row := func(y int) []T { return src[min(max(y, 0), h-1)*w:][:w] }
	ends, start := make([]T, side*w), make([]T, w)
	for top := 0; top < h; top += side {
		// Of the window of row top, what lies from each of its rows to its end.
		copy(ends[2*d*w:], row(top+d))
		for i := 2*d - 1; i >= 0; i-- {
			larger(ends[i*w:][:w], ends[(i+1)*w:], row(top-d+i))
		}
		copy(dst[top*w:][:w], ends)
		copy(start, row(top+d+1))
		for i := 1; i < min(side, h-top); i++ {
			larger(start, start, row(top+d+i))
			larger(dst[(top+i)*w:][:w], ends[i*w:], start)
		}
	}
}

// larger is the larger one of two values each.
func larger[T uint8 | uint16 | float32](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	if dst, ok := any(dst).([]float32); ok {
		loops.larger(dst, any(a).([]float32), any(b).([]float32))
		return
	}
	largerPlain(dst, a, b)
}

func largerPlain[T uint8 | uint16 | float32](dst, a, b []T) {
	for i := range dst {
		dst[i] = Larger(a[i], b[i])
	}
}

// Or sets the bits in dst that src has, which is as long or longer.
func Or(dst, src []uint8) {
	src = src[:len(dst)]
	i := 0
	for ; i+8 <= len(dst); i += 8 {
		v := binary.NativeEndian.Uint64(dst[i:]) | binary.NativeEndian.Uint64(src[i:])
		binary.NativeEndian.PutUint64(dst[i:], v)
	}
	for ; i < len(dst); i++ {
		dst[i] |= src[i]
	}
}

// Least is the smallest value within d rows and columns. dst may be src.
func Least(dst, src []float32, w, h, d int) {
	negative := make([]float32, len(src))
	for i, v := range src {
		negative[i] = -v
	}
	Most(dst, negative, w, h, d)
	for i, v := range dst {
		dst[i] = -v
	}
}

// BoxBlur averages a plane over squares of reach pixels either side, in place.
func BoxBlur(v []float32, w, h, reach int) {
	line := make([]float32, max(w, h))
	pass := func(n int, at func(i int) int) {
		sum := float32(0)
		for i := range n + reach {
			if i < n {
				line[i] = v[at(i)]
				sum += line[i]
			}
			if i > 2*reach {
				sum -= line[i-2*reach-1]
			}
			if i >= reach {
				v[at(i-reach)] = sum / float32(2*reach+1)
			}
		}
	}
	for y := range h {
		pass(w, func(i int) int { return y*w + i })
	}
	for x := range w {
		pass(h, func(i int) int { return i*w + x })
	}
}

// Smooth averages a grid with the weights 1, 2, 1 in both directions.
func Smooth(g *Grid) {
	line := make([]float32, max(g.W, g.H))
	pass := func(n, from, step int) {
		for k := range n {
			line[k] = g.V[from+k*step]
		}
		for k := range n {
			g.V[from+k*step] = (line[max(k-1, 0)] + 2*line[k] + line[min(k+1, n-1)]) / 4
		}
	}
	for y := range g.H {
		pass(g.W, y*g.W, 1)
	}
	for x := range g.W {
		pass(g.H, x, g.W)
	}
}

// PadCentered writes a grey picture of w × h pixels, from 0 to 1, into the middle of one of
// width × height that is at least as large. Round it lies its median, the grey of its paper.
func PadCentered(to []float32, width, height int, grey []uint8, w, h int) {
	paper := float32(medianOf(grey)) / 255
	for i := range to {
		to[i] = paper
	}
	for y := range h {
		row := to[((height-h)/2+y)*width+(width-w)/2:][:w]
		for x, v := range grey[y*w:][:w] {
			row[x] = float32(v) / 255
		}
	}
}

// Transpose swaps the axes of a plane of w × h.
func Transpose[T any](v []T, w, h int) []T {
	out := make([]T, len(v))
	transpose(out, v, w, h)
	return out
}

func transpose[T any](out, v []T, w, h int) {
	const tile = 32 // stays in the cache
	for ty := 0; ty < h; ty += tile {
		for tx := 0; tx < w; tx += tile {
			for y := ty; y < min(ty+tile, h); y++ {
				for x := tx; x < min(tx+tile, w); x++ {
					out[x*h+y] = v[y*w+x]
				}
			}
		}
	}
}
