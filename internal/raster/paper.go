package raster

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
	hist := make([]brightnesses, len(g.V))
	Rows(g.H, workers, func(a, b int) {
		for cy := a; cy < b; cy++ {
			for y := cy * cell; y < min((cy+1)*cell, h); y++ {
				row := pix[y*w:][:w]
				for cx := range g.W {
					hist[cy*g.W+cx].count(row[cx*cell : min((cx+1)*cell, w)])
				}
			}
		}
	})
	Rows(g.H, workers, func(a, b int) {
		columns := make([]brightnesses, g.W)
		for cy := a; cy < b; cy++ {
			for cx := range columns {
				columns[cx] = brightnesses{}
				for y := max(cy-1, 0); y <= min(cy+1, g.H-1); y++ {
					columns[cx].add(&hist[y*g.W+cx])
				}
			}
			for cx := range columns {
				var near brightnesses
				for x := max(cx-1, 0); x <= min(cx+1, g.W-1); x++ {
					near.add(&columns[x])
				}
				g.V[cy*g.W+cx] = near.quantile(quantile)
			}
		}
	})
	return g
}

// brightnesses counts the pixels of each brightness, in steps of 4.
type brightnesses [64]uint32

func (b *brightnesses) count(pix []uint8) {
	for _, v := range pix {
		b[v>>2]++
	}
}

func (b *brightnesses) add(o *brightnesses) {
	for i, n := range o {
		b[i] += n
	}
}

// quantile is the brightness that this share of the pixels does not exceed.
func (b *brightnesses) quantile(share float64) float32 {
	total := uint32(0)
	for _, n := range b {
		total += n
	}
	want := float32(share) * float32(total)
	seen := float32(0)
	for i, n := range b {
		if n > 0 && seen+float32(n) >= want {
			return 4 * (float32(i) + (want-seen)/float32(n))
		}
		seen += float32(n)
	}
	return 255
}
