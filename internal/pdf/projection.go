package pdf

// projection maps places of one plane to another's: x, y, 1 times its rows, by the last.
type projection [3][3]float64

func (p projection) at(x, y float64) (float64, float64) {
	row := func(i int) float64 { return p[i][0]*x + p[i][1]*y + p[i][2] }
	return row(0) / row(2), row(1) / row(2)
}

// after is p after q.
func (p projection) after(q projection) (out projection) {
	for i := range out {
		for j := range out {
			for k := range out {
				out[i][j] += p[i][k] * q[k][j]
			}
		}
	}
	return out
}

// inverse is by the adjugate, which is as good: its scale is lost in at. It is not ok where a
// plane is seen from its edge.
func (p projection) inverse() (out projection, ok bool) {
	for i := range out {
		for j := range out {
			a, b, c, d := (j+1)%3, (j+2)%3, (i+1)%3, (i+2)%3
			out[i][j] = p[a][c]*p[b][d] - p[a][d]*p[b][c]
		}
	}
	return out, p[0][0]*out[0][0]+p[0][1]*out[1][0]+p[0][2]*out[2][0] != 0
}

// near is how places about x, y are mapped.
func (p projection) near(x, y float64) matrix {
	const step = 1e-3
	atX, atY := p.at(x, y)
	rightX, rightY := p.at(x+step, y)
	upX, upY := p.at(x, y+step)
	m := matrix{A: (rightX - atX) / step, B: (rightY - atY) / step,
		C: (upX - atX) / step, D: (upY - atY) / step}
	m.E, m.F = atX-m.A*x-m.C*y, atY-m.B*x-m.D*y
	return m
}

// projectionOf maps the unit square to these corners (Heckbert, Fundamentals of Texture Mapping and
// Image Warping, 1989, 2.2.3).
func projectionOf(c Corners) projection {
	sumX, sumY := c[0][0]-c[1][0]+c[2][0]-c[3][0], c[0][1]-c[1][1]+c[2][1]-c[3][1]
	x1, x2 := c[1][0]-c[2][0], c[3][0]-c[2][0]
	y1, y2 := c[1][1]-c[2][1], c[3][1]-c[2][1]
	size := x1*y2 - x2*y1
	g, h := (sumX*y2-x2*sumY)/size, (x1*sumY-sumX*y1)/size
	return projection{
		{c[1][0] - c[0][0] + g*c[1][0], c[3][0] - c[0][0] + h*c[3][0], c[0][0]},
		{c[1][1] - c[0][1] + g*c[1][1], c[3][1] - c[0][1] + h*c[3][1], c[0][1]},
		{g, h, 1},
	}
}
