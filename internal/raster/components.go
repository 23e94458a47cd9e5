package raster

import (
	"slices"
	"sort"
)

// Component is a set of connected pixels.
type Component struct {
	X0, Y0, X1, Y1 int // bounding box, end exclusive
	Area           int // pixels
}

// Width of the bounding box.
func (c Component) Width() int { return c.X1 - c.X0 }

// Height of the bounding box.
func (c Component) Height() int { return c.Y1 - c.Y0 }

// Add takes in n pixels in a row, from x, y on. A component with nothing in it starts with X0 and
// Y0 beyond any pixel.
func (c *Component) Add(x, y, n int) {
	c.X0, c.X1 = min(c.X0, x), max(c.X1, x+n)
	c.Y0, c.Y1 = min(c.Y0, y), max(c.Y1, y+1)
	c.Area += n
}

// Components labels the 8-connected sets of equal, non-zero class in a plane of width w. It
// returns the label of each pixel, 0 where class is 0, and the components; label n is
// components[n-1]. Labels go by the first pixel in reading order.
func Components(class []uint8, w int) (labels []int32, components []Component) {
	runs, components := Connected(class, w, 1)
	labels = make([]int32, len(class))
	Paint(labels, runs)
	return labels, components
}

// Run is the pixels from one to before another, in a row, of one class.
type Run struct {
	From, To int32
	Label    int32 // of its component; before that is known, of the runs that it is known to touch
	class    uint8
}

// Connected lists the runs of at least so many pixels in a plane of width w, in reading order, and
// the components that they make, as [Components] does.
// Two passes with union-find over runs (He, Chao, Suzuki 2008, in its simplest form).
func Connected(class []uint8, w, least int) (runs []Run, components []Component) {
	const usual = 64 // pixels for each run
	runs = make([]Run, 0, len(class)/usual)
	var sets disjoint
	above := 0 // index of the first run in the row above
	for at := 0; at < len(class); at += w {
		now := len(runs)
		if now+w/2 >= cap(runs) {
			runs = slices.Grow(runs, max(now, w)) // twice as many: append grows by a quarter
		}
		runs = appendRuns(runs, class[at:at+w], at, least)
		sets.join(runs[above:now], runs[now:], w)
		above = now
	}
	number, count := sets.numbers()
	components = make([]Component, count)
	for i := range components {
		components[i].X0, components[i].Y0 = w, len(class)
	}
	for i := range runs {
		r := &runs[i]
		r.Label = number[r.Label]
		components[r.Label-1].Add(int(r.From)%w, int(r.From)/w, int(r.To-r.From))
	}
	return runs, components
}

// Paint gives the pixels of runs their labels.
func Paint(labels []int32, runs []Run) {
	for _, r := range runs {
		row := labels[r.From:r.To]
		for i := range row {
			row[i] = r.Label
		}
	}
}

// RunsWithin are those of runs in reading order that have pixels from one to before another.
func RunsWithin(runs []Run, from, to int) []Run {
	first := sort.Search(len(runs), func(i int) bool { return int(runs[i].To) > from })
	runs = runs[first:]
	return runs[:sort.Search(len(runs), func(i int) bool { return int(runs[i].From) >= to })]
}

// appendRuns lists the runs of a row that starts at pixel at.
func appendRuns(runs []Run, row []uint8, at, least int) []Run {
	for x := 0; x < len(row); {
		if x = NextMarked(row, x); x == len(row) {
			break
		}
		from, class := x, row[x]
		for x < len(row) && row[x] == class {
			x++
		}
		if x-from >= least {
			runs = append(runs, Run{From: int32(at + from), To: int32(at + x), class: class})
		}
	}
	return runs
}

// disjoint is a forest of sets: parent[i] is i in a root, which is the lowest of its set.
type disjoint struct{ parent []int32 }

func (d *disjoint) find(i int32) int32 {
	for d.parent[i] != i {
		d.parent[i] = d.parent[d.parent[i]]
		i = d.parent[i]
	}
	return i
}

// join puts the runs of a row into the sets of those that they touch in the row above, w
// pixels before.
func (d *disjoint) join(above, row []Run, w int) {
	first := 0
	for i := range row {
		r := &row[i]
		from, to := r.From-int32(w), r.To-int32(w)
		for first < len(above) && above[first].To < from {
			first++
		}
		r.Label = -1
		for _, a := range above[first:] {
			if a.From > to {
				break
			}
			switch {
			case a.class != r.class:
			case r.Label < 0:
				r.Label = a.Label
			case r.Label != a.Label:
				p, q := d.find(r.Label), d.find(a.Label)
				d.parent[max(p, q)] = min(p, q)
			}
		}
		if r.Label < 0 {
			r.Label = int32(len(d.parent))
			d.parent = append(d.parent, r.Label)
		}
	}
}

// numbers counts the sets, in the order of their roots, from 1.
func (d *disjoint) numbers() (number []int32, count int32) {
	number = make([]int32, len(d.parent))
	for i := range number {
		if root := d.find(int32(i)); root == int32(i) {
			count++
			number[i] = count
		} else {
			number[i] = number[root]
		}
	}
	return number, count
}
