package raster

// Most is the largest value within d rows and columns. dst may be src.
func Most[T uint8 | float32](dst, src []T, w, h, d int) {
	rows := make([]T, len(src))
	for y := range h {
		line := src[y*w:][:w]
		for x := range line {
			v := line[x]
			for _, n := range line[max(x-d, 0):min(x+d+1, w)] {
				v = max(v, n)
			}
			rows[y*w+x] = v
		}
	}
	for y := range h {
		out := dst[y*w:][:w]
		copy(out, rows[y*w:][:w])
		for yy := max(y-d, 0); yy <= min(y+d, h-1); yy++ {
			for x, v := range rows[yy*w:][:w] {
				out[x] = max(out[x], v)
			}
		}
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
	return out
}
