package lsq

import (
	"math"
)

// Matrix is a map of the plane in homogeneous coordinates.
type Matrix [3][3]float64

// Times maps homogeneous coordinates.
func (m Matrix) Times(v [3]float64) (out [3]float64) {
	for i := range m {
		out[i] = m[i][0]*v[0] + m[i][1]*v[1] + m[i][2]*v[2]
	}
	return out
}

// Apply maps a point.
func (m Matrix) Apply(x, y float64) (float64, float64) {
	p := m.Times([3]float64{x, y, 1})
	return p[0] / p[2], p[1] / p[2]
}

// Inverse is the map that undoes it; false if there is none.
func (m Matrix) Inverse() (out Matrix, ok bool) {
	minor := func(i, j int) float64 {
		a, b, c, d := (i+1)%3, (i+2)%3, (j+1)%3, (j+2)%3
		return m[a][c]*m[b][d] - m[a][d]*m[b][c]
	}
	det := m[0][0]*minor(0, 0) + m[0][1]*minor(0, 1) + m[0][2]*minor(0, 2)
	if math.Abs(det) < 1e-12 {
		return out, false
	}
	for i := range out {
		for j := range out {
			out[i][j] = minor(j, i) / det
		}
	}
	return out, true
}
