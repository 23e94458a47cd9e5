package restore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"unink/internal/nn"
	"unink/internal/raster"
)

var (
	black = color.RGBA{30, 30, 32, 255}
	blue  = color.RGBA{30, 40, 190, 255}
	red   = color.RGBA{200, 30, 40, 255}
)

// paper makes a sheet of uneven light with grain.
func paper(w, h int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	noise := uint32(1)
	for y := range h {
		for x := range w {
			noise = noise*1664525 + 1013904223
			v := 238 - 30*float64(x)/float64(w) + float64(noise>>29) - 3
			m.SetRGBA(x, y, color.RGBA{uint8(v), uint8(v - 3), uint8(v - 8), 255})
		}
	}
	return m
}

func bar(m *image.RGBA, x0, y0, x1, y1 float64, c color.RGBA) {
	r := image.Rect(int(math.Round(x0)), int(math.Round(y0)), int(math.Round(x1)), int(math.Round(y1)))
	r = r.Intersect(m.Rect)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			m.SetRGBA(x, y, c)
		}
	}
}

// stroke draws a slanting line of width wide.
func stroke(m *image.RGBA, x, y, length, slope, wide float64, c color.RGBA) {
	for t := 0.0; t < length; t++ {
		bar(m, x+t, y+slope*t, x+t+wide, y+slope*t+wide, c)
	}
}

// sheet draws lines of black print with a ruled line under each. em is the print's size.
func sheet(w, h int, em float64) *image.RGBA {
	m := paper(w, h)
	for y := 2 * em; y < float64(h)-2*em; y += 2.5 * em {
		for x := 2 * em; x < float64(w)-3*em; x += 0.6 * em {
			if int(x/em)%5 != 4 {
				bar(m, x, y-0.7*em, x+0.15*em, y, black)
				bar(m, x, y-0.4*em, x+0.45*em, y-0.27*em, black)
			}
		}
		bar(m, 2*em, y+0.5*em, float64(w)-2*em, y+0.5*em+max(0.08*em, 1), black)
	}
	return m
}

// written is a sheet with strokes across its print and its ruled lines, and the sheet itself.
func written(w, h int, em float64, c color.RGBA) (m, clean *image.RGBA) {
	clean = sheet(w, h, em)
	m = image.NewRGBA(clean.Rect)
	copy(m.Pix, clean.Pix)
	for y := 2 * em; y < float64(h)-4*em; y += 5 * em {
		stroke(m, 5*em, y-0.8*em, 5*em, 0.4, max(0.13*em, 2), c)
	}
	return m, clean
}

func clean(t testing.TB, m *image.RGBA, o Options) *Page {
	t.Helper()
	e := Engine{Segmenter: nn.Fake{}, Orienter: nn.Upright{}, Flattener: nn.Flat{}, Em: 24, Threads: 2}
	p, err := e.Clean(context.Background(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func difference(a, b []uint8) (d int) {
	for i := range a[:3] {
		d = max(d, int(a[i])-int(b[i]), int(b[i])-int(a[i]))
	}
	return d
}

// Outside what was removed, the colour finish leaves every pixel as it was.
func TestColourFinishKeepsTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(20, 400).Draw(t, "w"), rapid.IntRange(20, 300).Draw(t, "h")
		m, _ := written(w, h, rapid.Float64Range(10, 40).Draw(t, "em"), blue)
		before := bytes.Clone(m.Pix)
		e := Engine{Segmenter: nn.Fake{}, Orienter: nn.Upright{}, Flattener: nn.Flat{}, Em: 24, Threads: rapid.IntRange(1, 4).Draw(t, "threads")}
		p, err := e.Clean(context.Background(), m, Options{Finish: Colour, Layers: true})
		if errors.Is(err, ErrNoContent) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(m.Pix, before) {
			t.Fatal("the input was changed")
		}
		for i, v := range p.Mask.Pix {
			if v == 0 && difference(p.Image.Pix[4*i:], before[4*i:]) != 0 {
				t.Fatalf("pixel %d,%d changed outside the mask", i%w, i/w)
			}
		}
	})
}

func TestWritingGoesPrintStays(t *testing.T) {
	for _, em := range []float64{14, 24, 55} {
		t.Run(fmt.Sprint(em), func(t *testing.T) {
			w, h := int(40*em), int(30*em)
			m, truth := written(w, h, em, blue)
			p := clean(t, m, Options{Finish: Colour})
			var ink, left, print, lost int
			for i := 0; i < len(m.Pix); i += 4 {
				dark := truth.Pix[i] < 100
				switch {
				case difference(m.Pix[i:], truth.Pix[i:]) > 40 && !dark:
					ink++
					if difference(p.Image.Pix[i:], truth.Pix[i:]) > 24 {
						left++
					}
				case dark:
					print++
					if p.Image.Pix[i] > 130 {
						lost++
					}
				}
			}
			if ink == 0 || float64(left) > 0.03*float64(ink) {
				t.Errorf("%d of %d pixels of writing left", left, ink)
			}
			if float64(lost) > 0.01*float64(print) {
				t.Errorf("%d of %d pixels of print lost", lost, print)
			}
		})
	}
}

// Where a stroke crosses a ruled line, the line goes on in its own colour.
func TestRuleGoesOn(t *testing.T) {
	const em = 24
	m := sheet(40*em, 12*em, em)
	line := 2*em + em/2
	for x := 8 * em; x < 30*em; x += 2 * em {
		bar(m, float64(x), float64(line-em/2), float64(x+4), float64(line+em/2), blue)
	}
	p := clean(t, m, Options{Finish: Colour})
	for x := 4 * em; x < 36*em; x++ {
		if got := p.Image.RGBAAt(x, line); got.R > 90 || got.B > 90 {
			t.Fatalf("the line is %v at x=%d", got, x)
		}
	}
}

// A word that stands on its answer line leaves no piece of it long enough to be a line by itself.
func TestRuleGoesOnUnderAWord(t *testing.T) {
	const em = 24
	m := sheet(40*em, 12*em, em)
	line := 2*em + em/2
	bar(m, 2*em, float64(line), 32*em, float64(line+3), color.RGBA{222, 219, 214, 255}) // paper
	for x := 32*em + 16; x < 38*em-40; x += 12 {
		bar(m, float64(x), float64(line-em/2), float64(x+5), float64(line+6), blue)
	}
	p := clean(t, m, Options{Finish: Colour})
	for x := 32*em + 2; x < 38*em-2; x++ {
		if got := p.Image.RGBAAt(x, line); got.R > 90 || got.B > 90 {
			t.Fatalf("the line is %v at x=%d", got, x)
		}
	}
}

func TestOnlyTheInkAskedFor(t *testing.T) {
	const em = 24
	for _, c := range []struct {
		remove    Ink
		blue, red bool // gone
	}{{0, true, true}, {Blue, true, false}, {Red, false, true}, {Green | Black, false, false}} {
		m := sheet(40*em, 20*em, em)
		stroke(m, 6*em, 1.2*em, 100, 0, 4, blue)
		stroke(m, 20*em, 1.2*em, 100, 0, 4, red)
		p := clean(t, m, Options{Finish: Colour, Remove: c.remove})
		gone := func(x int) bool {
			return difference(p.Image.Pix[p.Image.PixOffset(x, 31):], m.Pix[m.PixOffset(x, 31):]) > 40
		}
		if gone(6*em+50) != c.blue || gone(20*em+50) != c.red {
			t.Errorf("remove %b: blue gone %v, red gone %v", c.remove, gone(6*em+50), gone(20*em+50))
		}
	}
}

func TestInkOf(t *testing.T) {
	for want, shares := range map[Ink][][3]float64{
		Black:  {{0.1, 0.1, 0.12}, {0.3, 0.28, 0.3}},
		Pencil: {{0.6, 0.6, 0.62}, {0.75, 0.75, 0.75}},
		Blue:   {{0.2, 0.3, 0.8}, {0.1, 0.1, 0.4}, {0.4, 0.7, 0.95}},
		Red:    {{0.8, 0.2, 0.2}, {0.9, 0.5, 0.6}},
		Green:  {{0.2, 0.6, 0.3}, {0.3, 0.7, 0.4}},
	} {
		for _, s := range shares {
			if got := inkOf(s); got != want {
				t.Errorf("%v is ink %b, want %b", s, got, want)
			}
		}
	}
}

// The writing laid over the cleaned page is the page as it was.
func TestLayersRecompose(t *testing.T) {
	m, _ := written(700, 500, 24, blue)
	p := clean(t, m, Options{Finish: Colour, Layers: true})
	for i := range p.Mask.Pix {
		ink, under := p.Handwriting.Pix[4*i:4*i+4], p.Image.Pix[4*i:4*i+4]
		var over [3]uint8
		for ch := range over {
			a := float64(ink[3]) / 255
			over[ch] = uint8(a*float64(ink[ch]) + (1-a)*float64(under[ch]) + 0.5)
		}
		if difference(over[:], m.Pix[4*i:]) > 3 {
			t.Fatalf("pixel %d: %v over %v gives %v, was %v", i, ink, under, over, m.Pix[4*i:4*i+4])
		}
		if p.Mask.Pix[i] == 0 && ink[3] != 0 {
			t.Fatalf("pixel %d: writing outside the mask", i)
		}
	}
}

func TestScanFinish(t *testing.T) {
	m, truth := written(900, 700, 24, blue)
	p := clean(t, m, Options{Finish: Scan})
	paper, white, print, dark := 0, 0, 0, 0
	for i := 0; i < len(m.Pix); i += 4 {
		if truth.Pix[i] > 190 {
			paper++
			if p.Image.Pix[i] >= 250 && p.Image.Pix[i+2] >= 250 {
				white++
			}
		} else if truth.Pix[i] < 60 {
			print++
			if p.Image.Pix[i] < 60 {
				dark++
			}
		}
	}
	if float64(white) < 0.97*float64(paper) {
		t.Errorf("%d of %d pixels of paper are white", white, paper)
	}
	if float64(dark) < 0.97*float64(print) {
		t.Errorf("%d of %d pixels of print are dark", dark, print)
	}
}

func TestDeterministic(t *testing.T) {
	m, _ := written(1000, 800, 24, blue)
	for _, finish := range []Finish{Scan, Colour} {
		first := clean(t, m, Options{Finish: finish})
		for _, threads := range []int{1, 3} {
			e := Engine{Segmenter: nn.Fake{}, Orienter: nn.Upright{}, Flattener: nn.Flat{}, Em: 24, Threads: threads}
			p, err := e.Clean(context.Background(), m, Options{Finish: finish})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(p.Image.Pix, first.Image.Pix) {
				t.Errorf("finish %d: another result with %d threads", finish, threads)
			}
		}
	}
}

func TestBlankPage(t *testing.T) {
	e := Engine{Segmenter: nn.Fake{}, Orienter: nn.Upright{}, Flattener: nn.Flat{}, Em: 24, Threads: 1}
	if _, err := e.Clean(context.Background(), paper(400, 300), Options{}); !errors.Is(err, ErrNoContent) {
		t.Errorf("%v, want ErrNoContent", err)
	}
}

// Pages of any shape come through, also those with sides of a few pixels.
func TestAnySize(t *testing.T) {
	for _, size := range []image.Point{{1, 1}, {1, 400}, {400, 1}, {3, 7}, {16, 16}, {673, 31}, {31, 673}, {1400, 20}} {
		m := image.NewRGBA(image.Rectangle{Max: size})
		for i := range m.Pix {
			m.Pix[i] = uint8(i*i) | 15
			if i%4 == 3 {
				m.Pix[i] = 255
			}
		}
		for _, finish := range []Finish{Scan, Colour} {
			e := Engine{Segmenter: nn.Fake{}, Orienter: nn.Upright{}, Flattener: nn.Flat{}, Em: 24, Threads: 2}
			p, err := e.Clean(context.Background(), m, Options{Finish: finish, Remove: Blue, Layers: true})
			if err != nil && !errors.Is(err, ErrNoContent) {
				t.Errorf("%v: %v", size, err)
			}
			if err == nil && p.Image.Rect != m.Rect {
				t.Errorf("%v became %v", size, p.Image.Rect)
			}
		}
	}
}

// stopAfter is a runner whose context ends while it works on a tile.
type stopAfter struct {
	nn.Fake
	tiles int
	stop  context.CancelFunc
}

func (s *stopAfter) Run(ctx context.Context, shape nn.Shape, in, out []float32) error {
	if s.tiles--; s.tiles == 0 {
		s.stop()
	}
	return s.Fake.Run(context.WithoutCancel(ctx), shape, in, out)
}

func TestStopsBetweenTiles(t *testing.T) {
	// One thread, so that no other tile is being worked on when the context ends.
	ctx, cancel := context.WithCancel(context.Background())
	r := &stopAfter{tiles: 2, stop: cancel}
	e := Engine{Segmenter: r, Orienter: nn.Upright{}, Flattener: nn.Flat{}, Em: 24, Threads: 1}
	if _, err := e.Clean(ctx, sheet(1500, 1500, 24), Options{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v, want context.Canceled", err)
	}
	if r.tiles != 0 {
		t.Errorf("%d more tiles after the context ended", -r.tiles)
	}
}

// Cutting a picture into tiles and stitching their cores gives every pixel once, in its place.
func TestTilesStitch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6000).Draw(t, "n")
		side := rapid.SampledFrom([]int{nn.Portrait.W, nn.Portrait.H}).Draw(t, "side")
		next := 0
		for _, s := range tileSpans(n, side) {
			if s.core0 != next {
				t.Fatalf("core starts at %d, the last ended at %d", s.core0, next)
			}
			next = s.core1
			margin := func(edge, of int) bool { return edge == 0 || edge == n || of >= tileMargin }
			if !margin(s.core0, s.core0-s.at) || !margin(s.core1, s.at+side-s.core1) {
				t.Fatalf("a core of %+v lacks context", s)
			}
		}
		if next != n {
			t.Fatalf("tiles end at %d of %d", next, n)
		}
	})
}

// identity answers with the red plane in the hand score, so that stitching can be seen.
type identity struct{}

func (identity) Run(_ context.Context, shape nn.Shape, in, out []float32) error {
	plane := shape.Pixels()
	clear(out)
	for i, v := range in[:plane] {
		out[nn.Handwriting*plane+i] = v * 255 / scoreUnit
		out[nn.Both*plane+i] = -100
	}
	return nil
}

func TestSegmentStitchesInPlace(t *testing.T) {
	for _, size := range []image.Point{{300, 200}, {672, 673}, {1500, 700}, {1400, 2000}} {
		m := raster.NewRGB(size.X, size.Y)
		for i := range m.Pix[0] {
			m.Pix[0][i] = uint8((i%size.X*7 + i/size.X*13) % 120)
		}
		s, err := segment(context.Background(), identity{}, m, [3]float32{1, 1, 1}, 2)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range m.Pix[0] {
			if d := int(s.hand[i]) - int(v); d < -1 || d > 1 {
				t.Fatalf("%v: pixel %d,%d is %d, want %d", size, i%size.X, i/size.X, s.hand[i], v)
			}
		}
	}
}

func TestPrintSize(t *testing.T) {
	for _, em := range []float64{14, 24, 40, 60} {
		m := sheet(int(50*em), int(70*em), em)
		if got := measurePrint(m, 2).likely(); got < 0.7*em || got > 1.4*em {
			t.Errorf("print of %g px is taken for %g", em, got)
		}
	}
}

func TestPrintHasOneSizeWhicheverWayItLies(t *testing.T) {
	page := picture(t, filepath.Join("..", "..", "docs", "before.jpg"))
	upright := measurePrint(page, 2).likely()
	for quarters := 1; quarters < 4; quarters++ {
		if got := measurePrint(raster.Turn(page, quarters), 2).likely(); got < 0.97*upright || got > 1.03*upright {
			t.Errorf("print of %.1f px is taken for %.1f once turned %d times", upright, got, quarters)
		}
	}
}

// What is measured of a page that lies turned is what is measured of it upright.
func TestPrintSizeTurnsWithThePage(t *testing.T) {
	page := picture(t, filepath.Join("..", "..", "docs", "before.jpg"))
	upright := measurePrint(page, 2)
	for quarters := 1; quarters < 4; quarters++ {
		back := measurePrint(raster.Turn(page, quarters), 2).turned(quarters)
		for way, em := range upright.em {
			if got := back.em[way]; got < 0.97*em || got > 1.03*em {
				t.Errorf("print of %.1f px, its lines running way %d, is taken for %.1f once turned %d times", em, way, got, quarters)
			}
		}
	}
}

func BenchmarkPhoto(b *testing.B) {
	src, _ := written(4000, 3000, 55, blue)
	for b.Loop() {
		clean(b, src, Options{Finish: Scan})
	}
}
