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

// disc is a sheet of even light with something round on it, darkest within a radius and as light as
// the paper beyond another.
func disc(inner, outer float64, dark color.RGBA) *canvas.Canvas {
	return blankSheet(func(x, y int) color.RGBA {
		d := math.Hypot(float64(x)-300, float64(y)-240)
		paper := 240 - float64(x)/40 // the lamp is to the left
		k := min(max((d-inner)/(outer-inner), 0), 1)
		mix := func(v uint8) uint8 { return uint8(float64(v)*(1-k) + paper*k) }
		return color.RGBA{mix(dark.R), mix(dark.G), mix(dark.B), 255}
	})
}

func TestAGreyPictureOfAnyShapeStaysAndAShadowDoesNot(t *testing.T) {
	grey := color.RGBA{150, 150, 150, 255}
	inside := image.Rect(280, 220, 320, 260)
	for _, c := range []struct {
		name         string
		inner, outer float64
		stays        bool
	}{{"picture", 60, 62, true}, {"shadow", 60, 200, false}} {
		sheet := disc(c.inner, c.outer, grey)
		linesOfText(sheet, color.RGBA{40, 40, 40, 255})
		white := scanned(sheet)
		if got := white(inside.Intersect(image.Rect(283, 0, 292, 480))); got < 0.9 != c.stays {
			t.Errorf("%s: %.2f of it is white", c.name, got)
		}
		if v := sheet.Src.RGBAAt(288, 240); c.stays && (v.R < 110 || v.R > 190) {
			t.Errorf("%s of grey 150 is %v", c.name, v)
		}
	}
}

func TestAStrokeIsOfOneInk(t *testing.T) {
	c := blankSheet(even(240))
	r := rand.New(rand.NewPCG(5, 6))
	for y := 40; y < 440; y += 30 {
		for i := range 38 * 3 * 12 {
			at := image.Pt(40+i/36*14+i%3, y+i/3%12)
			noisy := func(v float64) uint8 { return raster.Clamp8(float32(v + 16*r.NormFloat64())) }
			ink := color.RGBA{noisy(40), noisy(60), noisy(90), 255}
			if y/30%2 == 0 {
				ink = color.RGBA{noisy(30), noisy(30), noisy(30), 255}
			}
			drawPrint(c, image.Rectangle{at, at.Add(image.Pt(1, 1))}, ink)
		}
	}
	scanned(c)
	other, all := 0, 0
	for y := 220; y < 232; y++ { // a line of blue
		for x := 40; x < 560; x++ {
			if v := c.Src.RGBAAt(x, y); min(v.R, v.G, v.B) < 200 {
				all++
				if hue := hueOf([3]float64{float64(v.R), float64(v.G),
					float64(v.B)}); math.Abs(hue-216) > 15 {
					other++
				}
			}
		}
	}
	if all == 0 || float64(other) > 0.04*float64(all) {
		t.Errorf("%d of %d pixels of a blue line are of another hue, want 4 %%", other, all)
	}
}

func TestABroadBarIsEven(t *testing.T) {
	c, _ := inkedSheet()
	bar := image.Rect(40, 452, 560, 466)
	noise := blankSheet(even(120))
	for y := bar.Min.Y; y < bar.Max.Y; y++ {
		for x := bar.Min.X; x < bar.Max.X; x++ {
			n := (int(noise.Src.RGBAAt(x, y).R) - 120) * 6
			drawPrint(c, image.Rect(x, y, x+1, y+1),
				color.RGBA{uint8(90 + n), uint8(110 + n), uint8(175 + n), 255})
		}
	}
	scanned(c)
	inside := bar.Inset(3)
	steps := 0
	for y := inside.Min.Y; y < inside.Max.Y; y++ {
		for x := inside.Min.X + 1; x < inside.Max.X; x++ {
			if c.Src.RGBAAt(x, y) != c.Src.RGBAAt(x-1, y) {
				steps++
			}
		}
	}
	if share := float64(steps) / float64(inside.Dx()*inside.Dy()); share > 0.25 {
		t.Errorf("%.2f of the bar's pixels differ from the one before, want 0.25", share)
	}
}

// A panel that a shadow falls over is told by its tint, which is about the same in the shadow.
func TestAPastelPanelIsKeptUnderAShadow(t *testing.T) {
	panel := image.Rect(60, 60, 540, 420)
	c := blankSheet(func(x, y int) color.RGBA {
		v := [3]float64{240, 240, 240}
		if (image.Point{X: x, Y: y}).In(panel) {
			v = [3]float64{240, 235, 180}
		}
		shade := 0.3 * min(max((float64(x+y/2)-300)/90, 0), 1)
		return color.RGBA{uint8(v[0] * (1 - shade)), uint8(v[1] * (1 - 0.95*shade)),
			uint8(v[2] * (1 - 0.9*shade)), 255}
	})
	linesOfText(c, color.RGBA{40, 40, 40, 255})
	white := scanned(c)
	for _, p := range []image.Point{{120, 145}, {420, 355}} { // in the light, in the shadow
		if v := c.Src.RGBAAt(p.X, p.Y); v.R < 235 || v.G < 225 || v.B < 160 || v.B > 215 {
			t.Errorf("the panel is %v at %v, want a light yellow", v, p)
		}
	}
	for _, r := range []image.Rectangle{image.Rect(5, 5, 590, 40), image.Rect(5, 440, 590, 475)} {
		if got := white(r); got < 0.95 {
			t.Errorf("%.2f of the paper at %v is white", got, r)
		}
	}
}

// Squares of a grid shaded by a halftone, a sign in each, under light that takes their tint away.
func TestShadedSquaresAreKeptWholeWhereTheirTintFades(t *testing.T) {
	const side = 40
	squares := image.Rect(200, 200, 200+3*side, 200+side)
	ink := color.RGBA{50, 48, 45, 255}
	c := blankSheet(func(x, y int) color.RGBA {
		v := [3]float64{214, 206, 190}
		if (image.Point{X: x, Y: y}).In(squares) {
			fade := 24 * float64(x-squares.Min.X) / float64(squares.Dx())
			dot := float64((x/2+y/2)%2*2 - 1)
			v = [3]float64{134 + fade - 30*dot, 156 - 22*dot, 176 - fade - 12*dot}
		}
		light := 1 - 0.4*float64(x)/600
		return color.RGBA{uint8(v[0] * light), uint8(v[1] * light), uint8(v[2] * light), 255}
	})
	for at := 40; at <= 440; at += side {
		drawPrint(c, image.Rect(at, 40, at+2, 440), ink)
		drawPrint(c, image.Rect(40, at, 442, at+2), ink)
		for y := 40; at < 440 && y < 440; y += side {
			drawPrint(c, image.Rect(at+14, y+8, at+26, y+34), ink)
		}
	}
	white := scanned(c)
	for x := squares.Min.X; x < squares.Max.X; x += side {
		square := image.Rect(x+4, 204, x+10, 200+side-4)
		if got := white(square); got > 0.02 {
			t.Errorf("%.2f of the shaded square at %v has become white", got, square)
		}
	}
	if got := white(image.Rect(364, 204, 370, 236)); got < 0.95 {
		t.Errorf("%.2f of the square beside them is white, want its paper", got)
	}
}

// A halftone, of which the network holds all but patches for print, on paper that has yellowed less
// than the page's.
func TestAHalftoneOnYellowedPaperStaysAndIsGrey(t *testing.T) {
	c := blankSheet(func(int, int) color.RGBA { return color.RGBA{208, 194, 160, 255} })
	linesOfText(c, color.RGBA{70, 65, 55, 255})
	photo := image.Rect(250, 150, 490, 350)
	for y := photo.Min.Y; y < photo.Max.Y; y++ {
		for x := photo.Min.X; x < photo.Max.X; x++ {
			ink := color.RGBA{172, 165, 150, 255}
			if (x/2+y/2)%2 == 0 {
				ink = color.RGBA{110, 106, 98, 255}
			}
			if patch := (x/40+y/40)%3 == 0 && x%40 > 8 && x%40 < 34 && y%40 > 8 &&
				y%40 < 34; patch {
				c.Src.SetRGBA(x, y, color.RGBA{185, 178, 162, 255})
				c.Flags[y*c.W+x] = 0
			} else {
				drawPrint(c, image.Rect(x, y, x+1, y+1), ink)
			}
		}
	}
	white := scanned(c)
	if w := white(photo.Inset(8)); w > 0.02 {
		t.Errorf("%.2f of the halftone is white", w)
	}
	for y := photo.Min.Y + 8; y < photo.Max.Y-8; y++ {
		for x := photo.Min.X + 8; x < photo.Max.X-8; x++ {
			if v := c.Src.RGBAAt(x, y); max(v.R, v.G, v.B)-min(v.R, v.G, v.B) > 12 {
				t.Fatalf("%v at %d, %d is not grey", v, x, y)
			}
		}
	}
}

func TestAPhotographHasItsLightPartsAndAFrameHasNot(t *testing.T) {
	for name, v := range map[string]struct {
		hole   image.Rectangle
		filled bool
	}{"light part": {image.Rect(20, 20, 29, 29), true},
		"frame": {image.Rect(16, 16, 44, 44), false}} {
		f := &raster.Field{W: 70, H: 60, Colour: make([][3]float32, 70*60),
			Weight: make([]float32, 70*60)}
		area := image.Rect(10, 10, 50, 50)
		for i := range f.Weight {
			if at := image.Pt(i%f.W, i/f.W); !at.In(area) || at.In(v.hole) {
				f.Weight[i] = 1
			}
		}
		found := findPhotographs(f)
		middle := v.hole.Min.Add(v.hole.Size().Div(2))
		if !found[12*f.W+12] {
			t.Errorf("%s: the print round it is no photograph", name)
		}
		if found[middle.Y*f.W+middle.X] != v.filled {
			t.Errorf("%s: belongs to the photograph: %v", name, !v.filled)
		}
	}
}
