package orient

import (
	"context"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"unink/internal/nn"
	"unink/internal/raster"
	"unink/internal/restore/measure"
	"unink/internal/restore/restoretest"
)

// Wherever the print is, the window that the orientation network sees has it, as far as it is large
// enough.
func TestBusiestWindowHasThePrint(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const side, word = 200, 60
		w, h := rapid.IntRange(word, 700).Draw(rt, "w"), rapid.IntRange(word, 700).Draw(rt, "h")
		x, y := rapid.IntRange(0, w-word).Draw(rt, "x"), rapid.IntRange(0, h-word).Draw(rt, "y")
		grey := make([]uint8, w*h)
		for i := range grey {
			grey[i] = 255
			if dx, dy := i%w-x, i/w-y; dx >= 0 && dx < word && dy >= 0 && dy < word &&
				(dx/4+dy/4)%2 == 0 {
				grey[i] = 0
			}
		}
		at, n := busiest(edgesOf(grey, w, h, 2), w, h, side)
		if !at.In(image.Rect(0, 0, w, h)) || at.Dx() > side || at.Dy() > side {
			rt.Fatalf("the window is %v of %d × %d", at, w, h)
		}
		if print := image.Rect(x, y, x+word, y+word); !print.In(at) || n == 0 {
			rt.Errorf("the print lies at %v, the window at %v with %d edges", print, at, n)
		}
	})
}

// told is an orientation network that says of one look after another what it was told to, and then
// nothing.
type told struct {
	says [][]float32
	runs int
}

func (o *told) Run(_ context.Context, _, out []nn.Tensor) error {
	copy(out[0].Floats, []float32{1, 0, 1, 0, 0})
	if o.runs < len(o.says) {
		copy(out[0].Floats, o.says[o.runs])
	}
	o.runs++
	return nil
}

func TestOrientationIstoldByWindows(t *testing.T) {
	all := 4 * look.Windows * len(candidateSizes(measure.Size{Em: [2]float64{24, 24}}))
	nothing, upright, onItsHead := []float32{1, 0, 1, 0, 0}, []float32{9, 0, 0, 0, 0},
		[]float32{0, 0, 9, 0, 0}
	onItsLeft, onItsRight := []float32{0, 0, 0, 9, 0}, []float32{0, 9, 0, 0, 0}
	// From its four sides.
	maybeOnItsHead := [][]float32{{0, 0, 0.7, 0, 0}, {0, 0.7, 0, 0, 0}, {0.7, 0, 0, 0, 0},
		{0, 0, 0, 0.7, 0}}
	likelyUpright := [][]float32{{5, 0, 0, 0, 0}, {0, 0, 0, 5, 0}, {0, 0, 5, 0, 0}, {0, 5, 0, 0, 0}}
	page := raster.Resize(restoretest.Sheet(1300, 1800, 24), 1300, 1800, 2)
	for name, c := range map[string]struct {
		says                      [][]float32
		quarters, atLeast, atMost int
	}{
		"upright at once":                     {[][]float32{upright}, 0, 1, 1},
		"likely upright, from all four sides": {likelyUpright, 0, 4, 4},
		"likely upright from one side alone":  {likelyUpright[:1], 0, 4 * (look.Windows + 1), all},
		"the second window is upright": {[][]float32{nothing, nothing, nothing, nothing,
			upright}, 0, 5, 5},
		"on its head from all four sides": {[][]float32{onItsHead, onItsRight, upright,
			onItsLeft}, 2, 4, 4},
		"on its left from all four sides": {[][]float32{onItsLeft, onItsHead, onItsRight,
			upright}, 1, 4, 4},
		"no window is sure": {nil, 0, 4 * (look.Windows + 1), all},
		"no scale is sure, all together are": {slices.Repeat(maybeOnItsHead, all/4), 2,
			4 * (look.Windows + 1), all},
		"whatever it lies on, on its head": {slices.Repeat([][]float32{onItsHead}, all), 0,
			4 * (look.Windows + 1), all},
	} {
		t.Run(name, func(t *testing.T) {
			network := &told{says: c.says}
			quarters, p, err := Quarters(context.Background(), network, page,
				measure.Size{Em: [2]float64{24, 24}}, 2)
			if err != nil || quarters != c.quarters || network.runs < c.atLeast ||
				network.runs > c.atMost || quarters != 0 && p < look.SureTogether {
				t.Errorf("%d quarters with %.3f after %d looks, %v; want %d after %d to %d",
					quarters, p, network.runs, err, c.quarters, c.atLeast, c.atMost)
			}
		})
	}
}

// Where the print's size depends on which way its lines run, it is looked at at both.
func TestOrientationIsLookedForAtEitherSize(t *testing.T) {
	page := raster.Resize(restoretest.Sheet(1300, 1800, 24), 1300, 1800, 2)
	looked := func(across, down float64) int {
		network := &told{}
		if _, _, err := Quarters(context.Background(), network, page,
			measure.Size{Em: [2]float64{across, down}}, 2); err != nil {
			t.Fatal(err)
		}
		return network.runs
	}
	if one, either := looked(24, 25), looked(24, 40); either < one+4 {
		t.Errorf("%d looks at print of 24 px, %d if it may be of 40", one, either)
	}
}

// A picture that is all but black says nothing either.
func TestBlackPictureIsNotLookedAt(t *testing.T) {
	for light, looked := range map[int]bool{12: false, 40: true} {
		page := restoretest.Sheet(1300, 1800, 24)
		for i := range page.Pix {
			if i%4 != 3 {
				page.Pix[i] = uint8(int(page.Pix[i]) * light / 255)
			}
		}
		network := &told{}
		m := raster.Resize(page, 1300, 1800, 2)
		quarters, _, err := Quarters(context.Background(), network, m, measure.Print(page, 2), 2)
		if err != nil || quarters != 0 || network.runs > 0 != looked {
			t.Errorf("paper of %d grey levels: %d quarters after %d looks, %v", light, quarters,
				network.runs, err)
		}
	}
}

// The network sees the same print whatever the light and the exposure were.
func TestPrintIsEven(t *testing.T) {
	page := raster.Resize(restoretest.Sheet(1300, 1800, 24), 1300, 1800, 2)
	dim := raster.Resize(restoretest.Sheet(1300, 1800, 24), 1300, 1800, 2)
	for _, plane := range dim.Pix {
		for i, v := range plane { // dark, darker still to the right, its print greyer
			plane[i] = uint8((0.5 - 0.3*float64(i%dim.W)/float64(dim.W)) * (0.5*float64(v) + 127))
		}
	}
	got, want := printOf(dim.Grey(2), dim.W, dim.H, orienter.Em/24.0, 2),
		printOf(page.Grey(2), page.W, page.H, orienter.Em/24.0, 2)
	off, ink := 0, 0
	for i, v := range want.grey {
		if d := int(v) - int(got.grey[i]); max(d, -d) > look.Edge {
			off++
		}
		if float64(v) < (look.Paper+look.Ink)/2 {
			ink++
		}
	}
	if ink == 0 || off > ink/20 {
		t.Errorf("%d pixels differ on a page that has %d of ink", off, ink)
	}
}

func readGrey(t *testing.T, name string) *image.Gray {
	f, err := os.Open(filepath.Join("..", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	m, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*image.Gray)
}

// Training shows the network what the engine does: even.png is what training/orient/look.py makes
// of light.png, as its own test has it.
func TestPrintIsEvenAsInTraining(t *testing.T) {
	light, want := readGrey(t, "light.png"), readGrey(t, "even.png")
	got := printOf(light.Pix, light.Rect.Dx(), light.Rect.Dy(), 1, 2)
	sum := 0
	for i, v := range want.Pix {
		d := int(v) - int(got.grey[i])
		if sum += max(d, -d); max(d, -d) > 5 {
			t.Fatalf("pixel %d,%d is %d, in training %d", i%got.w, i/got.w, got.grey[i], v)
		}
	}
	if mean := float64(sum) / float64(len(want.Pix)); mean > 1 {
		t.Errorf("pixels differ from training's by %.1f grey levels in the mean", mean)
	}
}

// Training's own test has the same window of even.png, and as many edges.
func TestBusiestWindowIsThatOfTraining(t *testing.T) {
	even := readGrey(t, "even.png")
	w, h := even.Rect.Dx(), even.Rect.Dy()
	at, n := busiest(edgesOf(even.Pix, w, h, 2), w, h, 96)
	if want := image.Rect(0, 64, 96, 160); at != want || n != 3720 {
		t.Errorf("the window is %v with %d edges, want %v with 3720", at, n, want)
	}
}

func TestAnticlockwiseUndoesATurn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		side := rapid.IntRange(1, 9).Draw(rt, "side")
		src := image.NewRGBA(image.Rect(0, 0, side, side))
		for i := range src.Pix {
			src.Pix[i] = uint8(37 * i)
		}
		in := func(m *image.RGBA) []float32 {
			red := make([]float32, side*side)
			for i := range red {
				red[i] = float32(m.Pix[4*i])
			}
			return red
		}
		if got, want := anticlockwise(in(raster.Turn(src, 1)), side),
			in(src); !slices.Equal(got, want) {
			rt.Errorf("got %v, want %v", got, want)
		}
	})
}
