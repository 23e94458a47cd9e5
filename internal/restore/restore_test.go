package restore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"testing"

	"pgregory.net/rapid"

	"unink/internal/nn"
	"unink/internal/restore/ink"
	"unink/internal/restore/restoretest"
)

// engine works with networks that are none.
func engine(threads int) *Engine {
	return &Engine{
		Segmenter: nn.Fake{}, Overview: nn.Blind{}, Judge: nn.Trusting{}, Orienter: nn.Upright{},
		Flattener: nn.Flat{}, Em: 24,
		Threads: threads,
	}
}

func clean(t testing.TB, m *image.RGBA, o Options) *Page {
	t.Helper()
	e := engine(2)
	p, err := e.Clean(context.Background(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Outside what was removed, the colour finish leaves every pixel as it was.
func TestColourFinishKeepsTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(20, 400).Draw(t, "w"), rapid.IntRange(20, 300).Draw(t, "h")
		m, _ := restoretest.Written(w, h, rapid.Float64Range(10, 40).Draw(t, "em"),
			restoretest.Blue)
		before := bytes.Clone(m.Pix)
		e := engine(rapid.IntRange(1, 4).Draw(t, "threads"))
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
			if v == 0 && restoretest.Difference(p.Image.Pix[4*i:], before[4*i:]) != 0 {
				t.Fatalf("pixel %d,%d changed outside the mask", i%w, i/w)
			}
		}
	})
}

func TestWritingGoesPrintStays(t *testing.T) {
	for _, em := range []float64{14, 24, 55} {
		t.Run(fmt.Sprint(em), func(t *testing.T) {
			w, h := int(40*em), int(30*em)
			m, truth := restoretest.Written(w, h, em, restoretest.Blue)
			p := clean(t, m, Options{Finish: Colour})
			var plane, left, print, lost int
			for i := 0; i < len(m.Pix); i += 4 {
				dark := truth.Pix[i] < 100
				switch {
				case restoretest.Difference(m.Pix[i:], truth.Pix[i:]) > 40 && !dark:
					plane++
					if restoretest.Difference(p.Image.Pix[i:], truth.Pix[i:]) > 24 {
						left++
					}
				case dark:
					print++
					if p.Image.Pix[i] > 130 {
						lost++
					}
				}
			}
			if plane == 0 || float64(left) > 0.03*float64(plane) {
				t.Errorf("%d of %d pixels of writing left", left, plane)
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
	m := restoretest.Sheet(40*em, 12*em, em)
	line := 2*em + em/2
	for x := 8 * em; x < 30*em; x += 2 * em {
		restoretest.Bar(m, float64(x), float64(line-em/2), float64(x+4), float64(line+em/2),
			restoretest.Blue)
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
	m := restoretest.Sheet(40*em, 12*em, em)
	line := 2*em + em/2
	// Paper.
	restoretest.Bar(m, 2*em, float64(line), 32*em, float64(line+3), color.RGBA{222, 219, 214, 255})
	for x := 32*em + 16; x < 38*em-40; x += 12 {
		restoretest.Bar(m, float64(x), float64(line-em/2), float64(x+5), float64(line+6),
			restoretest.Blue)
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
		remove    ink.Set
		blue, red bool // gone
	}{{0, true, true}, {ink.Blue, true, false}, {ink.Red, false, true},
		{ink.Green | ink.Black, false, false}} {
		m := restoretest.Sheet(40*em, 20*em, em)
		restoretest.Stroke(m, 6*em, 1.2*em, 100, 0, 4, restoretest.Blue)
		restoretest.Stroke(m, 20*em, 1.2*em, 100, 0, 4, restoretest.Red)
		p := clean(t, m, Options{Finish: Colour, Remove: c.remove})
		gone := func(x int) bool {
			return restoretest.Difference(p.Image.Pix[p.Image.PixOffset(x, 31):],
				m.Pix[m.PixOffset(x, 31):]) > 40
		}
		if gone(6*em+50) != c.blue || gone(20*em+50) != c.red {
			t.Errorf("remove %b: blue gone %v, red gone %v", c.remove, gone(6*em+50),
				gone(20*em+50))
		}
	}
}

// The writing laid over the cleaned page is the page as it was.
func TestLayersRecompose(t *testing.T) {
	m, _ := restoretest.Written(700, 500, 24, restoretest.Blue)
	p := clean(t, m, Options{Finish: Colour, Layers: true})
	for i := range p.Mask.Pix {
		over, under := p.Handwriting.Pix[4*i:4*i+4], p.Image.Pix[4*i:4*i+4]
		var laid [3]uint8
		for ch := range laid {
			a := float64(over[3]) / 255
			laid[ch] = uint8(a*float64(over[ch]) + (1-a)*float64(under[ch]) + 0.5)
		}
		if restoretest.Difference(laid[:], m.Pix[4*i:]) > 3 {
			t.Fatalf("pixel %d: %v over %v gives %v, was %v", i, over, under, laid,
				m.Pix[4*i:4*i+4])
		}
		if p.Mask.Pix[i] == 0 && over[3] != 0 {
			t.Fatalf("pixel %d: writing outside the mask", i)
		}
	}
}

func TestScanFinish(t *testing.T) {
	m, truth := restoretest.Written(900, 700, 24, restoretest.Blue)
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
	m, _ := restoretest.Written(1000, 800, 24, restoretest.Blue)
	for _, finish := range []Finish{Scan, Colour} {
		first := clean(t, m, Options{Finish: finish})
		for _, threads := range []int{1, 3} {
			e := engine(threads)
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
	e := engine(1)
	if _, err := e.Clean(context.Background(), restoretest.Paper(400, 300),
		Options{}); !errors.Is(err, ErrNoContent) {
		t.Errorf("%v, want ErrNoContent", err)
	}
}

// Pages of any shape come through, also those with sides of a few pixels.
func TestAnySize(t *testing.T) {
	for _, size := range []image.Point{{1, 1}, {1, 400}, {400, 1}, {3, 7}, {16, 16}, {673, 31},
		{31, 673}, {1400, 20}} {
		m := image.NewRGBA(image.Rectangle{Max: size})
		for i := range m.Pix {
			m.Pix[i] = uint8(i*i) | 15
			if i%4 == 3 {
				m.Pix[i] = 255
			}
		}
		for _, finish := range []Finish{Scan, Colour} {
			e := engine(2)
			p, err := e.Clean(context.Background(), m,
				Options{Finish: finish, Remove: ink.Blue, Layers: true})
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

func (s *stopAfter) Run(ctx context.Context, in, out []nn.Tensor) error {
	if s.tiles--; s.tiles == 0 {
		s.stop()
	}
	return s.Fake.Run(context.WithoutCancel(ctx), in, out)
}

func TestStopsBetweenTiles(t *testing.T) {
	// One thread, so that no other tile is being worked on when the context ends.
	ctx, cancel := context.WithCancel(context.Background())
	r := &stopAfter{tiles: 2, stop: cancel}
	e := Engine{Segmenter: r, Overview: nn.Blind{}, Judge: nn.Trusting{}, Orienter: nn.Upright{},
		Flattener: nn.Flat{}, Em: 24, Threads: 1}
	if _, err := e.Clean(ctx, restoretest.Sheet(1500, 1500, 24), Options{}); !errors.Is(err,
		context.Canceled) {
		t.Fatalf("%v, want context.Canceled", err)
	}
	if r.tiles != 0 {
		t.Errorf("%d more tiles after the context ended", -r.tiles)
	}
}

func BenchmarkPhoto(b *testing.B) {
	src, _ := restoretest.Written(4000, 3000, 55, restoretest.Blue)
	for b.Loop() {
		clean(b, src, Options{Finish: Scan})
	}
}
