package flatten

import (
	"image"
	"image/color"
	"math"
	"testing"

	"unink/internal/raster"
	"unink/internal/restore/restoretest"
)

// curled is a camera's view of a page that is bent as a cylinder about an axis along its columns,
// tilted by an angle: where each pixel of the picture lies on the page.
func curled(bow, tilt float64) func(x, y float64) (float64, float64) {
	c := &cylinder{reach: sheetReach}
	p := make([]float64, shapes+knots)
	p[0] = tilt
	for i := range knots {
		u := (float64(i)/(knots-1)*2 - 1) * sheetReach
		p[shapes+i] = bow * math.Cos(2*u)
	}
	c.set(p)
	const unit = restoretest.PageHeight / 2
	return func(x, y float64) (float64, float64) {
		s, t := c.toSheet((x-restoretest.PageWidth/2)/unit, (y-restoretest.PageHeight/2)/unit)
		return restoretest.PageWidth/2 + s*unit, restoretest.PageHeight/2 + t*unit
	}
}

func mirrored(m *image.RGBA) *image.RGBA {
	out := image.NewRGBA(m.Rect)
	for y := range m.Rect.Dy() {
		for x := range m.Rect.Dx() {
			out.SetRGBA(m.Rect.Dx()-1-x, y, m.RGBAAt(x, y))
		}
	}
	return out
}

// unevenRows is how far the rows of the page are off straight ones on the straightened page, in its
// pixels, on the mean.
func unevenRows(w *raster.Warp, at func(x, y float64) (float64, float64)) (off float64) {
	n := 0.0
	for v := 0.2; v < 0.81; v += 0.1 {
		var ys []float64
		mean := 0.0
		for u := 0.2; u < 0.81; u += 0.05 {
			_, y := at(picturePlace(w, u, v))
			ys, mean = append(ys, y), mean+y
		}
		mean /= float64(len(ys))
		for _, y := range ys {
			off += math.Abs(y - mean)
			n++
		}
	}
	return off / n
}

func TestFlattenUndoesCurl(t *testing.T) {
	page := restoretest.Page()
	for _, c := range []struct{ bow, tilt float64 }{{0.16, 0.2}, {-0.14, -0.25}} {
		at := curled(c.bow, c.tilt)
		f := flattened(t, restoretest.Seen(page, at))
		if f.Warp == nil || f.Curl == 0 {
			t.Errorf("a page bent by %g is left: %+v", c.bow, f)
			continue
		}
		if f.Confidence < 0.5 {
			t.Errorf("bent by %g: the confidence is %g", c.bow, f.Confidence)
		}
		if off := unevenRows(f.Warp, at); off > 1.5 {
			t.Errorf("bent by %g: rows are off by %.1f pixels", c.bow, off)
		}
	}
}

// A page and its mirror image are bent alike.
func TestFlattenIsTheSameInAMirror(t *testing.T) {
	m := restoretest.Seen(restoretest.Page(), curled(0.16, 0.2))
	one, other := flattened(t, m), flattened(t, mirrored(m))
	if one.Warp == nil || other.Warp == nil {
		t.Fatalf("left: %+v, %+v", one, other)
	}
	if d := math.Abs(one.Curl - other.Curl); d > 0.2*one.Curl {
		t.Errorf("the curl is %g and %g", one.Curl, other.Curl)
	}
	for _, p := range [][2]float64{{0.3, 0.3}, {0.5, 0.5}, {0.7, 0.8}} {
		x0, y0 := picturePlace(one.Warp, p[0], p[1])
		x1, y1 := picturePlace(other.Warp, 1-p[0], p[1])
		if d := math.Hypot(x0+x1-(restoretest.PageWidth-1), y0-y1); d > 12 {
			t.Errorf("%v comes from %.0f,%.0f and in the mirror from %.0f,%.0f", p, x0, y0, x1, y1)
		}
	}
}

// A fold along the columns bends the rows by an angle, which a ripple undoes.
func TestFlattenUndoesAFold(t *testing.T) {
	at := func(x, y float64) (float64, float64) {
		return x, y + 0.06*math.Sqrt((x-300)*(x-300)+900)
	}
	f := flattened(t, restoretest.Seen(restoretest.Page(), at))
	if f.Warp == nil || f.Curl == 0 {
		t.Fatalf("the page is left: %+v", f)
	}
	if off := unevenRows(f.Warp, at); off > 1.5 {
		t.Errorf("rows are off by %.1f pixels", off)
	}
}

// The flat sheet is where its picture says, and back.
func TestCylinderThereAndBack(t *testing.T) {
	c := &cylinder{reach: sheetReach}
	c.set([]float64{0.2, -0.15, 0.1, 0.2, -0.1, 0.05, 0.1, 0, -0.05, -0.1, 0, 0.1, 0.2})
	for _, p := range [][2]float64{{0, 0}, {0.6, -0.8}, {-0.7, 0.9}} {
		x, y := c.toPicture(c.toSheet(p[0], p[1]))
		if d := math.Hypot(x-p[0], y-p[1]); d > 1e-3 {
			t.Errorf("%v came back as %g,%g", p, x, y)
		}
	}
}

func TestFlattenTakesAnySize(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 900}, {900, 1}, {3, 5}, {2000, 12}, {12, 2000},
		{40, 40}} {
		for _, shade := range []uint8{0, 255} {
			m := image.NewRGBA(image.Rect(0, 0, size[0], size[1]))
			for i := range m.Pix {
				m.Pix[i] = shade
				if i%4 == 3 {
					m.Pix[i] = 255
				}
			}
			if f := flattened(t, m); f.Warp != nil {
				t.Errorf("a blank picture of %v pixels is warped", size)
			}
		}
	}
}

// A page of figures alone, however they bend, says nothing of the sheet.
func TestFlattenLeavesFigures(t *testing.T) {
	m := image.NewRGBA(image.Rect(0, 0, restoretest.PageWidth, restoretest.PageHeight))
	for i := range m.Pix {
		m.Pix[i] = 255
	}
	for k := range 3 {
		for i := range 2000 {
			a := float64(i) * math.Pi / 1000
			x, y := 360+(80+70*float64(k))*math.Cos(a), 300+200*float64(k)+60*math.Sin(2*a)
			for d := range 3 {
				m.SetRGBA(int(x), int(y)+d, color.RGBA{0, 0, 0, 255})
			}
		}
	}
	if f := flattened(t, m); f.Warp != nil {
		t.Errorf("curves are warped: %+v", f)
	}
}
