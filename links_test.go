package unink_test

import (
	"context"
	"image"
	"image/color"
	"image/draw"
	"testing"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"unink"
)

// Links in a screen's blue are print: nothing is taken from a page of them.
func TestLinksStay(t *testing.T) {
	page := linksPage(t)
	p, err := newCleaner(t, unink.Limits{}).CleanImage(context.Background(), page,
		unink.Options{Finish: unink.Colour})
	if err != nil {
		t.Fatal(err)
	}
	if p.Removed != 0 {
		t.Errorf("%.3f %% of the page is removed", 100*p.Removed)
	}
}

// linksPage is a page of text at 200 dpi with underlined links in it.
func linksPage(t *testing.T) *image.RGBA {
	t.Helper()
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		t.Fatal(err)
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: 12, DPI: 200})
	if err != nil {
		t.Fatal(err)
	}
	page := image.NewRGBA(image.Rect(0, 0, 1653, 1300))
	draw.Draw(page, page.Rect, image.White, image.Point{}, draw.Src)
	blue := image.NewUniform(color.RGBA{0, 0, 255, 255})
	y := 160
	write := func(s string, at fixed.Int26_6, ink image.Image) fixed.Int26_6 {
		d := font.Drawer{Dst: page, Src: ink, Face: face, Dot: fixed.Point26_6{X: at, Y: fixed.I(y)}}
		d.DrawString(s)
		return d.Dot.X
	}
	for _, line := range []string{"The year went better than feared in all regions but one.",
		"Costs grew as well, above all for energy.", "We expect a calm first half of the year."} {
		write(line, fixed.I(167), image.Black)
		y += 50
	}
	for _, link := range []string{"Linking to the first page of the guide",
		"See what changed since spring", "Opening hours and holidays", "Where to find our office",
		"Download the form"} {
		y += 72
		end := write(link, fixed.I(167), blue)
		draw.Draw(page, image.Rect(167, y+4, end.Round(), y+6), blue, image.Point{}, draw.Src)
		write(" : more about it there", end, image.Black)
	}
	return page
}
