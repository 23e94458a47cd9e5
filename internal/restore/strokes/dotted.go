package strokes

import (
	"cmp"
	"image"
	"math"
	"slices"

	"unink/internal/raster"
	"unink/internal/restore/segment"
)

// dottedLine is a line of alike dots or dashes at even distances, as blanks have them: those that
// can be seen, from left to right.
type dottedLine struct {
	dots  []raster.Component
	pitch float64 // from one to the next, in working pixels
}

const (
	dotHigh    = 6  // working pixels: a dot or dash is no higher
	dashWide   = 24 // and no wider
	widest     = 36 // from one to the next
	fewestDots = 5  // in a row, with none missing
)

// findDotted finds the dotted lines of a page, which may lean a little.
func findDotted(components []raster.Component) (lines []dottedLine) {
	d := dots{rows: map[int][]raster.Component{}, taken: map[image.Point]bool{}}
	var all []raster.Component
	for _, c := range components {
		if c.Height() <= dotHigh && c.Width() <= dashWide {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b raster.Component) int {
		return cmp.Or(cmp.Compare(a.X0, b.X0), cmp.Compare(a.Y0, b.Y0))
	})
	for _, c := range all {
		d.rows[middleRow(c)] = append(d.rows[middleRow(c)], c)
	}
	for _, c := range all {
		if d.taken[cornerOf(c)] {
			continue
		}
		if l := d.lineFrom(c); len(l.dots) >= fewestDots {
			for _, c := range l.dots {
				d.taken[cornerOf(c)] = true
			}
			lines = append(lines, l)
		}
	}
	return lines
}

// dots are what may be dots on a page.
type dots struct {
	rows  map[int][]raster.Component // by the row of their middle, from left to right
	taken map[image.Point]bool       // by lines, by their corners
}

func middleRow(c raster.Component) int { return (c.Y0 + c.Y1) / 2 }

func cornerOf(c raster.Component) image.Point { return image.Pt(c.X0, c.Y0) }

// middleOf is the middle of a component.
func middleOf(c raster.Component) (x, y float64) {
	return float64(c.X0+c.X1) / 2, float64(c.Y0+c.Y1) / 2
}

// lineFrom is the line that begins with a dot: some without a gap, and then those that go on with
// it behind whatever hides the dots between, to either side.
func (d *dots) lineFrom(first raster.Component) dottedLine {
	l := dottedLine{dots: []raster.Component{first}}
	for {
		c, found := d.following(&l)
		if !found {
			break
		}
		l.dots = append(l.dots, c)
		x0, _ := middleOf(first)
		x1, _ := middleOf(c)
		l.pitch = (x1 - x0) / float64(len(l.dots)-1)
	}
	if len(l.dots) < fewestDots {
		return l
	}
	for _, step := range [2]int{1, -1} {
		for k := 1; float64(k)*l.pitch <= ruleHidden; k++ {
			if c, found := d.beyond(&l, step*k); found {
				l.dots = append(l.dots, c)
				k = 0
			}
		}
		slices.Reverse(l.dots)
	}
	return l
}

// following is the dot that comes next after the line's last, with none missing.
func (d *dots) following(l *dottedLine) (next raster.Component, found bool) {
	const uneven, off = 0.15, 1.0 // of the pitch; working pixels
	last := l.dots[len(l.dots)-1]
	x, y := middleOf(last)
	from, to := 1.0, float64(widest)
	if l.pitch > 0 {
		spare := max(off, uneven*l.pitch)
		from, to = max(l.pitch-spare, from), l.pitch+spare
	}
	return d.nearest(last, x+from, x+to, y, off)
}

// beyond is the dot that lies so many pitches from the line's last.
func (d *dots) beyond(l *dottedLine, k int) (next raster.Component, found bool) {
	const uneven, off, slant = 0.2, 1.0, 0.01 // of the pitch; working pixels; of the way
	first, last := l.dots[0], l.dots[len(l.dots)-1]
	x0, y0 := middleOf(first)
	x1, y1 := middleOf(last)
	way := float64(k) * l.pitch
	spare := max(off, uneven*l.pitch)
	return d.nearest(last, x1+way-spare, x1+way+spare, y1+way*(y1-y0)/(x1-x0),
		off+slant*math.Abs(way))
}

// nearest is the leftmost dot like another one with its middle between two columns, and so far off
// a row at most, that no line has.
func (d *dots) nearest(like raster.Component, from, to, y, off float64) (best raster.Component,
	found bool) {
	for row := int(math.Floor(y - off)); row <= int(math.Ceil(y+off)); row++ {
		in := d.rows[row]
		at, _ := slices.BinarySearchFunc(in, int(from)-dashWide,
			func(c raster.Component, x int) int { return cmp.Compare(c.X0, x) })
		for _, c := range in[at:] {
			cx, cy := middleOf(c)
			if float64(c.X0) > to || found && c.X0 >= best.X0 {
				break
			}
			if cx >= from && cx <= to && math.Abs(cy-y) <= off && c.X0 != like.X0 &&
				alikeDots(like, c) && !d.taken[cornerOf(c)] {
				best, found = c, true
			}
		}
	}
	return best, found
}

// alikeDots says that two dots have about one size.
func alikeDots(a, b raster.Component) bool {
	alike := func(p, q int) bool { return 4*max(p-q, q-p) <= 4+max(p, q) }
	return alike(a.Width(), b.Width()) && alike(a.Height(), b.Height())
}

// keep makes print of the dots that were judged to be writing, where the others were not.
func (l *dottedLine) keep(s *segment.Scores) {
	more := 0 // pixels of print than of writing
	for _, d := range l.dots {
		eachInk(s, d, func(i int) {
			if s.Hand[i] > 0 {
				more--
			} else {
				more++
			}
		})
	}
	if more <= 0 {
		return
	}
	for _, d := range l.dots {
		eachInk(s, d, func(i int) {
			if s.Hand[i] > 0 {
				s.Relabel(i, false)
			}
		})
	}
}

// eachInk visits the pixels of a dot that hold ink.
func eachInk(s *segment.Scores, d raster.Component, visit func(i int)) {
	for y := d.Y0; y < d.Y1; y++ {
		for i := y*s.W + d.X0; i < y*s.W+d.X1; i++ {
			if s.Hand[i] > 0 || s.Print[i] > 0 {
				visit(i)
			}
		}
	}
}

// hidden are the dots that writing covers, each with one like it that nothing touches. Where
// writing covers less than most of a gap, the line ended before it, and another began after it.
func (l *dottedLine) hidden(s *segment.Scores) (marks []Mark) {
	const rim = 1 // working pixels
	var clear []image.Rectangle
	for _, d := range l.dots {
		if r := rectOf(d); !anyWriting(s, r.Inset(-rim)) {
			clear = append(clear, r)
		}
	}
	if len(clear) < fewestDots {
		return nil
	}
	draw := func(at image.Point) {
		nearest := slices.MinFunc(clear, func(a, b image.Rectangle) int {
			return cmp.Compare(max(a.Min.X-at.X, at.X-a.Min.X), max(b.Min.X-at.X, at.X-b.Min.X))
		})
		marks = append(marks, Mark{nearest, at})
	}
	for i, d := range l.dots {
		if anyWriting(s, rectOf(d)) {
			draw(cornerOf(d))
		}
		if i == 0 {
			continue
		}
		places := l.between(l.dots[i-1], d)
		all := len(places)
		covered := slices.DeleteFunc(places, func(r image.Rectangle) bool {
			return !anyWriting(s, r)
		})
		if 10*len(covered) < 6*all {
			continue
		}
		for _, r := range covered {
			draw(r.Min)
		}
	}
	return marks
}

// between are the places of the dots that are missing between two that can be seen.
func (l *dottedLine) between(a, b raster.Component) (places []image.Rectangle) {
	x0, y0 := middleOf(a)
	x1, y1 := middleOf(b)
	n := int(math.Round((x1 - x0) / l.pitch))
	for k := 1; k < n; k++ {
		f := float64(k) / float64(n)
		move := image.Pt(int(math.Round(f*(x1-x0))), int(math.Round(f*(y1-y0))))
		places = append(places, rectOf(a).Add(move))
	}
	return places
}

func rectOf(c raster.Component) image.Rectangle { return image.Rect(c.X0, c.Y0, c.X1, c.Y1) }

// anyWriting says that there is writing in a rectangle.
func anyWriting(s *segment.Scores, r image.Rectangle) bool {
	r = r.Intersect(image.Rect(0, 0, s.W, s.H))
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for _, v := range s.Hand[y*s.W+r.Min.X : y*s.W+r.Max.X] {
			if v > 0 {
				return true
			}
		}
	}
	return false
}
