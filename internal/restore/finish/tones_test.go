package finish

import (
	"bytes"
	"image"
	"image/color"
	"testing"

	"unink/internal/restore/canvas"
)

// letters draws lines of thin strokes, as of print, that the network has not seen.
func letters(c *canvas.Canvas, area image.Rectangle, ink color.RGBA) {
	for top := area.Min.Y; top+14 <= area.Max.Y; top += 36 {
		for x := area.Min.X; x+3 <= area.Max.X; x += 9 {
			for y := top; y < top+14; y++ {
				for i := range 3 {
					c.Src.SetRGBA(x+i, y, ink)
				}
			}
		}
	}
}

var chalk, soot = color.RGBA{255, 255, 255, 255}, color.RGBA{0, 0, 0, 255}

// lightAt is the mean light of a rectangle.
func lightAt(m *image.RGBA, r image.Rectangle) int {
	sum := 0
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c := m.RGBAAt(x, y)
			sum += int(c.R) + int(c.G) + int(c.B)
		}
	}
	return sum / (3 * r.Dx() * r.Dy())
}

// A page that is light on dark, such as a negative or a blackboard, stays as it is, and that is
// told.
func TestLightOnDarkStays(t *testing.T) {
	for name, ground := range map[string]color.RGBA{
		"black": {10, 10, 12, 255}, "blackboard": {38, 70, 55, 255}, "blue": {30, 60, 160, 255},
	} {
		c := blankSheet(func(int, int) color.RGBA { return ground })
		letters(c, image.Rect(50, 40, 550, 440), chalk)
		c.MarkNearInk()
		before := bytes.Clone(c.Src.Pix)
		if Scan(c, c.Src) || !bytes.Equal(before, c.Src.Pix) {
			t.Errorf("%s: the page was finished", name)
		}
	}
}

// A dark panel keeps its print, up to the page's edges, whether or not the network knows that as
// print; the paper beside it becomes white.
func TestPanelKeepsItsPrint(t *testing.T) {
	for name, ground := range map[string]color.RGBA{
		"black": {35, 31, 32, 255}, "blue": {40, 70, 180, 255}, "green": {38, 70, 55, 255},
	} {
		for _, known := range []bool{false, true} {
			c := blankSheet(func(_, y int) color.RGBA {
				if y < 200 {
					return ground
				}
				return color.RGBA{226, 222, 214, 255}
			})
			letters(c, image.Rect(40, 30, 560, 190), chalk)
			letters(c, image.Rect(40, 230, 560, 470), soot)
			for i := range c.Flags {
				if light := c.Src.Pix[4*i]; known && (i < 200*c.W && light > 250 || i >= 200*c.W && light < 5) {
					c.Flags[i] |= canvas.IsPrint
				}
			}
			c.MarkNearInk()
			if !Scan(c, c.Src) {
				t.Fatalf("%s: not finished", name)
			}
			stroke := lightAt(c.Src, image.Rect(310, 30, 313, 44))
			paper := lightAt(c.Src, image.Rect(100, 250, 500, 260))
			if stroke < 235 || paper < 250 {
				t.Errorf("%s: a stroke on the panel is %d, the paper %d", name, stroke, paper)
			}
			for _, edge := range []image.Rectangle{
				image.Rect(0, 0, 600, 12), image.Rect(0, 0, 12, 190), image.Rect(588, 0, 600, 190),
			} {
				if light := lightAt(c.Src, edge); light > 130 {
					t.Errorf("%s: the panel is %d at %v", name, light, edge)
				}
			}
		}
	}
}

// A shadow over print is no panel.
func TestShadowIsNoPanel(t *testing.T) {
	c := blankSheet(func(_, y int) color.RGBA {
		if y < 240 {
			return color.RGBA{95, 95, 95, 255}
		}
		return color.RGBA{235, 235, 235, 255}
	})
	letters(c, image.Rect(40, 30, 560, 450), color.RGBA{20, 20, 20, 255})
	c.MarkNearInk()
	if share := shareOf(measureTones(c, c.Src).panels()); share > 0 {
		t.Errorf("%.2f of the page is taken for a panel", share)
	}
}

// Print that went is noticed, and paper that became white is not.
func TestLostPrintIsNoticed(t *testing.T) {
	page := func(paper uint8, print int) *toneMap {
		c := blankSheet(even(paper))
		letters(c, image.Rect(40, 30, 560, print), color.RGBA{20, 20, 20, 255})
		return measureTones(c, c.Src)
	}
	before := page(180, 450)
	if before.lost(page(255, 450)) {
		t.Error("whiter paper is taken for lost print")
	}
	if !before.lost(page(255, 350)) {
		t.Error("lost lines are not noticed")
	}
}
