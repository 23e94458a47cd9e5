package flatten

import (
	"context"
	"image"
	"image/color"
	"math"
	"testing"

	"pgregory.net/rapid"

	"unink/internal/nn"
	"unink/internal/raster"
	"unink/internal/restore/restoretest"
)

// bowingNetwork is a flattening network that sees every sheet bow down by so many steps in its
// middle, with so much doubt.
type bowingNetwork struct {
	steps, doubt float64
	runs         int
}

func (b *bowingNetwork) Run(_ context.Context, _, out []nn.Tensor) error {
	b.runs++
	grid, w, h := out[0].Floats, nn.Whole.W/nn.GridStep, nn.Whole.H/nn.GridStep
	for k := range w * h {
		x := (float64(k%w) - float64(w-1)/2) / float64(w-1) * 2
		grid[w*h+k] = float32(b.steps * (1 - x*x))
		grid[2*w*h+k] = float32(math.Log(b.doubt))
	}
	return nil
}

// Whatever smooth way a sheet is bent, the picture's places are found on it, and from there again
// where they were.
func TestGridMapsThereAndBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := &gridSheet{w: 20, h: 26, step: 1.0 / 13}
		ax, ay := rapid.Float64Range(-0.06, 0.06).Draw(rt, "across"),
			rapid.Float64Range(-0.06, 0.06).Draw(rt, "down")
		fx, fy := rapid.Float64Range(0, 4).Draw(rt, "fx"), rapid.Float64Range(0, 4).Draw(rt, "fy")
		for k := range g.w * g.h {
			s, u := (float64(k%g.w)-9.5)*g.step, (float64(k/g.w)-12.5)*g.step
			g.by[0] = append(g.by[0], ax*math.Sin(fx*s+fy*u))
			g.by[1] = append(g.by[1], ay*math.Cos(fy*s-fx*u))
		}
		x, y := rapid.Float64Range(-0.7, 0.7).Draw(rt, "x"),
			rapid.Float64Range(-0.9, 0.9).Draw(rt, "y")
		bx, by := g.toPicture(g.toSheet(x, y))
		if d := math.Hypot(bx-x, by-y); d > 1e-4 {
			rt.Errorf("%.3f, %.3f comes back %.5f off", x, y, d)
		}
	})
}

func TestStrainIsHowFarPlacesMove(t *testing.T) {
	page := image.NewRGBA(image.Rect(0, 0, 640, 832))
	columns := nn.Whole.W / nn.GridStep
	at := func(i int) float64 { x := 2*float64(i)/float64(columns-1) - 1; return 1 - x*x }
	mean, apart := 0.0, 0.0
	for i := range columns {
		mean += at(i) / float64(columns)
	}
	for i := range columns {
		apart += math.Abs(at(i)-mean) / float64(columns)
	}
	for _, steps := range []float64{0, 0.5, 1} {
		m := raster.Resize(page, 640, 832, 1)
		g, err := gridOf(context.Background(), &bowingNetwork{steps: steps, doubt: 0.25}, m, 1)
		if err != nil {
			t.Fatal(err)
		}
		if want, got := apart*steps*g.step, g.strain(asItIs); math.Abs(got-want) > 0.02*want+1e-9 {
			t.Errorf("%v steps: strain %.5f, want %.5f", steps, got, want)
		}
		if want := 0.25 * g.step; math.Abs(g.doubt-want) > 1e-6 {
			t.Errorf("%v steps: doubt %.5f, want %.5f", steps, g.doubt, want)
		}
	}
}

// drawing is a page that has no lines of print: a few broad blots.
func drawing(w, h int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	restoretest.Bar(m, 0, 0, float64(w), float64(h), color.RGBA{255, 255, 255, 255})
	for i := range 5 {
		x, y := float64(w)*(0.2+0.13*float64(i)), float64(h)*(0.15+0.16*float64((3*i)%5))
		restoretest.Bar(m, x, y, x+60, y+80, color.RGBA{40, 40, 40, 255})
	}
	return m
}

func TestWhereNoLinesTellTheNetworkIsBelievedIfSure(t *testing.T) {
	for doubt, want := range map[float64]bool{0.1: true, 2: false} {
		f, err := find(context.Background(), &bowingNetwork{steps: 1.5, doubt: doubt},
			drawing(800, 1040), 2)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Warp != nil; got != want {
			t.Errorf("doubt %v: flattened %v, want %v", doubt, got, want)
			continue
		}
		if !want {
			continue
		}
		// The middle of the flat page is further down in the picture than its sides, by 1.5 steps
		// of the network's picture.
		_, middle := f.Warp.At(float64(f.Warp.W)/2, float64(f.Warp.H)/2)
		_, side := f.Warp.At(float64(f.Warp.W)*0.02, float64(f.Warp.H)/2)
		bow := (middle - side) / float64(f.Warp.SrcH)
		if full := 1.5 * float64(nn.GridStep) / float64(nn.Whole.H); bow < 0.8*full || bow > 1.1*full {
			t.Errorf("the page is taken to bow by %.4f of its height, want about %.4f", bow, full)
		}
	}
}

func TestTheNetworkIsNotBelievedAgainstStraightLines(t *testing.T) {
	network := &bowingNetwork{steps: 1.5, doubt: 0.1}
	f, err := find(context.Background(), network,
		restoretest.Page(), 2)
	if err != nil || f.Warp != nil {
		t.Errorf("a straight page is bent (confidence %.2f), %v", f.Confidence, err)
	}
	if network.runs != 0 {
		t.Errorf("the network ran %d times on a page whose lines are straight and level",
			network.runs)
	}
}

// Lines that fan out fit a sheet that is seen at an angle. Where the network is sure that it is
// not, they are put straight where they are, and no side of the page grows.
func TestASurfaceThatTheNetworkDoesNotSeeIsNotBelieved(t *testing.T) {
	const cx, cy = restoretest.PageWidth / 2, restoretest.PageHeight / 2
	at := func(x, y float64) (float64, float64) {
		return x, cy + (y-cy)*(1+0.2*(x-cx)/restoretest.PageWidth)
	}
	f, err := find(context.Background(), &bowingNetwork{doubt: 0.05},
		restoretest.Seen(restoretest.Page(), at), 2)
	if err != nil || f.Warp == nil {
		t.Fatalf("the page is left: %+v, %v", f, err)
	}
	var across [3]float64
	for i, u := range []float64{0.2, 0.5, 0.8} {
		across[i], _ = picturePlace(f.Warp, u, 0.5)
	}
	if d := math.Abs(across[0] + across[2] - 2*across[1]); d > 3 {
		t.Errorf("one half of the page is %.1f pixels wider than the other", d)
	}
}

// Drawn lines that lean fit a sheet that is seen at an angle. Where the lines of print are level
// and the network is sure that it is not, the page stays as it is.
func TestLinesThatLeanDoNotTurnALevelPage(t *testing.T) {
	const first, last = 60, restoretest.PageHeight - 60
	page := restoretest.Page()
	for y := first; y < last; y++ {
		for _, line := range []struct{ x, lean float64 }{{30, 0.05},
			{restoretest.PageWidth - 60, -0.05}, {restoretest.PageWidth - 30, -0.05}} {
			x := line.x + line.lean*float64(y-restoretest.PageHeight/2)
			restoretest.Bar(page, x, float64(y), x+2, float64(y+1), color.RGBA{20, 20, 20, 255})
		}
	}
	f, err := find(context.Background(), &bowingNetwork{doubt: 0.05}, page, 2)
	if err != nil || f.Warp != nil {
		t.Errorf("a level page is warped (confidence %.2f), %v", f.Confidence, err)
	}
}

// Lines of print that begin a little further in each time look like a margin that leans. The sides
// of boxes beside it are drawn, and tell better which way is up.
func TestIndentsBesideUprightBoxesAreNoMargin(t *testing.T) {
	const w, h, em, x0, x1 = 900, 1200, 20, 100, 780
	page := restoretest.Paper(w, h)
	dark := color.RGBA{20, 20, 20, 255}
	seed := uint32(7)
	for i := range 9 {
		y := 60 + 120*float64(i)
		for x := x0 + 4*float64(i); x < x0+300+60*float64(i%3); x += 0.7 * em {
			seed = seed*1664525 + 1013904223
			restoretest.Bar(page, x, y-float64(seed>>24)/32, x+0.5*em, y+0.5*em, dark)
		}
		for _, side := range [][4]float64{{x0, 30, x1, 32}, {x0, 84, x1, 86},
			{x0, 30, x0 + 2, 86}, {x1, 30, x1 + 2, 86}} {
			restoretest.Bar(page, side[0], y+side[1], side[2], y+side[3], dark)
		}
	}
	if f := flattened(t, page); f.Warp != nil {
		t.Errorf("a level page is warped (confidence %.2f)", f.Confidence)
	}
}

func TestFlattenStopsWhenTheNetworkFails(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := find(ctx, nn.Flat{}, drawing(800, 1040), 1); err == nil {
		t.Error("no error after the context ended")
	}
}
