package lsq

import (
	"math"
	"testing"
)

func TestNormalSolves(t *testing.T) {
	q := NewNormal(2)
	for x := range 5 {
		q.Add([]float64{1, float64(x)}, 3-2*float64(x), 1)
	}
	var c [2]float64
	if !q.Solve(c[:]) || math.Abs(c[0]-3) > 1e-9 || math.Abs(c[1]+2) > 1e-9 {
		t.Errorf("the line is %v, want 3-2x", c)
	}
	q = NewNormal(2)
	q.Add([]float64{1, 1}, 2, 1)
	if q.Solve(c[:]) {
		t.Error("one equation determines two unknowns")
	}
}
