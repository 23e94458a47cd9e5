package flatten

import (
	"math"
	"slices"

	"unink/internal/lsq"
	"unink/internal/raster"
)

// bentSheet is a sheet that is bent: as a whole in one way, a plane or a cylinder, and what that
// leaves of its unevenness.
type bentSheet struct {
	surface
	ripple *ripple // may be nil
}

// toSheet maps a point of the picture to the flat sheet.
func (b *bentSheet) toSheet(x, y float64) (s, t float64) {
	s, t = b.surface.toSheet(x, y)
	if b.ripple != nil {
		t -= b.ripple.down(s, t)
	}
	return s, t
}

// toPicture maps a point of the flat sheet to the picture.
func (b *bentSheet) toPicture(s, t float64) (x, y float64) {
	if b.ripple != nil {
		flat := t
		for range 4 {
			t = flat + b.ripple.down(s, t)
		}
	}
	return b.surface.toPicture(s, t)
}

// sheetReach is how far a cross-section is told apart from a straight line, in half the longer
// side.
const sheetReach = 1.2

// cylinderBy fits a cylinder to curves.
func cylinderBy(curves []*curve, em float64, bends bool) *cylinder {
	c := &cylinder{reach: sheetReach}
	c.straighten(curves, em, bends)
	return c
}

// rippled adds to a surface what it leaves of the curves' bend.
func rippled(s surface, curves []*curve, em float64) *bentSheet {
	var rows []curve
	for _, l := range curves {
		if l.down {
			continue
		}
		r := curve{points: make([][2]float64, len(l.points)), trust: make([]float64, len(l.points))}
		for i, p := range l.points {
			x, y := s.toSheet(p[0], p[1])
			r.points[i], r.trust[i] = [2]float64{x, y}, 1
		}
		rows = append(rows, r)
	}
	return &bentSheet{s, ripplesOf(rows, em)}
}

// uneven is how far places of the rows are off their rows' height on the sheet, in ems, on the
// mean; what is far off counts as half an em.
func uneven(curves []*curve, em float64, to func(x, y float64) (float64, float64)) float64 {
	const most = 0.5 // ems
	var sum, n float64
	var heights, sorted []float64
	for _, l := range curves {
		if l.down {
			continue
		}
		heights = heights[:0]
		for _, p := range l.points {
			_, t := to(p[0], p[1])
			heights = append(heights, t)
		}
		sorted = append(sorted[:0], heights...)
		slices.Sort(sorted)
		middle := sorted[len(sorted)/2]
		for _, t := range heights {
			sum += min(math.Abs(t-middle)/em, most)
			n++
		}
	}
	return sum / max(n, 1)
}

// bent finds how a sheet is bent that was thought to be base, or to be cut out by its edges on
// base, and what share of its lines' bend that undoes. It is nil unless that is sure: lines that
// had no say in it become straighter, too (two-fold cross-validation).
func (f *features) bent(base surface, cut bool) (b *bentSheet, sure float64) {
	const (
		few   = 6     // rows
		worth = 0.035 // ems that lines are uneven by
		most  = 0.8   // of that may be left by a ripple
		// Of that may be left by a cylinder, which tells more of the sheet than its lines.
		sharp = 0.6
		gain  = 0.9  // and no more than so much of what a plane leaves
		clear = 0.92 // a ripple that leaves more is none
		plain = 0.7  // a cylinder must leave so much less than a ripple alone
	)
	all, em := longest(f.curves), f.em/f.unit
	curves := slices.Concat(all, f.margins(base.toSheet))
	was := uneven(curves, em, base.toSheet)
	if rowsOf(curves) < few || was < worth {
		return nil, 0
	}
	var without, with, alone float64
	for _, half := range halves(curves) {
		c := cylinderBy(half[0], em, true)
		without += uneven(half[1], em, c.toSheet) / 2
		with += uneven(half[1], em, rippled(c, half[0], em).toSheet) / 2
		alone += uneven(half[1], em, rippled(base, half[0], em).toSheet) / 2
	}
	least := min(without, with)
	if alone <= most*was && (cut || alone*plain < least) {
		return rippled(base, curves, em), 1 - alone/was
	}
	if cut || least > sharp*was ||
		least > gain*uneven(curves, em, cylinderBy(curves, em, false).toSheet) {
		return nil, 0
	}
	c := cylinderBy(curves, em, true)
	curves = slices.Concat(all, f.margins(c.toSheet))
	c = cylinderBy(curves, em, true)
	if with < clear*without {
		return rippled(c, curves, em), 1 - least/was
	}
	return &bentSheet{surface: c}, 1 - least/was
}

// rowsOf counts the curves along the rows.
func rowsOf(curves []*curve) (n int) {
	for _, c := range curves {
		if !c.down {
			n++
		}
	}
	return n
}

// longest leaves out the shortest of very many curves, to bound the time that they take.
func longest(curves []*curve) []*curve {
	const many = 200 // curves
	if len(curves) <= many {
		return curves
	}
	sizes := make([]int, len(curves))
	for i, c := range curves {
		sizes[i] = len(c.points)
	}
	slices.Sort(sizes)
	least := sizes[len(sizes)-many]
	var out []*curve
	for _, c := range curves {
		if len(c.points) >= least && len(out) < many {
			out = append(out, c)
		}
	}
	return out
}

// halves deals the rows out, every other one, to be fitted and to be judged by. Columns are fitted
// to.
func halves(curves []*curve) (out [2][2][]*curve) {
	for i, c := range curves {
		for k := range out {
			if c.down || i%2 == k {
				out[k][0] = append(out[k][0], c)
			} else {
				out[k][1] = append(out[k][1], c)
			}
		}
	}
	return out
}

// margins finds where many lines of print begin or end straight below each other on the sheet.
func (f *features) margins(to func(x, y float64) (float64, float64)) (out []*curve) {
	var places, on [2][][2]float64
	starts, ends := f.outer(func(*textLine) bool { return true })
	for i, list := range [2][][2]float64{starts, ends} {
		for _, p := range list {
			p = f.fromMiddle(p[0], p[1])
			s, t := to(p[0], p[1])
			places[i] = append(places[i], p)
			on[i] = append(on[i], [2]float64{t * f.unit, s * f.unit})
		}
	}
	for i := range on {
		if _, among, ok := f.margin(on[i]); ok {
			c := &curve{down: true}
			for _, k := range among {
				c.points = append(c.points, places[i][k])
				c.trust = append(c.trust, 1)
			}
			out = append(out, c)
		}
	}
	return out
}

// bow is how far the most bent lines are off a straight one, from one side to the other, as a share
// of the picture's longer side.
func (f *features) bow() float64 {
	const among = 0.9 // share of the lines that bend less
	var bows []float64
	for _, l := range f.curves {
		if l.down || len(l.points) < 3 {
			continue
		}
		q := lsq.NewNormal(2)
		for _, p := range l.points {
			q.Add([]float64{1, p[0]}, p[1], 1)
		}
		var c [2]float64
		if !q.Solve(c[:]) {
			continue
		}
		low, high := 0.0, 0.0
		for _, p := range l.points {
			d := p[1] - c[0] - c[1]*p[0]
			low, high = min(low, d), max(high, d)
		}
		bows = append(bows, (high-low)/2)
	}
	if len(bows) == 0 {
		return 0
	}
	return raster.Quantile(bows, among)
}
