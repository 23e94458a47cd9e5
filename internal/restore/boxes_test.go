package restore

import (
	"image"
	"testing"

	"unink/internal/raster"
)

// form is a working picture of boxes in a column, with what is drawn in them.
type form struct {
	*image.Gray
	boxes []image.Rectangle
}

func newForm(boxes int) form {
	f := form{Gray: image.NewGray(image.Rect(0, 0, 200, 40*boxes+40))}
	for i := range f.Pix {
		f.Pix[i] = 255
	}
	for i := range boxes {
		r := image.Rect(40, 40*i+30, 62, 40*i+52)
		f.boxes = append(f.boxes, r)
		for d := range r.Dx() {
			for _, p := range []image.Point{{r.Min.X + d, r.Min.Y}, {r.Min.X + d, r.Max.Y - 1}, {r.Min.X, r.Min.Y + d}, {r.Max.X - 1, r.Min.Y + d}} {
				f.Pix[f.PixOffset(p.X, p.Y)] = 40
			}
		}
	}
	return f
}

// tick draws a tick in a box, a little elsewhere and larger by so many pixels.
func (f form) tick(i int, larger float64) {
	r := f.boxes[i]
	x, y := float64(r.Min.X), float64(r.Min.Y)
	strokeLine(f.Gray, [2]float64{x + 4, y + 9}, [2]float64{x + 9 + larger, y + 15})
	strokeLine(f.Gray, [2]float64{x + 9 + larger, y + 15}, [2]float64{x + 18 + larger, y + 2 - 2*larger})
}

// read is what becomes of a form that the network takes for print.
func (f form) read() (*scores, []*mark) {
	w, h := f.Rect.Dx(), f.Rect.Dy()
	s := &scores{w: w, h: h, hand: make([]int8, w*h), print: make([]int8, w*h)}
	ink := &inkPlane{s: s, light: [3][]uint8{f.Pix, f.Pix, f.Pix}, solid: make([]uint8, w*h), evidence: make([]float32, w*h)}
	for i, v := range f.Pix {
		s.hand[i], s.print[i] = -2*scoreUnit, -2*scoreUnit
		if v < 128 {
			ink.solid[i], s.print[i] = 1, 2*scoreUnit
		}
	}
	marks := s.findMarks(ink)
	for _, m := range marks {
		m.take(s)
	}
	return s, marks
}

// Ticks among empty boxes are writing, whatever the network thinks, and each of its own shape.
func TestTicksInBoxesGo(t *testing.T) {
	f := newForm(8)
	for i, larger := range map[int]float64{1: 0, 2: 2, 4: 4, 6: -2} {
		f.tick(i, larger)
	}
	s, gone := f.read()
	if len(gone) != 4 {
		t.Fatalf("%d marks found of 4", len(gone))
	}
	for i, r := range f.boxes {
		hand := 0
		for y := r.Min.Y + 3; y < r.Max.Y-3; y++ {
			for x := r.Min.X + 3; x < r.Max.X-3; x++ {
				if s.hand[y*s.w+x] > 0 {
					hand++
				}
			}
		}
		if marked := i == 1 || i == 2 || i == 4 || i == 6; marked != (hand > 30) {
			t.Errorf("box %d: %d pixels of writing", i, hand)
		}
	}
}

// A cross that is the same in several boxes was printed; a single one may be.
func TestPrintInBoxesStays(t *testing.T) {
	for name, ticked := range map[string][]int{"the same": {1, 3, 5, 6}, "one": {4}, "none": nil} {
		t.Run(name, func(t *testing.T) {
			f := newForm(8)
			for _, i := range ticked {
				f.tick(i, 0)
			}
			if _, gone := f.read(); len(gone) != 0 {
				t.Errorf("%d marks go", len(gone))
			}
		})
	}
}

// Where a marked box was, an empty one is drawn as it looks beside it.
func TestMarkedBoxIsDrawnAnew(t *testing.T) {
	f := newForm(8)
	clean := newForm(8)
	for i, larger := range map[int]float64{1: 0, 2: 2, 4: 4, 6: -2} {
		f.tick(i, larger)
	}
	s, gone := f.read()
	src := image.NewRGBA(f.Rect)
	for y := range f.Rect.Dy() {
		for x := range f.Rect.Dx() {
			src.Set(x, y, f.GrayAt(x, y))
		}
	}
	c := project(src, src, s, paperGrids(raster.Resize(src, s.w, s.h, 1), 1), 1)
	out := c.erase(nil, gone)
	for y := range f.Rect.Dy() {
		for x := range f.Rect.Dx() {
			if got, want := int(out.Pix[out.PixOffset(x, y)]), int(clean.GrayAt(x, y).Y); got < want-40 || got > want+40 {
				t.Fatalf("%d,%d is %d, on the empty form %d", x, y, got, want)
			}
		}
	}
}
