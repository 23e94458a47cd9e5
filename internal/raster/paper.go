package raster

import "math"

// Grid is a coarse plane over a picture: one value for each Cell × Cell pixels.
type Grid struct {
	W, H, Cell int
	V          []float32
	pw, ph     int // the picture it was made for
}

// NewGrid covers w × h pixels with cells.
func NewGrid(w, h, cell int) *Grid {
	g := &Grid{W: (w + cell - 1) / cell, H: (h + cell - 1) / cell, Cell: cell, pw: w, ph: h}
	g.V = make([]float32, g.W*g.H)
	return g
}

// Sampler interpolates a grid bilinearly for a picture of any size that shows the same scene.
type Sampler struct {
	g    *Grid
	from []int32   // first pixel that lies after each column of the grid, and the row's end
	frac []float32 // of each pixel, the way from the column before it to the next
	rows float32   // grid rows per picture row
}

// Sample prepares for a picture of w × h pixels.
func (g *Grid) Sample(w, h int) *Sampler {
	s := &Sampler{g: g, from: make([]int32, g.W+1), frac: make([]float32, w)}
	step := float32(g.pw) / float32(w*g.Cell)
	column := int32(0)
	for x := range s.frac {
		var at int32
		for at, s.frac[x] = locate((float32(x)+0.5)*step-0.5, g.W); column < at; {
			column++
			s.from[column] = int32(x)
		}
	}
	for column++; int(column) <= g.W; column++ {
		s.from[column] = int32(w)
	}
	s.rows = float32(g.ph) / float32(h*g.Cell)
	return s
}

// Row writes the values along pixel row y, using line (at least Grid.W long) as scratch.
func (s *Sampler) Row(dst, line []float32, y int) {
	g := s.g
	at, f := locate((float32(y)+0.5)*s.rows-0.5, g.H)
	a, b := g.V[int(at)*g.W:][:g.W], g.V[min(int(at)+1, g.H-1)*g.W:][:g.W]
	line = line[:g.W]
	for i := range line {
		line[i] = a[i] + f*(b[i]-a[i])
	}
	loops.interpolate(dst[:len(s.frac)], s.frac, line, s.from)
}

// interpolatePlain fills a row of pixels between the columns of a grid: from[i] is the first pixel
// after column i, and way how far each pixel lies on the way from its column to the next, 0 to 1.
func interpolatePlain(to, way, columns []float32, from []int32) {
	for i, v := range columns {
		step := columns[min(i+1, len(columns)-1)] - v
		part := to[from[i]:from[i+1]]
		for x, f := range way[from[i]:from[i+1]] {
			part[x] = v + f*step
		}
	}
}

// locate splits a grid position into the cell at or before it and the way to the next.
func locate(p float32, n int) (at int32, f float32) {
	switch {
	case p <= 0:
		return 0, 0
	case int(p) >= n-1:
		return int32(n - 1), 0
	}
	at = int32(p)
	return at, p - float32(at)
}

// PaperGrid estimates a plane's paper: for each cell the given quantile of the brightness over
// the 3 × 3 cells around it. Ink covers a minor part of any such window, so a high quantile is
// paper, whatever its light and colour.
func PaperGrid(pix []uint8, w, h, cell int, quantile float64, workers int) *Grid {
	g := NewGrid(w, h, cell)
	Rows(g.H, workers, func(a, b int) { g.findPaper(pix, quantile, a, b) })
	return g
}

// findPaper makes the rows from a to b. Of two windows of cells side by side, or one above the
// other, most is the same: what is counted is kept by columns of cells, and the windows' sums are
// moved along.
func (g *Grid) findPaper(pix []uint8, quantile float64, a, b int) {
	var rows [3][]brightnesses // of the windows, by turns
	for i := range rows {
		rows[i] = make([]brightnesses, g.W)
	}
	next, columns := make([]brightnesses, g.W), make([]brightnesses, 1+g.W+1)
	for y := a - 1; y <= b; y++ {
		gone := &rows[(y+len(rows))%len(rows)]
		g.count(next, pix, y)
		for x := range next {
			columns[1+x].move(&next[x], &(*gone)[x])
		}
		*gone, next = next, *gone
		if y > a {
			g.findRow(y-1, columns, quantile)
		}
	}
}

// count counts the brightnesses of a row of cells, of which there are none beyond the picture.
func (g *Grid) count(cells []brightnesses, pix []uint8, row int) {
	clear(cells)
	for y := max(row*g.Cell, 0); y < min((row+1)*g.Cell, g.ph); y++ {
		line := pix[y*g.pw:][:g.pw]
		for x := range cells {
			cells[x].count(line[x*g.Cell : min((x+1)*g.Cell, g.pw)])
		}
	}
}

// findRow makes a row, given what is counted of the columns of its windows.
func (g *Grid) findRow(y int, columns []brightnesses, quantile float64) {
	var near, none brightnesses
	near.move(&columns[0], &none)
	near.move(&columns[1], &none)
	gone := &none
	high := min((y+2)*g.Cell, g.ph) - max(y-1, 0)*g.Cell
	for x := range g.W {
		near.move(&columns[x+2], gone)
		gone = &columns[x]
		wide := min((x+2)*g.Cell, g.pw) - max(x-1, 0)*g.Cell
		g.V[y*g.W+x] = near.quantile(quantile, wide*high)
	}
}

// brightnesses counts the pixels of each brightness, in steps of 4.
type brightnesses [64]uint32

func (b *brightnesses) count(pix []uint8) {
	for _, v := range pix {
		b[v>>2]++
	}
}

// move adds what is new in a window, and takes away what is gone.
func (b *brightnesses) move(added, gone *brightnesses) {
	for i := range b {
		b[i] += added[i] - gone[i]
	}
}

// quantile is the brightness that this share of the pixels, of which there are n, does not exceed.
func (b *brightnesses) quantile(share float64, n int) float32 {
	want := float32(share) * float32(n)
	least, seen := uint32(math.Ceil(float64(want))), uint32(0)
	for i, n := range b {
		if n > 0 && seen+n >= least {
			return 4 * (float32(i) + (want-float32(seen))/float32(n))
		}
		seen += n
	}
	return 255
}
