package highlight

import (
	"image"
	"image/color"
	"testing"

	"unink/internal/raster"
	"unink/internal/restore/ink"
	"unink/internal/restore/restoretest"
	"unink/internal/restore/segment"
)

// highlight lays a colour over a slanting strip of a page, as a broad marker does.
func highlight(m *image.RGBA, strip image.Rectangle, c color.RGBA) {
	for y := strip.Min.Y; y < strip.Max.Y; y++ {
		lean := (strip.Max.Y - y) / 3
		for x := strip.Min.X + lean; x < strip.Max.X+lean; x++ {
			px := m.Pix[m.PixOffset(x, y):][:3]
			for ch, v := range [3]uint8{c.R, c.G, c.B} {
				px[ch] = uint8((int(px[ch])*int(v) + 127) / 255)
			}
		}
	}
}

// saidOf is what a network says that takes dark for print, and what is coloured for writing with
// the given log-odds.
func saidOf(m *raster.RGB, hand int8) *segment.Scores {
	s := &segment.Scores{W: m.W, H: m.H, Hand: make([]int8, m.W*m.H), Print: make([]int8, m.W*m.H)}
	for i := range s.Hand {
		r, g, b := m.Pix[0][i], m.Pix[1][i], m.Pix[2][i]
		s.Hand[i], s.Print[i] = -100, -100
		switch {
		case max(r, g, b) < 120:
			s.Print[i] = 100
		case int(max(r, g, b))-int(min(r, g, b)) > 40:
			s.Hand[i], s.Print[i] = hand, 0
		}
	}
	return s
}

var markers = map[string]color.RGBA{
	"yellow": {252, 250, 90, 255}, "green": {170, 250, 120, 255}, "pink": {255, 160, 205, 255},
	"orange": {255, 196, 96, 255}, "blue": {150, 222, 252, 255},
}

func TestHighlighterIsLifted(t *testing.T) {
	strip := image.Rect(120, 150, 420, 190)
	for name, c := range markers {
		t.Run(name, func(t *testing.T) {
			clean := restoretest.Sheet(700, 500, 24)
			page := image.NewRGBA(clean.Rect)
			copy(page.Pix, clean.Pix)
			highlight(page, strip, c)
			m := segment.WorkingPicture(page, segment.WorkingEm, 2)
			h := Find(m, saidOf(m, 0), 2)
			if h == nil || len(h.tints) != 1 {
				t.Fatalf("found %+v, want one", h)
			}
			lifted := h.Lift(page)
			sum, n := 0, 0
			for y := range 500 {
				for x := range 700 {
					i := page.PixOffset(x, y)
					if (image.Point{X: x, Y: y}).In(strip.Inset(-30)) {
						sum, n = sum+restoretest.Difference(lifted.Pix[i:], clean.Pix[i:]), n+1
					} else if restoretest.Difference(lifted.Pix[i:], page.Pix[i:]) != 0 {
						t.Fatalf("pixel %d,%d far from the strip is not the page's", x, y)
					}
				}
			}
			if mean := float64(sum) / float64(n); mean > 4 {
				t.Errorf("what lies under it differs by %.1f in the mean", mean)
			}
		})
	}
}

func TestPanelsAndInkAreNoHighlighter(t *testing.T) {
	strip := image.Rect(120, 150, 420, 190)
	for name, c := range map[string]struct {
		colour color.RGBA
		hand   int8 // what the network says of it
		strip  image.Rectangle
	}{
		"a panel that the network knows":  {markers["yellow"], -90, strip},
		"ink that lets no colour through": {color.RGBA{150, 160, 225, 255}, 0, strip},
		"grey":                            {color.RGBA{190, 190, 190, 255}, 0, strip},
		"a speck":                         {markers["yellow"], 0, image.Rect(120, 150, 134, 164)},
		"the desk":                        {markers["orange"], 0, image.Rect(0, 300, 400, 480)},
	} {
		t.Run(name, func(t *testing.T) {
			page := restoretest.Sheet(700, 500, 24)
			highlight(page, c.strip, c.colour)
			m := segment.WorkingPicture(page, segment.WorkingEm, 2)
			if h := Find(m, saidOf(m, c.hand), 2); h != nil {
				t.Errorf("found %+v", h.tints)
			}
		})
	}
}

// A drawing has several colours side by side; where two strokes of one marker lie on each other it
// is as one ink.
func TestOneInkIsHighlighterAndADrawingIsNot(t *testing.T) {
	for name, c := range map[string]struct {
		second string
		found  int
	}{"drawing": {"pink", 0}, "strokes": {"yellow", 1}} {
		t.Run(name, func(t *testing.T) {
			page := restoretest.Sheet(700, 500, 24)
			highlight(page, image.Rect(120, 150, 330, 190), markers["yellow"])
			highlight(page, image.Rect(240, 150, 430, 190), markers[c.second])
			m := segment.WorkingPicture(page, segment.WorkingEm, 2)
			h := Find(m, saidOf(m, 20), 2)
			if h == nil {
				h = &Highlighters{}
			}
			if len(h.tints) != c.found {
				t.Errorf("%d tints found, want %d", len(h.tints), c.found)
			}
		})
	}
}

func TestHighlighterOfTheInksAskedFor(t *testing.T) {
	h := &Highlighters{tints: []tint{{label: 1, through: [3]float64{1, 0.63, 0.8}},
		{label: 2, through: [3]float64{0.6, 0.9, 1}}}}
	for inks, want := range map[ink.Set]int{0: 2, ink.Red: 1, ink.Blue: 1, ink.Red | ink.Blue: 2} {
		if got := h.Of(inks); len(got.tints) != want {
			t.Errorf("inks %d: %d tints, want %d", inks, len(got.tints), want)
		}
	}
	if h.Of(ink.Pencil) != nil {
		t.Error("pencil has taken highlighter with it")
	}
}
