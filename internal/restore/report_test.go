package restore

import (
	"context"
	"image"
	"math"
	"slices"
	"testing"

	"unink/internal/nn"
	"unink/internal/raster"
	"unink/internal/restore/restoretest"
)

// turned is a [nn.Runner] that takes every page for turned clockwise by so many quarters.
type turned struct{ quarters, runs int }

func (q *turned) Run(_ context.Context, _, out []nn.Tensor) error {
	clear(out[0].Floats)
	// Each time it is shown a page turned back by another quarter.
	out[0].Floats[(q.quarters+3*q.runs)%4] = 20
	q.runs++
	return nil
}

// What was corrected is told in the pixels of the picture that came, however it lay.
func TestCornersAreThoseOfThePictureThatCame(t *testing.T) {
	const degrees = 4
	upright := restoretest.Seen(restoretest.Page(),
		restoretest.TurnedBy(degrees, restoretest.PageWidth, restoretest.PageHeight))
	var first *Page
	for quarters := range 4 {
		e := Engine{Segmenter: nn.Fake{}, Overview: nn.Blind{}, Judge: nn.Trusting{},
			Orienter:  &turned{quarters: quarters},
			Flattener: nn.Flat{}, Em: 24, Threads: 2}
		p, err := e.Clean(context.Background(), raster.Turn(upright, quarters), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if quarters == 0 {
			first = p
			x, y := p.Corners[1][0]-p.Corners[0][0], p.Corners[1][1]-p.Corners[0][1]
			if slope := math.Atan2(y, x) * 180 / math.Pi; math.Abs(slope-p.Skew) > 0.2 ||
				math.Abs(math.Abs(p.Skew)-degrees) > 0.3 {
				t.Errorf("the skew is %.2f°, the upper edge slopes by %.2f°, want ±%d°",
					p.Skew, slope, degrees)
			}
		}
		if !p.Flattened || p.Turned != (360-90*quarters)%360 || math.Abs(p.Skew-first.Skew) > 0.1 {
			t.Errorf("turned by %d°: turned back by %d°, flattened %v, skew %.2f°", 90*quarters,
				p.Turned, p.Flattened, p.Skew)
		}
		for i, c := range first.Corners {
			for range quarters { // clockwise; only the height before each turn is needed
				c = [2]float64{-c[1], c[0]}
			}
			shift := [4][2]float64{{0, 0}, {restoretest.PageHeight, 0},
				{restoretest.PageWidth, restoretest.PageHeight},
				{0, restoretest.PageWidth}}[quarters]
			c[0], c[1] = c[0]+shift[0], c[1]+shift[1]
			if d := math.Hypot(p.Corners[i][0]-c[0], p.Corners[i][1]-c[1]); d > 1.5 {
				t.Errorf("turned by %d°: corner %d is at %.1f, want %.1f", 90*quarters, i,
					p.Corners[i], c)
			}
		}
		for name, v := range map[string]float64{"orient": p.Confidence.Orient,
			"flatten": p.Confidence.Flatten, "segment": p.Confidence.Segment} {
			if v < 0.5 || v > 1 {
				t.Errorf("the confidence of %s is %.3f", name, v)
			}
		}
	}
}

// A sheet that lies askew on a darker desk is turned upright and cut out of it.
func TestASheetThatLiesAskewIsCutOut(t *testing.T) {
	const w, h = restoretest.PageWidth, restoretest.PageHeight
	page := restoretest.Page()
	for quarters, degrees := range []float64{-40, 20, 31} {
		turn := restoretest.TurnedBy(degrees, w, h)
		at := func(x, y float64) (float64, float64) {
			const smaller = 1.5
			x, y = turn(x, y)
			return w/2 + smaller*(x-w/2), h/2 + smaller*(y-h/2)
		}
		picture := restoretest.OnDesk(page, at)
		e := engine(2)
		e.Orienter = &turned{quarters: quarters}
		p := workOn(e, raster.Turn(picture, quarters), Options{})
		for _, stage := range []func(context.Context) (*image.RGBA, error){p.orient, p.flatten} {
			if _, err := stage(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		for i, want := range [4][2]float64{{0, 0}, {w, 0}, {w, h}, {0, h}} {
			corner := unturn(p.result.Corners[i], quarters, picture.Rect.Size())
			x, y := at(corner[0], corner[1])
			if d := math.Hypot(x-want[0], y-want[1]); d > 12 {
				t.Errorf("turned by %g°: corner %v is %.0f,%.0f of the page", degrees, want, x, y)
			}
		}
	}
}

func TestAPageLeftAloneReportsNothing(t *testing.T) {
	p := clean(t, restoretest.Page(),
		Options{Finish: Colour})
	if p.Turned != 0 || p.Flattened || p.Skew != 0 || p.Corners != [4][2]float64{} ||
		p.Confidence.Orient != 0 || p.Confidence.Flatten != 0 {
		t.Errorf("reported %+v", p.Confidence)
	}
}

func TestStagesAreShownInTheirOrder(t *testing.T) {
	m, _ := restoretest.Written(300, 200, 24, restoretest.Blue)
	var names []string
	var last []uint8
	e := engine(2)
	e.Show = func(_ context.Context, stage string, page *image.RGBA) {
		names, last = append(names, stage), page.Pix
		if stage == "segment" {
			red := 0
			for i := 0; i < len(page.Pix); i += 4 {
				if page.Pix[i] == 220 && page.Pix[i+1] == 30 {
					red++
				}
			}
			if red == 0 {
				t.Error("no writing is shown")
			}
		}
	}
	p, err := e.Clean(context.Background(), m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"input", "orient", "flatten", "demoire", "segment", "erase",
		"finish"}; !slices.Equal(names, want) {
		t.Errorf("shown %v, want %v", names, want)
	}
	if !slices.Equal(last, p.Image.Pix) {
		t.Error("the last picture shown is not the result")
	}
}

// A page that came in black and white stays so, however it was straightened.
func TestBlackAndWhiteStays(t *testing.T) {
	src := restoretest.Seen(restoretest.Page(),
		restoretest.TurnedBy(2, restoretest.PageWidth, restoretest.PageHeight))
	raster.ToBilevel(src)
	p := clean(t, src, Options{})
	if !p.Flattened || !raster.Bilevel(p.Image) {
		t.Errorf("flattened %v, black and white %v", p.Flattened, raster.Bilevel(p.Image))
	}
}
