package segment

import (
	"testing"

	"pgregory.net/rapid"

	"unink/internal/nn"
)

// Cutting a picture into tiles and stitching their cores gives every pixel once, in its place.
func TestTilesStitch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6000).Draw(t, "n")
		side := rapid.SampledFrom([]int{nn.Portrait.W, nn.Portrait.H}).Draw(t, "side")
		next := 0
		for _, s := range tileSpans(n, side) {
			if s.core0 != next {
				t.Fatalf("core starts at %d, the last ended at %d", s.core0, next)
			}
			next = s.core1
			margin := func(edge, of int) bool { return edge == 0 || edge == n || of >= tileMargin }
			if !margin(s.core0, s.core0-s.at) || !margin(s.core1, s.at+side-s.core1) {
				t.Fatalf("a core of %+v lacks context", s)
			}
		}
		if next != n {
			t.Fatalf("tiles end at %d of %d", next, n)
		}
	})
}
