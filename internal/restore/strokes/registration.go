package strokes

import (
	"math"
	"slices"

	"unink/internal/raster"
	"unink/internal/restore/segment"
)

// registrationMarks are solid discs or squares, printed near the corners of a sheet that a machine
// reads, by which it finds its place. A filled bubble looks like one, but does not lie beyond all
// else on the page.
type registrationMarks struct {
	boxes  []box
	labels []int32
}

// findRegistrationMarks finds those of a page: in three of its corners at least, and of one size.
// Filled bubbles, which may lie at the corners of a part of a sheet, are none.
func findRegistrationMarks(labels []int32, components []raster.Component, w int,
	filled []*mark) registrationMarks {
	const fewest = 3 // corners
	h := len(labels) / w
	var solid []box
	for i, c := range components {
		b := box{Component: c, label: int32(i + 1)}
		if b.isSolid(labels, w) && b.isOutermost(components, w, h) &&
			!slices.ContainsFunc(filled, func(m *mark) bool { return m.label == b.label }) {
			solid = append(solid, b)
		}
	}
	solid = alikeInSize(solid)
	corners := map[corner]bool{}
	for _, b := range solid {
		corners[b.corner(w, h)] = true
	}
	if len(corners) < fewest {
		return registrationMarks{}
	}
	return registrationMarks{solid, labels}
}

// keep makes the marks print, with their rims.
func (r registrationMarks) keep(s *segment.Scores) {
	const rim = 2 // working pixels
	for _, b := range r.boxes {
		for y := max(b.Y0-rim, 0); y < min(b.Y1+rim, s.H); y++ {
			for x := max(b.X0-rim, 0); x < min(b.X1+rim, s.W); x++ {
				i := y*s.W + x
				if own := r.labels[i] == b.label || r.labels[i] == 0; own && s.Hand[i] > 0 {
					s.Relabel(i, false)
				}
			}
		}
	}
}

// isSolid says that a component is a disc or a square without a hole. The outline of a small disc
// is too rough to be told as round.
func (b *box) isSolid(labels []int32, w int) bool {
	const full, round = 0.97, 0.9 * math.Pi / 4 // share of ink within a disc; in its box
	small, large := min(b.Width(), b.Height()), max(b.Width(), b.Height())
	if small < smallestBox || large > largestBubble || b.fullness(labels, w) < full {
		return false
	}
	return b.isRound(labels, w) ||
		8*large <= 9*small && float64(b.Area) >= round*float64(b.Width()*b.Height())
}

// corner is one of a page's.
type corner struct{ right, bottom bool }

// corner is the one that a component is nearest to.
func (b *box) corner(w, h int) corner {
	return corner{right: b.X0+b.X1 > w, bottom: b.Y0+b.Y1 > h}
}

// isOutermost says that nothing lies closer to a component's corner, both across and down. Specks,
// small against it, do not count, nor what the scanner left along the picture's border.
func (b *box) isOutermost(components []raster.Component, w, h int) bool {
	const speck, border = 1.0 / 8, 2 // of its area; pixels
	least, at := int(speck*float64(b.Area)), b.corner(w, h)
	return !slices.ContainsFunc(components, func(c raster.Component) bool {
		across, down := c.X0 < b.X0, c.Y0 < b.Y0
		if at.right {
			across = c.X1 > b.X1
		}
		if at.bottom {
			down = c.Y1 > b.Y1
		}
		return across && down && c.Area > least && min(c.X0, c.Y0, w-c.X1, h-c.Y1) > border
	})
}
