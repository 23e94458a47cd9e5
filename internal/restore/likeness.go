package restore

import (
	"cmp"
	"math"
	"slices"

	"unink/internal/raster"
)

// traits are what tells a pen from a press on one page: octaves of a stroke's thickness and of a region's longer side, its
// ink as inkBin has it, and how far the page's likest other shape is (see findTwins). What is not a number is not known.
type traits [6]float64

// finest is how close two values of a trait can be told apart at best.
var finest = traits{0.15, 0.35, 0.06, 0.06, 0.25, 0.08}

// example is a region of which it is known what it is.
type example struct {
	traits
	mass float64
}

// likeness compares the regions of a page with each other: a pen's strokes are as thick, as tall and of the same ink
// all over the page and none repeats another, and print has its own sizes, its own ink, and the same letters again and again.
type likeness struct {
	regions []region
	traits  []traits
	workers int
}

func newLikeness(regions []region, labels []int32, ink *inkPlane, workers int) *likeness {
	l := &likeness{regions, make([]traits, len(regions)), workers}
	for i, twin := range findTwins(regions, labels, ink, workers) {
		l.traits[i] = regions[i].traits(twin)
	}
	return l
}

func (r *region) traits(twin float64) traits {
	thickness := 2 * float64(r.Area) / float64(r.border) // of a long stroke
	colour := inkBin(r.ink)
	return traits{math.Log2(thickness), math.Log2(float64(max(r.Width(), r.Height()))), colour[0], colour[1], colour[2], twin}
}

// repeated is the log-odds that a region was written by how near the page's likest other shape is: no hand makes the same twice,
// while print whose letters come once only is no less print.
func (t *traits) repeated() float64 {
	const far, near, most = 0.4, 0.2, -2 // from here to there it speaks for print
	if twin := t[5]; twin < far {
		return most * min((far-twin)/(far-near), 1)
	}
	return 0
}

// odds says of every region how much more it is like the page's writing than like its print, as log-odds: the kernel
// density (Parzen, 1962) of the one over that of the other. field is how surely each region is writing so far. Where
// both look the same that tells nothing, and where there is little writing it tells little.
func (l *likeness) odds(field []float64) []float64 {
	const (
		floor  = 0.01 // density below which a look is unknown
		most   = 3.0
		enough = 1500 // pixels of writing that make up for half the doubt
		firm   = 6.5  // of the field: what is as sure is not asked, since no look would change it
	)
	odds := make([]float64, len(l.regions))
	hand, print, mass := l.examples(field)
	if len(hand) == 0 || len(print) == 0 {
		return odds
	}
	thickest := thickestStroke(hand)
	scale := scaleOf(append(slices.Clone(hand), print...))
	for _, known := range [][]example{hand, print} {
		for i := range known {
			known[i].traits = known[i].times(&scale)
		}
	}
	weight := mass / (mass + enough)
	raster.Rows(len(odds), l.workers, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			switch r := &l.regions[i]; {
			case isRule(r.Component):
				odds[i] = weight * barOdds(&l.traits[i], thickest)
			case math.Abs(field[i]) < firm:
				at := l.traits[i].times(&scale)
				odd := math.Log((density(&at, hand) + floor) / (density(&at, print) + floor))
				odds[i] = weight * sureness(r.Area) * min(max(odd, -most), most)
			}
		}
	})
	return odds
}

// barOdds is the log-odds that a long straight line was written: one that is thicker than any stroke of the writing is a
// printed bar, unless it is as light as highlighting.
func barOdds(t *traits, thickest float64) float64 {
	const thicker, dark, bar = 0.4, 0.4 * (inkBins - 1), -4 // octaves, a darkness and the odds
	if t[0] > thickest+thicker && t[4] > dark {
		return bar
	}
	return 0
}

// thickestStroke is the thickness, in octaves, that hardly any of the writing exceeds.
func thickestStroke(hand []example) float64 {
	const hardly = 0.03 // of the mass
	total := 0.0
	for _, e := range hand {
		total += e.mass
	}
	slices.SortFunc(hand, func(a, b example) int { return cmp.Compare(b.traits[0], a.traits[0]) })
	sum := 0.0
	for _, e := range hand {
		if sum += e.mass; sum > hardly*total {
			return e.traits[0]
		}
	}
	return math.Inf(1)
}

// examples collects what is surely writing, with its mass in pixels, and what is surely print, as many as it takes to know their looks.
func (l *likeness) examples(field []float64) (hand, print []example, mass float64) {
	const (
		doubt = 1.5 // of the field: what is less sure counts neither way
		many  = 300
	)
	for i := range l.regions {
		r := &l.regions[i]
		if isRule(r.Component) || math.Abs(field[i]) <= doubt {
			continue
		}
		e := example{l.traits[i], float64(r.Area) * math.Tanh((math.Abs(field[i])-doubt)/2)}
		if field[i] > 0 {
			hand = append(hand, e)
			mass += e.mass
		} else {
			print = append(print, e)
		}
	}
	return everyNth(hand, many), everyNth(print, many), mass
}

// everyNth picks at most n elements, evenly.
func everyNth(v []example, n int) []example {
	if len(v) <= n {
		return v
	}
	out := make([]example, n)
	for i := range out {
		out[i] = v[i*len(v)/n]
	}
	return out
}

// scaleOf is one over the kernel's width along each trait: a part of how the page's ink spreads.
func scaleOf(known []example) (scale traits) {
	const part = 0.4
	for axis := range scale {
		slices.SortFunc(known, func(a, b example) int { return cmp.Compare(a.traits[axis], b.traits[axis]) })
		for len(known) > 0 && math.IsNaN(known[0].traits[axis]) {
			known = known[1:]
		}
		total, sum, from, to := 0.0, 0.0, 0.0, 0.0
		for _, e := range known {
			total += e.mass
		}
		for _, e := range known { // the middle 68 %, as of one standard deviation to either side
			if sum < 0.16*total {
				from = e.traits[axis]
			}
			if sum < 0.84*total {
				to = e.traits[axis]
			}
			sum += e.mass
		}
		scale[axis] = 1 / max(part*(to-from)/2, finest[axis])
	}
	return scale
}

func (t *traits) times(scale *traits) (out traits) {
	for i := range out {
		out[i] = t[i] * scale[i]
	}
	return out
}

// density is how usual a look is among examples: 0 never seen, 1 that of them all.
func density(at *traits, known []example) float64 {
	const far = 18 // squared: what is as far counts for nothing
	sum, total := 0.0, 0.0
	for i := range known {
		e := &known[i]
		total += e.mass
		apart := 0.0
		for j, v := range e.traits {
			if d := at[j] - v; d == d { // both are known
				apart += d * d
			}
		}
		if apart < far {
			sum += e.mass * math.Exp(-apart/2)
		}
	}
	return sum / total
}
