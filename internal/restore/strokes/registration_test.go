package strokes

import (
	"image"
	"slices"
	"testing"

	"unink/internal/restore/ink"
	"unink/internal/restore/segment"
)

const sheetW, sheetH = 700, 500

// sheetOf is a sheet with a block of print, and solid shapes of a radius that the network takes for
// writing.
func sheetOf(shapes []image.Point, in func(dx, dy, r int) bool) (*segment.Scores, *ink.Plane) {
	s, plane := emptyPlane(sheetW, sheetH)
	for y := 90; y < 410; y++ {
		for x := 100; x < 600; x++ {
			if x%12 < 8 && y%20 < 12 {
				setInk(s, plane, x, y, false)
			}
		}
	}
	const r = 12
	for _, at := range shapes {
		for dy := -r; dy <= r; dy++ {
			for dx := -r; dx <= r; dx++ {
				if in(dx, dy, r) {
					setInk(s, plane, at.X+dx, at.Y+dy, true)
				}
			}
		}
	}
	return s, plane
}

func disc(dx, dy, r int) bool { return dx*dx+dy*dy <= r*r }

// roughDisc is a small one as scans have it.
func roughDisc(dx, dy, _ int) bool {
	return dx*dx+dy*dy <= 72 && max(dx, -dx, dy, -dy) <= 8 && dx+dy >= -9
}

func ring(dx, dy, r int) bool { return disc(dx, dy, r) && !disc(dx, dy, r-4) }

// Solid shapes in the corners of a sheet are printed, whatever the network thinks; others are not
// touched.
func TestRegistrationMarksStay(t *testing.T) {
	corners := []image.Point{{40, 40}, {660, 40}, {40, 460}, {660, 460}}
	amid := image.Pt(346, 200)
	for name, c := range map[string]struct {
		shapes []image.Point
		in     func(dx, dy, r int) bool
		stay   bool
	}{
		"discs":           {corners, disc, true},
		"three discs":     {corners[:3], disc, true},
		"rough discs":     {corners, roughDisc, true},
		"squares":         {corners, func(_, _, _ int) bool { return true }, true},
		"two discs":       {corners[:2], disc, false},
		"rings":           {corners, ring, false},
		"discs and bars":  {corners, func(x, y, r int) bool { return x*x < r && disc(x, y, r) }, false},
		"discs elsewhere": {[]image.Point{{300, 200}, {400, 200}, {300, 260}, {400, 260}}, disc, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, plane := sheetOf(slices.Concat(c.shapes, []image.Point{amid}), c.in)
			plane.Connect()
			found := readForm(s, plane).registration
			found.keep(s)
			for _, at := range c.shapes {
				// A ring has no ink in its middle.
				i := at.Y*sheetW + at.X
				if !c.in(0, 0, 12) {
					i += 10
				}
				if stays := s.Hand[i] <= 0; stays != c.stay {
					t.Errorf("what lies at %v stays: %v", at, stays)
				}
			}
			if i := amid.Y*sheetW + amid.X; c.in(0, 0, 12) && s.Hand[i] <= 0 {
				t.Error("what lies amid the sheet stays")
			}
		})
	}
}

// Specks of dust beyond a mark, and the shadow of a scanner's lid, change nothing.
func TestDustBeyondRegistrationMarks(t *testing.T) {
	s, plane := sheetOf([]image.Point{{40, 40}, {660, 40}, {40, 460}, {660, 460}}, disc)
	for d := range 4 {
		setInk(s, plane, 5+d, 6, true)
	}
	for y := range sheetH {
		setInk(s, plane, 0, y, false)
	}
	plane.Connect()
	found := readForm(s, plane).registration
	if len(found.boxes) != 4 {
		t.Errorf("%d marks are found", len(found.boxes))
	}
}
