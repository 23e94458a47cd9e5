// Package ink knows the colours of a page's ink.
package ink

import (
	"math"
	"slices"

	"unink/internal/raster"
	"unink/internal/restore/measure"
	"unink/internal/restore/segment"
)

// Plane is the working picture as light that its ink lets through.
type Plane struct {
	Scores *segment.Scores
	Light  [3][]uint8 // share of the paper's light, in 255ths
	// 1 where there is ink of any kind: what the network takes for ink, and what is plainly dark
	Solid    []uint8
	Runs     []raster.Run       // of Solid
	Pieces   []raster.Component // that these make
	Evidence []float32          // log-odds of writing by its colour alone, smoothed; 0 off the ink
}

// Measure finds the ink of a page and weighs it.
func Measure(s *segment.Scores, m *raster.RGB, paper [3]*raster.Grid, workers int) *Plane {
	p := &Plane{Scores: s, Evidence: make([]float32, len(s.Hand))}
	for ch := range p.Light {
		p.Light[ch] = relative(m.Pix[ch], s.W, s.H, paper[ch], workers)
	}
	p.Solid = p.findSolid(workers)
	p.Connect()
	p.Weigh(workers)
	return p
}

// Connect finds the runs and the pieces of the ink.
func (p *Plane) Connect() {
	p.Runs, p.Pieces = raster.Connected(p.Solid, p.Scores.W, 1)
}

// Weigh compares each pixel of ink with the inks of what is surely writing and surely print on
// this page, as the scores now have it. Where both use the same ink that tells nothing.
func (p *Plane) Weigh(workers int) {
	hand, print := p.countInks(workers)
	if hand.total == 0 || print.total == 0 {
		clear(p.Evidence)
		return
	}
	const (
		floor = 0.003 // share below which a colour is unknown
		most  = 3.0   // log-odds
		least = -5.0  // log-odds
		plain = -1.0  // from here on it is plainly the print's ink
		few   = 200   // pixels: less writing tells little, so its inks are taken to be the print's
	)
	var odds colourHistogram
	for i := range odds.v {
		printed := print.v[i] / print.total
		written := (hand.v[i] + few*printed) / (hand.total + few)
		o := math.Log((written + floor) / (printed + floor))
		// What writing of this ink there seems to be may well be print that was mistaken.
		if o < plain {
			o = plain + 2.5*(o-plain)
		}
		odds.v[i] = min(max(o, least), most)
	}
	raster.Rows(p.Scores.H, workers, func(y0, y1 int) { p.weighRows(y0, y1, &odds) })
}

// weighRows averages the odds of the inks over the ink round each pixel of ink, dark ink counting
// most: the rim of a stroke has its core's colour.
func (p *Plane) weighRows(y0, y1 int, odds *colourHistogram) {
	seen, w := knownOdds{odds: odds}, p.Scores.W
	var near surroundings
	for i := range near {
		near[i] = make([]weighed, w+2*reach)
	}
	for y := y0 - reach; y < y1+reach; y++ {
		row, own := near.next(), y >= y0 && y < y1
		for _, r := range raster.RunsWithin(p.Runs, y*w, (y+1)*w) {
			for i := int(r.From); i < int(r.To); i++ {
				e := seen.of(p, i)
				if e != 0 {
					weight := p.Taken(i)
					row[i-y*w+reach] = weighed{weight * e, weight}
				}
				if own {
					p.Evidence[i] = e
				}
			}
		}
		// The row whose surroundings are now known.
		at := (y - reach) * w
		for _, r := range raster.RunsWithin(p.Runs, max(at, y0*w), at+w) {
			for i := int(r.From); i < int(r.To); i++ {
				if p.Evidence[i] != 0 {
					p.Evidence[i] = near.mean(i - at)
				}
			}
		}
	}
}

// reach is how many rows and columns round a pixel its evidence is averaged over.
const reach = 2

// weighed is a sum of values times their weights, and the sum of these.
type weighed struct{ sum, weight float32 }

// surroundings are the rows round one, each with so many pixels more at both ends.
type surroundings [2*reach + 1][]weighed

// next moves on by a row and returns the last one, with nothing in it.
func (s *surroundings) next() []weighed {
	row := s[0]
	copy(s[:], s[1:])
	s[2*reach] = row
	clear(row)
	return row
}

// mean is that of the square round a pixel of the row in the middle.
func (s *surroundings) mean(x int) float32 {
	var all weighed
	for _, row := range s {
		for _, v := range (*[2*reach + 1]weighed)(row[x:]) {
			all.sum += v.sum
			all.weight += v.weight
		}
	}
	return all.sum / max(all.weight, 1e-6)
}

// knownOdds remembers the odds of the colours that it was asked for: most of a page's ink has few.
type knownOdds struct {
	odds  *colourHistogram
	known [1 << 14]struct {
		colour uint32 // from 1
		odds   float32
	}
}

// of is the odds of a pixel's colour.
func (k *knownOdds) of(p *Plane, i int) float32 {
	colour := uint32(p.Light[0][i])<<16 | uint32(p.Light[1][i])<<8 | uint32(p.Light[2][i]) + 1
	slot := &k.known[colour*2654435761>>18] // multiplicative hashing (Knuth 1998, section 6.4)
	if slot.colour != colour {
		slot.colour, slot.odds = colour, float32(k.odds.at(p.bin(i)))
	}
	return slot.odds
}

// countInks counts the inks of what is surely writing and surely print. Parts of the page are
// counted apart and then added up, the same parts on any number of goroutines.
func (p *Plane) countInks(workers int) (hand, print colourHistogram) {
	const parts = 64
	var hands, prints [parts]colourHistogram
	raster.Rows(parts, workers, func(from, to int) {
		for k := from; k < to; k++ {
			p.countPart(&hands[k], &prints[k], k*len(p.Solid)/parts, (k+1)*len(p.Solid)/parts)
		}
	})
	for k := range parts {
		hand.merge(&hands[k])
		print.merge(&prints[k])
	}
	return hand, print
}

// countPart counts every other pixel, which is enough to know the inks.
func (p *Plane) countPart(hand, print *colourHistogram, from, to int) {
	for _, r := range raster.RunsWithin(p.Runs, from, to) {
		first, end := max(int(r.From), from), min(int(r.To), to)
		for i := first + first%2; i < end; i += 2 {
			switch h, q := p.Scores.Hand[i], p.Scores.Print[i]; {
			case h >= segment.Sure && q < 0:
				hand.add(p.bin(i), p.Taken(i))
			case q >= segment.Sure && h < 0:
				print.add(p.bin(i), p.Taken(i))
			}
		}
	}
}

// relative divides a plane by its paper.
func relative(plane []uint8, w, h int, paper *raster.Grid, workers int) []uint8 {
	out := make([]uint8, len(plane))
	sampler := paper.Sample(w, h)
	raster.Rows(h, workers, func(y0, y1 int) {
		line, scratch := make([]float32, w), make([]float32, paper.W)
		for y := y0; y < y1; y++ {
			sampler.Row(line, scratch, y)
			raster.Share(out[y*w:][:w], plane[y*w:], line)
		}
	})
	return out
}

// Taken is the share of the light, 0 to 1, that a pixel's ink takes away.
func (p *Plane) Taken(i int) float32 {
	return taken[int(p.Light[0][i])+int(p.Light[1][i])+int(p.Light[2][i])]
}

// taken is the share of the light that ink takes which lets so many 255ths of the three channels
// through.
var taken = func() (out [3*255 + 1]float32) {
	for v := range out {
		out[v] = 1 - float32(v)/(3*255)
	}
	return out
}()

func (p *Plane) findSolid(workers int) []uint8 {
	const dark = 255 - measure.MinContrast // 255ths of the light: ink lets less through
	out := make([]uint8, len(p.Evidence))
	raster.Rows(p.Scores.H, workers, func(y0, y1 int) {
		for i := y0 * p.Scores.W; i < y1*p.Scores.W; i++ {
			if p.Scores.Hand[i] > 0 || p.Scores.Print[i] > 0 || p.Light[1][i] < dark {
				out[i] = 1
			}
		}
	})
	return out
}

// Printed marks ink that is not plainly writing.
func (p *Plane) Printed() []uint8 {
	out := slices.Clone(p.Solid)
	for i := range raster.Positive(p.Scores.Hand) {
		if p.Scores.Print[i] <= 0 {
			out[i] = 0
		}
	}
	return out
}

// Blank says that there is nothing on the page: hardly a pixel of ink.
func (p *Plane) Blank() bool {
	n := 0
	for _, v := range p.Solid {
		n += int(v)
	}
	return float64(n) < 2e-5*float64(len(p.Evidence))
}

// Bins is the number of steps in which two chromas and the darkness of ink are counted.
const Bins = 8

// bin places a pixel's ink: red against green, blue against yellow, and darkness, each from 0 to
// Bins-1.
func (p *Plane) bin(i int) [3]float64 {
	return binOf(absorbed[p.Light[0][i]], absorbed[p.Light[1][i]], absorbed[p.Light[2][i]])
}

// absorbed is the share of the light that ink takes which lets so many 255ths of it through.
var absorbed = func() (out [256]float64) {
	for v := range out {
		out[v] = 1 - float64(v)/255
	}
	return out
}()

// Bin places an ink that lets the given share of red, green and blue light through, from 0 to 1.
func Bin(t [3]float64) [3]float64 { return binOf(1-t[0], 1-t[1], 1-t[2]) }

// binOf places an ink that takes these shares of red, green and blue light.
func binOf(red, green, blue float64) [3]float64 {
	mean := (red + green + blue) / 3
	scale := 1 / (mean + 0.08)
	return [3]float64{
		binAt((red-green)*scale*0.5 + 0.5),
		binAt((blue-(red+green)/2)*scale*0.5 + 0.5),
		binAt(mean),
	}
}

// binAt is the place of a value from 0 to 1 on an axis.
func binAt(v float64) float64 {
	switch {
	case v < 0:
		return 0
	case v > 1:
		return Bins - 1
	}
	return v * (Bins - 1)
}

// colourHistogram is a density of ink colours.
type colourHistogram struct {
	v     [Bins * Bins * Bins]float64
	total float64
}

func (h *colourHistogram) add(b [3]float64, mass float32) {
	var c cube
	c.surround(b)
	for i, j := range &c.at {
		h.v[j] += c.share[i] * float64(mass)
	}
	h.total += float64(mass)
}

func (h *colourHistogram) merge(o *colourHistogram) {
	for i, v := range o.v {
		h.v[i] += v
	}
	h.total += o.total
}

func (h *colourHistogram) at(b [3]float64) (v float64) {
	var c cube
	c.surround(b)
	for i, j := range &c.at {
		v += c.share[i] * h.v[j]
	}
	return v
}

// cube is the eight bins round a point, and their trilinear weights.
type cube struct {
	at    [8]int
	share [8]float64
}

// surround moves the cube to a point.
func (c *cube) surround(b [3]float64) {
	r0, r1, fr := sides(b[0])
	g0, g1, fg := sides(b[1])
	d0, d1, fd := sides(b[2])
	r0, r1 = r0*Bins*Bins, r1*Bins*Bins
	g0, g1 = g0*Bins, g1*Bins
	c.at = [8]int{r0 + g0 + d0, r1 + g0 + d0, r0 + g1 + d0, r1 + g1 + d0,
		r0 + g0 + d1, r1 + g0 + d1, r0 + g1 + d1, r1 + g1 + d1}
	k00, k10, k01, k11 := (1-fr)*(1-fg), fr*(1-fg), (1-fr)*fg, fr*fg
	c.share = [8]float64{k00 * (1 - fd), k10 * (1 - fd), k01 * (1 - fd), k11 * (1 - fd),
		k00 * fd, k10 * fd, k01 * fd, k11 * fd}
}

// sides are the bins at and after a place on an axis, and the way from one to the other.
func sides(v float64) (low, high int, f float64) {
	low = int(v)
	return low, min(low+1, Bins-1), v - float64(low)
}
