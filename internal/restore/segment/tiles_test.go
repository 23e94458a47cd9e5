package segment

import (
	"testing"

	"pgregory.net/rapid"

	"unink/internal/nn"
)

// Cutting a picture into tiles and stitching their cores gives every pixel once, in its place, with
// what the network needs round it, and no tile is larger than memory is planned for.
func TestTilesStitch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.IntRange(1, 6000).Draw(t, "w")
		h := rapid.IntRange(1, int(maxPixels)/w).Draw(t, "h")
		d := tilingOf(w, h)
		if d.shape.Pixels() > nn.LargestTile.Pixels() || d.shape.W%nn.Cell+d.shape.H%nn.Cell != 0 {
			t.Fatalf("%d×%d: %+v", w, h, d)
		}
		from := rapid.IntRange(0, 3000).Draw(t, "from")
		checkSpans(t, from, w, d.shape.W, tileSpans(from, w, d.shape.W, d.columns))
		checkSpans(t, from, h, d.shape.H, tileSpans(from, h, d.shape.H, d.rows))
	})
}

func checkSpans(t *rapid.T, from, n, side int, spans []tileSpan) {
	next := from
	for _, s := range spans {
		if s.core0 != next {
			t.Fatalf("core starts at %d, the last ended at %d", s.core0, next)
		}
		next = s.core1
		margin := func(edge, of int) bool { return edge == from || edge == from+n || of >= tileMargin }
		if !margin(s.core0, s.core0-s.at) || !margin(s.core1, s.at+side-s.core1) {
			t.Fatalf("a core of %+v lacks context", s)
		}
	}
	if next != from+n {
		t.Fatalf("tiles end at %d of %d", next-from, n)
	}
}

// Tiles cost little more than the picture that they cover.
func TestTilesCoverLittleElse(t *testing.T) {
	for _, size := range [][2]int{{1240, 1754}, {955, 1273}, {1412, 1882}, {707, 1257}, {2200, 1650}} {
		d := tilingOf(size[0], size[1])
		cost := float64(d.columns*d.rows*d.shape.Pixels()) / float64(size[0]*size[1])
		if cost > 1.25 {
			t.Errorf("%v takes %.2f times its pixels: %+v", size, cost, d)
		}
	}
}
