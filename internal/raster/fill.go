package raster

// Field is a coarse plane of colours, some of them known. Cells without weight are holes.
type Field struct {
	W, H   int
	Colour [][3]float32 // weighted mean colour of the cell
	Weight []float32    // 0 is unknown, 1 wholly known
}

// NewField makes a field of holes.
func NewField(w, h int) *Field {
	return &Field{W: w, H: h, Colour: make([][3]float32, w*h), Weight: make([]float32, w*h)}
}

// Fill gives every hole a smooth continuation of what surrounds it, by push and pull on a
// pyramid (Gortler et al. 1996, "The Lumigraph", section 3.4): coarser levels average what is
// known, finer ones take from them what they lack. It reports whether anything was known.
func (f *Field) Fill() bool {
	if f.W <= 1 && f.H <= 1 {
		return f.Weight[0] > 0
	}
	coarse := f.Half()
	known := coarse.Fill()
	if known {
		f.push(coarse)
	}
	return known
}

// Half averages 2 × 2 cells into a field of half the size.
func (f *Field) Half() *Field {
	c := NewField((f.W+1)/2, (f.H+1)/2)
	for y := range c.H {
		for x := range c.W {
			from, to := 2*x, min(2*x+2, f.W)
			var r, g, b, weight float32
			for row := 2 * y; row < min(2*y+2, f.H); row++ {
				colours := f.Colour[row*f.W:][from:to]
				for i, k := range f.Weight[row*f.W:][from:to] {
					if k > 0 {
						colour := &colours[i]
						weight += k
						r, g, b = r+k*colour[0], g+k*colour[1], b+k*colour[2]
					}
				}
			}
			if weight > 0 {
				i := y*c.W + x
				c.Colour[i] = [3]float32{r / weight, g / weight, b / weight}
				c.Weight[i] = min(weight, 1)
			}
		}
	}
	return c
}

// push blends the coarse field, interpolated bilinearly, into cells that are not wholly known.
func (f *Field) push(c *Field) {
	for y := range f.H {
		y0, y1, fy := half(y, c.H)
		upper, lower := c.Colour[y0*c.W:][:c.W], c.Colour[y1*c.W:][:c.W]
		colours, weights := f.Colour[y*f.W:][:f.W], f.Weight[y*f.W:][:f.W]
		for x, k := range weights {
			if k >= 1 {
				continue
			}
			x0, x1, fx := half(x, c.W)
			colour, a, b, d, e := &colours[x], &upper[x0], &upper[x1], &lower[x0], &lower[x1]
			for ch := range colour {
				top := a[ch] + fx*(b[ch]-a[ch])
				low := d[ch] + fx*(e[ch]-d[ch])
				v := top + fy*(low-top)
				colour[ch] = v + k*(colour[ch]-v)
			}
			weights[x] = 1
		}
	}
}

// half locates fine cell i between two cells of a field of half the resolution and size n.
func half(i, n int) (a, b int, f float32) {
	a = (i - 1) >> 1
	f = 0.25 + 0.5*float32((i+1)&1)
	return max(a, 0), min(a+1, n-1), f
}

// At interpolates the field bilinearly at a pixel of a picture with cell × cell pixels to a cell.
func (f *Field) At(x, y, cell int) (out [3]float32) {
	x0, fx := locateCell(x, cell, f.W)
	y0, fy := locateCell(y, cell, f.H)
	x1, y1 := min(x0+1, f.W-1), min(y0+1, f.H-1)
	a, b := &f.Colour[y0*f.W+x0], &f.Colour[y0*f.W+x1]
	d, e := &f.Colour[y1*f.W+x0], &f.Colour[y1*f.W+x1]
	for ch := range out {
		top := a[ch] + fx*(b[ch]-a[ch])
		low := d[ch] + fx*(e[ch]-d[ch])
		out[ch] = top + fy*(low-top)
	}
	return out
}

func locateCell(i, cell, n int) (at int, f float32) {
	p := (float32(i)+0.5)/float32(cell) - 0.5
	p = min(max(p, 0), float32(n-1))
	at = int(p)
	return at, p - float32(at)
}
