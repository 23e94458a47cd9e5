package strokes

import (
	"math"
	"testing"

	"unink/internal/restore/ink"
	"unink/internal/restore/restoretest"
	"unink/internal/restore/segment"
)

// read is what becomes of a form that the network takes for print.
func read(f restoretest.Form) (*segment.Scores, []*mark) {
	w, h := f.Rect.Dx(), f.Rect.Dy()
	s := &segment.Scores{W: w, H: h, Hand: make([]int8, w*h), Print: make([]int8, w*h)}
	for i, v := range f.Pix {
		s.Hand[i], s.Print[i] = -2*segment.Unit, -2*segment.Unit
		if v < 128 {
			s.Print[i] = 2 * segment.Unit
		}
	}
	plane := planeOf(f, s)
	plane.Connect()
	onForm := readForm(s, plane)
	onForm.settle(s, plane)
	return s, onForm.marks
}

// planeOf is the ink of a form.
func planeOf(f restoretest.Form, s *segment.Scores) *ink.Plane {
	plane := &ink.Plane{Scores: s, Light: [3][]uint8{f.Pix, f.Pix, f.Pix},
		Solid: make([]uint8, len(f.Pix)), Evidence: make([]float32, len(f.Pix))}
	for i, v := range f.Pix {
		if v < 128 {
			plane.Solid[i] = 1
		}
	}
	plane.Connect()
	return plane
}

// Ticks among empty boxes are writing, whatever the network thinks, and each of its own shape.
func TestTicksInBoxesGo(t *testing.T) {
	f := restoretest.NewForm(8)
	for i, larger := range map[int]float64{1: 0, 2: 2, 4: 4, 6: -2} {
		f.Tick(i, larger)
	}
	s, gone := read(f)
	if len(gone) != 4 {
		t.Fatalf("%d marks found of 4", len(gone))
	}
	for i, r := range f.Boxes {
		hand := 0
		for y := r.Min.Y + 3; y < r.Max.Y-3; y++ {
			for x := r.Min.X + 3; x < r.Max.X-3; x++ {
				if s.Hand[y*s.W+x] > 0 {
					hand++
				}
			}
		}
		if marked := i == 1 || i == 2 || i == 4 || i == 6; marked != (hand > 30) {
			t.Errorf("box %d: %d pixels of writing", i, hand)
		}
	}
}

// Ticks that are nearly alike go where the network takes them for writing.
func TestTicksNearlyAlikeAreTheNetworksToTell(t *testing.T) {
	for name, c := range map[string]struct {
		hand int8 // what the network says of them
		gone int
	}{"writing": {2 * segment.Unit, 4}, "print": {-2 * segment.Unit, 0}} {
		t.Run(name, func(t *testing.T) {
			f := restoretest.NewForm(8)
			for i, larger := range map[int]float64{1: 0, 2: 1, 4: 2, 6: 3} {
				f.Tick(i, larger)
			}
			s := &segment.Scores{W: f.Rect.Dx(), H: f.Rect.Dy(), Hand: make([]int8, len(f.Pix)),
				Print: make([]int8, len(f.Pix))}
			for i := range s.Hand {
				s.Hand[i], s.Print[i] = c.hand, -c.hand
			}
			if marks := readForm(s, planeOf(f, s)).marks; len(marks) != c.gone {
				t.Errorf("%d marks go, want %d", len(marks), c.gone)
			}
		})
	}
}

// A cross that is the same in several boxes was printed; a single one may be.
func TestPrintInBoxesStays(t *testing.T) {
	for name, ticked := range map[string][]int{"the same": {1, 3, 5, 6}, "one": {4}, "none": nil} {
		t.Run(name, func(t *testing.T) {
			f := restoretest.NewForm(8)
			for _, i := range ticked {
				f.Tick(i, 0)
			}
			if _, gone := read(f); len(gone) != 0 {
				t.Errorf("%d marks go", len(gone))
			}
		})
	}
}

// A ring with a cross over it is drawn anew like the empty ones beside it, where the network knows
// the cross; a letter that is a ring and a stroke stays.
func TestCrossedRingIsDrawnAnew(t *testing.T) {
	const side, pitch, crossed = 24, 60, 1
	for name, c := range map[string]struct {
		rings int
		hand  int8 // what the network says of the strokes
		found int
	}{
		"cross":         {5, 2 * segment.Unit, 1},
		"cross of two":  {2, 2 * segment.Unit, 1},
		"letter":        {5, -2 * segment.Unit, 0},
		"letter of two": {2, -2 * segment.Unit, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w, h := 200, c.rings*pitch+40
			s, plane := emptyPlane(w, h)
			plane.Light = [3][]uint8{make([]uint8, w*h), make([]uint8, w*h), make([]uint8, w*h)}
			for i := range c.rings {
				for a := range 720 {
					sin, cos := math.Sincos(float64(a) * math.Pi / 360)
					for _, r := range [...]float64{side/2 - 1, side/2 - 2} {
						setInk(s, plane, int(100.5+r*cos), int(float64(40+i*pitch)+0.5+r*sin), false)
					}
				}
			}
			for k := -16; k <= 16; k++ {
				for thick := range 3 {
					at := (40+crossed*pitch+k)*w + 100 + k/2 + thick
					plane.Solid[at], s.Hand[at] = 1, c.hand
				}
			}
			plane.Connect()
			marks := readForm(s, plane).marks
			if len(marks) != c.found {
				t.Fatalf("%d marks found, want %d", len(marks), c.found)
			}
			for _, m := range marks {
				if y := m.y + side/2; !m.kind.round || y < 35+crossed*pitch || y > 45+crossed*pitch {
					t.Errorf("a ring is drawn at %d", y)
				}
			}
		})
	}
}
