package measure

import (
	"math"
	"testing"

	"unink/internal/raster"
	"unink/internal/restore/restoretest"
)

func TestLeanIsThatOfThePage(t *testing.T) {
	const w, h = restoretest.PageWidth, restoretest.PageHeight
	for degrees, want := range map[float64]float64{
		0: 0, 5: 0, -8: 0, 90: 0, -20: -20, 30: 30, 40: 40, 60: -30, 110: 20,
	} {
		page := restoretest.Seen(restoretest.Page(), restoretest.TurnedBy(degrees, w, h))
		got := LeanOf(raster.Resize(page, w, h, 2), 24, 2).Degrees
		if math.Abs(got-want) > 2 || want == 0 && got != 0 {
			t.Errorf("a page turned by %g° leans by %g°, want %g°", degrees, got, want)
		}
	}
}
