package strokes

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"unink/internal/raster"
	"unink/internal/restore/ink"
	"unink/internal/restore/segment"
)

// Ruled lines and borders in the working picture, in its pixels.
const (
	ruleRun    = 8   // a line less than some 7° off the axis is made of runs at least this long
	rulePiece  = 30  // a piece of it between writing is this long
	ruleLength = 60  // and all its pieces together this
	ruleClear  = 15  // so much of it can be seen, where a word covers all the rest
	ruleThick  = 6   // and no thicker than this
	ruleNear   = 3   // writing that is no further from it touches it
	ruleHidden = 250 // writing hides no more of it than this in one place

	ruleThicker = 0.9 // a line is thicker or thinner by no more than this in another place
)

// findRules labels the pixels of straight, thin pieces of lines along either axis: 0 is none, n is
// pieces[n-1].
func findRules(plane []uint8, w, h int) (labels []int32, pieces []raster.Component) {
	var upright []raster.Run // with the axes swapped, as are its pieces
	var more []raster.Component
	var wg sync.WaitGroup
	wg.Go(func() { upright, more = rowRules(raster.Transpose(plane, w, h), h) })
	level, pieces := rowRules(plane, w)
	labels = make([]int32, len(plane))
	raster.Paint(labels, level)
	wg.Wait()
	for _, r := range upright {
		x, y := int(r.From)/h, int(r.From)%h
		for i := y*w + x; r.From < r.To; i, r.From = i+w, r.From+1 {
			if labels[i] == 0 {
				labels[i] = int32(len(pieces)) + r.Label
			}
		}
	}
	for _, c := range more {
		c.X0, c.Y0, c.X1, c.Y1 = c.Y0, c.X0, c.Y1, c.X1
		pieces = append(pieces, c)
	}
	return labels, pieces
}

// rowRules finds pieces of lines along the rows, and their pixels.
func rowRules(plane []uint8, w int) (runs []raster.Run, pieces []raster.Component) {
	all, components := raster.Connected(plane, w, ruleRun)
	number := make([]int32, len(components)+1)
	for i, c := range components {
		if c.Area <= ruleThick*c.Width() && 3*c.Height() <= c.Width() {
			pieces = append(pieces, c)
			number[i+1] = int32(len(pieces))
		}
	}
	runs = all[:0]
	for _, r := range all {
		if r.Label = number[r.Label]; r.Label > 0 {
			runs = append(runs, r)
		}
	}
	return runs, pieces
}

// longEnough reports whether a piece is taken for a line's by its length alone. A shorter one is a
// line's only where it goes on, behind writing, in another piece.
func longEnough(c raster.Component) bool { return max(c.Width(), c.Height()) >= rulePiece }

// clearRules takes for writing what stands on a line, or close to it, in the colour of writing.
// The network takes the foot of a stroke that meets a line for a part of the line. The line itself
// may be of that colour, as a link's is.
func clearRules(s *segment.Scores, plane *ink.Plane, lines []int32, pieces []raster.Component) {
	for _, r := range plane.Runs {
		for i := int(r.From); i < int(r.To); i++ {
			if plane.Evidence[i] > telling && s.Hand[i] <= 0 && lines[i] == 0 &&
				nearLine(lines, pieces, i%s.W, i/s.W, s.W) {
				s.Hand[i] = segment.Unit
			}
		}
	}
}

// nearLine says whether a pixel lies so close to a line that it touches it.
func nearLine(lines []int32, pieces []raster.Component, x, y, w int) bool {
	for at := max(y-ruleNear, 0) * w; at <= min((y+ruleNear)*w, len(lines)-w); at += w {
		for _, l := range lines[at+max(x-ruleNear, 0) : at+min(x+ruleNear, w-1)+1] {
			if l > 0 && longEnough(pieces[l-1]) {
				return true
			}
		}
	}
	return false
}

// Rule is a printed line of the working picture: at column x (row, for a vertical one) from on,
// its centre lies at centre[x-from]; NaN where writing hides it.
type Rule struct {
	Vertical bool
	From     int
	Centre   []float32
	clear    int     // columns where it can be seen
	Thick    float32 // mean over those
	follow   bool    // it is surely a line: ink at its ends may be the line's, too
}

// to is the column after the line's last.
func (r *Rule) to() int { return r.From + len(r.Centre) }

// printedRules traces the lines that are print, most of what the network is sure of on them, and
// joins their pieces across the writing that hides them. A short piece is followed under writing
// where it has the print's ink and not the writing's.
func printedRules(s *segment.Scores, plane *ink.Plane, labels []int32,
	pieces []raster.Component) []Rule {
	var traced []Rule
	for i, c := range pieces {
		print, evidence := pieceInk(s, plane, c, labels, int32(i+1))
		if !print || !longEnough(c) && !endsInWriting(s, c) {
			continue
		}
		r := tracePiece(s, c, labels, int32(i+1))
		if r.clear == 0 {
			continue
		}
		if len(r.Centre) >= ruleLength {
			r.reclaim(s, plane, labels, int32(i+1))
		}
		r.follow = longEnough(c) || evidence < -telling*float32(c.Area)
		traced = append(traced, r)
	}
	rules := joinPieces(s, plane, traced)
	for i := range rules {
		if rules[i].follow {
			extendRule(s, &rules[i], plane)
		}
	}
	rules = slices.DeleteFunc(joinPieces(s, plane, rules), func(r Rule) bool {
		return len(r.Centre) < ruleLength || r.clear < rulePiece
	})
	return append(rules, coveredRules(s, plane, rules)...)
}

// pieceInk says whether most of what the network is sure of on a piece of a line is print, and adds
// up the evidence of its ink.
func pieceInk(s *segment.Scores, plane *ink.Plane, c raster.Component, labels []int32,
	label int32) (print bool, evidence float32) {
	more := 0 // pixels of print than of writing
	for y := c.Y0; y < c.Y1; y++ {
		for i := y*s.W + c.X0; i < y*s.W+c.X1; i++ {
			if labels[i] != label {
				continue
			}
			evidence += plane.Evidence[i]
			switch {
			case s.Hand[i] > 0:
				more--
			case s.Print[i] > 0:
				more++
			}
		}
	}
	return more > 0, evidence
}

// coveredRules traces, beside the lines that are known, level ones of the print's ink which writing
// covers so much that hardly a piece of them is seen alone: blanks with a word on them.
func coveredRules(s *segment.Scores, plane *ink.Plane, known []Rule) (rules []Rule) {
	runs, pieces := rowRules(plane.Solid, s.W)
	if !slices.ContainsFunc(pieces, func(c raster.Component) bool { return c.Width() >= ruleLength }) {
		return nil
	}
	labels := make([]int32, len(plane.Solid))
	raster.Paint(labels, runs)
	for i, c := range pieces {
		if c.Width() < ruleLength {
			continue
		}
		r := tracePiece(s, c, labels, int32(i+1))
		if r.clear >= ruleClear && r.printed(s, plane) &&
			!slices.ContainsFunc(known, func(k Rule) bool { return k.meets(&r) }) {
			rules = append(rules, r)
		}
	}
	return rules
}

// meets says that two lines lie on each other somewhere.
func (r *Rule) meets(p *Rule) bool {
	from, to := max(r.From, p.From), min(r.to(), p.to())
	middle := (from + to) / 2
	return r.Vertical == p.Vertical && from < to &&
		math.Abs(r.near(middle)-p.near(middle)) <= ruleThick
}

// printed says that what can be seen of a line has the colour of print and not that of writing.
func (r *Rule) printed(s *segment.Scores, plane *ink.Plane) bool {
	evidence := float32(0)
	for i, v := range r.Centre {
		if !math.IsNaN(float64(v)) {
			evidence += plane.Evidence[pixelAt(s, r.Vertical, r.From+i, int(v))]
		}
	}
	return evidence < -telling*float32(r.clear)
}

// endsInWriting says that a piece of a line runs into writing at one of its ends.
func endsInWriting(s *segment.Scores, c raster.Component) bool {
	if c.Height() > c.Width() {
		x := (c.X0 + c.X1) / 2
		return written(s, true, max(c.Y0-ruleNear, 0), x) ||
			written(s, true, min(c.Y1+ruleNear, s.H)-1, x)
	}
	y := (c.Y0 + c.Y1) / 2
	return written(s, false, max(c.X0-ruleNear, 0), y) ||
		written(s, false, min(c.X1+ruleNear, s.W)-1, y)
}

// linePixels marks the pixels of the lines, also where writing hides them.
func linePixels(s *segment.Scores, rules []Rule) []bool {
	on := make([]bool, len(s.Hand))
	for _, r := range rules {
		for i, centre := range r.continued() {
			visitAcross(s, &r, i, centre, 0, func(p int) { on[p] = true })
		}
	}
	return on
}

// takeCrossings gives writing the pieces of lines that it touches, but for a line's ends, to be
// drawn anew between what is clear of the line on both sides: what is left of a stroke on a line
// would be seen as a bump.
func takeCrossings(s *segment.Scores, rules []Rule) {
	const (
		near = 1.5 // working pixels between writing and a line that it touches
		rim  = 2   // columns beside a stroke that have its rim
	)
	for _, r := range rules {
		centres := r.continued()
		touched := make([]bool, len(centres))
		first, last := len(centres), -1 // clear columns
		for i, centre := range centres {
			visitAcross(s, &r, i, centre, near, func(p int) {
				if s.Hand[p] > 0 {
					for k := max(i-rim, 0); k <= min(i+rim, len(touched)-1); k++ {
						touched[k] = true
					}
				}
			})
		}
		for i, t := range touched {
			if !t && !math.IsNaN(float64(r.Centre[i])) {
				first, last = min(first, i), i
			}
		}
		for i := first; i < last; i++ {
			if touched[i] {
				visitAcross(s, &r, i, centres[i], 0, func(p int) { s.Relabel(p, true) })
			}
		}
	}
}

// visitAcross visits the pixels across a line with this centre at its column i, and so far beyond
// its rims.
func visitAcross(s *segment.Scores, r *Rule, i int, centre, beyond float64, visit func(p int)) {
	limit := acrossSize(s, r.Vertical)
	half := float64(r.Thick)/2 + 0.5 + beyond
	for j := max(int(math.Ceil(centre-half)), 0); j <= min(int(math.Floor(centre+half)),
		limit-1); j++ {
		visit(pixelAt(s, r.Vertical, r.From+i, j))
	}
}

// continued is the line's centres with the hidden ones put straight between those that can be seen.
func (r *Rule) continued() []float64 {
	out := make([]float64, len(r.Centre))
	last := -1
	for i, v := range r.Centre {
		out[i] = float64(v)
		if math.IsNaN(out[i]) {
			continue
		}
		for k := last + 1; k < i; k++ {
			out[k] = out[i]
			if last >= 0 {
				out[k] = out[last] + (out[i]-out[last])*float64(k-last)/float64(i-last)
			}
		}
		last = i
	}
	for k := last + 1; k < len(out); k++ {
		out[k] = out[max(last, 0)]
	}
	return out
}

// extendRule follows a line beyond its ends for as long as there is ink on it: under a word that
// stands on it, it may be too short between the letters to be found as a piece of its own.
func extendRule(s *segment.Scores, r *Rule, plane *ink.Plane) {
	after := followRule(s, r, plane, r.to(), 1)
	before := followRule(s, r, plane, r.From-1, -1)
	slices.Reverse(before)
	r.From -= len(before)
	r.Centre = slices.Concat(before, r.Centre, after)
	r.clear += countClear(before) + countClear(after)
}

// countClear counts the columns of a line where it can be seen.
func countClear(centres []float32) int {
	n := 0
	for _, v := range centres {
		if !math.IsNaN(float64(v)) {
			n++
		}
	}
	return n
}

// followRule lists a line's centres from a column on, to the last where it can be seen.
func followRule(s *segment.Scores, r *Rule, plane *ink.Plane, from, step int) []float32 {
	const (
		breaks = 2   // columns without ink, or with too little, that noise makes
		long   = 240 // ten em: a shorter line is too often a stroke that strikes something out
	)
	along, across := s.W, s.H
	if r.Vertical {
		along, across = across, along
	}
	x, y, slope := r.end(step > 0)
	if r.short() {
		slope = 0
	}
	y += slope * (float64(from) - x)
	var centres []float32
	seen, missing := 0, 0
	for at := from; at >= 0 && at < along && len(centres) < ruleHidden &&
		missing <= breaks; at += step {
		centre := math.NaN()
		low, high := inkAcross(s, r.Vertical, plane.Solid, at, int(math.Round(y)), across)
		switch {
		case low > high, float64(high-low+1) < float64(r.Thick)-ruleThicker:
			missing++
		case high-low < ruleThick && (!written(s, r.Vertical, at, int(math.Round(y))) ||
			r.alike(low, high, y) && (r.clear >= long ||
				evidenceAcross(s, r, plane, at, low, high) < -telling)):
			centre = float64(low+high) / 2
			y += 0.2 * (centre - y)
			missing, seen = 0, len(centres)+1
			for j := low; j <= high; j++ {
				s.Relabel(pixelAt(s, r.Vertical, at, j), false)
			}
		default:
			missing = 0
		}
		centres = append(centres, float32(centre))
		y += slope * float64(step)
	}
	return centres[:seen]
}

// alike says that ink across a line from low to high, where its centre is expected, is as thick as
// the line and lies on it: what seems to be written there may be the line itself.
func (r *Rule) alike(low, high int, centre float64) bool {
	const off = 0.8 // working pixels
	return math.Abs(float64(low+high)/2-centre) <= off && r.asThick(float64(high-low+1))
}

// asThick says that a line has about this thickness.
func (r *Rule) asThick(thick float64) bool {
	return math.Abs(thick-float64(r.Thick)) <= ruleThicker
}

// evidenceAcross is the mean evidence that ink across a line from low to high has the colour of
// writing and not that of print.
func evidenceAcross(s *segment.Scores, r *Rule, plane *ink.Plane, at, low, high int) float32 {
	sum := float32(0)
	for j := low; j <= high; j++ {
		sum += plane.Evidence[pixelAt(s, r.Vertical, at, j)]
	}
	return sum / float32(high-low+1)
}

// inkAcross is the run of ink across a line at one column, which passes within a pixel of y. It is
// empty, low above high, where there is none.
func inkAcross(s *segment.Scores, vertical bool, solid []uint8, at, y, across int) (low, high int) {
	inked := func(j int) bool {
		return j >= 0 && j < across && solid[pixelAt(s, vertical, at, j)] != 0
	}
	for _, j := range [3]int{y, y - 1, y + 1} {
		if !inked(j) {
			continue
		}
		low, high = j, j
		for y-low <= ruleThick && inked(low-1) {
			low--
		}
		for high-y <= ruleThick && inked(high+1) {
			high++
		}
		return low, high
	}
	return 1, 0
}

// tracePiece measures a piece's centre and thickness where no writing is on it.
func tracePiece(s *segment.Scores, b raster.Component, labels []int32, label int32) Rule {
	r := Rule{Vertical: b.Height() > b.Width(), From: b.X0}
	along, across, start := b.Width(), b.Height(), b.Y0
	if r.Vertical {
		r.From, along, across, start = b.Y0, across, along, b.X0
	}
	r.Centre = make([]float32, along)
	thick := make([]int, along) // 0 where it cannot be seen
	var seen []float64
	for i := range r.Centre {
		n, sum := 0, 0
		for j := range across {
			at := pixelAt(s, r.Vertical, r.From+i, start+j)
			if labels[at] != label {
				continue
			}
			if s.Hand[at] > 0 {
				n = 0
				break
			}
			n++
			sum += j
		}
		if n > 0 && n <= ruleThick {
			r.Centre[i] = float32(start) + float32(sum)/float32(n)
			thick[i] = n
			seen = append(seen, float64(n))
		}
	}
	if len(seen) == 0 {
		return r
	}
	usual := raster.Quantile(seen, 0.5)
	pixels := 0
	for i, n := range thick {
		// Where it is thicker something stands on it, where thinner a part of it is called writing.
		if n == 0 || math.Abs(float64(n)-usual) > 1 {
			r.Centre[i] = float32(math.NaN())
			continue
		}
		r.clear++
		pixels += n
	}
	r.Thick = float32(pixels) / float32(max(r.clear, 1))
	return r
}

// reclaim gives a line back the parts of its piece that were judged to be writing, but are as thick
// as the line, have no ink above or below, and do not have writing's colour. The judge takes a line
// that a signature runs into for a part of the signature.
func (r *Rule) reclaim(s *segment.Scores, plane *ink.Plane, labels []int32, label int32) {
	const off = 1.5 // working pixels
	across := acrossSize(s, r.Vertical)
	for i, v := range r.continued() {
		if !math.IsNaN(float64(r.Centre[i])) {
			continue
		}
		at := r.From + i
		for j := max(int(v)-ruleThick, 0); j <= min(int(v)+ruleThick, across-1); j++ {
			if labels[pixelAt(s, r.Vertical, at, j)] != label {
				continue
			}
			low, high := inkAcross(s, r.Vertical, plane.Solid, at, j, across)
			if low <= high && math.Abs(float64(high-low+1)-float64(r.Thick)) <= off &&
				evidenceAcross(s, r, plane, at, low, high) < telling {
				r.Centre[i] = float32(low+high) / 2
				r.clear++
				for k := low; k <= high; k++ {
					s.Relabel(pixelAt(s, r.Vertical, at, k), false)
				}
			}
			break
		}
	}
}

// acrossSize is the number of places across a line on the page.
func acrossSize(s *segment.Scores, vertical bool) int {
	if vertical {
		return s.W
	}
	return s.H
}

// pixelAt is the pixel at a place along and across a line.
func pixelAt(s *segment.Scores, vertical bool, along, across int) int {
	if vertical {
		return along*s.W + across
	}
	return across*s.W + along
}

// joinPieces links each piece to the next one on the same straight line, when writing is what parts
// them.
func joinPieces(s *segment.Scores, plane *ink.Plane, pieces []Rule) []Rule {
	slices.SortStableFunc(pieces, func(a, b Rule) int { return cmp.Compare(a.From, b.From) })
	var rules []Rule
	for _, p := range pieces {
		best := -1
		for i := range rules {
			if joins(s, plane, &rules[i], &p) && (best < 0 || rules[i].to() > rules[best].to()) {
				best = i
			}
		}
		if best < 0 {
			rules = append(rules, p)
			continue
		}
		r := &rules[best]
		for r.to() < p.From {
			r.Centre = append(r.Centre, float32(math.NaN()))
		}
		r.Thick = (r.Thick*float32(r.clear) + p.Thick*float32(p.clear)) / float32(r.clear+p.clear)
		more := p.Centre[min(max(r.to()-p.From, 0), len(p.Centre)):]
		r.Centre = append(r.Centre, more...)
		r.clear += countClear(more)
		r.follow = r.follow || p.follow
	}
	return rules
}

// joins says that piece p goes on where rule r ends, behind writing, or lies on its end. The slope
// of a short piece tells nothing, so all the way to it there has to be ink.
func joins(s *segment.Scores, plane *ink.Plane, r, p *Rule) bool {
	gap := p.From - r.to()
	if r.Vertical != p.Vertical || gap > ruleHidden || !r.asThick(float64(p.Thick)) {
		return false
	}
	if gap < 0 {
		return r.lies(p)
	}
	x0, y0, slope0 := r.end(true)
	x1, y1, slope1 := p.end(false)
	slope := (y1 - y0) / max(x1-x0, 1)
	off := 4 + 0.02*float64(gap)
	if math.Abs(slope) > 0.15 || !r.short() && math.Abs(y0+slope0*(x1-x0)-y1) > off ||
		!p.short() && math.Abs(y1-slope1*(x1-x0)-y0) > off {
		return false
	}
	across := acrossSize(s, r.Vertical)
	hidden, inked := 0, 0
	for x := r.to(); x < p.From; x++ {
		y := int(y0 + slope*(float64(x)-x0) + 0.5)
		if written(s, r.Vertical, x, y) {
			hidden++
		}
		if low, high := inkAcross(s, r.Vertical, plane.Solid, x, y, across); low <= high {
			inked++
		}
	}
	return 10*hidden >= 6*gap && (20*inked >= 19*gap || !r.short() && !p.short())
}

// lies says that line p, which begins before r ends, lies on it there.
func (r *Rule) lies(p *Rule) bool {
	const off = 1.5 // working pixels
	last := min(r.to(), p.to()) - 1
	return math.Abs(r.near(p.From)-p.near(p.From)) <= off &&
		math.Abs(r.near(last)-p.near(last)) <= off
}

// near is the line's centre in the column nearest to this one where it can be seen.
func (r *Rule) near(column int) float64 {
	at := column - r.From
	for d := range len(r.Centre) {
		for _, i := range [2]int{at - d, at + d} {
			if i >= 0 && i < len(r.Centre) && !math.IsNaN(float64(r.Centre[i])) {
				return float64(r.Centre[i])
			}
		}
	}
	return math.NaN()
}

// short says that the line is too short for its slope to tell where it goes.
func (r *Rule) short() bool { return len(r.Centre) < rulePiece }

// end is a point on the line near one of its ends, and the slope there.
func (r *Rule) end(last bool) (x, y, slope float64) {
	const span = 40 // columns where it can be seen
	var n, sx, sy, sxx, sxy float64
	for k := 0; k < len(r.Centre) && n < span; k++ {
		i := k
		if last {
			i = len(r.Centre) - 1 - k
		}
		if v := float64(r.Centre[i]); !math.IsNaN(v) {
			u := float64(r.From + i)
			n, sx, sy, sxx, sxy = n+1, sx+u, sy+v, sxx+u*u, sxy+u*v
		}
	}
	x, y = sx/n, sy/n
	if d := sxx - sx*x; d > 0 {
		slope = (sxy - sx*y) / d
	}
	return x, y, slope
}

// written says that there is writing within two pixels of a point of a line.
func written(s *segment.Scores, vertical bool, along, across int) bool {
	limit := acrossSize(s, vertical)
	for j := max(across-2, 0); j <= min(across+2, limit-1); j++ {
		if s.Hand[pixelAt(s, vertical, along, j)] > 0 {
			return true
		}
	}
	return false
}
