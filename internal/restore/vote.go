package restore

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"unink/internal/raster"
)

// region is a connected set of ink pixels that the network gave one class: a stroke, a letter, or
// a piece of one where writing and print touch.
type region struct {
	raster.Component
	border   int        // pixels beside something else
	evidence float64    // log-odds of handwriting: mean over the pixels, less sure for few
	ink      [3]float64 // share of the paper's light let through, per channel
}

// neighbours are two regions that touch or lie near each other.
type neighbours struct {
	a, b   int32
	weight float64
}

// vote lets the regions of ink agree with those beside them, so that no half strokes remain and
// no specks of print go: what is near and of the same ink was mostly made by the same hand. It is
// mean-field inference on a graph of regions, with the page's own ink colours, and then its own looks
// of writing and print, as evidence.
//
// Marks in tick boxes and bubbles are found apart and have the last word. It returns the page's printed lines and these marks.
func (s *scores) vote(ink *inkPlane, workers int) ([]rule, []*mark) {
	var marks []*mark
	var boxes sync.WaitGroup
	boxes.Go(func() { marks = s.findMarks(ink) })
	lines, pieces := findRules(ink.printed(), s.w, s.h)
	boxes.Wait()
	for _, m := range marks {
		m.take(s)
	}
	labels, components := raster.Components(s.parts(ink, lines, pieces), s.w)
	if len(components) > 1 {
		regions := s.regions(labels, components, ink)
		field := agreeOnLooks(regions, findNeighbours(labels, s.w, s.h, regions), newLikeness(regions, labels, ink, workers))
		for i, l := range labels {
			if l > 0 && (field[l-1] > 0) != (s.hand[i] > 0) {
				s.relabel(i, field[l-1] > 0)
			}
		}
	}
	for _, m := range marks {
		m.take(s)
	}
	s.clearRules(ink, lines)
	return s.printedRules(ink, lines, pieces), marks
}

// settle puts right, once it is known which strokes go, what lies along and under them: printed lines that they touch,
// specks, and print that is none.
func (s *scores) settle(rules []rule) {
	bands := s.bands(rules)
	s.takeCrossings(rules)
	s.joinSpecks(bands)
	s.dropFalsePrint(bands)
}

// joinSpecks gives writing the specks of print along its strokes: a stroke's rim, lighter than its core, looks like
// other ink, and where a stroke stands on a printed line its foot looks like a part of the line.
func (s *scores) joinSpecks(lines []bool) {
	const speck, foot, slim = 16, 40, 4 // working pixels: two areas and a width
	print := make([]uint8, len(s.hand))
	for i := range print {
		if s.print[i] > 0 && s.hand[i] <= 0 && !lines[i] {
			print[i] = 1
		}
	}
	labels, components := raster.Components(print, s.w)
	writing, onLine := make([]int, len(components)), make([]bool, len(components))
	for i, l := range labels {
		if l == 0 || components[l-1].Area > foot {
			continue
		}
		if s.beside(i, func(j int) bool { return s.hand[j] > 0 }) {
			writing[l-1]++
		}
		onLine[l-1] = onLine[l-1] || s.beside(i, func(j int) bool { return lines[j] })
	}
	for i, l := range labels {
		if l == 0 || writing[l-1] == 0 {
			continue
		}
		c := components[l-1]
		if c.Area <= speck && 2*writing[l-1] >= c.Area || onLine[l-1] && min(c.Width(), c.Height()) <= slim {
			s.relabel(i, true)
		}
	}
}

// beside says whether one of the four pixels next to a pixel is such a one.
func (s *scores) beside(i int, such func(j int) bool) bool {
	x := i % s.w
	return x > 0 && such(i-1) || x+1 < s.w && such(i+1) || i >= s.w && such(i-s.w) || i+s.w < len(s.hand) && such(i+s.w)
}

// dropFalsePrint takes print away from under writing where it does not go on beside it: a stroke
// that crosses itself, or lies thick, looks like two inks too. Where there may be print but more
// likely is none, there is none unless print lies beside it. Printed lines do not count: they are continued
// through the writing later, and the foot of a stroke on a line is no print.
func (s *scores) dropFalsePrint(lines []bool) {
	both := make([]uint8, len(s.hand))
	for i := range both {
		if s.hand[i] > 0 && s.print[i] > 0 {
			both[i] = 1
		}
	}
	labels, components := raster.Components(both, s.w)
	goesOn := make([]bool, len(components)+1)
	for i, l := range labels {
		if l > 0 && !goesOn[l] {
			goesOn[l] = s.besidePrint(i, lines)
		}
	}
	for i, l := range labels {
		switch {
		case s.hand[i] <= 0 || s.print[i] <= -scoreUnit:
		case l > 0 && !goesOn[l], l == 0 && !s.besidePrint(i, lines):
			s.relabel(i, true)
		}
	}
}

// besidePrint says whether there is print near a pixel that no writing lies on, printed lines left aside.
func (s *scores) besidePrint(i int, lines []bool) bool {
	const near = 2
	x, y := i%s.w, i/s.w
	for yy := max(y-near, 0); yy <= min(y+near, s.h-1); yy++ {
		for j := yy*s.w + max(x-near, 0); j <= yy*s.w+min(x+near, s.w-1); j++ {
			if s.print[j] > 0 && s.hand[j] <= 0 && !lines[j] {
				return true
			}
		}
	}
	return false
}

// parts gives each pixel of ink a class such that regions of one class are made by one hand: the
// network's own class, one for ink that the network overlooked, split where the ink's colour changes from what is the page's print to what
// is its writing, and where letters stand on a line.
func (s *scores) parts(ink *inkPlane, lines []int32, pieces []raster.Component) []uint8 {
	class := make([]uint8, len(s.hand))
	for i := range class {
		switch {
		case s.hand[i] > 0:
			class[i] = 2
		case s.print[i] > 0:
			class[i] = 1
		case ink.solid[i] != 0:
			class[i] = 3
		default:
			continue
		}
		switch e := ink.evidence[i]; {
		case e > telling:
			class[i] |= 4
		case e < -telling:
			class[i] |= 8
		}
		if l := lines[i]; l > 0 && isRule(pieces[l-1]) {
			class[i] |= 16
		}
	}
	return class
}

// telling is the log-odds from which an ink's colour alone says whose it is.
const telling = 1

// relabel makes a pixel of ink writing or print.
func (s *scores) relabel(i int, hand bool) {
	const sure = 2 * scoreUnit
	if hand {
		s.hand[i], s.print[i] = max(s.hand[i], sure), -sure
	} else {
		s.hand[i], s.print[i] = -sure, max(s.print[i], sure)
	}
}

// regions collects what is known of each component.
func (s *scores) regions(labels []int32, components []raster.Component, ink *inkPlane) []region {
	regions := make([]region, len(components))
	weights := make([]float64, len(components))
	colours := make([]float64, len(components))
	for i, l := range labels {
		if l == 0 {
			continue
		}
		r := &regions[l-1]
		r.evidence += float64(s.hand[i])
		if atBorder(labels, i, s.w) {
			r.border++
		}
		k := float64(ink.taken(i)*ink.taken(i)) + 1e-4
		weights[l-1] += k
		colours[l-1] += k * float64(ink.evidence[i])
		for ch := range r.ink {
			r.ink[ch] += k * float64(ink.light[ch][i]) / 255
		}
	}
	for i, c := range components {
		r := &regions[i]
		r.Component = c
		mean := r.evidence / float64(c.Area) / scoreUnit
		r.evidence = sureness(c.Area)*min(max(mean, -4), 4) + colours[i]/weights[i]
		for ch := range r.ink {
			r.ink[ch] /= weights[i]
		}
	}
	return regions
}

// sureness is how far a region of so many pixels speaks for itself, 0 to 1.
func sureness(area int) float64 {
	const enough = 40
	return math.Min(1, math.Sqrt(float64(area)/enough))
}

// atBorder says whether a pixel has another label, or none, beside it.
func atBorder(labels []int32, i, w int) bool {
	x, l := i%w, labels[i]
	return x == 0 || labels[i-1] != l || x == w-1 || labels[i+1] != l ||
		i < w || labels[i-w] != l || i >= len(labels)-w || labels[i+w] != l
}

// voteReach is the widest gap, in working pixels, across which regions are neighbours.
const voteReach = 12

// findNeighbours grows all regions at once, pixel by pixel, until they meet or have gone half of
// voteReach. The gap where two first meet decides the weight of their bond. Where all is surely
// print there is nothing to agree on, and nothing is looked for.
func findNeighbours(labels []int32, w, h int, regions []region) []neighbours {
	owner := slices.Clone(labels)
	meetings := map[[2]int32]meeting{}
	var last [2]int32 // pair that met: most pixels meet whom the one before them met
	frontier := border(labels, w, inDoubt(labels, w, h, regions))
	for d := 0; d <= voteReach/2; d++ {
		var next []int32
		for _, f := range frontier {
			x, y, l := int(f)%w, int(f)/w, owner[f]
			for _, step := range [4][2]int{{1, 0}, {0, 1}, {-1, 0}, {0, -1}} {
				nx, ny := x+step[0], y+step[1]
				if nx < 0 || ny < 0 || nx >= w || ny >= h {
					continue
				}
				j := ny*w + nx
				o := owner[j]
				if o == 0 {
					owner[j] = l
					next = append(next, int32(j))
				} else if l < o { // the other side sees the other case
					pair := [2]int32{l, o}
					if pair == last {
						continue
					}
					last = pair
					if _, met := meetings[pair]; !met {
						meetings[pair] = meeting{gap: 2 * d, touch: d == 0}
					}
				}
			}
		}
		frontier = next
	}
	bonds := make([]neighbours, 0, len(meetings))
	for pair, m := range meetings {
		a, b := &regions[pair[0]-1], &regions[pair[1]-1]
		bonds = append(bonds, neighbours{pair[0] - 1, pair[1] - 1, bond(a, b, m)})
	}
	slices.SortFunc(bonds, func(p, q neighbours) int {
		return cmp.Or(cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b))
	})
	return bonds
}

// meeting is how two regions first met: the paper between them in working pixels, or none.
type meeting struct {
	gap   int
	touch bool
}

// doubtCell is the side of the squares in which it is noted whether anything is in doubt.
const doubtCell = 64

// inDoubt marks the squares with a region that is not surely print, and those around them.
func inDoubt(labels []int32, w, h int, regions []region) []bool {
	const sure = -1.5
	cols, rows := w/doubtCell+1, h/doubtCell+1
	own, out := make([]bool, cols*rows), make([]bool, cols*rows)
	for i, l := range labels {
		if l > 0 && regions[l-1].evidence > sure {
			own[i/w/doubtCell*cols+i%w/doubtCell] = true
		}
	}
	for i, doubt := range own {
		if !doubt {
			continue
		}
		for y := max(i/cols-1, 0); y <= min(i/cols+1, rows-1); y++ {
			for x := max(i%cols-1, 0); x <= min(i%cols+1, cols-1); x++ {
				out[y*cols+x] = true
			}
		}
	}
	return out
}

// border lists the labelled pixels, of squares in doubt, that have another label, or none, beside
// them.
func border(labels []int32, w int, doubt []bool) []int32 {
	cols := w/doubtCell + 1
	var out []int32
	for i, l := range labels {
		if l == 0 {
			continue
		}
		x, y := i%w, i/w
		if !doubt[y/doubtCell*cols+x/doubtCell] {
			continue
		}
		if atBorder(labels, i, w) {
			out = append(out, int32(i))
		}
	}
	return out
}

// bond says how much two regions ought to agree.
func bond(a, b *region, m meeting) float64 {
	p, q := inkBin(a.ink), inkBin(b.ink)
	apart := 0.0
	for i, k := range [3]float64{1, 1, 0.35} {
		apart += k * (p[i] - q[i]) * (p[i] - q[i])
	}
	alike := math.Exp(-apart / 0.5)
	near := math.Exp(-float64(m.gap) / 6)
	if m.touch {
		near = 4
	}
	if isRule(a.Component) != isRule(b.Component) {
		near *= 0.2
	}
	return alike * near
}

// isRule says that a component is as long and thin as a ruled line. Strokes of a pen are straight
// too, upright ones for longer.
func isRule(c raster.Component) bool {
	const level, upright, slim = 72, 120, 8
	return c.Width() >= level && c.Width() > slim*c.Height() || c.Height() >= upright && c.Height() > slim*c.Width()
}

// agreeOnLooks finds how surely every region is writing, as log-odds, from the regions' evidence and, once it is known
// what is surely writing and surely print, from what each looks like.
func agreeOnLooks(regions []region, bonds []neighbours, looks *likeness) []float64 {
	const rounds = 2
	own := make([]float64, len(regions))
	for i, r := range regions {
		own[i] = r.evidence + looks.traits[i].repeated()
	}
	evidence := slices.Clone(own)
	field := agree(evidence, bonds)
	look := func() {
		for i, odds := range looks.odds(field) {
			evidence[i] = own[i] + odds
		}
	}
	for range rounds {
		look()
		field = agree(evidence, bonds)
	}
	if look(); !believed(regions, evidence, field) {
		for i := range field {
			field[i] = -1
		}
	}
	return field
}

// believed says whether what seems to be writing is that by its own evidence, in the mean of the page, and not only by what its
// regions say of each other: on a page nobody wrote on mistakes have nothing else to lean on. Long lines are not asked.
func believed(regions []region, evidence, field []float64) bool {
	const enough = 1.8
	sum, mass := 0.0, 0.0
	for i, r := range regions {
		if field[i] > 0 && !isRule(r.Component) {
			sum += float64(r.Area) * evidence[i]
			mass += float64(r.Area)
		}
	}
	return sum >= enough*mass
}

// agree is the fixed point of each region's evidence and what its neighbours, as sure as they are, would have it be.
func agree(evidence []float64, bonds []neighbours) []float64 {
	const (
		rounds   = 12
		coupling = 1.2
		most     = 3 // what the neighbours together can say
	)
	field := slices.Clone(evidence)
	push, weight := make([]float64, len(field)), make([]float64, len(field))
	for range rounds {
		clear(push)
		clear(weight)
		for _, n := range bonds {
			push[n.a] += n.weight * math.Tanh(field[n.b]/2)
			push[n.b] += n.weight * math.Tanh(field[n.a]/2)
			weight[n.a] += n.weight
			weight[n.b] += n.weight
		}
		for i, e := range evidence {
			together := coupling * push[i]
			if weight[i]*coupling > most {
				together *= most / (weight[i] * coupling)
			}
			field[i] = 0.5*field[i] + 0.5*(e+together)
		}
	}
	return field
}
