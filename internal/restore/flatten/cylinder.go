package flatten

import (
	"math"

	"unink/internal/lsq"
)

// curve is a line of print or a rule: places along it, in the units of a guide.
type curve struct {
	points [][2]float64
	trust  []float64 // weight of each, 0 to 1, in the last fit
	down   bool      // it runs across the rows
}

// knots is the number of coefficients of the cross-section of a sheet.
const knots = 9

// cylinder is a sheet that is bent about axes along its columns, as a book's page is, seen by a
// camera at the distance focal: its point u, v lies at (u, v, z(u)) before it is turned. It is the
// model of Cao, Ding and Liu 2003 ("A cylindrical surface model to rectify the bound document
// image"), with a spline as the cross-section.
type cylinder struct {
	turn  [3]float64     // about the axes x, y and z, in radians
	zoom  float64        // logarithm of the focal length, over focal
	bend  [knots]float64 // coefficients of a uniform cubic B-spline
	reach float64        // the spline goes from -reach to reach, and on as a straight line

	focal float64
	axes  lsq.Matrix // turn as a matrix
	zero  float64
	arc   [arcs + 1]float64 // length of the cross-section from 0 to its places
}

const arcs = 96

// shapes is the number of a flat sheet's parameters: three angles and the zoom. The coefficients
// follow them.
const shapes = 4

// set takes the parameters.
func (c *cylinder) set(p []float64) {
	copy(c.turn[:], p)
	c.zoom = p[3]
	c.focal = focal * math.Exp(c.zoom)
	copy(c.bend[:], p[shapes:])
	sx, cx := math.Sincos(c.turn[0])
	sy, cy := math.Sincos(c.turn[1])
	sz, cz := math.Sincos(c.turn[2])
	c.axes = lsq.Matrix{
		{cz * cy, cz*sy*sx - sz*cx, cz*sy*cx + sz*sx},
		{sz * cy, sz*sy*sx + cz*cx, sz*sy*cx - cz*sx},
		{-sy, cy * sx, cy * cx},
	}
	c.zero = 0
	c.zero, _ = c.height(0)
	step := 2 * c.reach / arcs
	for i := range arcs {
		_, slope := c.height(-c.reach + (float64(i)+0.5)*step)
		c.arc[i+1] = c.arc[i] + step*math.Sqrt(1+slope*slope)
	}
	middle := c.arc[arcs/2]
	for i := range c.arc {
		c.arc[i] -= middle
	}
}

// height is the cross-section at u, and its slope.
func (c *cylinder) height(u float64) (z, slope float64) {
	const spans = knots - 3
	scale := spans / (2 * c.reach)
	p := (min(max(u, -c.reach), c.reach) + c.reach) * scale
	i := min(max(int(p), 0), spans-1)
	t := p - float64(i)
	b := c.bend[i : i+4 : i+4]
	r := 1 - t
	z = (r*r*r*b[0] + (3*t*t*t-6*t*t+4)*b[1] + (3*r*r*r-6*r*r+4)*b[2] + t*t*t*b[3]) / 6
	slope = (-r*r*b[0] + (3*t*t-4*t)*b[1] - (3*r*r-4*r)*b[2] + t*t*b[3]) / 2 * scale
	if beyond := u - min(max(u, -c.reach), c.reach); beyond != 0 {
		z += slope * beyond
	}
	return z - c.zero, slope
}

// along is the length of the cross-section from 0 to u.
func (c *cylinder) along(u float64) float64 {
	p := (u + c.reach) / (2 * c.reach) * arcs
	i := min(max(int(p), 0), arcs-1)
	return c.arc[i] + (p-float64(i))*(c.arc[i+1]-c.arc[i])
}

// place is the u at a length of the cross-section.
func (c *cylinder) place(s float64) float64 {
	lo, hi := 0, arcs
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; c.arc[mid] <= s {
			lo = mid
		} else {
			hi = mid
		}
	}
	return ((float64(lo)+(s-c.arc[lo])/(c.arc[lo+1]-c.arc[lo]))/arcs*2 - 1) * c.reach
}

// toSheet maps a point of the picture to the flat sheet.
func (c *cylinder) toSheet(x, y float64) (s, t float64) {
	a := &c.axes
	ox, oy, oz := -c.focal*a[2][0], -c.focal*a[2][1], -c.focal*a[2][2]
	dx := a[0][0]*x + a[1][0]*y + a[2][0]*c.focal
	dy := a[0][1]*x + a[1][1]*y + a[2][1]*c.focal
	dz := a[0][2]*x + a[1][2]*y + a[2][2]*c.focal
	k := -oz / dz
	for range 4 {
		z, slope := c.height(ox + k*dx)
		k -= (oz + k*dz - z) / (dz - slope*dx)
	}
	return c.along(ox + k*dx), oy + k*dy
}

// toPicture maps a point of the flat sheet to the picture.
func (c *cylinder) toPicture(s, t float64) (x, y float64) {
	u := c.place(s)
	z, _ := c.height(u)
	p := c.axes.Times([3]float64{u, t, z})
	return c.focal * p[0] / (c.focal + p[2]), c.focal * p[1] / (c.focal + p[2])
}

// fit is the search for the cylinder by which curves are straight.
type fit struct {
	c      *cylinder
	curves []*curve
	em     float64
	p      []float64 // the parameters
	n      int       // how many of the parameters are fitted
	hold   bool      // the zoom stays as it is while the others are fitted
	off    []float64
	moved  [][]float64
}

// How surely a sheet's shape is known beforehand, as standard deviations.
const (
	lineNoise  = 0.1  // of an em: how far places are off their line
	tiltSigma  = 0.35 // radians: of the sheet against the camera
	turnSigma  = 1.0  // radians: in the picture
	zoomSigma  = 0.4
	stiffSigma = 0.05 // second differences of the coefficients
	leanSigma  = 0.3  // their differences
)

// prior calls found for each thing that is known beforehand: a sum of parameters is zero, or
// nearly.
func (f *fit) prior(found func(at []int, factors []float64, sigma float64)) {
	found([]int{0}, []float64{1}, tiltSigma)
	found([]int{1}, []float64{1}, tiltSigma)
	found([]int{2}, []float64{1}, turnSigma)
	found([]int{3}, []float64{1}, zoomSigma)
	for k := shapes; k < f.n; k++ {
		found([]int{k}, []float64{1}, 1) // nothing else holds their mean
		if k+1 < f.n {
			found([]int{k, k + 1}, []float64{1, -1}, leanSigma)
		}
		if k+2 < f.n {
			found([]int{k, k + 1, k + 2}, []float64{1, -2, 1}, stiffSigma)
		}
	}
}

// cost is what the parameters leave, by Geman and McClure's measure.
func (f *fit) cost(p []float64, tol float64) float64 {
	f.c.set(p)
	f.off = f.c.lineResiduals(f.curves, f.off[:0])
	sum := 0.0
	for _, v := range f.off {
		r := v / tol
		sum += r * r / (1 + r*r)
	}
	sum *= tol * tol / (lineNoise * lineNoise * f.em * f.em)
	f.prior(func(at []int, factors []float64, sigma float64) {
		is := 0.0
		for i, k := range at {
			is += factors[i] * p[k]
		}
		sum += is * is / (sigma * sigma)
	})
	return sum
}

// step moves the parameters to where the cost is less. It reports whether there is such a place
// near.
func (f *fit) step(tol float64, damp *float64) bool {
	const d = 1e-5
	was := f.cost(f.p, tol)
	f.c.weigh(f.curves, f.off, tol)
	f.off = f.c.lineResiduals(f.curves, f.off[:0])
	for k := range f.moved {
		f.p[k] += d
		f.c.set(f.p)
		f.p[k] -= d
		f.moved[k] = f.c.lineResiduals(f.curves, f.moved[k][:0])
		for j, v := range f.moved[k] {
			f.moved[k][j] = (v - f.off[j]) / d
		}
	}
	q := lsq.NewNormal(f.n)
	row, j := make([]float64, f.n), 0
	for _, l := range f.curves {
		for _, w := range l.trust {
			for k := range row {
				row[k] = f.moved[k][j]
			}
			q.Add(row, -f.off[j], w/(lineNoise*lineNoise*f.em*f.em))
			j++
		}
	}
	if f.hold {
		q.AddSparse([]int{3}, []float64{1}, 0, 1e9)
	}
	f.prior(func(at []int, factors []float64, sigma float64) {
		is := 0.0
		for i, k := range at {
			is += factors[i] * f.p[k]
		}
		q.AddSparse(at, factors, -is, 1/(sigma*sigma))
	})
	move, to := make([]float64, f.n), make([]float64, len(f.p))
	for range 6 {
		if !q.Damped(*damp).Solve(move) {
			return false
		}
		copy(to, f.p)
		for k, v := range move {
			to[k] += v
		}
		const most, wide = 0.7, 0.6 // radians, logarithm
		if max(math.Abs(to[0]), math.Abs(to[1]), math.Abs(to[2])) < most && to[3] > -wide {
			if is := f.cost(to, tol); is < was {
				copy(f.p, to)
				*damp /= 5
				return was-is > 1e-3*was
			}
		}
		*damp = max(*damp*6, 1e-3)
	}
	return false
}

// straighten fits the cylinder to curves so that each is straight on the flat sheet, rows along it
// and the others across, as Kim, Koo and Cho 2015 ("Document dewarping via text-line based
// optimization") do with a developable sheet: by Levenberg and Marquardt's method, with each
// curve's height eliminated and ever less patience for what is off. em is the print's size. A flat
// sheet is fitted where bent is false.
func (c *cylinder) straighten(curves []*curve, em float64, bent bool) float64 {
	f := &fit{c: c, curves: curves, em: em, p: make([]float64, shapes+knots), n: shapes}
	if bent {
		f.n += knots
	}
	f.p[3] = c.zoom
	copy(f.p, c.turn[:])
	copy(f.p[shapes:], c.bend[:])
	f.moved = make([][]float64, f.n)
	damp := 1e-3
	for _, tol := range [...]float64{2, 1, 0.5, 0.3, 0.2} {
		f.hold = tol > 0.5
		for range 6 {
			if !f.step(tol*em, &damp) {
				break
			}
		}
	}
	last := 0.2 * em
	sum := f.cost(f.p, last)
	c.weigh(curves, f.off, last)
	return sum
}

// lineResiduals is how far each place of the curves is from its curve's height.
func (c *cylinder) lineResiduals(curves []*curve, out []float64) []float64 {
	for _, l := range curves {
		from := len(out)
		sum, weight := 0.0, 1e-12
		for i, v := range l.points {
			s, t := c.toSheet(v[0], v[1])
			if l.down {
				t = s
			}
			out = append(out, t)
			sum += l.trust[i] * t
			weight += l.trust[i]
		}
		mean := sum / weight
		for i := range l.points {
			out[from+i] -= mean
		}
	}
	return out
}

// weigh trusts places the less the further off they are.
func (c *cylinder) weigh(curves []*curve, off []float64, tol float64) {
	for _, l := range curves {
		for i := range l.points {
			r := off[i] / tol
			l.trust[i] = 1 / (1 + r*r)
			l.trust[i] *= l.trust[i]
		}
		off = off[len(l.points):]
	}
}
