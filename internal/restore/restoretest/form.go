package restoretest

import (
	"image"
)

// Form is a working picture of boxes in a column, with what is drawn in them.
type Form struct {
	*image.Gray
	Boxes []image.Rectangle
}

// NewForm is a form with so many empty boxes.
func NewForm(boxes int) Form {
	f := Form{Gray: image.NewGray(image.Rect(0, 0, 200, 40*boxes+40))}
	for i := range f.Pix {
		f.Pix[i] = 255
	}
	for i := range boxes {
		r := image.Rect(40, 40*i+30, 62, 40*i+52)
		f.Boxes = append(f.Boxes, r)
		for d := range r.Dx() {
			for _, p := range []image.Point{{r.Min.X + d, r.Min.Y}, {r.Min.X + d, r.Max.Y - 1},
				{r.Min.X, r.Min.Y + d}, {r.Max.X - 1, r.Min.Y + d}} {
				f.Pix[f.PixOffset(p.X, p.Y)] = 40
			}
		}
	}
	return f
}

// Tick draws a tick in a box, a little elsewhere and larger by so many pixels.
func (f Form) Tick(i int, larger float64) {
	r := f.Boxes[i]
	x, y := float64(r.Min.X), float64(r.Min.Y)
	StrokeLine(f.Gray, [2]float64{x + 4, y + 9}, [2]float64{x + 9 + larger, y + 15})
	StrokeLine(f.Gray, [2]float64{x + 9 + larger, y + 15},
		[2]float64{x + 18 + larger, y + 2 - 2*larger})
}

// StrokeLine darkens what lies within two pixels of the way from a to b.
func StrokeLine(m *image.Gray, a, b [2]float64) {
	const steps = 200
	for i := range steps {
		k := float64(i) / steps
		x, y := a[0]+k*(b[0]-a[0]), a[1]+k*(b[1]-a[1])
		for yy := int(y) - 3; yy <= int(y)+3; yy++ {
			for xx := int(x) - 3; xx <= int(x)+3; xx++ {
				d := (float64(xx)-x)*(float64(xx)-x) + (float64(yy)-y)*(float64(yy)-y)
				if p := (image.Point{X: xx, Y: yy}); p.In(m.Rect) && d < 9 {
					at := m.PixOffset(xx, yy)
					m.Pix[at] = min(m.Pix[at], uint8(d*255/9))
				}
			}
		}
	}
}
