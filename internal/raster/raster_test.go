package raster

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func drawRGBA(t *rapid.T) *image.RGBA {
	w, h := rapid.IntRange(1, 60).Draw(t, "w"), rapid.IntRange(1, 60).Draw(t, "h")
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	seed := rapid.Uint32().Draw(t, "seed")
	for i := range m.Pix {
		seed = seed*1664525 + 1013904223
		m.Pix[i] = uint8(seed >> 24)
	}
	return m
}

func TestResizeToItsOwnSizeIsIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawRGBA(t)
		r := Resize(m, m.Rect.Dx(), m.Rect.Dy(), 2)
		for i := range r.Pix[0] {
			for c := range r.Pix {
				if r.Pix[c][i] != m.Pix[4*i+c] {
					t.Fatalf("pixel %d channel %d: %d became %d", i, c, m.Pix[4*i+c], r.Pix[c][i])
				}
			}
		}
	})
}

func TestPairsAreResizedAsGreyIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sw, sh := rapid.IntRange(1, 40).Draw(t, "w"), rapid.IntRange(1, 40).Draw(t, "h")
		w, h := rapid.IntRange(1, 90).Draw(t, "to w"), rapid.IntRange(1, 90).Draw(t, "to h")
		var pair [2][]int8
		var grey [2][]uint8
		for k := range pair {
			pair[k] = rapid.SliceOfN(rapid.Int8(), sw*sh, sw*sh).Draw(t, "values")
			for _, v := range pair[k] {
				grey[k] = append(grey[k], uint8(int(v)+128))
			}
		}
		a, b := ResizePair(pair[0], pair[1], sw, sh, w, h, 2)
		for k, got := range [2][]int8{a, b} {
			for i, v := range ResizeGrey(grey[k], sw, sh, w, h, 1) {
				if int(got[i])+128 != int(v) {
					t.Fatalf("plane %d, value %d: %d, want %d", k, i, got[i], int(v)-128)
				}
			}
		}
	})
}

func TestResizeKeepsFlatColourAndMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawRGBA(t)
		w, h := rapid.IntRange(1, 90).Draw(t, "to w"), rapid.IntRange(1, 90).Draw(t, "to h")
		flat := image.NewRGBA(m.Rect)
		for i := range flat.Pix {
			flat.Pix[i] = 255
		}
		for _, v := range Resize(flat, w, h, 1).Pix[1] {
			if v != 255 {
				t.Fatalf("white became %d", v)
			}
		}
		// Reducing by a whole factor is the mean of the squares.
		k := rapid.IntRange(1, 4).Draw(t, "factor")
		big := image.NewRGBA(image.Rect(0, 0, 3*k, 2*k))
		for i := range big.Pix {
			big.Pix[i] = uint8(i * 37)
		}
		small := Resize(big, 3, 2, 1)
		for i, got := range small.Pix[0] {
			sum := 0
			for y := range k {
				for x := range k {
					sum += int(big.RGBAAt(i%3*k+x, i/3*k+y).R)
				}
			}
			if want := float64(sum) / float64(k*k); math.Abs(float64(got)-want) > 1 {
				t.Fatalf("mean %g became %d", want, got)
			}
		}
	})
}

// Components agree with flood filling.
func TestComponents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 40).Draw(t, "w"), rapid.IntRange(1, 20).Draw(t, "h")
		class := rapid.SliceOfN(rapid.SampledFrom([]uint8{0, 0, 0, 0, 1, 2}), w*h, w*h).Draw(t, "class")
		labels, components := Components(class, w)
		seen := make([]bool, w*h)
		count := int32(0)
		for i := range class {
			if class[i] == 0 || seen[i] {
				continue
			}
			count++
			want := Component{X0: w, Y0: h}
			stack := []int{i}
			seen[i] = true
			for len(stack) > 0 {
				p := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				if labels[p] != count {
					t.Fatalf("pixel %d has label %d, want %d", p, labels[p], count)
				}
				x, y := p%w, p/w
				want.Add(x, y, 1)
				for yy := max(y-1, 0); yy <= min(y+1, h-1); yy++ {
					for xx := max(x-1, 0); xx <= min(x+1, w-1); xx++ {
						if q := yy*w + xx; class[q] == class[i] && !seen[q] {
							seen[q] = true
							stack = append(stack, q)
						}
					}
				}
			}
			if got := components[count-1]; got != want {
				t.Fatalf("component %d is %+v, want %+v", count, got, want)
			}
		}
		if int(count) != len(components) {
			t.Fatalf("%d components, want %d", len(components), count)
		}
	})
}

func TestFillKeepsTheKnownAndBoundsTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 30).Draw(t, "w"), rapid.IntRange(1, 30).Draw(t, "h")
		f := NewField(w, h)
		known := map[int][3]float32{}
		low, high := float32(math.Inf(1)), float32(math.Inf(-1))
		for i := range f.Weight {
			if rapid.IntRange(0, 3).Draw(t, "known") == 0 {
				v := float32(rapid.IntRange(0, 255).Draw(t, "value"))
				f.Colour[i], f.Weight[i] = [3]float32{v, v, v}, 1
				known[i] = f.Colour[i]
				low, high = min(low, v), max(high, v)
			}
		}
		if got := f.Fill(); got != (len(known) > 0) {
			t.Fatalf("Fill says %v with %d cells known", got, len(known))
		}
		for i, c := range f.Colour {
			if want, ok := known[i]; ok && c != want {
				t.Fatalf("known cell %d changed from %v to %v", i, want, c)
			}
			if len(known) > 0 && (c[0] < low-0.01 || c[0] > high+0.01) {
				t.Fatalf("cell %d is %g, outside what is known: %g to %g", i, c[0], low, high)
			}
		}
	})
}

// The paper under ink is found though a good part of it is covered.
func TestPaperGrid(t *testing.T) {
	const w, h = 200, 120
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			v := uint8(180 + x/5)
			if x%6 < 3 && y%12 < 9 {
				v = 20
			}
			m.SetRGBA(x, y, color.RGBA{v, v, v, 255})
		}
	}
	plane := Resize(m, w, h, 1).Pix[0]
	s := PaperGrid(plane, w, h, 16, 0.8, 2).Sample(w, h)
	line, scratch := make([]float32, w), make([]float32, w)
	for y := range h {
		s.Row(line, scratch, y)
		for x, got := range line {
			if want := float32(180 + x/5); got < want-12 || got > want+12 {
				t.Fatalf("paper at %d,%d is %g, want %g", x, y, got, want)
			}
		}
	}
}

func TestRowsCoverAllOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, workers := rapid.IntRange(0, 500).Draw(t, "h"), rapid.IntRange(1, 9).Draw(t, "workers")
		hits := make([]uint8, h)
		Rows(h, workers, func(a, b int) {
			for i := a; i < b; i++ {
				hits[i]++
			}
		})
		for i, n := range hits {
			if n != 1 {
				t.Fatalf("row %d visited %d times", i, n)
			}
		}
	})
}

// A quarter turn takes the top left pixel to the top right; four of them give the picture back.
func TestTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 9).Draw(t, "w"), rapid.IntRange(1, 9).Draw(t, "h")
		m := image.NewRGBA(image.Rect(0, 0, w, h))
		for i := range m.Pix {
			m.Pix[i] = uint8(i * 7)
		}
		x, y := rapid.IntRange(0, w-1).Draw(t, "x"), rapid.IntRange(0, h-1).Draw(t, "y")
		for quarters, at := range []image.Point{{x, y}, {h - 1 - y, x}, {w - 1 - x, h - 1 - y},
			{y, w - 1 - x}} {
			if got := Turn(m, quarters); got.RGBAAt(at.X, at.Y) != m.RGBAAt(x, y) {
				t.Fatalf("%d quarters: %v at %v, want %v", quarters, got.RGBAAt(at.X, at.Y), at,
					m.RGBAAt(x, y))
			}
		}
		back := Turn(Turn(Turn(Turn(m, 1), 1), 1), 1)
		if !bytes.Equal(back.Pix, m.Pix) {
			t.Fatal("four quarters changed the picture")
		}
	})
}

// A quantile is the value that sorting brings to its place.
func TestQuantile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64Range(-9, 9), 1, 60).Draw(t, "v")
		if rapid.Bool().Draw(t, "few values") {
			for i := range v {
				v[i] = math.Round(v[i])
			}
		}
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		want := slices.Sorted(slices.Values(v))[min(int(q*float64(len(v))), len(v)-1)]
		given := slices.Clone(v)
		if got := Quantile(v, q); got != want || !slices.Equal(v, given) {
			t.Fatalf("%g, want %g; of %v, then %v", got, want, given, v)
		}
	})
}

// Spreading and the largest value look at the square round each cell.
func TestWithinASquare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 12).Draw(t, "w"), rapid.IntRange(1, 12).Draw(t, "h")
		d := rapid.IntRange(0, 14).Draw(t, "d")
		values := rapid.SliceOfN(rapid.Uint8(), w*h, w*h).Draw(t, "values")
		marks := rapid.SliceOfN(rapid.Bool(), w*h, w*h).Draw(t, "marks")
		most, near := make([]uint8, w*h), make([]bool, w*h)
		Most(most, values, w, h, d)
		SpreadMask(near, marks, w, h, d)
		for i := range values {
			wantMost, wantNear := uint8(0), false
			for y := max(i/w-d, 0); y <= min(i/w+d, h-1); y++ {
				for x := max(i%w-d, 0); x <= min(i%w+d, w-1); x++ {
					wantMost = max(wantMost, values[y*w+x])
					wantNear = wantNear || marks[y*w+x]
				}
			}
			if most[i] != wantMost || near[i] != wantNear {
				t.Fatalf("cell %d: %d and %v, want %d and %v", i, most[i], near[i], wantMost, wantNear)
			}
		}
	})
}

// A grid is sampled bilinearly between the middles of its cells, for a picture of any size.
func TestSamplerIsBilinear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := NewGrid(rapid.IntRange(1, 60).Draw(t, "w"), rapid.IntRange(1, 60).Draw(t, "h"),
			rapid.IntRange(1, 20).Draw(t, "cell"))
		for i := range g.V {
			g.V[i] = float32(i % g.W) // rises by one a column
		}
		w := rapid.IntRange(1, 90).Draw(t, "width")
		row := make([]float32, w)
		g.Sample(w, 5).Row(row, make([]float32, g.W), 2)
		for x, got := range row {
			at := (float64(x)+0.5)*float64(g.pw)/float64(w)/float64(g.Cell) - 0.5
			if want := min(max(at, 0), float64(g.W-1)); math.Abs(float64(got)-want) > 1e-3 {
				t.Fatalf("pixel %d of %d is %g, want %g", x, w, got, want)
			}
		}
	})
}

// Whether a picture is opaque or grey is told by its last pixel as by its first, also in odd rows
// and in a part of a picture.
func TestEveryPixelIsLookedAt(t *testing.T) {
	for w := 1; w <= 9; w++ {
		whole := image.NewRGBA(image.Rect(0, 0, w+3, 40))
		m := whole.SubImage(image.Rect(1, 2, w+1, 38)).(*image.RGBA)
		paint := func(c color.RGBA) {
			draw.Draw(m, m.Rect, image.NewUniform(c), image.Point{}, draw.Src)
		}
		grey := color.RGBA{77, 77, 77, 255}
		for _, at := range []image.Point{{1, 2}, {w, 2}, {1, 37}, {w, 37}, {(w + 1) / 2, 20}} {
			paint(grey)
			if !Opaque(m, 2) || !Grey(m, 2) {
				t.Fatalf("%d wide: a grey, opaque picture is neither or not both", w)
			}
			m.SetRGBA(at.X, at.Y, color.RGBA{77, 77, 77, 254})
			if Opaque(m, 2) || !Grey(m, 2) {
				t.Errorf("%d wide: %v is not opaque, and grey", w, at)
			}
			for _, tinted := range []color.RGBA{{78, 77, 77, 255}, {77, 76, 77, 255}, {77, 77, 78, 255}} {
				m.SetRGBA(at.X, at.Y, tinted)
				if Grey(m, 2) {
					t.Errorf("%d wide: %v is %v", w, at, tinted)
				}
			}
		}
	}
}
