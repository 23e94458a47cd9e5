package flatten

import (
	"context"
	"math"

	"unink/internal/nn"
	"unink/internal/raster"
)

// gridSheet is a sheet as the flattening network sees it, in the units of a guide: a coarse grid of
// where the flat page's points lie in the picture, cubic between its nodes (Keys 1981, a = -0.75).
type gridSheet struct {
	w, h  int
	step  float64      // between nodes
	by    [2][]float64 // how far right and down of itself each node lies
	doubt float64      // how far off that is thought to be, in the mean
}

// gridOf has the flattening network look at a page.
func gridOf(ctx context.Context, runner nn.Runner, m *raster.RGB, workers int) (*gridSheet, error) {
	shape := nn.Whole
	scale := min(float64(shape.W)/float64(m.W), float64(shape.H)/float64(m.H))
	// Even, as the shape is, so that the middles agree.
	w, h := min(2*raster.Scaled(m.W, scale/2), shape.W), min(2*raster.Scaled(m.H, scale/2), shape.H)
	grey := raster.ResizeGrey(m.Grey(workers), m.W, m.H, w, h, workers)
	in := make([]float32, shape.Pixels())
	raster.PadCentered(in, shape.W, shape.H, grey, w, h)
	g := &gridSheet{w: shape.W / nn.GridStep, h: shape.H / nn.GridStep}
	n := g.w * g.h
	out := make([]float32, nn.GridPlanes*n)
	if err := runner.Run(ctx, nn.Sheet(in), nn.SheetAnswer(out)); err != nil {
		return nil, err
	}
	g.step = float64(nn.GridStep) / (float64(max(w, h)) / 2)
	for i := range g.by {
		g.by[i] = make([]float64, n)
		for k, v := range out[i*n:][:n] {
			g.by[i][k] = float64(v) * g.step
		}
	}
	for _, v := range out[2*n:] {
		g.doubt += math.Exp(float64(v)) * g.step / float64(n)
	}
	return g, nil
}

// node is where a place of the sheet lies among the nodes.
func (g *gridSheet) node(s, t float64) (i, j float64) {
	return s/g.step + float64(g.w-1)/2, t/g.step + float64(g.h-1)/2
}

// toPicture maps a point of the flat sheet to the picture.
func (g *gridSheet) toPicture(s, t float64) (x, y float64) {
	i, j := g.node(s, t)
	i, j = min(max(i, 0), float64(g.w-1)), min(max(j, 0), float64(g.h-1))
	i0, j0 := min(int(i), g.w-2), min(int(j), g.h-2)
	var wx, wy [4]float64
	keys(&wx, i-float64(i0))
	keys(&wy, j-float64(j0))
	x, y = s, t
	for b, v := range wy {
		row := min(max(j0+b-1, 0), g.h-1) * g.w
		for a, u := range wx {
			k := row + min(max(i0+a-1, 0), g.w-1)
			x += u * v * g.by[0][k]
			y += u * v * g.by[1][k]
		}
	}
	return x, y
}

// keys writes the weights of four neighbours of a place t, 0 to 1, between the middle ones.
func keys(w *[4]float64, t float64) {
	const a = -0.75
	outer := func(d float64) float64 { return ((a*d-5*a)*d+8*a)*d - 4*a }
	inner := func(d float64) float64 { return ((a+2)*d-(a+3))*d*d + 1 }
	w[0], w[1], w[2] = outer(1+t), inner(t), inner(1-t)
	w[3] = 1 - w[0] - w[1] - w[2]
}

// toSheet maps a point of the picture to the flat sheet, by Newton's method.
func (g *gridSheet) toSheet(x, y float64) (s, t float64) {
	s, t = x, y
	const d, near, far = 1e-3, 1e-5, 0.1
	for range 12 {
		px, py := g.toPicture(s, t)
		ex, ey := px-x, py-y
		if math.Abs(ex)+math.Abs(ey) < near {
			break
		}
		ax, ay := g.toPicture(s+d, t)
		bx, by := g.toPicture(s, t+d)
		ux, uy, vx, vy := (ax-px)/d, (ay-py)/d, (bx-px)/d, (by-py)/d
		det := ux*vy - vx*uy
		det = math.Copysign(max(math.Abs(det), 0.05), det)
		s -= min(max((vy*ex-vx*ey)/det, -far), far)
		t -= min(max((ux*ey-uy*ex)/det, -far), far)
	}
	return s, t
}

// strain is how far places of the picture lie on another surface from where the grid has them, but
// for their place and size as a whole: in the mean over the grid, in halves of the picture's longer
// side.
func (g *gridSheet) strain(other surface) float64 {
	n := g.w * g.h
	here, there := make([][2]float64, n), make([][2]float64, n)
	var mh, mt [2]float64
	for k := range n {
		s, t := (float64(k%g.w)-float64(g.w-1)/2)*g.step, (float64(k/g.w)-float64(g.h-1)/2)*g.step
		x, y := g.toPicture(s, t)
		u, v := other.toSheet(x, y)
		here[k], there[k] = [2]float64{s, t}, [2]float64{u, v}
		for i := range 2 {
			mh[i] += here[k][i] / float64(n)
			mt[i] += there[k][i] / float64(n)
		}
	}
	var num, den, sum float64
	for k := range n {
		for i := range 2 {
			here[k][i] -= mh[i]
			there[k][i] -= mt[i]
			num += here[k][i] * there[k][i]
			den += there[k][i] * there[k][i]
		}
	}
	for k := range n {
		sum += math.Hypot(here[k][0]-num/den*there[k][0],
			here[k][1]-num/den*there[k][1]) / float64(n)
	}
	return sum
}
