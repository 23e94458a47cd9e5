package restore

import (
	"bytes"
	"context"
	"image"
	"image/draw"
	"image/jpeg"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"unink/internal/nn"
	"unink/internal/raster"
)

// Wherever the print is, the window that the orientation network sees has it, as far as it is large enough.
func TestBusiestWindowHasThePrint(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const side, word = 200, 60
		w, h := rapid.IntRange(word, 700).Draw(rt, "w"), rapid.IntRange(word, 700).Draw(rt, "h")
		x, y := rapid.IntRange(0, w-word).Draw(rt, "x"), rapid.IntRange(0, h-word).Draw(rt, "y")
		grey := make([]uint8, w*h)
		for i := range grey {
			grey[i] = 255
			if dx, dy := i%w-x, i/w-y; dx >= 0 && dx < word && dy >= 0 && dy < word && (dx/4+dy/4)%2 == 0 {
				grey[i] = 0
			}
		}
		at, n := busiest(edgesOf(grey, w, h), w, h, side)
		if !at.In(image.Rect(0, 0, w, h)) || at.Dx() > side || at.Dy() > side {
			rt.Fatalf("the window is %v of %d × %d", at, w, h)
		}
		if print := image.Rect(x, y, x+word, y+word); !print.In(at) || n == 0 {
			rt.Errorf("the print lies at %v, the window at %v with %d edges", print, at, n)
		}
	})
}

// hesitant is an orientation network that is sure of what it sees in the second window only.
type hesitant struct{ runs int }

func (h *hesitant) Run(_ context.Context, _ nn.Shape, _, out []float32) error {
	h.runs++
	copy(out, []float32{1, 0, 1, 0, 0})
	if h.runs == 2 {
		copy(out, []float32{0, 0, 9, 0, 0})
	}
	return nil
}

func TestWhereOneWindowLeavesItOpenTheNextIsLookedAt(t *testing.T) {
	h := &hesitant{}
	page := raster.Resize(sheet(1300, 1800, 24), 1300, 1800, 2)
	quarters, p, err := quartersToUpright(context.Background(), h, page, 24, 2)
	if err != nil || quarters != 2 || p < sure || h.runs != 2 {
		t.Errorf("%d quarters with %.3f after %d windows, %v; want 2 after 2", quarters, p, h.runs, err)
	}
}

func TestAPageThatNoWindowIsSureOfStaysAsItLies(t *testing.T) {
	h := &hesitant{runs: 10}
	page := raster.Resize(sheet(1300, 1800, 24), 1300, 1800, 2)
	quarters, p, err := quartersToUpright(context.Background(), h, page, 24, 2)
	if err != nil || quarters != 0 || p >= sure || h.runs <= 10+looks || h.runs > 10+looks*len(orientScales) {
		t.Errorf("%d quarters with %.3f after %d windows, %v; want 0 after %d to %d", quarters, p, h.runs-10, err, looks+1, looks*len(orientScales))
	}
}

func BenchmarkOrient(b *testing.B) {
	root := filepath.Join("..", "..")
	onnx, err := os.ReadFile(filepath.Join(root, "models", "orient.onnx"))
	if err != nil {
		b.Fatal(err)
	}
	runner, err := nn.Open(nn.Config{Model: onnx, Input: "page", Output: "votes", Jobs: nn.Orienting(), Threads: 2})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = runner.Close() }()
	data, err := os.ReadFile(filepath.Join(root, "docs", "before.jpg"))
	if err != nil {
		b.Fatal(err)
	}
	m, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		b.Fatal(err)
	}
	src := image.NewRGBA(m.Bounds())
	draw.Draw(src, src.Rect, m, m.Bounds().Min, draw.Src)
	v := (&Engine{Em: 24, Threads: 2}).view(src, printSize(src, 2))
	for b.Loop() {
		if _, _, err := quartersToUpright(context.Background(), runner, v.m, v.seen(), 2); err != nil {
			b.Fatal(err)
		}
	}
}
