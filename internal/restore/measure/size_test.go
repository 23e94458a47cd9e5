package measure

import (
	"path/filepath"
	"testing"

	"unink/internal/raster"
	"unink/internal/restore/restoretest"
)

func TestPrintSize(t *testing.T) {
	for _, em := range []float64{14, 24, 40, 60} {
		m := restoretest.Sheet(int(50*em), int(70*em), em)
		if got := Print(m, 2).Likely(); got < 0.7*em || got > 1.4*em {
			t.Errorf("print of %g px is taken for %g", em, got)
		}
	}
}

// A few letters are believed where a page of this size would have much smaller ones.
func TestFewLettersTellTheSize(t *testing.T) {
	for _, em := range []float64{24, 60} {
		m := restoretest.Sheet(int(11*em), int(6*em), em)
		if got := Print(m, 2).Likely(); got < 0.5*em || got > 1.5*em {
			t.Errorf("a few letters of %g px are taken for %g", em, got)
		}
	}
}

func TestPrintHasOneSizeWhicheverWayItLies(t *testing.T) {
	page := restoretest.Picture(t, filepath.Join("..", "..", "..", "docs", "before.jpg"))
	upright := Print(page, 2).Likely()
	for quarters := 1; quarters < 4; quarters++ {
		if got := Print(raster.Turn(page, quarters), 2).Likely(); got < 0.97*upright ||
			got > 1.03*upright {
			t.Errorf("print of %.1f px is taken for %.1f once turned %d times", upright, got,
				quarters)
		}
	}
}

// What is measured of a page that lies turned is what is measured of it upright.
func TestPrintSizeTurnsWithThePage(t *testing.T) {
	page := restoretest.Picture(t, filepath.Join("..", "..", "..", "docs", "before.jpg"))
	upright := Print(page, 2)
	for quarters := 1; quarters < 4; quarters++ {
		back := Print(raster.Turn(page, quarters), 2).Turned(quarters)
		for way, em := range upright.Em {
			if got := back.Em[way]; got < 0.97*em || got > 1.03*em {
				t.Errorf("print of %.1f px, its lines running way %d, is %.1f px turned %d times",
					em, way, got, quarters)
			}
		}
	}
}
