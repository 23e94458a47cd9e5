package erase

import (
	"image"
	"math"
	"testing"

	"unink/internal/raster"
	"unink/internal/restore/canvas"
	"unink/internal/restore/restoretest"
	"unink/internal/restore/segment"
	"unink/internal/restore/strokes"
)

// Where a marked box was, an empty one is drawn as it looks beside it. Sides of boxes that stand in
// line, which are found to be one printed line, are not drawn between them.
func TestMarkedBoxIsDrawnAnew(t *testing.T) {
	f := restoretest.NewForm(8)
	clean := restoretest.NewForm(8)
	for i, larger := range map[int]float64{1: 0, 2: 2, 4: 4, 6: -2} {
		f.Tick(i, larger)
	}
	s := &segment.Scores{W: f.Rect.Dx(), H: f.Rect.Dy()}
	for _, v := range f.Pix {
		score := int8(-2 * segment.Unit)
		if v < 128 {
			score = -score
		}
		s.Print, s.Hand = append(s.Print, score), append(s.Hand, -2*segment.Unit)
	}
	var gone []strokes.Mark
	for _, i := range []int{1, 2, 4, 6} {
		box := f.Boxes[i]
		gone = append(gone, strokes.Mark{Empty: f.Boxes[0], At: box.Min})
		reach := box.Inset(-15)
		for y := reach.Min.Y; y < reach.Max.Y; y++ {
			for x := reach.Min.X; x < reach.Max.X; x++ {
				if p := y*s.W + x; s.Print[p] > 0 {
					s.Relabel(p, true)
				}
			}
		}
	}
	src := image.NewRGBA(f.Rect)
	for y := range f.Rect.Dy() {
		for x := range f.Rect.Dx() {
			src.Set(x, y, f.GrayAt(x, y))
		}
	}
	c := canvas.Project(src, src, s, segment.Paper(raster.Resize(src, s.W, s.H, 1), 1), 1)
	var sides []strokes.Rule
	for _, x := range []int{f.Boxes[0].Min.X + 1, f.Boxes[0].Max.X - 2} {
		last := f.Boxes[len(f.Boxes)-1]
		side := strokes.Rule{Vertical: true, From: f.Boxes[0].Min.Y, Thick: 2}
		for y := side.From; y < last.Max.Y; y++ {
			centre := float32(math.NaN())
			for i, box := range f.Boxes {
				if marked := i == 1 || i == 2 || i == 4 || i == 6; !marked && y >= box.Min.Y && y < box.Max.Y {
					centre = float32(x)
				}
			}
			side.Centre = append(side.Centre, centre)
		}
		sides = append(sides, side)
	}
	out := Erase(c, sides, gone)
	for y := range f.Rect.Dy() {
		for x := range f.Rect.Dx() {
			if got, want := int(out.Pix[out.PixOffset(x, y)]),
				int(clean.GrayAt(x, y).Y); got < want-40 || got > want+40 {
				t.Fatalf("%d,%d is %d, on the empty form %d", x, y, got, want)
			}
		}
	}
}
