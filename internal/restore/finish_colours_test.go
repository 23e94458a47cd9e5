package restore

import (
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"testing"
)

// inkedSheet has much blue text, some black and a little red, with the noise of a camera.
func inkedSheet() (c *canvas, places map[float64]image.Rectangle) {
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
					return clamp8(float32(float64(v) + edge + 12*r.NormFloat64()))
				}
				c.print(image.Rect(x+i, y, x+i+1, y+12), color.RGBA{at(ink.R), at(ink.G), at(ink.B), 255})
			}
		}
	}
	return c, map[float64]image.Rectangle{226: image.Rect(40, 250, 560, 262), 0: image.Rect(40, 70, 560, 82)}
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
	c.finish()
	if n := len(coloursOf(c.src)); n > 256 || n < 20 {
		t.Errorf("%d colours, want 20 to 256", n)
	}
	for want, r := range places {
		var sum [3]float64
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				for ch, v := range c.src.Pix[c.src.PixOffset(x, y):][:3] {
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
	one.workers = 1
	one.finish()
	four, _ := inkedSheet()
	four.workers = 4
	four.finish()
	if string(one.src.Pix) != string(four.src.Pix) {
		t.Error("the pictures differ")
	}
}

func TestTheScanLeavesPicturesTheirColours(t *testing.T) {
	c, _ := inkedSheet()
	picture := image.Rect(380, 200, 560, 380)
	for y := picture.Min.Y; y < picture.Max.Y; y++ {
		for x := picture.Min.X; x < picture.Max.X; x++ {
			c.src.SetRGBA(x, y, color.RGBA{uint8(20 + (x-380)/2), uint8(10 + (y-200)/2), 60, 255})
		}
	}
	c.finish()
	if n := len(coloursOf(c.src.SubImage(picture.Inset(20)).(*image.RGBA))); n < 1000 {
		t.Errorf("the picture has %d colours left", n)
	}
}

func TestInksLeaveRoomForTheOtherColours(t *testing.T) {
	tally := &inkTally{kept: map[[3]uint8]struct{}{}}
	for i := range 230 {
		tally.kept[[3]uint8{uint8(i)}] = struct{}{}
	}
	if inks := tally.inks(); len(inks) != 1 {
		t.Errorf("%d inks on a black page, want black alone", len(inks))
	}
	for range 100 {
		tally.add([]uint8{230, 20, 20}, true)
	}
	if inks := tally.inks(); inks != nil {
		t.Errorf("%d inks where a palette has no room for red", len(inks))
	}
	clear(tally.kept)
	if inks := tally.inks(); len(inks) != 2 || inks[1] != [3]float32{25.0 / 235, 1, 1} {
		t.Errorf("inks %v, want black and red", inks)
	}
}
