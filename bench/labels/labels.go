// Package labels measures a cleaned page against a picture that says what each of its pixels is.
package labels

import (
	"fmt"
	"image"
	"image/draw"
	"os"
	"slices"

	"unink/bench/picture"
	"unink/internal/raster"
)

// The values of a label picture. Anything else is not known, and not counted.
const (
	Paper = iota
	Print
	Hand
)

// Read reads a file of labels.
func Read(path string) (*image.Gray, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	m, _, err := image.Decode(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if p, ok := m.(*image.Paletted); ok { // the index is the label
		return &image.Gray{Pix: p.Pix, Stride: p.Stride, Rect: p.Rect}, nil
	}
	g := image.NewGray(image.Rect(0, 0, m.Bounds().Dx(), m.Bounds().Dy()))
	draw.Draw(g, g.Rect, m, m.Bounds().Min, draw.Src)
	return g, nil
}

// Figures are shares of ink from 0 to 1; lower is better.
type Figures struct {
	Left float64 // of the handwriting's ink, what is left
	// of it, what lies in strokes of which more than a fifth is left: what a reader still sees
	Seen float64
	Lost float64 // of the print's ink, what is gone: nothing half as dark within a pixel
	Hurt float64 // of it, what lies in words of which more than a fifth is gone
	// Hand and Print say whether there was any to measure.
	Hand, Print bool
}

// String gives per cents, in the table's columns.
func (f Figures) String() string {
	column := func(v float64, there bool) string {
		if !there {
			return fmt.Sprintf("%8s", "-")
		}
		return fmt.Sprintf("%8.2f", 100*v)
	}
	return column(f.Left, f.Hand) + column(f.Seen, f.Hand) + column(f.Lost, f.Print) +
		column(f.Hurt, f.Print)
}

// Truth is a page before it is cleaned, and where on it which ink lies.
type Truth struct {
	w           int
	was         []float32
	hand, print []uint8
	handMass    []float32
	printMass   []float32
}

const noise = 14 // grey levels that paper strays

// Of is the truth of a page, given its labels, a picture of its size.
func Of(labels *image.Gray, page *picture.RGB) *Truth {
	const leastInk = 25 // of print that counts
	n := page.W * page.H
	t := &Truth{w: page.W, was: inkOf(page), hand: make([]uint8, n), print: make([]uint8, n),
		handMass: make([]float32, n), printMass: make([]float32, n)}
	near := make([]float32, n)
	for i, v := range labels.Pix {
		if v == Hand {
			t.hand[i], near[i] = 1, 1
			t.handMass[i] = max(t.was[i]-noise, 0)
		}
	}
	near = extreme(near, page.W, page.H, 2)
	for i, v := range labels.Pix {
		if v == Print && near[i] == 0 && t.was[i] > leastInk {
			t.print[i], t.printMass[i] = 1, t.was[i]
		}
	}
	return t
}

// Measure measures the page as it was cleaned.
func (t *Truth) Measure(after *picture.RGB) (f Figures) {
	const visible = 0.2
	is := inkOf(after)
	best := extreme(is, t.w, len(is)/t.w, 1)
	handLeft, printGone := make([]float32, len(is)), make([]float32, len(is))
	for i := range is {
		if t.hand[i] != 0 {
			handLeft[i] = min(max(is[i]-noise, 0), t.handMass[i])
		}
		if t.print[i] != 0 && best[i] < 0.5*t.was[i] {
			printGone[i] = t.was[i]
		}
	}
	f.Left, f.Seen, f.Hand = shares(t.hand, t.handMass, handLeft, t.w, 1, visible)
	f.Lost, f.Hurt, f.Print = shares(t.print, t.printMass, printGone, t.w, 3, visible)
	return f
}

// shares is which part of a mass is concerned, and which part of it lies in groups of which more
// than so much is. A group is what of the mask touches once it is grown by reach pixels.
func shares(mask []uint8, mass, concerned []float32, w, reach int,
	much float64) (all, groups float64, any bool) {
	grown := make([]float32, len(mask))
	for i, v := range mask {
		grown[i] = float32(v)
	}
	class := make([]uint8, len(mask))
	for i, v := range extreme(grown, w, len(mask)/w, reach) {
		class[i] = uint8(v)
	}
	labels, components := raster.Components(class, w)
	sums, parts := make([]float64, len(components)+1), make([]float64, len(components)+1)
	total, part := 0.0, 0.0
	for i, l := range labels {
		if l == 0 {
			continue
		}
		sums[l] += float64(mass[i])
		parts[l] += float64(concerned[i])
		total += float64(mass[i])
		part += float64(concerned[i])
	}
	if total == 0 {
		return 0, 0, false
	}
	for l, sum := range sums {
		if parts[l] > much*sum {
			groups += sum
		}
	}
	return part / total, groups / total, true
}

// inkOf is how much darker than the paper round it each pixel is, in the channel that shows it
// most, in grey levels. The paper is the 85th percentile of each cell of 16 pixels, the lightest of
// a cell and its neighbours, smoothed: cells full of ink take their neighbours' paper.
func inkOf(p *picture.RGB) []float32 {
	const cell = 16
	cw, ch := (p.W+cell-1)/cell, (p.H+cell-1)/cell
	out := make([]float32, p.W*p.H)
	values := make([]float32, 0, cell*cell)
	for c := range 3 {
		paper := make([]float32, cw*ch)
		for i := range paper {
			values = values[:0]
			for y := range cell {
				for x := range cell {
					at := min(i/cw*cell+y, p.H-1)*p.W + min(i%cw*cell+x, p.W-1)
					values = append(values, float32(p.Pix[3*at+c]))
				}
			}
			paper[i] = percentile(values, 0.85)
		}
		paper = mean3(extreme(paper, cw, ch, 1), cw, ch)
		for y := range p.H {
			for x := range p.W {
				d := enlarged(paper, cw, ch, cell, x, y) - float32(p.Pix[3*(y*p.W+x)+c])
				out[y*p.W+x] = max(out[y*p.W+x], d)
			}
		}
	}
	return out
}

// percentile interpolates between the two values nearest to the share q of the sorted ones.
func percentile(values []float32, q float64) float32 {
	slices.Sort(values)
	at := q * float64(len(values)-1)
	low := int(at)
	part := float32(at - float64(low))
	return values[low]*(1-part) + values[min(low+1, len(values)-1)]*part
}

// extreme is the largest value in the square that reaches so many pixels to each side.
func extreme(v []float32, w, h, reach int) []float32 {
	along, out := make([]float32, len(v)), make([]float32, len(v))
	for i := range v {
		x, row := i%w, i-i%w
		along[i] = slices.Max(v[row+max(x-reach, 0) : row+min(x+reach, w-1)+1])
	}
	for i := range v {
		x, y := i%w, i/w
		most := along[i]
		for yy := max(y-reach, 0); yy <= min(y+reach, h-1); yy++ {
			most = max(most, along[yy*w+x])
		}
		out[i] = most
	}
	return out
}

// mean3 is the mean of the nine values about each, mirrored at the rim.
func mean3(v []float32, w, h int) []float32 {
	mirror := func(i, n int) int {
		if i < 0 {
			return min(-i, n-1)
		}
		if i >= n {
			return max(2*n-2-i, 0)
		}
		return i
	}
	out := make([]float32, len(v))
	for i := range v {
		sum := float32(0)
		for d := range 9 {
			sum += v[mirror(i/w+d/3-1, h)*w+mirror(i%w+d%3-1, w)]
		}
		out[i] = sum / 9
	}
	return out
}

// enlarged is the value at a pixel of a plane of cells, interpolated between their middles.
func enlarged(v []float32, w, h, cell, x, y int) float32 {
	axis := func(i, n int) (a, b int, part float32) {
		p := min(max((float32(i)+0.5)/float32(cell)-0.5, 0), float32(n-1))
		a = int(p)
		return a, min(a+1, n-1), p - float32(a)
	}
	x0, x1, px := axis(x, w)
	y0, y1, py := axis(y, h)
	above := v[y0*w+x0]*(1-px) + v[y0*w+x1]*px
	below := v[y1*w+x0]*(1-px) + v[y1*w+x1]*px
	return above*(1-py) + below*py
}
