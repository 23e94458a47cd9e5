package flatten

import (
	"math"

	"unink/internal/lsq"
)

const (
	ripples = 10          // spans of the spline along each axis
	nodes   = ripples + 3 // coefficients
)

// ripple is what is left of a sheet's unevenness when it has been flattened as a whole: how far
// down from where it belongs each place lies, as a tensor product of uniform cubic B-splines.
type ripple struct {
	box [4]float64 // top, bottom, left, right of where it is known
	at  [nodes * nodes]float64
}

// basis writes the four cubic B-splines that are not zero at t, 0 to 1, of their span.
func basis(b *[4]float64, t float64) {
	r := 1 - t
	b[0], b[3] = r*r*r/6, t*t*t/6
	b[1], b[2] = (3*t*t*t-6*t*t+4)/6, (3*r*r*r-6*r*r+4)/6
}

// weights finds the coefficients that count at a place, and how much. Beyond the box it is as at
// its border.
func (r *ripple) weights(s, t float64, at *[16]int, w *[16]float64) {
	span := func(v, low, high float64, b *[4]float64) int {
		p := min(max((v-low)/max(high-low, 1e-9), 0), 1) * ripples
		i := min(max(int(p), 0), ripples-1)
		basis(b, p-float64(i))
		return i
	}
	var x, y [4]float64
	i, j := span(s, r.box[left], r.box[right], &x), span(t, r.box[top], r.box[bottom], &y)
	for k := range at {
		at[k] = (j+k/4)*nodes + i + k%4
		w[k] = x[k%4] * y[k/4]
	}
}

// down is how far down a place of the sheet lies.
func (r *ripple) down(s, t float64) (sum float64) {
	var at [16]int
	var w [16]float64
	r.weights(s, t, &at, &w)
	for k, i := range at {
		sum += w[k] * r.at[i]
	}
	return sum
}

// ripplesOf fits the ripple to rows, given as places on the sheet, so that each becomes straight.
// The heights of the rows are unknowns, too.
func ripplesOf(rows []curve, em float64) *ripple {
	r := &ripple{box: [4]float64{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)}}
	for _, l := range rows {
		for _, p := range l.points {
			grow(&r.box, p[0], p[1], 0)
		}
	}
	const (
		smooth = 0.1 // of an em: second differences
		large  = 0.5 // of an em
	)
	x := make([]float64, len(r.at)+len(rows))
	for _, tol := range [...]float64{1, 0.5, 0.3} {
		q := lsq.NewNormal(len(x))
		is := func(at []int, f []float64, sigma float64) {
			q.AddSparse(at, f, 0, 1/(sigma*sigma*em*em))
		}
		for i := range r.at {
			is([]int{i}, []float64{1}, large)
			if i%nodes < nodes-2 {
				is([]int{i, i + 1, i + 2}, []float64{1, -2, 1}, smooth)
			}
			if i/nodes < nodes-2 {
				is([]int{i, i + nodes, i + 2*nodes}, []float64{1, -2, 1}, smooth)
			}
		}
		var at [17]int
		var w [17]float64
		for k, l := range rows {
			at[16], w[16] = len(r.at)+k, 1
			q.AddSparse(at[16:], w[16:], l.points[0][1], 1e-6)
			for i, p := range l.points {
				r.weights(p[0], p[1], (*[16]int)(at[:]), (*[16]float64)(w[:]))
				q.AddSparse(at[:], w[:], p[1], l.trust[i]/(lineNoise*lineNoise*em*em))
			}
		}
		if !q.Solve(x) {
			return nil
		}
		copy(r.at[:], x)
		for k, l := range rows {
			for i, p := range l.points {
				d := (p[1] - r.down(p[0], p[1]) - x[len(r.at)+k]) / (tol * em)
				l.trust[i] = 1 / (1 + d*d)
				l.trust[i] *= l.trust[i]
			}
		}
	}
	return r
}
