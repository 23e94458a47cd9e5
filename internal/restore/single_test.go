package restore

import (
	"context"
	"path/filepath"
	"testing"

	"unink/internal/nn"
	"unink/internal/restore/measure"
	"unink/internal/restore/orient"
	"unink/internal/restore/restoretest"
	"unink/models"
)

// A thumbnail's print says nothing, so that no time is spent on it.
func TestPrintTooSmallToReadIsNotLookedAt(t *testing.T) {
	for side, looked := range map[int]bool{64: false, 150: false, 1300: true} {
		network := &turned{}
		quarters, _, err := Upright(context.Background(), network,
			restoretest.Sheet(side, side, 24*float64(side)/1754), 2)
		if err != nil || quarters != 0 || network.runs > 0 != looked {
			t.Errorf("a page of %d px: %d quarters after %d looks, %v", side, quarters,
				network.runs, err)
		}
	}
}

func BenchmarkOrient(b *testing.B) {
	root := filepath.Join("..", "..")
	runner, err := nn.Open(nn.Config{Network: models.Orient(), Threads: 2})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = runner.Close() }()
	src := restoretest.Picture(b, filepath.Join(root, "docs", "before.jpg"))
	size := measure.Print(src, 2)
	v := (&Engine{Threads: 2}).viewOf(src, size.Likely())
	for b.Loop() {
		if _, _, err := orient.Quarters(context.Background(), runner, v.m, size.Times(v.scale()),
			2); err != nil {
			b.Fatal(err)
		}
	}
}
