package strokes

import (
	"cmp"
	"image"
	"math"
	"slices"

	"unink/internal/raster"
	"unink/internal/restore/segment"
)

// cells are the bubbles in a table's cells. They touch its lines, so that no ring is a component of
// its own; but the holes of the empty ones are: round patches of paper of one size, in rows and
// columns at even distances.
type cells struct {
	grid
	pitch [2]float64 // from one to the next, across and down, in working pixels
	thick int        // of the rings
}

const smallestHole, largestHole = 8, 60 // working pixels: a side

// findCells finds the empty ones; there are none, or a dozen and more.
func findCells(solid []uint8, runs []raster.Run, w int) cells {
	labels, patches := enclosed(runs, len(solid), w)
	var holes []box
	for i, c := range patches {
		if b := (box{Component: c, label: int32(i + 1)}); b.isHole() {
			holes = append(holes, b)
		}
	}
	holes = alikeInSize(holes)
	if len(holes) < fewestBubbles || len(holes) > mostBubbles {
		return cells{}
	}
	c := cells{grid: newGrid(holes)}
	if len(c.rings) < fewestBubbles {
		return cells{}
	}
	c.pitch = c.pitches()
	c.rings = slices.DeleteFunc(slices.Clone(c.rings), func(b box) bool { return !c.evenly(&b) })
	if len(c.rings) < fewestBubbles {
		return cells{}
	}
	c.thick = c.thickness(solid, labels, w)
	return c
}

// enclosed labels the patches of paper that have ink on both sides, no further apart than a hole's.
func enclosed(runs []raster.Run, size, w int) (labels []int32, patches []raster.Component) {
	paper := make([]uint8, size)
	for i := 1; i < len(runs); i++ {
		from, to := int(runs[i-1].To), int(runs[i].From)
		if from/w != to/w || to-from > largestHole {
			continue
		}
		for p := from; p < to; p++ {
			paper[p] = 1
		}
	}
	return raster.Components(paper, w)
}

// isHole says that a patch is round.
func (b *box) isHole() bool {
	const least, most = 0.68, 0.88 // of the rectangle about it; of a disc's it is 0.79
	short, long := min(b.Width(), b.Height()), max(b.Width(), b.Height())
	share := float64(b.Area) / float64(b.Width()*b.Height())
	return short >= smallestHole && long <= largestHole && 4*short >= 3*long &&
		share >= least && share <= most
}

// pitches are the distances from most holes to the next in their rows and in their columns.
func (c *cells) pitches() [2]float64 {
	var across, down []float64
	for i := range c.rings {
		b := &c.rings[i]
		row, column := c.nearest(c.rings, b, c.sameRow), c.nearest(c.rings, b, c.sameColumn)
		dx, _ := c.off(b, row)
		_, dy := c.off(b, column)
		across, down = append(across, dx*row.side()), append(down, dy*column.side())
	}
	return [2]float64{raster.Quantile(across, 0.5), raster.Quantile(down, 0.5)}
}

// evenly says that a hole is one pitch from another in its row and from one in its column.
func (c *cells) evenly(b *box) bool {
	const off = 0.12 // of the pitch
	return slices.ContainsFunc(c.rings, func(r box) bool {
		dx, _ := c.off(b, &r)
		return c.sameRow(b, &r) && math.Abs(dx*r.side()-c.pitch[0]) <= off*c.pitch[0]
	}) && slices.ContainsFunc(c.rings, func(r box) bool {
		_, dy := c.off(b, &r)
		return c.sameColumn(b, &r) && math.Abs(dy*r.side()-c.pitch[1]) <= off*c.pitch[1]
	})
}

// thickness is how thick the rings are: where they do not touch the lines, towards the corners.
func (c *cells) thickness(solid []uint8, labels []int32, w int) int {
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
func (c *cells) about(b *box) image.Rectangle { return rectOf(b.Component).Inset(-c.thick) }

// keep makes print of the rings.
func (c *cells) keep(s *segment.Scores) {
	for i := range c.rings {
		c.eachNear(s, &c.rings[i], float64(c.thick)+0.5, func(p int) {
			if s.Hand[p] > 0 {
				s.Relabel(p, false)
			}
		})
	}
}

// eachNear visits the pixels of a hole, and those around it so far beyond.
func (c *cells) eachNear(s *segment.Scores, b *box, beyond float64, visit func(p int)) {
	cx, cy := b.centre()
	rx, ry := float64(b.Width())/2+beyond, float64(b.Height())/2+beyond
	for y := max(int(cy-ry), 0); y <= min(int(cy+ry), s.H-1); y++ {
		for x := max(int(cx-rx), 0); x <= min(int(cx+rx), s.W-1); x++ {
			dx, dy := (float64(x)+0.5-cx)/rx, (float64(y)+0.5-cy)/ry
			if dx*dx+dy*dy <= 1 {
				visit(y*s.W + x)
			}
		}
	}
}

// filled are the bubbles between the empty ones that writing fills, to be drawn anew.
func (c *cells) filled(s *segment.Scores) (marks []Mark) {
	const much = 0.4 // of what is a hole elsewhere
	var clear []box
	for _, r := range c.rings {
		if !anyWriting(s, c.about(&r)) {
			clear = append(clear, r)
		}
	}
	if len(clear) == 0 {
		return nil
	}
	done := map[image.Point]bool{}
	for _, r := range c.rings {
		for _, place := range c.beside(&r) {
			x, y := place.centre()
			at := image.Pt(int(x/c.pitch[0]*2), int(y/c.pitch[1]*2))
			if done[at] || slices.ContainsFunc(c.rings, func(o box) bool {
				dx, dy := c.off(&place, &o)
				return dx < 0.5 && dy < 0.5
			}) {
				continue
			}
			written, all := 0, 0
			c.eachNear(s, &place, 0, func(p int) {
				all++
				if s.Hand[p] > 0 {
					written++
				}
			})
			if float64(written) < much*float64(all) {
				continue
			}
			done[at] = true
			kind := slices.MinFunc(clear, func(a, b box) int {
				return cmp.Compare(apart(&a, &place), apart(&b, &place))
			})
			marks = append(marks, Mark{c.about(&kind), c.about(&place).Min})
		}
	}
	return marks
}

// beside are the four places next to a hole in its row and its column.
func (c *cells) beside(r *box) (places []box) {
	dx, dy := c.pitch[0], c.pitch[1]
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

func apart(a, b *box) float64 {
	ax, ay := a.centre()
	bx, by := b.centre()
	return math.Hypot(ax-bx, ay-by)
}
