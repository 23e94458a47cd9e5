package restore

import (
	"testing"

	"unink/internal/raster"
)

// strokeOf is a region as an upright stroke so thick and tall makes it.
func strokeOf(thick, tall int, evidence float64) region {
	return region{
		Component: raster.Component{X1: thick, Y1: tall, Area: thick * tall},
		border:    2*(thick+tall) - 4,
		evidence:  evidence,
	}
}

// Strokes in doubt are judged by those that are not: alike in size to the page's writing or to its print.
func TestSizesTell(t *testing.T) {
	page := []region{strokeOf(4, 30, -0.2), strokeOf(2, 12, 0.2), strokeOf(7, 200, 0.1)}
	for range 40 {
		page = append(page, strokeOf(4, 30, 3), strokeOf(2, 12, -3), strokeOf(2, 14, -3))
	}
	field := make([]float64, len(page))
	for i, r := range page {
		field[i] = r.evidence
	}
	weighSizes(page, field)
	if writing, print, rule := page[0].evidence, page[1].evidence, page[2].evidence; writing < 0.3 || print > -0.3 || rule != 0.1 {
		t.Errorf("writing %.2f, print %.2f, rule %.2f", writing, print, rule)
	}
}

func TestSizesTellNothingWhereAllIsPrint(t *testing.T) {
	page := []region{strokeOf(4, 30, 0.2), strokeOf(2, 12, -3)}
	weighSizes(page, []float64{0.2, -3})
	if page[0].evidence != 0.2 || page[1].evidence != -3 {
		t.Error(page[0].evidence, page[1].evidence)
	}
}
