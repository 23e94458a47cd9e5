package finish

import (
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"unink/internal/raster"
	"unink/internal/restore/canvas"
)

// blankSheet is a canvas of 600 × 480 working pixels, of noisy paper.
func blankSheet(paper func(x, y int) color.RGBA) *canvas.Canvas {
	const w, h = 600, 480
	r := rand.New(rand.NewPCG(1, 2))
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := paper(x, y)
			n := r.NormFloat64() * 1.5
			m.SetRGBA(x, y, color.RGBA{raster.Clamp8(float32(float64(c.R) + n)),
				raster.Clamp8(float32(float64(c.G) + n)), raster.Clamp8(float32(float64(c.B) + n)),
				255})
		}
	}
	return &canvas.Canvas{Src: m, W: w, H: h, Workers: 2, Scale: 1, Flags: make([]uint8, w*h),
		Dark: make([]uint8, w*h)}
}

// drawPrint draws a rectangle, known to be print.
func drawPrint(c *canvas.Canvas, r image.Rectangle, ink color.RGBA) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c.Src.SetRGBA(x, y, ink)
			c.Flags[y*c.W+x] |= canvas.IsPrint
		}
	}
}

// scanned scans the canvas and returns the share of a rectangle's pixels that are wholly white.
func scanned(c *canvas.Canvas) func(r image.Rectangle) float64 {
	c.MarkNearInk()
	Scan(c, c.Src)
	return func(r image.Rectangle) float64 {
		white := 0
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				if c.Src.RGBAAt(x, y) == (color.RGBA{255, 255, 255, 255}) {
					white++
				}
			}
		}
		return float64(white) / float64(r.Dx()*r.Dy())
	}
}

func even(v uint8) func(x, y int) color.RGBA {
	return func(int, int) color.RGBA { return color.RGBA{v, v, v, 255} }
}

func linesOfText(c *canvas.Canvas, ink color.RGBA) {
	for y := 40; y < 440; y += 30 {
		for x := 40; x < 560; x += 14 {
			drawPrint(c, image.Rect(x, y, x+3, y+12), ink)
		}
	}
}

func TestPaperUnderAHardShadowIsWhite(t *testing.T) {
	c := blankSheet(func(x, y int) color.RGBA {
		if x > 250+y/4 {
			return color.RGBA{130, 136, 145, 255}
		}
		return color.RGBA{232, 226, 214, 255}
	})
	linesOfText(c, color.RGBA{40, 40, 40, 255})
	white := scanned(c)
	for _, r := range []image.Rectangle{image.Rect(0, 0, 240, 30), image.Rect(420, 450, 600, 480),
		image.Rect(0, 0, 600, 34)} {
		if got := white(r); got < 0.96 {
			t.Errorf("%v: %.3f of the paper is white, want 0.96", r, got)
		}
	}
}

func TestAPanelIsKept(t *testing.T) {
	panel := image.Rect(100, 100, 380, 260)
	c := blankSheet(func(x, y int) color.RGBA {
		if (image.Point{X: x, Y: y}).In(panel) {
			return color.RGBA{238, 238, 205, 255}
		}
		return color.RGBA{240, 240, 240, 255}
	})
	linesOfText(c, color.RGBA{40, 40, 40, 255})
	white := scanned(c)
	if got := white(image.Rect(400, 80, 590, 300)); got < 0.6 {
		t.Errorf("beside the panel %.2f is white, want the paper", got)
	}
	got := c.Src.RGBAAt(200, 114+30)
	if got.R < 244 || got.G < 244 || got.B < 195 || got.B > 235 {
		t.Errorf("panel is %v, want a light yellow", got)
	}
	if got := white(panel.Inset(3)); got > 0.02 {
		t.Errorf("%.3f of the panel has become white", got)
	}
}

func TestGreyPrintLosesItsFringesAndColouredPrintKeepsItsHue(t *testing.T) {
	c := blankSheet(even(235))
	linesOfText(c, color.RGBA{60, 60, 60, 255})
	for y := 40; y < 440; y += 30 { // fringes of a lens: red before, blue behind
		for x := 40; x < 560; x += 14 {
			drawPrint(c, image.Rect(x-1, y, x, y+12), color.RGBA{200, 170, 165, 255})
			drawPrint(c, image.Rect(x+3, y, x+4, y+12), color.RGBA{165, 175, 200, 255})
		}
	}
	drawPrint(c, image.Rect(40, 452, 500, 455), color.RGBA{165, 200, 234, 255})
	scanned(c)
	for _, p := range []image.Point{{39, 45}, {43, 45}, {41, 45}, {207, 200}} {
		if v := c.Src.RGBAAt(p.X, p.Y); v.R != v.G || v.G != v.B {
			t.Errorf("%v of grey print is %v, want grey", p, v)
		}
	}
	v := c.Src.RGBAAt(300, 453)
	if hue := hueOf([3]float64{float64(v.R) / 255, float64(v.G) / 255,
		float64(v.B) / 255}); hue < 195 || hue > 225 || v.B-v.R < 40 {
		t.Errorf("light blue print is %v, hue %.0f°", v, hue)
	}
}

func TestShowThroughGoesAndFaintPrintStays(t *testing.T) {
	c := blankSheet(func(x, y int) color.RGBA {
		if x < 300 && y%20 < 9 && x%13 < 6 { // the other side's lines: faint and many
			return color.RGBA{212, 212, 212, 255}
		}
		if x > 420 && x < 560 && y > 200 && y < 203 { // one faint line that nobody knows of
			return color.RGBA{190, 190, 190, 255}
		}
		return color.RGBA{240, 240, 240, 255}
	})
	white := scanned(c)
	if got := white(image.Rect(10, 10, 200, 470)); got < 0.98 {
		t.Errorf("%.3f is white where the other side shows through, want 0.98", got)
	}
	if got := white(image.Rect(440, 201, 540, 202)); got > 0.05 {
		t.Errorf("%.2f of a faint line has gone", got)
	}
}

func TestTextHasFewShades(t *testing.T) {
	c := blankSheet(even(240))
	linesOfText(c, color.RGBA{50, 50, 50, 255})
	for i := range 200 { // soft edges of any shade
		drawPrint(c, image.Rect(50+2*i, 456, 52+2*i, 458),
			color.RGBA{uint8(40 + i), uint8(40 + i), uint8(40 + i), 255})
	}
	scanned(c)
	shades := map[color.RGBA]bool{}
	for y := range c.H {
		for x := range c.W {
			shades[c.Src.RGBAAt(x, y)] = true
		}
	}
	if len(shades) > 16 || len(shades) < 8 {
		t.Errorf("%d shades, want 8 to 16", len(shades))
	}
}

// shaded is grey light that falls off to the right, over paper and fills alike.
func shaded(fill func(x, y int) float64) func(x, y int) color.RGBA {
	return func(x, y int) color.RGBA {
		v := raster.Clamp8(float32((250 - 0.2*float64(x)) * fill(x, y)))
		return color.RGBA{v, v, v, 255}
	}
}

// A table head of light grey is even, whatever the light on it.
func TestALightGreyFillIsKeptUnderUnevenLight(t *testing.T) {
	for name, in := range map[string]func(x, y int) bool{
		"table head": func(x, y int) bool {
			return image.Pt(x, y).In(image.Rect(30, 100, 570, 140))
		},
		"round corners": func(x, y int) bool {
			const r = 24
			dx, dy := max(124-x, x-(376), 0), max(124-y, y-236, 0)
			return dx*dx+dy*dy <= r*r
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := blankSheet(shaded(func(x, y int) float64 {
				if in(x, y) {
					return 0.86
				}
				return 1
			}))
			linesOfText(c, color.RGBA{40, 40, 40, 255})
			white := scanned(c)
			for x := 120; x <= 350; x += 50 {
				if v := c.Src.RGBAAt(x+8, 120).R; v < 195 || v > 230 {
					t.Errorf("the fill is %d at x %d, want about 217", v, x+8)
				}
			}
			if got := white(image.Rect(30, 300, 570, 309)); got < 0.95 {
				t.Errorf("%.2f of the paper below is white", got)
			}
		})
	}
}

func TestWhiteLettersInAFillStay(t *testing.T) {
	head := image.Rect(0, 60, 600, 110)
	c := blankSheet(func(x, y int) color.RGBA {
		if (image.Point{X: x, Y: y}).In(head) {
			return color.RGBA{150, 190, 120, 255}
		}
		return color.RGBA{215, 215, 215, 255}
	})
	linesOfText(c, color.RGBA{60, 60, 60, 255})
	for x := 40; x < 560; x += 9 {
		letter := image.Rect(x, 76, x+5, 94)
		drawPrint(c, letter, color.RGBA{215, 215, 215, 255})
		if x%4 == 0 { // the network misses some
			for y := letter.Min.Y; y < letter.Max.Y; y++ {
				clear(c.Flags[y*c.W+letter.Min.X : y*c.W+letter.Max.X])
			}
		}
	}
	scanned(c)
	for x := 45; x < 560; x += 90 {
		letter, ground := c.Src.RGBAAt(x-3, 85), c.Src.RGBAAt(x, 66)
		if int(letter.R) < int(ground.R)+30 || ground.G < ground.R+25 {
			t.Errorf("at %d the letter is %v on %v, want white on green", x, letter, ground)
		}
	}
}

// A halftone is print all over; its greys stay apart.
func TestAPhotographKeepsItsShades(t *testing.T) {
	picture := image.Rect(200, 120, 440, 360)
	c := blankSheet(even(230))
	linesOfText(c, color.RGBA{40, 40, 40, 255})
	shade := func(x, y int) uint8 { return uint8(60 + (x-200)/3 + 40*((x/3+y/3)%2)) }
	for y := picture.Min.Y; y < picture.Max.Y; y++ {
		for x := picture.Min.X; x < picture.Max.X; x++ {
			v := shade(x, y)
			// Which the network does not take for print.
			if smooth := x%60 < 15 && y%60 < 15; !smooth {
				c.Flags[y*c.W+x] |= canvas.IsPrint
			} else {
				v = 150
			}
			c.Src.SetRGBA(x, y, color.RGBA{v, v, v, 255})
		}
	}
	before := slices.Clone(c.Src.Pix)
	white := scanned(c)
	if n := len(coloursOf(c.Src.SubImage(picture.Inset(10)).(*image.RGBA))); n < 80 {
		t.Errorf("the photograph has %d shades left", n)
	}
	for _, x := range []int{220, 247, 307, 320, 420} {
		i := c.Src.PixOffset(x, 247)
		want := 255 * float64(before[i]) / 230
		if got := float64(c.Src.Pix[i]); got < want-25 || got > want+25 {
			t.Errorf("the photograph is %.0f at %d, want about %.0f", got, x, want)
		}
	}
	if got := white(image.Rect(30, 53, 570, 68)); got < 0.97 {
		t.Errorf("%.2f of the paper is white", got)
	}
}

// hueOf is the angle of a colour on the hexagon red 0°, green 120°, blue 240°.
func hueOf(c [3]float64) float64 {
	a, b := math.Sqrt(3)*(c[1]-c[2]), 2*c[0]-c[1]-c[2]
	return math.Mod(math.Atan2(a, b)*180/math.Pi+360, 360)
}
