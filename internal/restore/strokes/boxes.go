package strokes

import (
	"cmp"
	"image"
	"math"
	"slices"

	"unink/internal/raster"
	"unink/internal/restore/ink"
	"unink/internal/restore/segment"
)

// A tick box is a printed square outline, or a ring, smaller than two letters. Beside empty ones,
// one with ink in it has been marked.
const (
	smallestBox, largestBox = 9, 46 // working pixels: a side
	boxAlike                = 0.12  // of a side: boxes that differ by less are of one kind
	boxReach                = 0.8   // of a side: how far a mark is followed beyond its box
)

// form is what a form has: the marks in tick boxes and bubbles that were written, the bubbles that
// something crosses, and the registration marks, dotted lines, bubbles in tables and labels of
// bubbles, which were printed.
type form struct {
	marks, crossed []*mark
	registration   registrationMarks
	dotted         []dottedLine
	inTable        []bubbleCells
	labelling      labelling
}

// readForm finds them. No judgement is needed for it, nor does it change the scores.
func readForm(s *segment.Scores, plane *ink.Plane) form {
	labels, components := make([]int32, len(plane.Solid)), plane.Pieces
	raster.Paint(labels, plane.Runs)
	filled, crossed, printed := findBubbles(s, plane, labels, components)
	ticks := slices.DeleteFunc(findTicks(s, plane, labels, components), func(m *mark) bool {
		return slices.ContainsFunc(filled, m.inSameBox)
	})
	marks := slices.Concat(filled, ticks)
	crossed = slices.DeleteFunc(crossed, func(m *mark) bool {
		return slices.ContainsFunc(marks, m.inSameBox)
	})
	return form{
		marks: marks, crossed: crossed,
		registration: findRegistrationMarks(labels, components, s.W, filled),
		dotted:       findDotted(components),
		labelling:    printed,
	}
}

// settle makes writing of what was written and print of what was printed, whatever was judged; with
// the marks are then the crossed bubbles that go.
func (f *form) settle(s *segment.Scores, plane *ink.Plane) {
	f.labelling.keep(s, plane)
	for _, c := range f.inTable {
		c.keep(s)
	}
	for _, m := range f.marks {
		m.relabel(s)
	}
	for _, m := range f.crossed {
		if m.goes(s) {
			f.marks = append(f.marks, m)
		}
	}
	f.registration.keep(s)
	for _, l := range f.dotted {
		l.keep(s)
	}
}

// hidden is what has to be drawn anew where writing goes: the boxes and bubbles that were marked,
// and the dots under words.
func (f *form) hidden(s *segment.Scores) []Mark {
	marks := make([]Mark, 0, len(f.marks))
	for _, m := range f.marks {
		marks = append(marks, Mark{rectOf(m.kind.Component), image.Pt(m.x, m.y)})
	}
	for _, l := range f.dotted {
		marks = append(marks, l.hidden(s)...)
	}
	for _, c := range f.inTable {
		marks = append(marks, c.hidden(s, marks)...)
	}
	return marks
}

// inSameBox says that two marks lie in one box.
func (m *mark) inSameBox(other *mark) bool {
	return 2*max(m.x-other.x, other.x-m.x) < m.kind.Width() &&
		2*max(m.y-other.y, other.y-m.y) < m.kind.Height()
}

// findTicks finds the marks in tick boxes. The network sees a box and a tick as one small sign; but
// a page has many boxes, most of them empty, and what a box has beyond its empty neighbours was put
// there. Marks that repeat exactly were printed.
func findTicks(s *segment.Scores, plane *ink.Plane, labels []int32,
	components []raster.Component) []*mark {
	var empty []box
	for i, c := range components {
		b := box{Component: c, label: int32(i + 1)}
		if b.round = b.isRound(labels, s.W); b.isEmpty(labels, s.W) {
			empty = append(empty, b)
		}
	}
	var marks, gone []*mark
	for i, c := range components {
		if m := findMark(box{Component: c, label: int32(i + 1)}, empty, labels, s.W); m != nil &&
			m.weigh(s, plane, labels) {
			marks = append(marks, m)
		}
	}
	marks = slices.DeleteFunc(marks, func(m *mark) bool { return m.repeats(marks) })
	for _, m := range marks {
		if m.isWritten(len(marks), len(empty)) {
			m.collect(s, labels)
			gone = append(gone, m)
		}
	}
	return gone
}

// isWritten says that a mark, of so many on the page, was written. Of letters, many are a ring and
// a stroke, and a single box says little: there the ink itself has to tell.
func (m *mark) isWritten(marks, empty int) bool {
	const sure, fewest = 1, 2 // log-odds; empty boxes
	if m.kind.round || empty < fewest {
		return m.evidence > sure
	}
	return m.evidence+unlike(marks) > 0
}

// unlike is the log-odds that the marks were written, given that no two of them look the same. A
// single mark may be typed; the more there are, the less likely that is.
func unlike(marks int) float64 {
	const one, more, most = 1, 0.75, 3.25 // log-odds
	return min(one+more*float64(marks-1), most)
}

// box is a component of ink that may be a tick box.
type box struct {
	raster.Component
	label int32
	round bool // its outline
}

func (b *box) side() float64 { return float64(b.Width()+b.Height()) / 2 }

// isEmpty says that a component is a square or round outline with nothing in it.
func (b *box) isEmpty(labels []int32, w int) bool {
	if min(b.Width(), b.Height()) < smallestBox || max(b.Width(), b.Height()) > largestBox ||
		4*b.Width() < 3*b.Height() || 4*b.Height() < 3*b.Width() {
		return false
	}
	at := func(x, y int) bool { return labels[(b.Y0+y)*w+b.X0+x] == b.label }
	bw, bh := b.Width(), b.Height()
	for y := bh / 4; y < bh-bh/4; y++ {
		for x := bw / 4; x < bw-bw/4; x++ {
			if labels[(b.Y0+y)*w+b.X0+x] != 0 {
				return false
			}
		}
	}
	if b.round {
		return true
	}
	fromBelow := func(x, y int) bool { return at(x, bh-1-y) }
	fromLeft := func(x, y int) bool { return at(y, x) }
	fromRight := func(x, y int) bool { return at(bw-1-y, x) }
	return straightSide(bw, bh, at) && straightSide(bw, bh, fromBelow) &&
		straightSide(bh, bw, fromLeft) && straightSide(bh, bw, fromRight)
}

// straightSide says that along the upper side of a picture runs a line without a gap, as level as
// on a page a little askew.
func straightSide(w, h int, at func(x, y int) bool) bool {
	// Parts of a side: what corners take, how deep the line lies at most, how much it bends.
	const end, deep, bend = 6, 4, 0.07
	first, last := h, 0
	for x := w / end; x < w-w/end; x++ {
		y := 0
		for y < h/deep+1 && !at(x, y) {
			y++
		}
		if y > h/deep {
			return false
		}
		first, last = min(first, y), max(last, y)
	}
	return float64(last-first) <= max(1.5, bend*float64(w))
}

// mark is what lies in a box that is not empty.
type mark struct {
	box              // the component: box and mark
	kind     *box    // an empty box of this kind
	x, y     int     // where it lies under the mark
	outline  []bool  // of the box, a pixel wider: width times height of kind
	pixels   []int   // of the working picture, that go
	evidence float64 // log-odds that it was written, by its ink and the network
	shape    [shapeSide * shapeSide]float64
	full     float64        // share of the box's inside that is inked
	parts    map[int32]bool // the components that lie in the box
}

// findMark finds the box under a component that is more than a box: an outline as the nearest empty
// boxes have it that stand in line with it. It is nil where there is none.
func findMark(c box, empty []box, labels []int32, w int) *mark {
	const tries, larger = 2, 3 // boxes that are tried; times as large it is with its mark
	var inLine []*box
	for i := range empty {
		kind := &empty[i]
		slack := int(boxAlike * kind.side())
		switch {
		case kind.label == c.label:
			return nil
		case c.Width() < kind.Width()-slack, c.Height() < kind.Height()-slack,
			c.Width() > larger*kind.Width(), c.Height() > larger*kind.Height():
		case c.inLine(kind):
			inLine = append(inLine, kind)
		}
	}
	apart := func(o *box) int { return (o.X0-c.X0)*(o.X0-c.X0) + (o.Y0-c.Y0)*(o.Y0-c.Y0) }
	slices.SortFunc(inLine, func(p, q *box) int { return cmp.Compare(apart(p), apart(q)) })
	for _, kind := range inLine[:min(tries, len(inLine))] {
		if m := c.overlay(kind, labels, w); m != nil {
			return m
		}
	}
	return nil
}

// inLine says that two boxes stand in one column or row of boxes.
func (b *box) inLine(other *box) bool {
	const far, lean = 14, 0.06 // sides between them; a skew
	reach := far * other.side()
	dx := max(float64(other.X0-b.X1), float64(b.X0-other.X1), 0)
	dy := max(float64(other.Y0-b.Y1), float64(b.Y0-other.Y1), 0)
	return dx <= lean*dy && dy < reach || dy <= lean*dx && dx < reach
}

// overlay looks for the place in a component where the outline of an empty box fits: nearly all of
// it is ink there, and round it there is paper.
func (b *box) overlay(kind *box, labels []int32, w int) *mark {
	const fits, crossed = 0.92, 0.5 // share of the outline; of what lies round it
	kw, kh := kind.Width(), kind.Height()
	outline := kind.ink(labels, w)
	near, exact := b.mask(labels, w)
	best, bestX, bestY := 0, 0, 0
	stride, allowed := b.Width()+4, int((1-fits)*float64(len(outline)))
	for y := range b.Height() + 4 - kh + 1 {
		for x := range b.Width() + 4 - kw + 1 {
			hit, both, missed := 0, 0, 0
			for _, p := range outline {
				i := (y+p[1])*stride + x + p[0]
				hit += near[i]
				both += exact[i]
				if missed += 1 - near[i]; missed > allowed {
					break
				}
			}
			if missed <= allowed && both+hit > best {
				best, bestX, bestY = both+hit, b.X0-2+x, b.Y0-2+y
			}
		}
	}
	if best == 0 || b.inkRound(image.Rect(bestX, bestY, bestX+kw, bestY+kh), labels, w) > crossed {
		return nil
	}
	m := &mark{box: *b, kind: kind, x: bestX, y: bestY, outline: make([]bool, kw*kh)}
	for _, p := range outline {
		for dy := max(p[1]-1, 0); dy <= min(p[1]+1, kh-1); dy++ {
			for dx := max(p[0]-1, 0); dx <= min(p[0]+1, kw-1); dx++ {
				m.outline[dy*kw+dx] = true
			}
		}
	}
	return m
}

// inkRound is the share of ink of a component on the way round a rectangle, a little off it.
func (b *box) inkRound(r image.Rectangle, labels []int32, w int) float64 {
	const off = 3 // working pixels
	r = r.Inset(-off)
	n, inked := 0, 0
	count := func(x, y int) {
		n++
		if x >= b.X0 && y >= b.Y0 && x < b.X1 && y < b.Y1 && labels[y*w+x] == b.label {
			inked++
		}
	}
	for x := r.Min.X; x < r.Max.X; x++ {
		count(x, r.Min.Y)
		count(x, r.Max.Y-1)
	}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		count(r.Min.X, y)
		count(r.Max.X-1, y)
	}
	return float64(inked) / float64(n)
}

// mask is 1 where a component is, with two pixels to spare on every side, and the same a pixel
// wider.
func (b *box) mask(labels []int32, w int) (wider, exact []int) {
	stride, rows := b.Width()+4, b.Height()+4
	wider, exact = make([]int, stride*rows), make([]int, stride*rows)
	for _, p := range b.ink(labels, w) {
		at := (p[1]+2)*stride + p[0] + 2
		exact[at] = 1
		for _, near := range [...]int{0, 1, -1, stride, -stride, stride + 1, stride - 1,
			-stride + 1, -stride - 1} {
			wider[at+near] = 1
		}
	}
	return wider, exact
}

// ink lists a box's pixels from its corner on.
func (b *box) ink(labels []int32, w int) (out [][2]int) {
	for y := range b.Height() {
		for x := range b.Width() {
			if labels[(b.Y0+y)*w+b.X0+x] == b.label {
				out = append(out, [2]int{x, y})
			}
		}
	}
	return out
}

// inside visits the pixels of the box that are not its outline.
func (m *mark) inside(visit func(x, y int)) {
	kw := m.kind.Width()
	for i, outline := range m.outline {
		if !outline {
			visit(i%kw, i/kw)
		}
	}
}

// weigh measures what is in the box, by its ink and by what the network thinks, and says whether
// anything is.
func (m *mark) weigh(s *segment.Scores, plane *ink.Plane, labels []int32) bool {
	const (
		least  = 0.06 // of the inside: less ink is none
		doubts = 2    // how much the network can say
	)
	n, inked := 0, 0
	net, colour := 0.0, 0.0
	m.parts = map[int32]bool{m.label: true}
	sx, sy := float64(shapeSide)/float64(m.kind.Width()),
		float64(shapeSide)/float64(m.kind.Height())
	m.inside(func(x, y int) {
		n++
		px, py := m.x+x, m.y+y
		if px < 0 || py < 0 || px >= s.W || py >= s.H || labels[py*s.W+px] == 0 {
			return
		}
		i := py*s.W + px
		inked++
		m.parts[labels[i]] = true
		net += float64(s.Hand[i]) / segment.Unit
		colour += float64(plane.Evidence[i])
		m.shape[int(float64(y)*sy)*shapeSide+int(float64(x)*sx)]++
	})
	m.full = float64(inked) / float64(max(n, 1))
	if m.full < least {
		return false
	}
	for i := range m.shape {
		m.shape[i] /= float64(inked)
	}
	m.evidence = min(max(net/float64(inked), -doubts), doubts) + colour/float64(inked)
	return true
}

// repeats says that the same mark stands in another box, as only a press can make it. Filled boxes
// all look alike. Crosses by one hand nearly do, so what seems to be written has to match more
// closely.
func (m *mark) repeats(marks []*mark) bool {
	const filled, alike, same = 0.85, 0.25, 0.12 // share of the inside; differences, from 0 to 2
	if m.full > filled {
		return false
	}
	most := same
	if m.evidence < 0 {
		most = alike
	}
	for _, other := range marks {
		if other == m || math.Abs(other.side()-m.side()) > 3*boxAlike*m.kind.side() {
			continue
		}
		apart := 0.0
		for i, v := range m.shape {
			apart += math.Abs(v - other.shape[i])
		}
		if apart < most {
			return true
		}
	}
	return false
}

// collect collects the pixels that go: what lies in the box, the box with it, since it is drawn
// anew as its empty neighbour looks, and the mark beyond the box, until it meets print.
func (m *mark) collect(s *segment.Scores, labels []int32) {
	reach := int(boxReach * m.kind.side())
	kw, kh := m.kind.Width(), m.kind.Height()
	y0, y1 := max(m.y-reach, 0), min(m.y+kh+reach, s.H)
	left, right := max(m.x, 0), min(m.x+kw, s.W)
	for left > max(m.x-reach, 0) && m.slimAt(left-1, y0, y1, labels, s.W) {
		left--
	}
	for right < min(m.x+kw+reach, s.W) && m.slimAt(right, y0, y1, labels, s.W) {
		right++
	}
	for y := y0; y < y1; y++ {
		for x := left; x < right; x++ {
			if i := y*s.W + x; m.parts[labels[i]] {
				m.pixels = append(m.pixels, i)
			}
		}
	}
}

// slimAt says that a column has no more of the mark's ink than a stroke, where a letter has more.
func (m *mark) slimAt(x, y0, y1 int, labels []int32, w int) bool {
	const stroke = 0.4 // of a side
	n := 0
	for y := y0; y < y1; y++ {
		if m.parts[labels[y*w+x]] {
			n++
		}
	}
	return float64(n) <= stroke*m.kind.side()
}

// relabel makes the mark's pixels writing.
func (m *mark) relabel(s *segment.Scores) {
	for _, i := range m.pixels {
		s.Relabel(i, true)
	}
}
