package strokes

import (
	"image"
	"math"
	"testing"

	"pgregory.net/rapid"

	"unink/internal/raster"
	"unink/internal/restore/ink"
	"unink/internal/restore/restoretest"
)

// sheetOfBubbles is a working picture of bubbles in rows and columns. In each is a bar whose slant
// tells its row, or its column.
type sheetOfBubbles struct {
	restoretest.Form
	pitch int
}

const bubbleSide, bubblePitch = 24, 40

func newSheetOfBubbles(rows, columns, pitch int, byRow bool) sheetOfBubbles {
	s := sheetOfBubbles{restoretest.Form{Gray: image.NewGray(image.Rect(0, 0,
		columns*pitch+40, rows*pitch+40))}, pitch}
	for i := range s.Pix {
		s.Pix[i] = 255
	}
	for row := range rows {
		for column := range columns {
			x, y := s.centre(row, column)
			for a := range 360 {
				sin, cos := math.Sincos(float64(a) * math.Pi / 180)
				for _, r := range [...]float64{bubbleSide/2 - 1, bubbleSide/2 - 2} {
					s.Pix[s.PixOffset(int(x+r*cos), int(y+r*sin))] = 60
				}
			}
			of, n := column, columns
			if byRow {
				of, n = row, rows
			}
			sin, cos := math.Sincos(math.Pi * float64(of) / float64(n))
			restoretest.StrokeLine(s.Gray, [2]float64{x - 5*cos, y - 5*sin},
				[2]float64{x + 5*cos, y + 5*sin})
		}
	}
	return s
}

func (s *sheetOfBubbles) centre(row, column int) (x, y float64) {
	return float64(column*s.pitch + 40), float64(row*s.pitch + 40)
}

// fill fills a bubble to its outline, and a little beyond.
func (s *sheetOfBubbles) fill(row, column int) {
	const r = bubbleSide/2 + 1
	cx, cy := s.centre(row, column)
	for y := -r; y <= r; y++ {
		for x := -r; x <= r; x++ {
			if x*x+y*y <= r*r {
				s.Pix[s.PixOffset(int(cx)+x, int(cy)+y)] = 40
			}
		}
	}
}

// Whichever bubbles are filled, these are found, and each is drawn as one that has the same letter.
func TestFilledBubblesAreEmptied(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		byRow := rapid.Bool().Draw(rt, "letters by row")
		pitch := rapid.SampledFrom([]int{bubblePitch, bubbleSide + 2}).Draw(rt, "pitch")
		sheet := newSheetOfBubbles(6, 6, pitch, byRow)
		cell := rapid.Custom(func(t *rapid.T) image.Point {
			return image.Pt(rapid.IntRange(0, 5).Draw(t, "column"),
				rapid.IntRange(0, 5).Draw(t, "row"))
		})
		filled := map[image.Point]bool{}
		for _, p := range rapid.SliceOfNDistinct(cell, 0, 4, rapid.ID[image.Point]).Draw(rt,
			"filled") {
			filled[p] = true
			sheet.fill(p.Y, p.X)
		}
		s, marks := read(sheet.Form)
		if len(marks) != len(filled) {
			rt.Fatalf("%d of %d filled bubbles are found", len(marks), len(filled))
		}
		at := func(x, y int) image.Point {
			return image.Pt((x+bubbleSide/2-40+pitch/2)/pitch, (y+bubbleSide/2-40+pitch/2)/pitch)
		}
		for _, m := range marks {
			p, like := at(m.x, m.y), at(m.kind.X0, m.kind.Y0)
			if !filled[p] || filled[like] {
				rt.Errorf("%v is taken for filled and %v for empty", p, like)
			}
			if byRow && p.Y != like.Y || !byRow && p.X != like.X {
				rt.Errorf("%v is drawn like %v, where the letters are the same by row: %v", p, like,
					byRow)
			}
			if x, y := sheet.centre(p.Y, p.X); s.Hand[int(y)*s.W+int(x)] <= 0 {
				rt.Errorf("%v is not taken", p)
			}
		}
	})
}

// erase leaves nothing of a bubble.
func (s *sheetOfBubbles) erase(row, column int) {
	cx, cy := s.centre(row, column)
	for y := -s.pitch / 2; y < s.pitch/2; y++ {
		for x := -s.pitch / 2; x < s.pitch/2; x++ {
			s.Pix[s.PixOffset(int(cx)+x, int(cy)+y)] = 255
		}
	}
}

// A bubble may have but one beside it, which has none above or below.
func TestBubblesBesideTheGrid(t *testing.T) {
	sheet := newSheetOfBubbles(6, 6, bubblePitch, false)
	for i := range 5 {
		sheet.erase(i, 5)
		if i > 0 {
			sheet.erase(5, i)
		}
	}
	sheet.fill(2, 2)
	if _, marks := read(sheet.Form); len(marks) != 1 {
		t.Errorf("%d answers, want one", len(marks))
	}
}

// Bubbles may have a double outline, whose rings are as near to each other as can be.
func TestBubblesWithDoubleOutlines(t *testing.T) {
	const pitch, inner, outer = 60, 14, 17
	sheet := newSheetOfBubbles(6, 6, pitch, false)
	for i := range 36 {
		x, y := sheet.centre(i/6, i%6)
		for a := range 720 {
			sin, cos := math.Sincos(float64(a) * math.Pi / 360)
			for _, r := range [...]float64{inner, outer} {
				sheet.Pix[sheet.PixOffset(int(x+0.5+r*cos), int(y+0.5+r*sin))] = 60
			}
		}
	}
	cx, cy := sheet.centre(2, 2)
	for y := -outer; y <= outer; y++ {
		for x := -outer; x <= outer; x++ {
			if x*x+y*y <= outer*outer {
				sheet.Pix[sheet.PixOffset(int(cx)+x, int(cy)+y)] = 40
			}
		}
	}
	if _, marks := read(sheet.Form); len(marks) != 1 {
		t.Errorf("%d answers, want one", len(marks))
	}
}

// Rings that are no sheet of bubbles, as letters are, and blobs among them stay.
func TestRoundLettersAreNoBubbles(t *testing.T) {
	sheet := newSheetOfBubbles(1, 20, bubblePitch, false)
	sheet.fill(0, 7)
	if _, marks := read(sheet.Form); len(marks) > 0 {
		t.Errorf("%d answers in a line of letters", len(marks))
	}
	few := newSheetOfBubbles(3, 3, bubblePitch, false)
	few.fill(1, 1)
	if _, marks := read(few.Form); len(marks) > 0 {
		t.Errorf("%d answers among eight rings", len(marks))
	}
}

func BenchmarkFindFilled(b *testing.B) {
	sheet := newSheetOfBubbles(30, 30, bubblePitch, false)
	s, _ := read(sheet.Form)
	plane := &ink.Plane{Scores: s, Light: [3][]uint8{sheet.Pix, sheet.Pix, sheet.Pix},
		Solid: make([]uint8, len(sheet.Pix))}
	for i, v := range sheet.Pix {
		if v < 128 {
			plane.Solid[i] = 1
		}
	}
	labels, components := raster.Components(plane.Solid, s.W)
	for b.Loop() {
		findFilled(s, plane, labels, components)
	}
}
