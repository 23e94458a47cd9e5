package lsq

// Normal3 is the normal equations of a weighted fit of three unknowns. The zero value is no
// equations yet.
type Normal3 struct {
	a Matrix
	b [3]float64
}

// Add takes an equation in: what the unknowns' factors are and what they sum up to.
func (q *Normal3) Add(f [3]float64, y, weight float64) {
	for i := range f {
		for j := range f {
			q.a[i][j] += weight * f[i] * f[j]
		}
		q.b[i] += weight * f[i] * y
	}
}

// Hold pulls an unknown to zero: with a weight of 1 one that is not in the equations is determined.
func (q *Normal3) Hold(unknown int, weight float64) { q.a[unknown][unknown] += weight }

// Solve finds the unknowns and reports whether they are determined.
func (q *Normal3) Solve() ([3]float64, bool) {
	inverse, ok := q.Inverse()
	return inverse.Times(q.b), ok
}

// Inverse is the unknowns' covariance for equations of unit variance; false if there is none.
func (q *Normal3) Inverse() (Matrix, bool) { return q.a.Inverse() }
