package strokes

import (
	"cmp"
	"math"
	"slices"

	"unink/internal/raster"
	"unink/internal/restore/ink"
	"unink/internal/restore/segment"
)

// An answer sheet has bubbles: printed rings of one size in rows and columns, with or without a
// letter in them. A blob of ink in the place of one is an answer.
const (
	smallestBubble, largestBubble = 14, 64 // working pixels: a side
	fewestBubbles                 = 12     // on a page: fewer rings may be letters
	// Sides between bubbles of a row or column that speak for each other.
	bubbleReach = 9.0
	// Of a side: how far a bubble lies off the line of its row or column.
	offLine  = 0.3
	within   = 0.75 // of the half axes: what is well inside the outline
	lookSide = 6    // cells of a bubble's side in which letters are compared
)

// findFilled finds the bubbles that were filled in: those as full of ink as others are not. Each is
// drawn anew as an empty one in its row or in its column, where these repeat: the letters in
// bubbles are the same either along rows or along columns.
func findFilled(s *segment.Scores, plane *ink.Plane, labels []int32,
	components []raster.Component) []*mark {
	var round []box
	for i, c := range components {
		if b := (box{c, int32(i + 1)}); b.isRound(labels, s.W) {
			round = append(round, b)
		}
	}
	round = alikeInSize(round)
	if len(round) < fewestBubbles {
		return nil
	}
	shares := make([]float64, len(round))
	for i, b := range round {
		shares[i] = b.fullness(labels, s.W)
	}
	full := (raster.Quantile(shares, 0.5) + 1) / 2
	rings := onGrid(slices.DeleteFunc(round, func(b box) bool {
		return b.fullness(labels, s.W) >= full
	}))
	if len(rings) < fewestBubbles {
		return nil
	}
	var filled []*mark
	for i, c := range components {
		if m := findAnswer(box{c, int32(i + 1)}, rings, full, plane, labels); m != nil {
			filled = append(filled, m)
		}
	}
	return filled
}

func (b *box) centre() (x, y float64) { return float64(b.X0+b.X1) / 2, float64(b.Y0+b.Y1) / 2 }

// isRound says that a component has a round outline, whatever is in it: from outside every ray
// meets it at the same distance, and nothing of it lies farther out, as the corners of a dense
// letter do.
func (b *box) isRound(labels []int32, w int) bool {
	const (
		rays, least  = 24, 23
		outer, inner = 1.12, 0.84 // of the half axes: where the outline lies
		most         = 0.01       // share of the component farther out
	)
	if min(b.Width(), b.Height()) < smallestBubble || max(b.Width(), b.Height()) > largestBubble ||
		4*b.Width() < 3*b.Height() || 4*b.Height() < 3*b.Width() {
		return false
	}
	cx, cy := b.centre()
	rx, ry := float64(b.Width())/2, float64(b.Height())/2
	hits := 0
	for ray := range rays {
		sin, cos := math.Sincos(2 * math.Pi * float64(ray) / rays)
		for r := outer; r > inner; r -= 0.5 / max(rx, ry) {
			x, y := int(cx+r*rx*cos), int(cy+r*ry*sin)
			if x >= 0 && y >= 0 && x < w && y*w+x < len(labels) && labels[y*w+x] == b.label {
				hits++
				break
			}
		}
	}
	if hits < least {
		return false
	}
	out := 0
	for _, p := range b.ink(labels, w) {
		dx, dy := (float64(b.X0+p[0])+0.5-cx)/rx, (float64(b.Y0+p[1])+0.5-cy)/ry
		if dx*dx+dy*dy > outer*outer {
			out++
		}
	}
	return float64(out) <= most*float64(b.Area)
}

// fullness is the share of ink within a round outline.
func (b *box) fullness(labels []int32, w int) float64 {
	cx, cy := b.centre()
	return inkShare(labels, w, cx, cy, within*float64(b.Width())/2, within*float64(b.Height())/2)
}

// inkShare is the share of ink in an ellipse.
func inkShare(labels []int32, w int, cx, cy, rx, ry float64) float64 {
	n, inked := 0, 0
	for y := max(int(cy-ry), 0); y <= min(int(cy+ry), len(labels)/w-1); y++ {
		for x := max(int(cx-rx), 0); x <= min(int(cx+rx), w-1); x++ {
			dx, dy := (float64(x)+0.5-cx)/rx, (float64(y)+0.5-cy)/ry
			if dx*dx+dy*dy > 1 {
				continue
			}
			n++
			if labels[y*w+x] != 0 {
				inked++
			}
		}
	}
	return float64(inked) / float64(max(n, 1))
}

// alikeInSize keeps the components of the commonest size.
func alikeInSize(round []box) []box {
	slices.SortFunc(round, func(p, q box) int { return cmp.Compare(p.side(), q.side()) })
	from, to := 0, 0
	for i, j := 0, 0; i < len(round); i++ {
		for j < len(round) && round[j].side() <= (1+2*boxAlike)*round[i].side() {
			j++
		}
		if j-i > to-from {
			from, to = i, j
		}
	}
	return round[from:to]
}

// onGrid keeps the rings that have others beside them in their row and in their column.
func onGrid(rings []box) []box {
	var out []box
	for _, r := range rings {
		if slices.ContainsFunc(rings, r.sameRow) && slices.ContainsFunc(rings, r.sameColumn) {
			out = append(out, r)
		}
	}
	return out
}

func (b *box) sameRow(r box) bool {
	dx, dy := b.off(&r)
	return r.label != b.label && dy < offLine && dx < bubbleReach
}

func (b *box) sameColumn(r box) bool {
	dx, dy := b.off(&r)
	return r.label != b.label && dx < offLine && dy < bubbleReach
}

// off is how far apart the centres of a component and of a ring lie, in the ring's sides.
func (b *box) off(r *box) (dx, dy float64) {
	x, y := b.centre()
	rx, ry := r.centre()
	return math.Abs(rx-x) / r.side(), math.Abs(ry-y) / r.side()
}

// line is the rings in a bubble's row or column, nearest first.
func (b *box) line(rings []box, in func(box) bool) (line []*box) {
	for i := range rings {
		if in(rings[i]) {
			line = append(line, &rings[i])
		}
	}
	distance := func(r *box) float64 {
		dx, dy := b.off(r)
		return dx + dy
	}
	slices.SortFunc(line, func(p, q *box) int { return cmp.Compare(distance(p), distance(q)) })
	return line
}

// findAnswer is a blob in the place of a bubble that is at least so full of ink; nil is none.
func findAnswer(b box, rings []box, full float64, plane *ink.Plane, labels []int32) *mark {
	// Of a bubble: two sides; and of full, what a blob's own middle has.
	const smallest, largest, near = 0.7, 2.5, 0.75
	side := rings[0].side()
	if float64(min(b.Width(), b.Height())) < smallest*side ||
		float64(max(b.Width(), b.Height())) > largest*side {
		return nil
	}
	if x, y := b.centre(); inkShare(labels, plane.Scores.W, x, y, within*side/2,
		within*side/2) < near*full {
		return nil
	}
	row, column := b.line(rings, b.sameRow), b.line(rings, b.sameColumn)
	if len(row) == 0 || len(column) == 0 {
		return nil
	}
	kind := row[0]
	if unlikeNext(column, plane) < unlikeNext(row, plane) {
		kind = column[0]
	}
	cx, _ := column[0].centre()
	_, cy := row[0].centre()
	rx, ry := float64(kind.Width())/2, float64(kind.Height())/2
	if inkShare(labels, plane.Scores.W, cx, cy, within*rx, within*ry) < full {
		return nil
	}
	m := &mark{box: b, kind: kind, x: int(math.Round(cx - rx)), y: int(math.Round(cy - ry))}
	m.fill(labels, plane.Scores.W, cx, cy, rx, ry)
	return m
}

// unlikeNext is how much what is in the nearest rings of a line differs from one to the next, as a
// share of it: 1 and more where nothing repeats.
func unlikeNext(line []*box, plane *ink.Plane) float64 {
	const looked = 5
	line = line[:min(looked, len(line))]
	if len(line) < 2 {
		return 1
	}
	apart, sum := 0.0, 0.0
	p := line[0].coarseInk(plane)
	for _, r := range line[1:] {
		q := r.coarseInk(plane)
		for i, v := range p {
			apart += math.Abs(v - q[i])
			sum += v + q[i]
		}
		p = q
	}
	return apart / (sum + 1e-6)
}

// coarseInk is the ink well inside a ring, brought to a coarse square. Every pixel counts for the
// four cells about it, so that it does not matter where in a pixel a letter begins.
func (b *box) coarseInk(plane *ink.Plane) (v [lookSide * lookSide]float64) {
	cell := func(at, n int) (i int, share float64) {
		f := min(max((float64(at)+0.5)*lookSide/float64(n)-0.5, 0), lookSide-1.001)
		return int(f), f - math.Floor(f)
	}
	for y := range b.Height() {
		row, down := cell(y, b.Height())
		for x := range b.Width() {
			dx, dy := 2*(float64(x)+0.5)/float64(b.Width())-1,
				2*(float64(y)+0.5)/float64(b.Height())-1
			if dx*dx+dy*dy >= within*within {
				continue
			}
			t := float64(plane.Taken((b.Y0+y)*plane.Scores.W + b.X0 + x))
			column, right := cell(x, b.Width())
			to := v[row*lookSide+column:]
			to[0] += t * (1 - right) * (1 - down)
			to[1] += t * right * (1 - down)
			to[lookSide] += t * (1 - right) * down
			to[lookSide+1] += t * right * down
		}
	}
	return v
}

// fill collects the pixels that go: the blob and what else lies within the outline.
func (m *mark) fill(labels []int32, w int, cx, cy, rx, ry float64) {
	const beyond = 1.6 // of the half axes
	for y := max(int(cy-beyond*ry), 0); y <= min(int(cy+beyond*ry), len(labels)/w-1); y++ {
		for x := max(int(cx-beyond*rx), 0); x <= min(int(cx+beyond*rx), w-1); x++ {
			dx, dy := (float64(x)+0.5-cx)/rx, (float64(y)+0.5-cy)/ry
			if l := labels[y*w+x]; l == m.label || l != 0 && dx*dx+dy*dy <= 1 {
				m.pixels = append(m.pixels, y*w+x)
			}
		}
	}
}
