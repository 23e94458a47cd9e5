package flatten

import (
	"cmp"
	"math"
	"slices"

	"unink/internal/lsq"
)

// pencil is a set of lines that are parallel on the sheet: those through x, y have the slope
// (slope - fan*y) / (1 - fan*x), as they meet at (1, slope)/fan.
type pencil struct{ slope, fan float64 }

// residual is how far a guide's slope is off, in radians or nearly.
func (p pencil) residual(g guide) float64 {
	return g.slope - p.slope - p.fan*(g.slope*g.x-g.y)
}

// agreed is what a pencil's guides say of it.
type agreed struct {
	pencil
	share  float64 // of the weight of all guides that agree with it
	weight float64 // of those
	count  int
	spread float64 // root mean square residual of those
	sure   [2]float64
}

const (
	agrees     = 0.014 // radians: a guide whose slope is off by less agrees
	majority   = 0.6   // of the weight of all guides: so much has to agree
	leastFan   = 0.004 // radians over half the longer side: lines that fan out by less are parallel
	leastShear = 0.007 // radians: rows and columns that are off by less are at right angles
)

// fitPencil finds the pencil that most guides agree with: each one alone and pairs of them
// propose, the others vote; then a fit to those that agree. Lines fan out only if that fits
// clearly better.
func fitPencil(guides []guide) agreed {
	if len(guides) == 0 {
		return agreed{}
	}
	best, most := pencil{}, -1.0
	vote := func(p pencil) {
		if math.Abs(p.slope) > maxSlope || math.Abs(p.fan) > 0.6 {
			return
		}
		sum := -0.02 * math.Abs(p.fan)
		for _, g := range guides {
			if r := p.residual(g) / agrees; r*r < 1 {
				sum += g.weight * (1 - r*r)
			}
		}
		if sum > most {
			best, most = p, sum
		}
	}
	sorted := slices.SortedFunc(slices.Values(guides), func(a, b guide) int {
		return cmp.Compare(b.weight, a.weight)
	})
	const proposers = 40 // the longest ones
	sorted = sorted[:min(len(sorted), proposers)]
	for i, g := range sorted {
		vote(pencil{slope: g.slope})
		for _, o := range sorted[:i] {
			// slope - fan*(y - m*x) = m, twice.
			a, b := g.y-g.slope*g.x, o.y-o.slope*o.x
			if math.Abs(a-b) < 0.15 {
				continue
			}
			fan := -(g.slope - o.slope) / (a - b)
			vote(pencil{g.slope + fan*a, fan})
		}
	}
	level := refine(guides, best, false)
	fanned := refine(guides, best, true)
	const clear = 5 // times its own error
	if math.Abs(fanned.fan) > clear*fanned.sure[1] && math.Abs(fanned.fan) > leastFan &&
		fanned.weight > level.weight*0.98 {
		return fanned
	}
	if fanned.share > level.share+0.15 && math.Abs(fanned.fan) > 3*fanned.sure[1] {
		return fanned
	}
	return level
}

// refine fits a pencil to the guides that agree with it.
func refine(guides []guide, p pencil, fan bool) (out agreed) {
	if !fan && p.fan != 0 {
		p = pencil{slope: medianSlope(guides)}
	}
	var total float64
	for _, g := range guides {
		total += g.weight
	}
	for range 8 {
		var q lsq.Normal3
		for _, g := range guides {
			if r := p.residual(g) / agrees; r*r < 1 {
				f := [3]float64{1, g.slope*g.x - g.y, 0}
				if !fan {
					f[1] = 0
				}
				q.Add(f, g.slope, g.weight*(1-r*r)*(1-r*r))
			}
		}
		q.Hold(2, 1)
		if fan {
			q.Hold(1, 1e-9)
		} else {
			q.Hold(1, 1)
		}
		c, ok := q.Solve()
		if !ok {
			break
		}
		p = pencil{c[0], c[1]}
	}
	out.pencil = p
	var squares, kish float64
	var q lsq.Normal3
	for _, g := range guides {
		if r := p.residual(g); math.Abs(r) < agrees {
			out.count++
			out.weight += g.weight
			kish += g.weight * g.weight
			squares += g.weight * r * r
			q.Add([3]float64{1, g.slope*g.x - g.y, 0}, 0, g.weight)
		}
	}
	if out.count == 0 {
		return out
	}
	out.share = out.weight / total
	out.spread = math.Sqrt(squares / out.weight)
	n := out.weight * out.weight / kish // as many equal guides
	q.Hold(2, 1)
	q.Hold(1, 1e-9)
	if inv, ok := q.Inverse(); ok {
		for i := range out.sure {
			out.sure[i] = max(out.spread, 0.0008) * math.Sqrt(inv[i][i]*out.weight/max(n, 1))
		}
	}
	return out
}

// medianSlope is the median by weight.
func medianSlope(guides []guide) float64 {
	sorted := slices.SortedFunc(slices.Values(guides), func(a, b guide) int {
		return cmp.Compare(a.slope, b.slope)
	})
	total := 0.0
	for _, g := range sorted {
		total += g.weight
	}
	sum := 0.0
	for _, g := range sorted {
		if sum += g.weight; 2*sum >= total {
			return g.slope
		}
	}
	return 0
}

// plane is a flat sheet seen by a camera. The matrix sheet maps points of the picture to the sheet,
// picture maps them back; both measure from the picture's middle.
type plane struct{ sheet, picture lsq.Matrix }

func (p *plane) toSheet(x, y float64) (float64, float64) { return p.sheet.Apply(x, y) }

func (p *plane) toPicture(x, y float64) (float64, float64) { return p.picture.Apply(x, y) }

// surface is a sheet as the camera saw it. toSheet maps a point of the picture to the flattened
// sheet, toPicture maps it back, both in units of half the picture's longer side.
type surface interface {
	toSheet(x, y float64) (float64, float64)
	toPicture(x, y float64) (float64, float64)
}

// asItIs is the plane that the picture shows.
var asItIs = func() *plane {
	one := lsq.Matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
	return &plane{one, one}
}()

// focal is the focal length of a picture in the same units: a telephone's main camera has about
// 1.5, and pictures are often cropped.
const focal = 2.0

// planeOf is the plane on which the lines of both pencils are parallel to the axes (as in Zhang and
// He 2007, "Whiteboard scanning and image enhancement", with the camera's focal length taken from
// the pencils when both fan out enough).
func planeOf(across, down pencil) (p plane, ok bool) {
	f := focal
	if d := across.fan * down.fan; math.Abs(d) > 0.01 {
		if est := math.Sqrt(-(across.slope + down.slope) / d); est > 0.8 && est < 6 {
			f = est
		}
	}
	ex := normalised([3]float64{1, across.slope, across.fan * f})
	ey := normalised([3]float64{down.slope, 1, down.fan * f})
	p.picture = lsq.Matrix{
		{f * ex[0], f * ey[0], 0},
		{f * ex[1], f * ey[1], 0},
		{ex[2], ey[2], f},
	}
	p.sheet, ok = p.picture.Inverse()
	return p, ok
}

func normalised(v [3]float64) [3]float64 {
	n := math.Sqrt(v[0]*v[0] + v[1]*v[1] + v[2]*v[2])
	return [3]float64{v[0] / n, v[1] / n, v[2] / n}
}
