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
	rows, columns, pitch int
	lean                 float64 // the sheet is askew: how far a column lies to the right a pixel down
}

const bubbleSide, bubblePitch = 24, 40

func newSheetOfBubbles(rows, columns, pitch int, byRow bool) sheetOfBubbles {
	return newLeaningSheet(rows, columns, pitch, byRow, 0)
}

func newLeaningSheet(rows, columns, pitch int, byRow bool, lean float64) sheetOfBubbles {
	s := sheetOfBubbles{restoretest.Form{Gray: image.NewGray(image.Rect(0, 0,
		columns*pitch+40, rows*pitch+40))}, rows, columns, pitch, lean}
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
	across, down := float64(column*s.pitch), float64(row*s.pitch)
	return 40 + across + s.lean*down, 40 + down - s.lean*across
}

// at is the bubble, column and row, about a box's corner.
func (s *sheetOfBubbles) at(x, y int) (bubble image.Point) {
	least := math.Inf(1)
	for row := range s.rows {
		for column := range s.columns {
			cx, cy := s.centre(row, column)
			if d := math.Hypot(cx-bubbleSide/2-float64(x), cy-bubbleSide/2-float64(y)); d < least {
				bubble, least = image.Pt(column, row), d
			}
		}
	}
	return bubble
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

// blank takes a bubble away.
func (s *sheetOfBubbles) blank(row, column int) {
	cx, cy := s.centre(row, column)
	for y := -bubbleSide/2 - 1; y <= bubbleSide/2+1; y++ {
		for x := -bubbleSide/2 - 1; x <= bubbleSide/2+1; x++ {
			s.Pix[s.PixOffset(int(cx)+x, int(cy)+y)] = 255
		}
	}
}

// A blob that stands in line with bubbles, but far from all of them, is none.
func TestABlobFarFromBubblesIsNoAnswer(t *testing.T) {
	blocks := newSheetOfBubbles(14, 14, bubblePitch, true)
	for row := range blocks.rows {
		for column := range blocks.columns {
			if (row < 5) != (column < 5) || row >= 5 && (row < 9 || column < 9) {
				blocks.blank(row, column)
			}
		}
	}
	for i, p := range []image.Point{{10, 2}, {2, 3}, {12, 11}} { // a blob, and two bubbles
		blocks.fill(p.Y, p.X)
		_, marks := read(blocks.Form)
		if len(marks) != i {
			t.Errorf("%d answers are found, want %d", len(marks), i)
		}
	}
}

// Whichever bubbles are filled, these are found, and each is drawn as one that has the same letter.
func TestFilledBubblesAreEmptied(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		byRow := rapid.Bool().Draw(rt, "letters by row")
		pitch := rapid.SampledFrom([]int{bubblePitch, bubbleSide + 2}).Draw(rt, "pitch")
		cell := rapid.Custom(func(t *rapid.T) image.Point {
			return image.Pt(rapid.IntRange(0, 5).Draw(t, "column"),
				rapid.IntRange(0, 5).Draw(t, "row"))
		})
		answers := rapid.SliceOfNDistinct(cell, 0, 4, rapid.ID[image.Point]).Draw(rt, "filled")
		lean := rapid.SampledFrom([]float64{0, 0.02, -0.04}).Draw(rt, "lean")
		sheet := newLeaningSheet(6, 6, pitch, byRow, lean)
		filled := map[image.Point]bool{}
		for _, p := range answers {
			filled[p] = true
			sheet.fill(p.Y, p.X)
		}
		s, marks := read(sheet.Form)
		if len(marks) != len(filled) {
			rt.Fatalf("%d of %d filled bubbles are found", len(marks), len(filled))
		}
		for _, m := range marks {
			p, like := sheet.at(m.x, m.y), sheet.at(m.kind.X0, m.kind.Y0)
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

// Of a column nearly all bubbles may be filled: the one that is left tells where it stands.
func TestAllButOneOfAColumnFilled(t *testing.T) {
	sheet := newLeaningSheet(6, 6, bubblePitch, false, 0.03)
	for row := range 5 {
		sheet.fill(row, 0)
	}
	if _, marks := read(sheet.Form); len(marks) != 5 {
		t.Errorf("%d answers, want five", len(marks))
	}
}

// A bubble that goes with the stroke across it is drawn anew, and one that stays is not.
func TestBubblesUnderStrokes(t *testing.T) {
	sheet := newLeaningSheet(6, 6, bubblePitch, false, 0.03)
	cx, cy := sheet.centre(2, 3)
	restoretest.StrokeLine(sheet.Gray, [2]float64{cx - 20, cy + 9}, [2]float64{cx + 24, cy - 10})
	s, marks := read(sheet.Form)
	if len(marks) != 0 {
		t.Fatalf("%d marks where nothing goes", len(marks))
	}
	plane := planeOf(sheet.Form, s)
	for y := int(cy) - 14; y < int(cy)+14; y++ {
		for x := int(cx) - 24; x < int(cx)+26; x++ {
			if plane.Solid[y*s.W+x] != 0 {
				s.Relabel(y*s.W+x, true)
			}
		}
	}
	plane.Connect()
	onForm := readForm(s, plane)
	onForm.settle(s, plane)
	if len(onForm.marks) != 1 || sheet.at(onForm.marks[0].x, onForm.marks[0].y) != image.Pt(3, 2) {
		t.Errorf("%d bubbles are drawn anew, want the one at 3, 2", len(onForm.marks))
	}
}

// A bold number in the place of a bubble, such as the number of a row, is no answer.
func TestNumbersInLineWithBubbles(t *testing.T) {
	sheet := newSheetOfBubbles(6, 6, bubblePitch, false)
	for row := 1; row < 6; row++ {
		sheet.erase(row, 0)
		cx, cy := sheet.centre(row, 0)
		for y := int(cy) - 9; y < int(cy)+8; y++ {
			for x := int(cx) - 9; x < int(cx)+8; x++ {
				sheet.Pix[sheet.PixOffset(x, y)] = 40
			}
		}
	}
	if _, marks := read(sheet.Form); len(marks) != 0 {
		t.Errorf("%d answers among numbers", len(marks))
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

func BenchmarkFindBubbles(b *testing.B) {
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
		findBubbles(s, plane, labels, components)
	}
}
