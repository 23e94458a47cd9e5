package strokes

import (
	"image"
	"math/rand/v2"
	"testing"

	"unink/internal/raster"
	"unink/internal/restore/ink"
	"unink/internal/restore/restoretest"
	"unink/internal/restore/segment"
)

// A printed sign that stands on the page again, a little elsewhere within its pixels, has a twin;
// signs drawn once have none.
func TestPrintHasTwins(t *testing.T) {
	const w, h, cell, signs = 400, 60, 40, 10
	plane := &ink.Plane{Scores: &segment.Scores{W: w, H: h}}
	grey := image.NewGray(image.Rect(0, 0, w, h))
	for i := range grey.Pix {
		grey.Pix[i] = 255
	}
	random := rand.New(rand.NewPCG(1, 2))
	for n := range signs {
		hand, points := n%2 == 1, [4][2]float64{{5, 6}, {24, 10}, {8, 25}, {26, 34}}
		for i := range points {
			points[i][0] += float64(n*cell) + random.Float64()*0.5
			if hand {
				points[i][0] += random.Float64()*12 - 6
				points[i][1] += random.Float64()*12 - 6
			}
		}
		for i := range 3 {
			restoretest.StrokeLine(grey, points[i], points[i+1])
		}
	}
	solid := make([]uint8, w*h)
	for i, v := range grey.Pix {
		if v < 128 {
			solid[i] = 1
		}
	}
	for ch := range plane.Light {
		plane.Light[ch] = grey.Pix
	}
	labels, components := raster.Components(solid, w)
	regions := make([]region, len(components))
	for i, c := range components {
		regions[i].Component = c
	}
	for i, apart := range findTwins(regions, labels, plane, 2) {
		if hand := regions[i].X0/cell%2 == 1; hand && apart < 0.5 || !hand && apart > 0.35 {
			t.Errorf("sign %d at %d: the likest other is %.2f apart", i, regions[i].X0, apart)
		}
	}
}
