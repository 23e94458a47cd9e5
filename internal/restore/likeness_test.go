package restore

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"unink/internal/raster"
)

// strokeOf is a region as an upright stroke so thick and tall makes it, in an ink that lets so much light through.
func strokeOf(thick, tall int, light float64) region {
	return region{
		Component: raster.Component{X1: thick, Y1: tall, Area: thick * tall},
		border:    2*(thick+tall) - 4,
		ink:       [3]float64{light, light, light},
	}
}

// looksOf compares regions by what is measured of each alone: none has a twin.
func looksOf(page []region) *likeness {
	l := &likeness{regions: page, workers: 1}
	for i := range page {
		l.traits = append(l.traits, page[i].traits(noTwin))
	}
	return l
}

// Strokes in doubt are judged by those that are not: alike to the page's writing, or to its print.
func TestLikenessTells(t *testing.T) {
	for name, c := range map[string]struct{ writing, print region }{
		"size": {strokeOf(4, 30, 0.2), strokeOf(2, 12, 0.2)},
		"ink":  {strokeOf(3, 20, 0.4), strokeOf(3, 20, 0.1)},
	} {
		t.Run(name, func(t *testing.T) {
			page, field := []region{c.writing, c.print, strokeOf(3, 200, 0.2)}, []float64{-0.2, 0.2, 0.1}
			for range 40 {
				page, field = append(page, c.writing, c.print, c.print), append(field, 3, -3, -3)
			}
			if odds := looksOf(page).odds(field); odds[0] < 1 || odds[1] > -1 || odds[2] != 0 {
				t.Errorf("writing %.2f, print %.2f, rule %.2f", odds[0], odds[1], odds[2])
			}
		})
	}
}

// What is too large for a letter is not taken for writing because no other shape is like it.
func TestLikenessLeavesAsideWhatIsNotKnown(t *testing.T) {
	page, field := []region{strokeOf(3, 20, 0.2)}, []float64{0}
	for range 40 {
		page, field = append(page, page[0], page[0]), append(field, 3, -3)
	}
	l := looksOf(page)
	for i := range l.traits {
		if field[i] < 0 {
			l.traits[i][5] = 0.1
		}
	}
	alone := l.odds(field)[0]
	l.traits[0][5] = math.NaN()
	if unknown := l.odds(field)[0]; alone < 1 || math.Abs(unknown) > 0.1 {
		t.Errorf("%.2f without a twin, %.2f where that is not known", alone, unknown)
	}
}

// A straight line thicker than the pen's is a printed bar, unless it is as light as highlighting.
func TestBarsArePrint(t *testing.T) {
	page, field := []region{strokeOf(12, 200, 0.2), strokeOf(12, 200, 0.8), strokeOf(4, 200, 0.2)}, []float64{3, 3, 3}
	for range 40 {
		page, field = append(page, strokeOf(4, 30, 0.2), strokeOf(2, 12, 0.2)), append(field, 3, -3)
	}
	if odds := looksOf(page).odds(field); odds[0] > -2 || odds[1] != 0 || odds[2] != 0 {
		t.Errorf("bar %.2f, highlighting %.2f, underline %.2f", odds[0], odds[1], odds[2])
	}
}

func TestLikenessTellsNothingWhereAllIsPrint(t *testing.T) {
	odds := looksOf([]region{strokeOf(4, 30, 0.2), strokeOf(2, 12, 0.2)}).odds([]float64{0.2, -3})
	if odds[0] != 0 || odds[1] != 0 {
		t.Error(odds)
	}
}

// A printed sign that stands on the page again, a little elsewhere within its pixels, has a twin; signs drawn once have none.
func TestPrintHasTwins(t *testing.T) {
	const w, h, cell, signs = 400, 60, 40, 10
	ink := &inkPlane{s: &scores{w: w, h: h}}
	grey := image.NewGray(image.Rect(0, 0, w, h))
	for i := range grey.Pix {
		grey.Pix[i] = 255
	}
	drawn := rand.New(rand.NewPCG(1, 2))
	for n := range signs {
		hand, points := n%2 == 1, [4][2]float64{{5, 6}, {24, 10}, {8, 25}, {26, 34}}
		for i := range points {
			points[i][0] += float64(n*cell) + drawn.Float64()*0.5
			if hand {
				points[i][0] += drawn.Float64()*12 - 6
				points[i][1] += drawn.Float64()*12 - 6
			}
		}
		for i := range 3 {
			strokeLine(grey, points[i], points[i+1])
		}
	}
	solid := make([]uint8, w*h)
	for i, v := range grey.Pix {
		if v < 128 {
			solid[i] = 1
		}
	}
	for ch := range ink.light {
		ink.light[ch] = grey.Pix
	}
	labels, components := raster.Components(solid, w)
	regions := make([]region, len(components))
	for i, c := range components {
		regions[i].Component = c
	}
	for i, apart := range findTwins(regions, labels, ink, 2) {
		if hand := regions[i].X0/cell%2 == 1; hand && apart < 0.5 || !hand && apart > 0.35 {
			t.Errorf("sign %d at %d: the likest other is %.2f apart", i, regions[i].X0, apart)
		}
	}
}

// strokeLine darkens what lies within two pixels of the way from a to b.
func strokeLine(m *image.Gray, a, b [2]float64) {
	const steps = 200
	for i := range steps {
		k := float64(i) / steps
		x, y := a[0]+k*(b[0]-a[0]), a[1]+k*(b[1]-a[1])
		for yy := int(y) - 3; yy <= int(y)+3; yy++ {
			for xx := int(x) - 3; xx <= int(x)+3; xx++ {
				d := (float64(xx)-x)*(float64(xx)-x) + (float64(yy)-y)*(float64(yy)-y)
				if p := (image.Point{X: xx, Y: yy}); p.In(m.Rect) && d < 9 {
					at := m.PixOffset(xx, yy)
					m.Pix[at] = min(m.Pix[at], uint8(d*255/9))
				}
			}
		}
	}
}
