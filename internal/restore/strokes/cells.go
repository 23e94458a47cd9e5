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

// bubbleCells are the bubbles in a table's cells. They touch its lines, so that no ring is a
// component of its own; but the holes of the empty ones are: round patches of paper of one size, in
// rows and columns at even distances.
type bubbleCells struct {
	grid
	pitches [][2]float64 // how far the next bubble is from each ring, across and down
	thick   int          // of the rings, as the pitches in working pixels
	others  []box        // the holes of bubbles that are not empty
	lines   []int        // pixels between the rings that the network takes for print
}

const smallestHole, largestHole = 8, 60 // working pixels: a side

// findBubbleCells finds the empty ones, a dozen and more of each size.
func findBubbleCells(plane *ink.Plane) (found []bubbleCells) {
	w := plane.Scores.W
	runs, patches := enclosed(plane.Runs, len(plane.Solid), w)
	var holes []box
	for i, c := range patches {
		if b := (box{Component: c, label: int32(i + 1)}); b.mayBeHole() {
			holes = append(holes, b)
		}
	}
	if len(holes) < fewestBubbles {
		return nil
	}
	labels := make([]int32, len(plane.Solid))
	raster.Paint(labels, runs)
	holes = slices.DeleteFunc(holes, func(b box) bool { return !b.isHole(labels, w) })
	for len(holes) >= fewestBubbles && len(holes) <= mostBubbles {
		alike := slices.Clone(alikeInSize(holes))
		least, most := alike[0].side(), alike[len(alike)-1].side()
		holes = slices.DeleteFunc(holes, func(b box) bool {
			return b.side() >= least && b.side() <= most
		})
		if c := cellsOf(alike); len(c.rings) >= fewestBubbles {
			c.thick = c.thickness(plane.Solid, labels, w)
			if c.inTable(plane) {
				c.spread(plane)
				c.readLines(plane)
				found = append(found, c)
			}
		}
	}
	return found
}

// cellsOf is the holes that lie in rows and columns.
func cellsOf(holes []box) bubbleCells {
	c := bubbleCells{grid: newGrid(holes)}
	var even []box
	for _, b := range c.rings {
		if pitch, ok := c.evenly(&b); ok {
			even, c.pitches = append(even, b), append(c.pitches, pitch)
		}
	}
	c.rings = even
	return c
}

// enclosed finds the patches of paper that have ink on both sides, no further apart than a hole's.
func enclosed(inked []raster.Run, size, w int) ([]raster.Run, []raster.Component) {
	paper := make([]uint8, size)
	for i := 1; i < len(inked); i++ {
		from, to := int(inked[i-1].To), int(inked[i].From)
		if from/w != to/w || to-from > largestHole {
			continue
		}
		for p := from; p < to; p++ {
			paper[p] = 1
		}
	}
	return raster.Connected(paper, w, 1)
}

// mayBeHole says that a patch has a hole's size, and as much of its rectangle as a disc has.
func (b *box) mayBeHole() bool {
	const least, most = 0.66, 0.9 // of the rectangle; of a disc's it is 0.79
	short, long := min(b.Width(), b.Height()), max(b.Width(), b.Height())
	share := float64(b.Area) / float64(b.Width()*b.Height())
	return short >= smallestHole && long <= largestHole && 4*short >= 3*long && share >= least &&
		share <= most
}

// isHole says that such a patch is round, with nothing in it: as good as all of the ellipse in the
// rectangle about it, and hardly anything else.
func (b *box) isHole(labels []int32, w int) bool {
	const off = 0.12 // of the ellipse
	all, held := 0, 0
	b.eachWithin(0, len(labels)/w, w, func(p int) {
		all++
		if labels[p] == b.label {
			held++
		}
	})
	return float64(all-held) <= off*float64(all) && float64(b.Area-held) <= off*float64(all)
}

// eachWithin visits the pixels of the ellipse in the rectangle about a patch, each half axis longer
// by so much, in a picture of h rows of w pixels.
func (b *box) eachWithin(longer float64, h, w int, visit func(p int)) {
	cx, cy := b.centre()
	eachInEllipse(cx, cy, float64(b.Width())/2+longer, float64(b.Height())/2+longer, h, w, visit)
}

// evenly says that a hole and two others in its row lie at even distances, and with two in its
// column: these distances.
func (c *bubbleCells) evenly(b *box) (pitch [2]float64, ok bool) {
	var row, column []float64
	x, y := b.centre()
	for i := range c.rings {
		r := &c.rings[i]
		rx, ry := r.centre()
		if c.sameRow(b, r) {
			row = append(row, rx-x)
		}
		if c.sameColumn(b, r) {
			column = append(column, ry-y)
		}
	}
	pitch = [2]float64{stepOf(row), stepOf(column)}
	return pitch, pitch[0] > 0 && pitch[1] > 0
}

// stepOf is the distance to the nearest of some places where another one lies as far on the other
// side, or twice as far on the same; 0 where none does.
func stepOf(places []float64) float64 {
	const off = 0.12 // of it
	if len(places) == 0 {
		return 0
	}
	step := slices.MinFunc(places, func(p, q float64) int {
		return cmp.Compare(math.Abs(p), math.Abs(q))
	})
	for _, p := range places {
		if d := math.Abs(step) * off; math.Abs(p+step) <= d || math.Abs(p-2*step) <= d {
			return math.Abs(step)
		}
	}
	return 0
}

// thickness is how thick the rings are: where they do not touch the lines, towards the corners.
func (c *bubbleCells) thickness(solid []uint8, labels []int32, w int) int {
	const most = 8 // working pixels
	var steps []float64
	for _, b := range c.rings {
		cx, cy := b.centre()
		for _, to := range [4][2]float64{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}} {
			n := 0.0
			for r := 0.0; r < float64(largestHole); r += 0.5 {
				x, y := int(cx+to[0]*r*math.Sqrt2/2), int(cy+to[1]*r*math.Sqrt2/2)
				if x < 0 || x >= w || y < 0 || y*w+x >= len(solid) {
					break
				}
				if i := y*w + x; solid[i] != 0 {
					n += 0.5
				} else if labels[i] != b.label {
					break
				}
			}
			steps = append(steps, n)
		}
	}
	return int(math.Ceil(min(raster.Quantile(steps, 0.5), most)))
}

// about is the rectangle about a hole and its ring.
func (c *bubbleCells) about(b *box) image.Rectangle { return rectOf(b.Component).Inset(-c.thick) }

// inTable says that most rings touch lines. Others are told by their own outlines.
func (c *bubbleCells) inTable(plane *ink.Plane) bool {
	const rim, beyond, much = 1, 3, 0.15 // working pixels; share of ink so far beyond a ring
	touches := make([]float64, len(c.rings))
	for i, b := range c.rings {
		touches[i] = b.ringShare(plane, float64(c.thick)+rim, float64(c.thick)+beyond)
	}
	return raster.Quantile(touches, 0.5) >= much
}

// readLines finds what else was printed in the cells.
func (c *bubbleCells) readLines(plane *ink.Plane) {
	const line = 1 // working pixels: half of one
	s := plane.Scores
	inOthers := map[int]bool{}
	for _, b := range c.others {
		b.eachWithin(float64(c.thick), s.H, s.W, func(p int) { inOthers[p] = true })
	}
	for i, b := range c.rings {
		x, y := b.centre()
		across, down := c.pitches[i][0]/2+line, c.pitches[i][1]/2+line
		cell := image.Rect(int(x-across), int(y-down), int(x+across)+1, int(y+down)+1)
		cell = cell.Intersect(image.Rect(0, 0, s.W, s.H))
		for y := cell.Min.Y; y < cell.Max.Y; y++ {
			for p := y*s.W + cell.Min.X; p < y*s.W+cell.Max.X; p++ {
				if plane.Solid[p] != 0 && s.Hand[p] <= 0 && !inOthers[p] {
					c.lines = append(c.lines, p)
				}
			}
		}
	}
}

// keep makes print of the rings and of the lines between them.
func (c *bubbleCells) keep(s *segment.Scores) {
	keep := func(p int) {
		if s.Hand[p] > 0 {
			s.Relabel(p, false)
		}
	}
	for _, b := range c.rings {
		b.eachWithin(float64(c.thick)+0.5, s.H, s.W, keep)
	}
	for _, p := range c.lines {
		keep(p)
	}
}

// spread takes in the bubbles beside those that are known, one after the other: the empty ones
// whose holes were not found, and others.
func (c *bubbleCells) spread(plane *ink.Plane) {
	const ringed, empty = 0.75, 0.15 // shares of ink in a ring, and in its hole
	for i := 0; i < len(c.rings) && len(c.rings) <= mostBubbles; i++ {
		for _, place := range c.beside(&c.rings[i], c.pitches[i]) {
			if c.known(&place) || c.nearest(c.rings, &place, c.sameRow) == nil ||
				c.nearest(c.rings, &place, c.sameColumn) == nil {
				continue
			}
			hole, share := c.fit(plane, place)
			switch {
			case share < ringed || c.known(&hole):
			case hole.inkWithin(plane) <= empty:
				c.rings, c.pitches = append(c.rings, hole), append(c.pitches, c.pitches[i])
			default:
				c.others = append(c.others, hole)
			}
		}
	}
}

// known says that a bubble is among those that were found.
func (c *bubbleCells) known(place *box) bool {
	same := func(o box) bool {
		dx, dy := c.off(place, &o)
		return dx < 0.5 && dy < 0.5
	}
	return slices.ContainsFunc(c.rings, same) || slices.ContainsFunc(c.others, same)
}

// fit is the hole about a place whose ring lies best on ink, and what share of it does.
func (c *bubbleCells) fit(plane *ink.Plane, place box) (best box, most float64) {
	const shift, rim = 2, 0.5 // working pixels
	for dy := -shift; dy <= shift; dy++ {
		for dx := -shift; dx <= shift; dx++ {
			b := place
			b.X0, b.X1, b.Y0, b.Y1 = b.X0+dx, b.X1+dx, b.Y0+dy, b.Y1+dy
			if share := b.ringShare(plane, rim, float64(c.thick)-rim); share > most {
				best, most = b, share
			}
		}
	}
	return best, most
}

// ringShare is the share of ink round a hole, from so far beyond it to so far.
func (b *box) ringShare(plane *ink.Plane, from, to float64) float64 {
	inked, all := 0, 0
	count := func(sign int) func(p int) {
		return func(p int) {
			inked += sign * int(plane.Solid[p])
			all += sign
		}
	}
	b.eachWithin(to, plane.Scores.H, plane.Scores.W, count(1))
	b.eachWithin(from, plane.Scores.H, plane.Scores.W, count(-1))
	return float64(inked) / float64(max(all, 1))
}

// inkWithin is the share of ink in a hole.
func (b *box) inkWithin(plane *ink.Plane) float64 {
	inked, all := 0, 0
	b.eachWithin(0, plane.Scores.H, plane.Scores.W, func(p int) {
		inked += int(plane.Solid[p])
		all++
	})
	return float64(inked) / float64(max(all, 1))
}

// hidden are the bubbles that somebody wrote in, to be drawn anew, but for those that are already.
func (c *bubbleCells) hidden(s *segment.Scores, known []Mark) (marks []Mark) {
	const much = 0.15 // of the hole
	clear := slices.DeleteFunc(slices.Clone(c.rings), func(b box) bool {
		return anyWriting(s, c.about(&b))
	})
	if len(clear) == 0 {
		return nil
	}
	for _, b := range c.others {
		inked, all := 0, 0
		b.eachWithin(0, s.H, s.W, func(p int) {
			all++
			if s.Hand[p] > 0 {
				inked++
			}
		})
		if float64(inked) < much*float64(all) || slices.ContainsFunc(known, func(m Mark) bool {
			return rectOf(b.Component).Overlaps(m.Empty.Sub(m.Empty.Min).Add(m.At))
		}) {
			continue
		}
		kind := slices.MinFunc(clear, func(p, q box) int {
			return cmp.Compare(wayBetween(&p, &b), wayBetween(&q, &b))
		})
		marks = append(marks, Mark{c.about(&kind), c.about(&b).Min})
	}
	return marks
}

// beside are the four places next to a hole in its row and its column.
func (c *bubbleCells) beside(r *box, pitch [2]float64) (places []box) {
	dx, dy := pitch[0], pitch[1]
	for _, step := range [4][2]float64{{dx, c.falls * dx}, {-dx, -c.falls * dx},
		{c.retreats * dy, dy}, {-c.retreats * dy, -dy}} {
		b := *r
		x, y := int(math.Round(step[0])), int(math.Round(step[1]))
		b.X0, b.X1, b.Y0, b.Y1 = b.X0+x, b.X1+x, b.Y0+y, b.Y1+y
		b.label = 0
		places = append(places, b)
	}
	return places
}
