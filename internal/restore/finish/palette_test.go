package finish

import (
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"testing"

	"unink/internal/raster"
	"unink/internal/restore/canvas"
)

// inkedSheet has much blue text, some black and a little red, with the noise of a camera.
func inkedSheet() (c *canvas.Canvas, places map[float64]image.Rectangle) {
	c = blankSheet(even(240))
	r := rand.New(rand.NewPCG(3, 4))
	inks := map[int]color.RGBA{70: {150, 30, 30, 255}, 400: {40, 40, 40, 255}}
	for y := 40; y < 440; y += 30 {
		ink, ok := inks[y]
		if !ok {
			ink = color.RGBA{40, 70, 170, 255}
		}
		for x := 40; x < 560; x += 14 {
			for i := range 3 {
				at := func(v uint8) uint8 {
					edge := float64(i%2) * 0.5 * float64(240-v)
					return raster.Clamp8(float32(float64(v) + edge + 12*r.NormFloat64()))
				}
				drawPrint(c, image.Rect(x+i, y, x+i+1, y+12),
					color.RGBA{at(ink.R), at(ink.G), at(ink.B), 255})
			}
		}
	}
	return c, map[float64]image.Rectangle{226: image.Rect(40, 250, 560, 262),
		0: image.Rect(40, 70, 560, 82)}
}

func coloursOf(m *image.RGBA) map[color.RGBA]bool {
	seen := map[color.RGBA]bool{}
	for y := m.Rect.Min.Y; y < m.Rect.Max.Y; y++ {
		for x := m.Rect.Min.X; x < m.Rect.Max.X; x++ {
			seen[m.RGBAAt(x, y)] = true
		}
	}
	return seen
}

func TestTheScanOfColouredTextFitsAPaletteAndKeepsHues(t *testing.T) {
	c, places := inkedSheet()
	scanned(c)
	if n := len(coloursOf(c.Src)); n > 256 || n < 20 {
		t.Errorf("%d colours, want 20 to 256", n)
	}
	for want, r := range places {
		var sum [3]float64
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				for ch, v := range c.Src.Pix[c.Src.PixOffset(x, y):][:3] {
					sum[ch] += float64(v)
				}
			}
		}
		if d := math.Abs(math.Remainder(hueOf(sum)-want, 360)); d > 10 {
			t.Errorf("%v: hue %.0f°, want %.0f°", r, hueOf(sum), want)
		}
	}
}

func TestTheScanIsTheSameWhateverTheNumberOfWorkers(t *testing.T) {
	one, _ := inkedSheet()
	one.Workers = 1
	scanned(one)
	four, _ := inkedSheet()
	four.Workers = 4
	scanned(four)
	if string(one.Src.Pix) != string(four.Src.Pix) {
		t.Error("the pictures differ")
	}
}

func TestTheScanLeavesPicturesTheirColours(t *testing.T) {
	c, _ := inkedSheet()
	picture := image.Rect(380, 200, 560, 380)
	for y := picture.Min.Y; y < picture.Max.Y; y++ {
		for x := picture.Min.X; x < picture.Max.X; x++ {
			c.Src.SetRGBA(x, y, color.RGBA{uint8(20 + (x - 380)), uint8(10 + (y - 200)), 60, 255})
		}
	}
	scanned(c)
	if n := len(coloursOf(c.Src.SubImage(picture.Inset(20)).(*image.RGBA))); n < 1000 {
		t.Errorf("the picture has %d colours left", n)
	}
}

func TestAPaletteHasRoomForInksAndPictures(t *testing.T) {
	tally := newInkTally()
	for range 100 {
		tally.add([]uint8{230, 20, 20}, true)
	}
	for i := range 200 {
		tally.add([]uint8{uint8(i), 7, 7}, false)
	}
	inks, tone := tally.palette(mostShades)
	if len(inks) != 2 || inks[1] != [3]float32{25.0 / 235, 1, 1} {
		t.Fatalf("inks %v, want black and red", inks)
	}
	px := []uint8{100, 7, 7}
	if tone(px); px[0] != 100 {
		t.Errorf("few colours of a picture became %v, want themselves", px)
	}
	for i := range 255 { // more than there is room for, but all alike
		tally.add([]uint8{uint8(i), 9, 9}, false)
	}
	if inks, tone = tally.palette(mostShades); inks == nil {
		t.Fatal("no palette for a picture of few tones")
	}
	seen := map[[3]uint8]bool{}
	for i := range 255 {
		px := []uint8{uint8(i), 9, 9}
		tone(px)
		seen[[3]uint8(px)] = true
		if d := int(px[0]) - i; d < -8 || d > 8 {
			t.Errorf("%d became %d", i, px[0])
		}
	}
	if room := paletteSize - 1 - 2*(mostShades-1); len(seen) > room {
		t.Errorf("%d tones, want at most %d", len(seen), room)
	}
	for i := range 40 * 40 * 40 {
		tally.add([]uint8{uint8(i % 40 * 6), uint8(i / 40 % 40 * 6), uint8(i / 1600 * 6)}, false)
	}
	if inks, _ := tally.palette(mostShades); inks != nil {
		t.Error("a palette for a picture of all colours")
	}
}

func TestDenseTextHasFewerShades(t *testing.T) {
	last := mostShades + 1
	for _, soft := range []float64{0.05, 0.1, 0.12, 0.2} {
		n := shadesFor(soft)
		if n >= last {
			t.Errorf("%d shades for %.2f soft edges, and %d for less", n, soft, last)
		}
		if shadeLevel(0, n) != 0 || shadeLevel(n-1, n) != mostShades-1 {
			t.Errorf("%d shades go from %v to %v", n, shadeLevel(0, n), shadeLevel(n-1, n))
		}
		last = n
	}
}

// A screen's pattern leaves black text weak hues of all kinds, which are no inks of their own: the
// page keeps to a palette.
func TestStrayHuesOfBlackTextAreNotManyInks(t *testing.T) {
	tally := newInkTally()
	for i := range 3600 {
		for _, chroma := range []float64{0.2, 0.4, 0.6, 0.8} {
			var px [3]uint8
			for ch := range 3 {
				a := float64(i)*math.Pi/1800 + float64(ch)*2*math.Pi/3
				px[ch] = uint8(30 + 200*chroma*(0.5+0.5*math.Cos(a)))
			}
			tally.add(px[:], true)
		}
	}
	if inks := tally.inks(); inks == nil {
		t.Error("so many inks that there is no palette")
	}
}
