package labels

import (
	"image"
	"math"
	"testing"

	"unink/bench/picture"
)

// page is white, with a bar of print above and one of handwriting below.
func page() (*picture.RGB, *image.Gray) {
	const w, h = 160, 120
	p, l := &picture.RGB{W: w, H: h, Pix: make([]uint8, 3*w*h)}, image.NewGray(image.Rect(0, 0, w, h))
	for i := range p.Pix {
		p.Pix[i] = 255
	}
	for x := 20; x < 140; x++ {
		for y := range 4 {
			paint(p, x, 30+y, 0)
			l.Pix[(30+y)*w+x] = Print
			paint(p, x, 80+y, 0)
			l.Pix[(80+y)*w+x] = Hand
		}
	}
	return p, l
}

func paint(p *picture.RGB, x, y int, v uint8) {
	for c := range 3 {
		p.Pix[3*(y*p.W+x)+c] = v
	}
}

func clone(p *picture.RGB) *picture.RGB {
	return &picture.RGB{W: p.W, H: p.H, Pix: append([]uint8(nil), p.Pix...)}
}

func erase(p *picture.RGB, x0, x1, y0 int) *picture.RGB {
	out := clone(p)
	for x := x0; x < x1; x++ {
		for y := range 4 {
			paint(out, x, y0+y, 255)
		}
	}
	return out
}

func TestMeasure(t *testing.T) {
	before, labels := page()
	for name, c := range map[string]struct {
		after                  *picture.RGB
		left, seen, lost, hurt float64
	}{
		"nothing done":                 {before, 1, 1, 0, 0},
		"the writing erased":           {erase(before, 20, 140, 80), 0, 0, 0, 0},
		"half of the writing erased":   {erase(before, 20, 80, 80), 0.5, 1, 0, 0},
		"nearly all of it erased":      {erase(before, 20, 128, 80), 0.1, 0, 0, 0},
		"the print erased as well":     {erase(erase(before, 20, 140, 80), 20, 140, 30), 0, 0, 1, 1},
		"a tenth of the print erased":  {erase(before, 20, 32, 30), 1, 1, 0.1, 0},
		"half of the print erased too": {erase(before, 20, 80, 30), 1, 1, 0.5, 1},
	} {
		f := Of(labels, before).Measure(c.after)
		for what, pair := range map[string][2]float64{
			"left": {f.Left, c.left}, "seen": {f.Seen, c.seen}, "lost": {f.Lost, c.lost}, "hurt": {f.Hurt, c.hurt},
		} {
			if math.Abs(pair[0]-pair[1]) > 0.02 {
				t.Errorf("%s: %s is %.3f, want %.3f", name, what, pair[0], pair[1])
			}
		}
	}
}

// A page that only became lighter as a whole has lost nothing.
func TestPaperDoesNotCount(t *testing.T) {
	before, labels := page()
	dim := clone(before)
	for i, v := range dim.Pix {
		dim.Pix[i] = uint8(int(v) * 3 / 4)
	}
	if f := Of(labels, dim).Measure(before); f.Lost > 0 || f.Left < 0.99 {
		t.Errorf("lost %.3f and left %.3f of a page that became lighter, want 0 and 1", f.Lost, f.Left)
	}
}

func TestPageWithoutHandwriting(t *testing.T) {
	before, labels := page()
	for i, v := range labels.Pix {
		if v == Hand {
			labels.Pix[i] = 0
		}
	}
	if f := Of(labels, before).Measure(before); f.Hand || !f.Print {
		t.Errorf("handwriting %v, print %v, want no handwriting and print", f.Hand, f.Print)
	}
}
