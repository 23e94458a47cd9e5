// Package lsq solves weighted linear least squares by their normal equations.
package lsq

import (
	"math"
	"slices"
)

// Normal is the normal equations of a weighted linear fit of any number of unknowns.
type Normal struct {
	n int
	a []float64 // n × n; the lower triangle counts
	b []float64
}

// NewNormal is no equations yet, of n unknowns.
func NewNormal(n int) *Normal {
	return &Normal{n, make([]float64, n*n), make([]float64, n)}
}

// Add takes an equation in: what the unknowns' factors are and what they sum up to.
func (q *Normal) Add(f []float64, y, weight float64) {
	for i, v := range f {
		if v *= weight; v != 0 {
			row := q.a[i*q.n:]
			for j, u := range f[:i+1] {
				row[j] += v * u
			}
			q.b[i] += v * y
		}
	}
}

// AddSparse takes in an equation in which few unknowns occur.
func (q *Normal) AddSparse(at []int, f []float64, y, weight float64) {
	for i, k := range at {
		v := f[i] * weight
		for j, l := range at {
			if l <= k {
				q.a[k*q.n+l] += v * f[j]
			}
		}
		q.b[k] += v * y
	}
}

// Damped is a copy with the diagonal raised by a share of itself (Marquardt, 1963).
func (q *Normal) Damped(share float64) *Normal {
	out := &Normal{q.n, slices.Clone(q.a), q.b}
	for i := range q.n {
		out.a[i*q.n+i] *= 1 + share
	}
	return out
}

// Solve finds the unknowns, by Cholesky's decomposition, which takes the place of the equations.
// It reports whether they are determined.
func (q *Normal) Solve(x []float64) bool {
	n := q.n
	for i := range n {
		for j := range i + 1 {
			a, b := q.a[i*n:][:j], q.a[j*n:][:j]
			sum := q.a[i*n+j]
			for k, v := range a {
				sum -= v * b[k]
			}
			if i != j {
				q.a[i*n+j] = sum / q.a[j*n+j]
				continue
			}
			if !(sum > 1e-12) {
				return false
			}
			q.a[i*n+i] = math.Sqrt(sum)
		}
	}
	for i := range n {
		sum := q.b[i]
		for k, v := range q.a[i*n:][:i] {
			sum -= v * x[k]
		}
		x[i] = sum / q.a[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		sum := x[i]
		for k := i + 1; k < n; k++ {
			sum -= q.a[k*n+i] * x[k]
		}
		x[i] = sum / q.a[i*n+i]
	}
	return true
}
