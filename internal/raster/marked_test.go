package raster

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Every value that counts is visited, in its order, and no other.
func TestMarkedValuesAreVisited(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plane := rapid.SliceOfN(rapid.SampledFrom([]uint8{0, 0, 0, 1, 255}), 0, 99).Draw(t, "plane")
		signed := rapid.SliceOfN(rapid.SampledFrom([]int8{-128, -1, -9, 0, 127, 1}), 0, 99).Draw(t,
			"signed")
		var marked, positive []int
		for i, v := range plane {
			if v != 0 {
				marked = append(marked, i)
			}
		}
		for i, v := range signed {
			if v > 0 {
				positive = append(positive, i)
			}
		}
		if got := slices.Collect(Marked(plane)); !slices.Equal(got, marked) {
			t.Errorf("of %v marked are %v", plane, got)
		}
		if got := slices.Collect(Positive(signed)); !slices.Equal(got, positive) {
			t.Errorf("of %v positive are %v", signed, got)
		}
	})
}
