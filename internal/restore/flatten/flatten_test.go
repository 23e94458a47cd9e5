package flatten

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"math"
	"testing"

	"unink/internal/nn"
	"unink/internal/raster"
	"unink/internal/restore/measure"
	"unink/internal/restore/restoretest"
)

// flattened is what Flatten finds by the lines alone.
func flattened(t testing.TB, src *image.RGBA) Result {
	t.Helper()
	f, err := find(context.Background(), nn.Flat{}, src, 2)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// find looks at a picture in the size that it has.
func find(ctx context.Context, network nn.Runner, src *image.RGBA, workers int) (Result, error) {
	m := raster.Resize(src, src.Rect.Dx(), src.Rect.Dy(), workers)
	return Find(ctx, network, m, measure.Print(src, workers).Likely(), workers)
}

func TestFlattenLeavesAStraightPage(t *testing.T) {
	page := restoretest.Page()
	for _, degrees := range []float64{0, 0.08} {
		m := page
		if degrees != 0 {
			m = restoretest.Seen(page, restoretest.TurnedBy(degrees, restoretest.PageWidth,
				restoretest.PageHeight))
		}
		if flattened(t, m).Warp != nil {
			t.Errorf("a page turned by %g degrees is warped", degrees)
		}
	}
}

// The way there and back ends where it began but for a turn of 0.2 degrees, and a move and scale.
func TestFlattenTurnsASkewedPage(t *testing.T) {
	page := restoretest.Page()
	for _, degrees := range []float64{-11, 0.5, 4} {
		there := restoretest.TurnedBy(degrees, restoretest.PageWidth, restoretest.PageHeight)
		f := flattened(t, restoretest.Seen(page, there))
		w, confidence := f.Warp, f.Confidence
		if w == nil {
			t.Errorf("a page turned by %g degrees is left", degrees)
			continue
		}
		if confidence < 0.8 {
			t.Errorf("%g degrees: the confidence is %g", degrees, confidence)
		}
		x0, y0 := there(picturePlace(w, 0.25, 0.5))
		x1, y1 := there(picturePlace(w, 0.75, 0.5))
		if remaining := math.Atan2(y1-y0, x1-x0) * 180 / math.Pi; math.Abs(remaining) > 0.2 {
			t.Errorf("of %g degrees %g are left", degrees, remaining)
		}
	}
}

// picturePlace is where in a picture of the test's size a place of the straightened page, in shares
// of it, comes from.
func picturePlace(w *raster.Warp, u, v float64) (float64, float64) {
	x, y := w.At(u*float64(w.W), v*float64(w.H))
	return (x+0.5)*restoretest.PageWidth/float64(w.SrcW) - 0.5,
		(y+0.5)*restoretest.PageWidth/float64(w.SrcW) - 0.5
}

// A sheet on a dark desk, seen at an angle, is shown from above and cut out.
func TestFlattenCutsOutTheSheet(t *testing.T) {
	at := restoretest.FromAbove(restoretest.PageWidth, restoretest.PageHeight)
	w := flattened(t, restoretest.OnDesk(restoretest.Page(), at)).Warp
	if w == nil {
		t.Fatal("the page is left")
	}
	const off = 12 // pixels of the page
	for _, c := range [4][2]float64{{0, 0}, {1, 0}, {0, 1}, {1, 1}} {
		x, y := at(picturePlace(w, c[0], c[1]))
		if d := math.Hypot(x-c[0]*restoretest.PageWidth, y-c[1]*restoretest.PageHeight); d > off {
			t.Errorf("corner %v comes from %.0f,%.0f of the page", c, x, y)
		}
	}
}

// A sheet that was cut askew to its print is cut out of a desk, too, as far as a rectangle can.
// What lies in a printed frame that leans is not.
func TestFlattenCutsOutASheetThatWasCutAskew(t *testing.T) {
	const w, h, margin, frame, askew = 1000, 1200, 50, 40, 3.0 // pixels; degrees
	page := restoretest.PrintedPage(600, 800)
	onSheet := restoretest.TurnedBy(askew, w, h)
	at := image.Pt((w-600)/2, (h-800)/2)
	for name, wide := range map[string]float64{"a desk": w, "a frame": frame} {
		photo := image.NewRGBA(image.Rect(0, 0, w, h))
		for y := range h {
			for x := range w {
				u, v := onSheet(float64(x), float64(y))
				beyond := max(math.Abs(u-w/2)-300, math.Abs(v-h/2)-400) - margin
				c := page.RGBAAt(5, 5)
				if p := image.Pt(x, y).Sub(at); p.In(page.Rect) {
					c = page.RGBAAt(p.X, p.Y)
				} else if beyond >= 0 && beyond < wide {
					c = color.RGBA{70, 60, 50, 255}
				}
				photo.SetRGBA(x, y, c)
			}
		}
		warp := flattened(t, restoretest.Seen(photo, restoretest.TurnedBy(1.5, w, h))).Warp
		if warp == nil {
			t.Errorf("on %s the page is left", name)
			continue
		}
		const sheetW, sheetH, larger = 600 + 2*margin, 800 + 2*margin, 1.12
		cut := warp.W <= sheetW*larger && warp.H <= sheetH*larger
		if cut != (name == "a desk") || warp.W < sheetW || warp.H < sheetH {
			t.Errorf("on %s %d×%d pixels are shown of a sheet of %d×%d", name, warp.W, warp.H,
				sheetW, sheetH)
		}
	}
}

// Where no line of print is to be found nothing is done.
func TestFlattenLeavesWhatItDoesNotKnow(t *testing.T) {
	waves := image.NewRGBA(image.Rect(0, 0, 700, 900))
	speckled := image.NewRGBA(waves.Rect)
	seed := uint32(3)
	for i := 0; i < len(waves.Pix); i += 4 {
		x, y := float64(i/4%700), float64(i/4/700)
		seed = seed*1664525 + 1013904223
		v, n := uint8(128+100*math.Sin(x/30+y/45)*math.Cos(y/25)), uint8(255)
		if seed>>24 < 8 {
			n = 0
		}
		copy(waves.Pix[i:], []uint8{v, v, v, 255})
		copy(speckled.Pix[i:], []uint8{n, n, n, 255})
	}
	for name, m := range map[string]*image.RGBA{"waves": waves, "specks": speckled,
		"one pixel": image.NewRGBA(image.Rect(0, 0, 1, 1))} {
		if flattened(t, m).Warp != nil {
			t.Errorf("%s are warped", name)
		}
	}
}

func TestFitPencilIsRobust(t *testing.T) {
	want := pencil{slope: 0.05, fan: -0.08}
	var guides []guide
	for i := range 30 {
		x, y := 0.2*float64(i%3-1), float64(i)/15-1
		g := guide{x: x, y: y, weight: 0.5, slope: (want.slope - want.fan*y) / (1 - want.fan*x)}
		if i%4 == 3 {
			g.slope += 0.05 * float64(i%5-2)
		}
		guides = append(guides, g)
	}
	got := fitPencil(guides)
	if math.Abs(got.slope-want.slope) > 0.001 || math.Abs(got.fan-want.fan) > 0.002 {
		t.Errorf("the pencil is %+v, want %+v", got.pencil, want)
	}
	if got.share < 0.7 || got.share > 0.9 {
		t.Errorf("%g of the lines agree", got.share)
	}
}

// The lines of both pencils are parallel to the axes of the plane, and back undoes to.
func TestPlaneOf(t *testing.T) {
	across, down := pencil{0.06, 0.1}, pencil{-0.09, -0.07}
	p, ok := planeOf(across, down)
	if !ok {
		t.Fatal("no plane")
	}
	for _, at := range [][2]float64{{0, 0}, {0.5, -0.6}, {-0.4, 0.7}} {
		x, y := at[0], at[1]
		slope := (across.slope - across.fan*y) / (1 - across.fan*x)
		_, y0 := p.toSheet(x, y)
		if _, y1 := p.toSheet(x+0.1, y+0.1*slope); math.Abs(y1-y0) > 1e-9 {
			t.Errorf("at %v a row rises by %g", at, y1-y0)
		}
		slope = (down.slope - down.fan*x) / (1 - down.fan*y)
		x0, y0 := p.toSheet(x, y)
		if x1, _ := p.toSheet(x+0.1*slope, y+0.1); math.Abs(x1-x0) > 1e-9 {
			t.Errorf("at %v a column leans by %g", at, x1-x0)
		}
		if bx, by := p.toPicture(x0, y0); math.Hypot(bx-x, by-y) > 1e-9 {
			t.Errorf("%v came back as %g,%g", at, bx, by)
		}
	}
}

func BenchmarkFlatten(b *testing.B) {
	page := restoretest.Seen(restoretest.PrintedPage(1240, 1754),
		restoretest.TurnedBy(2, 1240, 1754))
	m := raster.Resize(page, 1240, 1754, 2)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			for b.Loop() {
				f, err := Find(context.Background(), nn.Flat{}, m, 24, workers)
				if err != nil || f.Warp == nil {
					b.Fatal("the page is left")
				}
			}
		})
	}
}
