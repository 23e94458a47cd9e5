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
	mostBubbles                   = 3000   // more are no answer sheet, and would take seconds
	// Sides between bubbles of a row or column that speak for each other.
	bubbleReach = 14.0
	// Of a side: how far a bubble lies off the line of its row or column.
	offLine = 0.3
	within  = 0.75 // of the half axes: what is well inside the outline
)

// findBubbles finds the bubbles that were filled in, those as full of ink as others are not, those
// that something crosses, and what is printed round bubbles. Each of the first two is drawn anew as
// an empty one in its row or in its column: the letters in the bubbles round it are the same either
// along rows or along columns.
func findBubbles(s *segment.Scores, plane *ink.Plane, labels []int32,
	components []raster.Component) (filled, crossed []*mark, printed labelling) {
	var round []box
	for i, c := range components {
		if b := (box{Component: c, label: int32(i + 1)}); b.isRound(labels, s.W) {
			round = append(round, b)
		}
	}
	round = alikeInSize(round)
	if len(round) < fewestBubbles || len(round) > mostBubbles {
		return nil, nil, nil
	}
	shares := make([]float64, len(round))
	for i, b := range round {
		shares[i] = b.fullness(labels, s.W)
	}
	full := (raster.Quantile(shares, 0.5) + 1) / 2
	onGrid := newGrid(slices.DeleteFunc(round, func(b box) bool {
		return b.fullness(labels, s.W) >= full
	}))
	if len(onGrid.rings) < fewestBubbles {
		return nil, nil, nil
	}
	sheet := newBubbleSheet(onGrid, full, plane, labels)
	for i, c := range components {
		for _, b := range sheet.bubblesIn(box{Component: c, label: int32(i + 1)}) {
			if m := sheet.answer(b); m != nil {
				filled = append(filled, m)
			}
		}
	}
	return filled, sheet.crossed(), sheet.labelling()
}

// bubbleSheet is what a page's empty bubbles tell of it.
type bubbleSheet struct {
	grid
	unlike []unlikeness // of each ring
	full   float64      // share of ink from which on a bubble is filled
	side   float64
	pitch  [2]float64 // from one bubble to the next, across and down

	plane  *ink.Plane
	labels []int32
}

// unlikeness is how much what is in a ring differs from the next one in its row and in its column,
// as a share of it.
type unlikeness struct{ row, column float64 }

func newBubbleSheet(g grid, full float64, plane *ink.Plane, labels []int32) *bubbleSheet {
	s := &bubbleSheet{grid: g, unlike: make([]unlikeness, len(g.rings)), full: full,
		side: g.rings[0].side(), plane: plane, labels: labels}
	var across, down []float64
	for i := range g.rings {
		b := &g.rings[i]
		row, column := g.nearest(g.rings, b, g.sameRow), g.nearest(g.rings, b, g.sameColumn)
		s.unlike[i] = unlikeness{b.unlike(row, plane), b.unlike(column, plane)}
		dx, _ := g.off(b, row)
		_, dy := g.off(b, column)
		across, down = append(across, dx*row.side()), append(down, dy*column.side())
	}
	// A bubble with a double outline is two rings, no way from each other.
	s.pitch = [2]float64{max(s.side, raster.Quantile(across, 0.5)),
		max(s.side, raster.Quantile(down, 0.5))}
	return s
}

// unlike is how much what is printed in a ring differs from what is in another, as a share of it,
// where the two fit best.
func (b *box) unlike(other *box, plane *ink.Plane) float64 {
	const (
		inside = 0.6 // of the half side: clear of both outlines
		shift  = 2   // working pixels: how far letters lie off their rings' middles
	)
	w, h := plane.Scores.W, plane.Scores.H
	x, y := b.centre()
	ox, oy := other.centre()
	r := int(inside * b.side() / 2)
	taken := func(x, y int) float64 {
		return float64(plane.Taken(min(max(y, 0), h-1)*w + min(max(x, 0), w-1)))
	}
	least := math.Inf(1)
	for dy := -shift; dy <= shift; dy++ {
		for dx := -shift; dx <= shift; dx++ {
			apart, sum := 0.0, 1e-6
			for j := -r; j <= r; j++ {
				for i := -r; i <= r; i++ {
					if i*i+j*j <= r*r {
						p, q := taken(int(x)+i, int(y)+j), taken(int(ox)+i+dx, int(oy)+j+dy)
						apart, sum = apart+math.Abs(p-q), sum+p+q
					}
				}
			}
			least = min(least, apart/sum)
		}
	}
	return least
}

// bubblesIn divides a component among the bubbles that it covers: those that stand close touch when
// they are filled.
func (s *bubbleSheet) bubblesIn(b box) (bubbles []box) {
	const most = 12 // in a row or column: a larger blob is no answer
	n := func(length int, pitch float64) int {
		return 1 + int(math.Round(max(float64(length)-s.side, 0)/pitch))
	}
	columns, rows := n(b.Width(), s.pitch[0]), n(b.Height(), s.pitch[1])
	if columns > most || rows > most {
		return nil
	}
	for row := range rows {
		for column := range columns {
			part := b
			part.X0, part.X1 = b.X0+column*b.Width()/columns, b.X0+(column+1)*b.Width()/columns
			part.Y0, part.Y1 = b.Y0+row*b.Height()/rows, b.Y0+(row+1)*b.Height()/rows
			bubbles = append(bubbles, part)
		}
	}
	return bubbles
}

// byColumn says that letters round a bubble are the same along columns rather than rows.
func (s *bubbleSheet) byColumn(b box) bool {
	const asked = 12 // the nearest rings
	near := make([]int, len(s.rings))
	for i := range near {
		near[i] = i
	}
	distance := func(i int) float64 { return wayBetween(&s.rings[i], &b) }
	slices.SortFunc(near, func(i, j int) int { return cmp.Compare(distance(i), distance(j)) })
	row, column := 0.0, 0.0
	for _, i := range near[:min(asked, len(near))] {
		row, column = row+s.unlike[i].row, column+s.unlike[i].column
	}
	return column < row
}

// wayBetween is how far apart the centres of two boxes are.
func wayBetween(a, b *box) float64 {
	ax, ay := a.centre()
	bx, by := b.centre()
	return math.Hypot(ax-bx, ay-by)
}

func (b *box) centre() (x, y float64) { return float64(b.X0+b.X1) / 2, float64(b.Y0+b.Y1) / 2 }

// isRound says that a component has a round outline, whatever is in it: from outside every ray, but
// one at most, meets it at the same distance, and nothing of it lies farther out, as the corners of
// a dense letter do.
func (b *box) isRound(labels []int32, w int) bool {
	const (
		rays         = 24         // from all sides
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
	if hits < rays-1 {
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
	eachInEllipse(cx, cy, rx, ry, len(labels)/w, w, func(p int) {
		n++
		if labels[p] != 0 {
			inked++
		}
	})
	return float64(inked) / float64(max(n, 1))
}

// eachInEllipse visits the pixels of an ellipse in a picture of h rows of w pixels.
func eachInEllipse(cx, cy, rx, ry float64, h, w int, visit func(p int)) {
	for y := max(int(cy-ry), 0); y <= min(int(cy+ry), h-1); y++ {
		for x := max(int(cx-rx), 0); x <= min(int(cx+rx), w-1); x++ {
			dx, dy := (float64(x)+0.5-cx)/rx, (float64(y)+0.5-cy)/ry
			if dx*dx+dy*dy <= 1 {
				visit(y*w + x)
			}
		}
	}
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

// grid is the rings of an answer sheet, each of which has others beside it in its row and in its
// column. A picture may be askew, or the sheet seen at an angle, so that rows and columns lean.
type grid struct {
	rings    []box
	alike    []box   // these, and others of their size that may lack a neighbour
	falls    float64 // how far a row lies lower for each pixel to the right
	retreats float64 // how far a column lies to the right for each pixel down
}

func newGrid(rings []box) grid {
	g := grid{rings: rings, alike: rings}
	g.falls, g.retreats = leanOf(rings)
	for {
		n := len(g.rings)
		before := g.rings
		g.rings = nil
		for _, r := range before {
			anyOther := func(in func(b, r *box) bool) bool {
				return slices.ContainsFunc(before, func(o box) bool { return in(&r, &o) })
			}
			if anyOther(g.sameRow) && anyOther(g.sameColumn) {
				g.rings = append(g.rings, r)
			}
		}
		if len(g.rings) == n {
			return g
		}
	}
}

// leanOf is how rows and columns of rings lean: as most rings do towards their next ones.
func leanOf(rings []box) (falls, retreats float64) {
	const most = 0.2 // a lean: more is no row and no column
	var rows, columns []float64
	for i := range rings {
		x, y := rings[i].centre()
		right, below := bubbleReach*rings[i].side(), bubbleReach*rings[i].side()
		fall, retreat := math.NaN(), math.NaN()
		for j := range rings {
			rx, ry := rings[j].centre()
			dx, dy := rx-x, ry-y
			if dx > 0 && dx < right && math.Abs(dy) <= most*dx {
				right, fall = dx, dy/dx
			}
			if dy > 0 && dy < below && math.Abs(dx) <= most*dy {
				below, retreat = dy, dx/dy
			}
		}
		if !math.IsNaN(fall) {
			rows = append(rows, fall)
		}
		if !math.IsNaN(retreat) {
			columns = append(columns, retreat)
		}
	}
	if len(rows) == 0 || len(columns) == 0 {
		return 0, 0
	}
	return raster.Quantile(rows, 0.5), raster.Quantile(columns, 0.5)
}

func (g *grid) sameRow(b, r *box) bool {
	dx, dy := g.off(b, r)
	return r.label != b.label && dy < offLine && dx < bubbleReach
}

func (g *grid) sameColumn(b, r *box) bool {
	dx, dy := g.off(b, r)
	return r.label != b.label && dx < offLine && dy < bubbleReach
}

// off is how far apart the centres of a component and of a ring lie along the ring's row and along
// its column, in the ring's sides.
func (g *grid) off(b, r *box) (dx, dy float64) {
	x, y := b.centre()
	rx, ry := r.centre()
	x, y = x-rx, y-ry
	return math.Abs(x-g.retreats*y) / r.side(), math.Abs(y-g.falls*x) / r.side()
}

// nearest is the nearest of some rings in a bubble's row or column; nil is none.
func (g *grid) nearest(rings []box, b *box, in func(b, r *box) bool) (found *box) {
	least := math.Inf(1)
	for i := range rings {
		dx, dy := g.off(b, &rings[i])
		if dx+dy < least && in(b, &rings[i]) {
			found, least = &rings[i], dx+dy
		}
	}
	return found
}

// places are the rings nearest to a bubble in its row and in its column, one of which at least is
// on the grid; nil where there is none.
func (g *grid) places(b *box) (row, column *box) {
	if g.nearest(g.rings, b, g.sameRow) == nil && g.nearest(g.rings, b, g.sameColumn) == nil {
		return nil, nil
	}
	return g.nearest(g.alike, b, g.sameRow), g.nearest(g.alike, b, g.sameColumn)
}

// cross is where a bubble's row and its column cross, which rings in them tell.
func (g *grid) cross(row, column *box) (x, y float64) {
	rx, ry := row.centre()
	cx, cy := column.centre()
	x = cx + g.retreats*(ry-cy)
	y = ry + g.falls*(x-rx)
	return x + g.retreats*(y-ry), y
}

// answer is a blob in the place of a bubble that is full of ink; nil is none.
func (s *bubbleSheet) answer(b box) *mark {
	// Of a bubble: two sides; of full, what a blob's own middle has; and of an empty bubble's ink,
	// what lies on the blob's, or digits may be taken for answers.
	const smallest, largest, near, fits = 0.7, 2.5, 0.75, 0.6
	w := s.plane.Scores.W
	if float64(min(b.Width(), b.Height())) < smallest*s.side ||
		float64(max(b.Width(), b.Height())) > largest*s.side {
		return nil
	}
	half := within * s.side / 2
	if x, y := b.centre(); inkShare(s.labels, w, x, y, half, half) < near*s.full {
		return nil
	}
	kind, cx, cy := s.kindAt(b)
	if kind == nil {
		return nil
	}
	rx, ry := float64(kind.Width())/2, float64(kind.Height())/2
	if inkShare(s.labels, w, cx, cy, within*rx, within*ry) < s.full {
		return nil
	}
	if _, _, _, share := s.fit(kind, cx, cy); share < fits {
		return nil
	}
	m := &mark{box: b, kind: kind, x: int(math.Round(cx - rx)), y: int(math.Round(cy - ry))}
	m.fill(s.labels, w, cx, cy, rx, ry)
	return m
}

// kindAt is an empty bubble of the kind that a bubble is of, by its row and its column, and where
// the middle of the bubble lies then; nil where there is none, or none near.
func (s *bubbleSheet) kindAt(b box) (kind *box, x, y float64) {
	row, column := s.places(&b)
	if row == nil || column == nil ||
		s.isFar(&b, row, s.sameRow) && s.isFar(&b, column, s.sameColumn) {
		return nil, 0, 0
	}
	kind = row
	if s.byColumn(b) {
		kind = column
	}
	x, y = s.cross(row, column)
	return kind, x, y
}

// isFar says that more bubbles would have room between a bubble and one of its row or column than
// are ever filled side by side: how close they stand, that one's own neighbour tells.
func (s *bubbleSheet) isFar(b, empty *box, in func(b, r *box) bool) bool {
	const most = 4.5 // times as far
	next := s.nearest(s.alike, empty, func(b, r *box) bool {
		dx, dy := s.off(b, r)
		return dx+dy > 0.5 && in(b, r) // not its second outline
	})
	if next == nil {
		return false
	}
	dx, dy := s.off(b, empty)
	px, py := s.off(empty, next)
	return dx+dy > most*(px+py)
}

// crossed finds the bubbles next to a ring that are no component of their own, since something lies
// across them or fills them.
func (s *bubbleSheet) crossed() (found []*mark) {
	dx, dy := int(math.Round(s.pitch[0])), int(math.Round(s.pitch[1]))
	steps := [...][2]int{
		{dx, int(s.falls * s.pitch[0])}, {-dx, -int(s.falls * s.pitch[0])},
		{int(s.retreats * s.pitch[1]), dy}, {-int(s.retreats * s.pitch[1]), -dy},
	}
	for _, r := range s.alike {
		for _, step := range steps {
			b := box{Component: r.Component}
			b.X0, b.X1, b.Y0, b.Y1 = b.X0+step[0], b.X1+step[0], b.Y0+step[1], b.Y1+step[1]
			if m := s.between(b); m != nil && !slices.ContainsFunc(found, m.inSameBox) {
				found = append(found, m)
			}
		}
	}
	return found
}

// between is the bubble about a place that has no ring of its own; nil is none.
func (s *bubbleSheet) between(b box) *mark {
	const fits = 0.8
	if slices.ContainsFunc(s.alike, func(r box) bool {
		dx, dy := s.off(&b, &r)
		return dx < 0.5 && dy < 0.5
	}) {
		return nil
	}
	kind, cx, cy := s.kindAt(b)
	if kind == nil {
		return nil
	}
	x, y, pixels, share := s.fit(kind, cx, cy)
	if share < fits {
		return nil
	}
	return &mark{box: b, kind: kind, x: x, y: y, pixels: pixels}
}

// fit is where about a place the outline of an empty bubble, and what is printed in it, lies best
// on ink, the pixels of that ink, and what share of it they are.
func (s *bubbleSheet) fit(kind *box, cx, cy float64) (atX, atY int, pixels []int, share float64) {
	const shift = 3 // working pixels
	w, h := s.plane.Scores.W, s.plane.Scores.H
	outline := kind.ink(s.labels, w)
	x0, y0 := int(cx)-kind.Width()/2, int(cy)-kind.Height()/2
	for y := max(y0-shift, 0); y <= min(y0+shift, h-kind.Height()); y++ {
		for x := max(x0-shift, 0); x <= min(x0+shift, w-kind.Width()); x++ {
			var inked []int
			for _, p := range outline {
				if i := (y+p[1])*w + x + p[0]; s.labels[i] != 0 {
					inked = append(inked, i)
				}
			}
			if len(inked) > len(pixels) {
				atX, atY, pixels = x, y, inked
			}
		}
	}
	return atX, atY, pixels, float64(len(pixels)) / float64(len(outline))
}

// goes says that much of a bubble's outline is taken for writing.
func (m *mark) goes(s *segment.Scores) bool {
	const much = 0.25
	n := 0
	for _, i := range m.pixels {
		if s.Hand[i] > 0 {
			n++
		}
	}
	return float64(n) >= much*float64(len(m.pixels))
}

// fill collects the pixels that go: the blob, as far as it is this bubble's, and what else lies
// within the outline.
func (m *mark) fill(labels []int32, w int, cx, cy, rx, ry float64) {
	const beyond = 1.6 // of the half axes
	for y := max(int(cy-beyond*ry), 0); y <= min(int(cy+beyond*ry), len(labels)/w-1); y++ {
		for x := max(int(cx-beyond*rx), 0); x <= min(int(cx+beyond*rx), w-1); x++ {
			dx, dy := (float64(x)+0.5-cx)/rx, (float64(y)+0.5-cy)/ry
			own := x >= m.X0 && x < m.X1 && y >= m.Y0 && y < m.Y1
			if l := labels[y*w+x]; l == m.label && own || l != 0 && dx*dx+dy*dy <= 1 {
				m.pixels = append(m.pixels, y*w+x)
			}
		}
	}
}
