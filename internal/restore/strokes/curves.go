package strokes

import (
	"image"
	"math"
	"slices"

	"unink/internal/raster"
	"unink/internal/restore/ink"
	"unink/internal/restore/segment"
)

// A machine draws a curve, such as the graph of a function, more smoothly and evenly than a hand
// does. Such a curve is looked at in windows of so many crossings, whose middles lie on a cubic.
const curveWindow = 31

// What tells a curve that a machine drew, in working pixels where nothing else is said.
const (
	curveLength  = 60   // of its longer side
	curveWindows = 4    // windows that it has at least
	curveTurn    = 1    // radians that it bends by in all, at least
	curveBend    = 0.03 // and each section of it: hands draw straight lines with rulers
	curveShare   = 0.75 // of the ink that is not straight: the curve has at least so much
	curveWhole   = 0.9  // of that ink: from here on the rest is the curve's, too
	curveOff     = 0.09 // root mean square off the cubic at most, in nine windows of ten
	curveUneven  = 0.08 // deviation of its width, as a share of it, at most, in half of the windows
	curveSteep   = 1.5  // slope of a window at most: what is steeper shows along the other axis
)

// curves are those of a page that a machine drew: their pixels, by the number of their piece of
// ink. Only the pieces that seemed written at some time are known.
type curves map[int32][]int

// find looks for curves in the long pieces of ink that seem written, if only in part. How the ink
// is judged does not change what is found in a piece.
func (c curves) find(s *segment.Scores, plane *ink.Plane) {
	candidates := map[int32]bool{}
	for _, r := range plane.Runs {
		if _, known := c[r.Label]; known || candidates[r.Label] ||
			max(plane.Pieces[r.Label-1].Width(), plane.Pieces[r.Label-1].Height()) < curveLength {
			continue
		}
		if slices.ContainsFunc(s.Hand[r.From:r.To], func(v int8) bool { return v > 0 }) {
			candidates[r.Label] = true
		}
	}
	runs := map[int32][]raster.Run{}
	for _, r := range plane.Runs {
		if candidates[r.Label] {
			runs[r.Label] = append(runs[r.Label], r)
		}
	}
	for label, of := range runs {
		c[label] = cut(of, rectOf(plane.Pieces[label-1]), plane).machineDrawnPixels(s.W)
	}
}

// keep makes print what seems written of the curves.
func (c curves) keep(s *segment.Scores) {
	for _, pixels := range c {
		for _, i := range pixels {
			if s.Hand[i] > 0 {
				s.Relabel(i, false)
			}
		}
	}
}

// machineDrawnPixels lists the pixels of a stroke's curves on a page of width w.
func (k cutting) machineDrawnPixels(w int) (pixels []int) {
	for at, own := range k.machineDrawn() {
		if own {
			pixels = append(pixels, (k.y+at/k.w)*w+k.x+at%k.w)
		}
	}
	return pixels
}

// cutting is a component cut out of the page: which pixels of its box are its own, with a rim of
// one, and how much light each takes.
type cutting struct {
	x, y  int // of its corner on the page
	w, h  int
	own   []bool
	taken []float32
}

// cut takes a component, which lies in a rectangle, out of the page. Its rim is what lies beside
// it and is not ink.
func cut(runs []raster.Run, around image.Rectangle, plane *ink.Plane) cutting {
	w, h := plane.Scores.W, plane.Scores.H
	around = around.Inset(-1).Intersect(image.Rect(0, 0, w, h))
	k := cutting{x: around.Min.X, y: around.Min.Y, w: around.Dx(), h: around.Dy()}
	k.own, k.taken = make([]bool, k.w*k.h), make([]float32, k.w*k.h)
	own := func(x, y int) {
		at := (y-k.y)*k.w + x - k.x
		k.own[at], k.taken[at] = true, plane.Taken(y*w+x)
	}
	for _, r := range runs {
		x0, x1, y := int(r.From)%w, (int(r.To)-1)%w, int(r.From)/w
		for x := x0; x <= x1; x++ {
			own(x, y)
		}
		for ny := max(y-1, around.Min.Y); ny < min(y+2, around.Max.Y); ny++ {
			for x := max(x0-1, around.Min.X); x < min(x1+2, around.Max.X); x++ {
				if plane.Solid[ny*w+x] == 0 {
					own(x, ny)
				}
			}
		}
	}
	return k
}

// crossing is where a stroke crosses a row.
type crossing struct {
	y, from, to  int
	middle, mass float64 // of the light that it takes
}

func (c crossing) touches(other crossing) bool { return c.from < other.to && other.from < c.to }

// chains are the pieces of a stroke between its ends and where it divides: crossings of rows, one
// below the other.
func (k cutting) chains() (all [][]crossing) {
	var above []crossing
	var chain []int // that each of these is in
	for y := range k.h {
		row := k.crossings(y)
		next := make([]int, len(row))
		for i, before := range onlyTouching(above, row) {
			if before < 0 {
				next[i], all = len(all), append(all, nil)
			} else {
				next[i] = chain[before]
			}
			all[next[i]] = append(all[next[i]], row[i])
		}
		above, chain = row, next
	}
	return all
}

// onlyTouching finds, for each crossing of a row, the one above that it touches, by its index; -1
// if either of the two touches another, or it touches none.
func onlyTouching(above, row []crossing) []int {
	found, met := make([]int, len(row)), make([]int, len(above))
	times := make([]int, len(row))
	for i, j := 0, 0; i < len(above) && j < len(row); {
		if above[i].touches(row[j]) {
			found[j] = i
			times[j]++
			met[i]++
		}
		if above[i].to < row[j].to {
			i++
		} else {
			j++
		}
	}
	for j := range found {
		if times[j] != 1 || met[found[j]] != 1 {
			found[j] = -1
		}
	}
	return found
}

// crossings lists those of a row, from the left.
func (k cutting) crossings(y int) (found []crossing) {
	own, taken := k.own[y*k.w:][:k.w], k.taken[y*k.w:][:k.w]
	for x := 0; x < k.w; x++ {
		if !own[x] {
			continue
		}
		c := crossing{y: y, from: x}
		for ; x < k.w && own[x]; x++ {
			c.mass += float64(taken[x])
			c.middle += float64(taken[x]) * float64(x)
		}
		c.to, c.middle = x, c.middle/max(c.mass, 1e-9)
		found = append(found, c)
	}
	return found
}

// turned is the stroke with its axes swapped.
func (k cutting) turned() cutting {
	own, taken := raster.Transpose(k.own, k.w, k.h), raster.Transpose(k.taken, k.w, k.h)
	return cutting{k.y, k.x, k.h, k.w, own, taken}
}

// machineDrawn marks the pixels of a stroke's curves, if a machine drew them; otherwise it is nil.
// The stroke is looked at along both axes, in windows that overlap by two thirds.
func (k cutting) machineDrawn() []bool {
	var bent curve
	var sections []section
	for axis, s := range []cutting{k, k.turned()} {
		for _, chain := range s.chains() {
			if c := curveOf(chain); len(c.off) > 0 {
				sections = append(sections, section{c, chain, axis == 1})
				if c.turn >= curveBend {
					bent.add(c)
				}
			}
		}
	}
	if !bent.machineDrawn() {
		return nil
	}
	width, _ := spread(bent.widths)
	kept, straight := make([]bool, len(k.own)), make([]bool, len(k.own))
	for _, p := range sections {
		if p.belongs(width) {
			k.mark(kept, p)
		} else {
			k.mark(straight, p)
		}
	}
	in, of := float32(0), float32(0)
	for i, t := range k.taken {
		if kept[i] {
			in += t
		}
		if kept[i] || k.own[i] && !straight[i] {
			of += t
		}
	}
	switch {
	case in < curveShare*of:
		return nil
	case in >= curveWhole*of:
		for i := range kept {
			kept[i] = kept[i] || k.own[i] && !straight[i]
		}
	}
	return kept
}

// section is a chain and what its windows tell. Turned, its rows are the page's columns.
type section struct {
	curve
	chain  []crossing
	turned bool
}

// belongs says that a section is part of a curve of that width: it bends, or goes on straight for a
// little.
func (p section) belongs(width float64) bool {
	const little = 3 * curveWindow
	own, _ := spread(p.widths)
	return p.turn >= curveBend ||
		len(p.chain) < little && math.Abs(own-width) <= 2*curveUneven*width
}

func (k cutting) mark(pixels []bool, p section) {
	for _, c := range p.chain {
		for x := c.from; x < c.to; x++ {
			if p.turned {
				pixels[x*k.w+c.y] = true
			} else {
				pixels[c.y*k.w+x] = true
			}
		}
	}
}

// curve is what the windows along a curve tell.
type curve struct {
	off, uneven, widths []float64 // of each window, as cubicFit says
	turn                float64   // radians, in all
}

func curveOf(chain []crossing) (c curve) {
	const step = curveWindow / 3
	for at := 0; at+curveWindow <= len(chain); at += step {
		fit := fitCubic(chain[at : at+curveWindow])
		if fit.steepest <= curveSteep && fit.width > 0 {
			c.add(curve{[]float64{fit.off}, []float64{fit.uneven}, []float64{fit.width},
				fit.turn * step / curveWindow})
		}
	}
	return c
}

func (c *curve) add(other curve) {
	c.off = append(c.off, other.off...)
	c.uneven = append(c.uneven, other.uneven...)
	c.widths = append(c.widths, other.widths...)
	c.turn += other.turn
}

// machineDrawn says that a curve bends, and is smoother and evener than a hand draws it.
func (c *curve) machineDrawn() bool {
	if len(c.off) < curveWindows || c.turn < curveTurn {
		return false
	}
	slices.Sort(c.off)
	slices.Sort(c.uneven)
	mean, deviation := spread(c.widths)
	return c.off[len(c.off)*9/10] <= curveOff && c.uneven[len(c.uneven)/2] <= curveUneven &&
		deviation <= 2*curveUneven*mean
}

// cubicFit is what the cubic nearest to a window of crossings tells.
type cubicFit struct {
	off            float64 // how far the middles are from it, root mean square
	steepest, turn float64 // slope at most; radians from end to end
	width, uneven  float64 // of the stroke, across it: the mean, and the deviation against it
}

func fitCubic(window []crossing) (f cubicFit) {
	var fit, widths [curveWindow]float64
	for _, q := range cubics {
		sum := 0.0
		for i, c := range window {
			sum += q[i] * c.middle
		}
		for i := range fit {
			fit[i] += sum * q[i]
		}
	}
	slope := func(i int) float64 {
		i = min(max(i, 1), curveWindow-2)
		return (fit[i+1] - fit[i-1]) / 2
	}
	for i, c := range window {
		f.off += (c.middle - fit[i]) * (c.middle - fit[i]) / curveWindow
		f.steepest = max(f.steepest, math.Abs(slope(i)))
		widths[i] = c.mass / math.Hypot(1, slope(i))
	}
	f.off = math.Sqrt(f.off)
	f.turn = math.Abs(math.Atan(slope(curveWindow-1)) - math.Atan(slope(0)))
	mean, deviation := spread(widths[:])
	f.width, f.uneven = mean, deviation/max(mean, 1e-9)
	return f
}

// spread is the mean of values and their standard deviation.
func spread(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		deviation += (v - mean) * (v - mean) / float64(len(values))
	}
	return mean, math.Sqrt(deviation)
}

// cubics are polynomials of degrees 0 to 3 at the places of a window, of length 1 and at right
// angles (Gram and Schmidt), so that the nearest cubic is the sum of what each has of the values.
var cubics = func() (q [4][curveWindow]float64) {
	for degree := range q {
		v := &q[degree]
		for i := range v {
			v[i] = math.Pow(2*float64(i)/(curveWindow-1)-1, float64(degree))
		}
		for _, other := range q[:degree] {
			dot := 0.0
			for i := range v {
				dot += v[i] * other[i]
			}
			for i := range v {
				v[i] -= dot * other[i]
			}
		}
		length := 0.0
		for _, x := range v {
			length += x * x
		}
		for i := range v {
			v[i] /= math.Sqrt(length)
		}
	}
	return q
}()
