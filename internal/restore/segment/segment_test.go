package segment

import (
	"context"
	"image"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"unink/internal/nn"
	"unink/internal/raster"
)

// identity answers with the red plane in the hand score, so that stitching can be seen.
type identity struct{}

func (identity) Run(_ context.Context, in, out []nn.Tensor) error {
	squares, classes, under := in[0].Bytes, out[0].Bytes, out[1].Bytes
	for i := range classes {
		classes[i], under[i] = nn.ClassBytes.Round(0), nn.UnderBytes.Round(-100)
	}
	for i := range len(squares) / nn.SquareInputs {
		for k, v := range squares[i*nn.SquareInputs:][:nn.SquarePixels] {
			red := (nn.TileBytes.Value(v) + 0.5) * 255
			classes[i*nn.SquareOutputs+nn.Handwriting*nn.SquarePixels+k] = nn.ClassBytes.Round(red / Unit)
		}
	}
	return nil
}

// off is how far a score may be from the red that identity was shown: the network's numbers are
// rounded twice.
const off = 2

func TestSegmentStitchesInPlace(t *testing.T) {
	for _, size := range []image.Point{{300, 200}, {672, 673}, {1500, 700}, {1400, 2000}} {
		m := raster.NewRGB(size.X, size.Y)
		for i := range m.Pix[0] {
			m.Pix[0][i] = uint8((i%size.X*7 + i/size.X*13) % 120)
		}
		n := Networks{Overview: nn.Blind{}, Tiles: identity{}, Em: WorkingEm}
		s, err := n.Classify(t.Context(), pictureOf(m), 2)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range m.Pix[0] {
			if d := int(s.Hand[i]) - int(v); d < -off || d > off {
				t.Fatalf("%v: pixel %d,%d is %d, want %d", size, i%size.X, i/size.X, s.Hand[i], v)
			}
		}
	}
}

// pictureOf is a picture whose print has the size of the working picture's already.
func pictureOf(m *raster.RGB) Picture {
	return Picture{Page: image.NewRGBA(image.Rect(0, 0, m.W, m.H)), Em: WorkingEm, RGB: m,
		Gain: [3]float32{1, 1, 1}}
}

// Scores lie where their pixels do, also when the networks see the page at another size.
func TestOtherSizesLieInPlace(t *testing.T) {
	for _, em := range []float64{18, 32, 40} {
		page := image.NewRGBA(image.Rect(0, 0, 700, 500))
		for y := range 500 {
			for x := range 700 {
				page.Pix[page.PixOffset(x, y)] = uint8((x + y) / 10)
			}
		}
		p := Picture{Page: page, Em: 20, RGB: WorkingPicture(page, 20, 2), Gain: [3]float32{1, 1, 1}}
		s, err := Networks{Overview: nn.Blind{}, Tiles: identity{}, Em: em}.Classify(t.Context(), p, 2)
		if err != nil {
			t.Fatal(err)
		}
		if s.W != p.W || s.H != p.H {
			t.Fatalf("the scores have %d×%d pixels, the working picture %d×%d", s.W, s.H, p.W, p.H)
		}
		for i, v := range p.Pix[0] {
			if d := int(s.Hand[i]) - int(v); d < -off || d > off {
				t.Fatalf("em %v: pixel %d,%d is %d, want %d", em, i%p.W, i/p.W, s.Hand[i], v)
			}
		}
	}
}

// seen keeps what the tiles' network is told of the whole page.
type seen struct {
	identity
	told []float32
}

func (s *seen) Run(ctx context.Context, in, out []nn.Tensor) error {
	s.told = slices.Clone(in[1].Floats)
	return s.identity.Run(ctx, in, out)
}

// ramp is an overview that says of each place how far right and down it lies, in working pixels.
type ramp struct{ scale float64 }

func (r ramp) Run(_ context.Context, _, answer []nn.Tensor) error {
	const side = 64
	out := answer[0].Floats
	for i := range out {
		x, y := i%side, i/side%side
		switch i / (side * side) {
		case 0:
			out[i] = float32((float64(x) + 0.5) * float64(nn.ContextStride) / r.scale)
		case 1:
			out[i] = float32((float64(y) + 0.5) * float64(nn.ContextStride) / r.scale)
		}
	}
	return nil
}

// The network of a tile is told what the overview says of the same places.
func TestContextLiesUnderItsTile(t *testing.T) {
	for _, size := range []image.Point{{640, 896}, {600, 800}} {
		scale := 512 / float64(size.Y)
		m, tiles := raster.NewRGB(size.X, size.Y), &seen{}
		n := Networks{Overview: ramp{min(scale, 0.5)}, Tiles: tiles, Em: WorkingEm}
		if _, err := n.Classify(t.Context(), pictureOf(m), 1); err != nil {
			t.Fatal(err)
		}
		d := tilingOf(size.X, size.Y)
		columns, rows := d.shape.W/nn.Cell, d.shape.H/nn.Cell
		left := tileSpans(0, size.X, d.shape.W, d.columns)[d.columns-1].at // of the last tile
		top := tileSpans(0, size.Y, d.shape.H, d.rows)[d.rows-1].at
		for _, cell := range []image.Point{{2, 3}, {9, 11}, {columns - 3, rows - 4}} {
			i := cell.Y*columns + cell.X
			x, y := float64(left+cell.X*nn.Cell+nn.Cell/2), float64(top+cell.Y*nn.Cell+nn.Cell/2)
			if gotX, gotY := tiles.told[i], tiles.told[columns*rows+i]; math.Abs(float64(gotX)-x) > 1 ||
				math.Abs(float64(gotY)-y) > 1 {
				t.Errorf("%v: cell %v is told of the place %.0f,%.0f, want %.0f,%.0f", size, cell, gotX,
					gotY, x, y)
			}
		}
	}
}

// counted counts the pixels of the tiles that it is shown.
type counted struct {
	identity
	pixels atomic.Int64
}

func (c *counted) Run(ctx context.Context, in, out []nn.Tensor) error {
	c.pixels.Add(int64(len(in[0].Bytes) / 3))
	return c.identity.Run(ctx, in, out)
}

// White margins are paper without being looked at, and what stands on the page lies in place.
func TestWhiteMarginsAreNotLookedAt(t *testing.T) {
	const w, h = 1400, 2000
	for _, c := range []struct {
		ink  image.Rectangle
		most int64 // pixels looked at
	}{
		{image.Rectangle{}, 0},
		{image.Rect(700, 900, 703, 902), 450 * 450},
		{image.Rect(250, 200, 1150, 1800), w * h * 3 / 4},
		{image.Rect(0, 0, w, h), w * h * 5 / 4},
	} {
		m := raster.NewRGB(w, h)
		for y := range h {
			for x := range w {
				v := uint8(255)
				if image.Pt(x, y).In(c.ink) {
					v = uint8((x*7 + y*13) % 120)
				}
				for _, plane := range m.Pix {
					plane[y*w+x] = v
				}
			}
		}
		tiles := &counted{}
		s, err := Networks{Overview: nn.Blind{}, Tiles: tiles, Em: WorkingEm}.Classify(t.Context(),
			pictureOf(m), 2)
		if err != nil {
			t.Fatal(err)
		}
		if n := tiles.pixels.Load(); n > c.most {
			t.Errorf("%v: %d pixels were looked at, want at most %d", c.ink, n, c.most)
		}
		for y := c.ink.Min.Y; y < c.ink.Max.Y; y++ {
			for x := c.ink.Min.X; x < c.ink.Max.X; x++ {
				if d := int(s.Hand[y*w+x]) - int(m.Pix[0][y*w+x]); d < -off || d > off {
					t.Fatalf("%v: pixel %d,%d is %d, want %d", c.ink, x, y, s.Hand[y*w+x], m.Pix[0][y*w+x])
				}
			}
		}
		if i := 5*w + 5; c.ink.Min.Y > 5 && (s.Hand[i] > 0 || s.Print[i] > 0) {
			t.Errorf("%v: the margin is ink: %d, %d", c.ink, s.Hand[i], s.Print[i])
		}
	}
}
