package restore

import (
	"math"
	"slices"

	"unink/internal/raster"
)

// inkPlane is the working picture as light that its ink lets through.
type inkPlane struct {
	s        *scores
	light    [3][]uint8 // share of the paper's light, in 255ths
	solid    []uint8    // 1 where there is ink of any kind: what the network takes for ink, and what is plainly dark
	evidence []float32  // log-odds of writing by the ink's colour alone, smoothed; 0 off the ink
}

// measureInk compares each pixel of ink with the inks of what is surely writing and surely print
// on this page. Where both use the same ink that tells nothing.
func measureInk(s *scores, m *raster.RGB, paper [3]*raster.Grid, workers int) *inkPlane {
	p := &inkPlane{s: s, evidence: make([]float32, len(s.hand))}
	for ch := range p.light {
		p.light[ch] = relative(m.Pix[ch], s.w, s.h, paper[ch], workers)
	}
	p.solid = p.findSolid(workers)
	var hand, print inkHistogram
	for i := 0; i < len(s.hand); i += 2 { // every other pixel is enough to know the inks
		const sure = 2 * scoreUnit
		switch {
		case s.hand[i] > sure && s.print[i] < 0:
			hand.add(p.bin(i), p.taken(i))
		case s.print[i] > sure && s.hand[i] < 0:
			print.add(p.bin(i), p.taken(i))
		}
	}
	if hand.total == 0 || print.total == 0 {
		return p
	}
	const (
		floor = 0.003 // share below which a colour is unknown
		most  = 3.0
		least = -5.0
		plain = -1.0 // from here on it is plainly the print's ink
	)
	var odds inkHistogram
	for i := range odds.v {
		o := math.Log((hand.v[i]/hand.total + floor) / (print.v[i]/print.total + floor))
		if o < plain { // what writing of this ink there seems to be may well be print that was mistaken
			o = plain + 2.5*(o-plain)
		}
		odds.v[i] = min(max(o, least), most)
	}
	raster.Rows(s.h, workers, func(y0, y1 int) {
		for i := y0 * s.w; i < y1*s.w; i++ {
			if p.solid[i] != 0 {
				p.evidence[i] = float32(odds.at(p.bin(i)))
			}
		}
	})
	p.smooth(workers)
	return p
}

// relative divides a plane by its paper.
func relative(plane []uint8, w, h int, paper *raster.Grid, workers int) []uint8 {
	out := make([]uint8, len(plane))
	sampler := paper.Sample(w, h)
	raster.Rows(h, workers, func(y0, y1 int) {
		line, scratch := make([]float32, w), make([]float32, paper.W)
		for y := y0; y < y1; y++ {
			sampler.Row(line, scratch, y)
			from, to := plane[y*w:][:w], out[y*w:][:w]
			for x, v := range line {
				to[x] = uint8(min(float32(from[x])/max(v, 1), 1) * 255)
			}
		}
	})
	return out
}

// taken is the share of the light, 0 to 1, that a pixel's ink takes away.
func (p *inkPlane) taken(i int) float32 {
	return 1 - float32(int(p.light[0][i])+int(p.light[1][i])+int(p.light[2][i]))/(3*255)
}

func (p *inkPlane) findSolid(workers int) []uint8 {
	const dark = 255 - minContrast
	out := make([]uint8, len(p.evidence))
	raster.Rows(p.s.h, workers, func(y0, y1 int) {
		for i := y0 * p.s.w; i < y1*p.s.w; i++ {
			if p.s.hand[i] > 0 || p.s.print[i] > 0 || p.light[1][i] < dark {
				out[i] = 1
			}
		}
	})
	return out
}

// printed marks ink that is not plainly writing.
func (p *inkPlane) printed() []uint8 {
	out := slices.Clone(p.solid)
	for i := range out {
		if p.s.hand[i] > 0 && p.s.print[i] <= 0 {
			out[i] = 0
		}
	}
	return out
}

// blank says that there is nothing on the page: hardly a pixel of ink.
func (p *inkPlane) blank() bool {
	n := 0
	for _, v := range p.solid {
		n += int(v)
	}
	return float64(n) < 2e-5*float64(len(p.evidence))
}

// smooth averages the evidence over the ink round each pixel of ink, dark ink counting most:
// the rim of a stroke has its core's colour.
func (p *inkPlane) smooth(workers int) {
	sums, weights := make([]float32, len(p.evidence)), make([]float32, len(p.evidence))
	for i, e := range p.evidence {
		if e != 0 {
			weights[i] = p.taken(i)
			sums[i] = weights[i] * e
		}
	}
	raster.Rows(p.s.h, workers, func(y0, y1 int) {
		for i := y0 * p.s.w; i < y1*p.s.w; i++ {
			if p.evidence[i] != 0 {
				p.evidence[i] = p.around(i, sums) / max(p.around(i, weights), 1e-6)
			}
		}
	})
}

// around sums a plane over the square round a pixel.
func (p *inkPlane) around(i int, plane []float32) (sum float32) {
	const reach = 2
	x, y := i%p.s.w, i/p.s.w
	x0, x1 := max(x-reach, 0), min(x+reach, p.s.w-1)
	for yy := max(y-reach, 0); yy <= min(y+reach, p.s.h-1); yy++ {
		for _, v := range plane[yy*p.s.w+x0 : yy*p.s.w+x1+1] {
			sum += v
		}
	}
	return sum
}

// Ink colours are counted in bins of two chromas and darkness.
const inkBins = 8

// bin places a pixel's ink: red against green, blue against yellow, and darkness, each from 0 to
// inkBins-1.
func (p *inkPlane) bin(i int) [3]float64 {
	return inkBin([3]float64{float64(p.light[0][i]) / 255, float64(p.light[1][i]) / 255, float64(p.light[2][i]) / 255})
}

func inkBin(t [3]float64) (b [3]float64) {
	taken := [3]float64{1 - t[0], 1 - t[1], 1 - t[2]}
	mean := (taken[0] + taken[1] + taken[2]) / 3
	scale := 1 / (mean + 0.08)
	b[0] = (taken[0]-taken[1])*scale*0.5 + 0.5
	b[1] = (taken[2]-(taken[0]+taken[1])/2)*scale*0.5 + 0.5
	b[2] = mean
	for i := range b {
		b[i] = min(max(b[i], 0), 1) * (inkBins - 1)
	}
	return b
}

// inkHistogram is a density of ink colours.
type inkHistogram struct {
	v     [inkBins * inkBins * inkBins]float64
	total float64
}

func (h *inkHistogram) add(b [3]float64, mass float32) {
	at, k := corners(b)
	for i, j := range at {
		h.v[j] += k[i] * float64(mass)
	}
	h.total += float64(mass)
}

func (h *inkHistogram) at(b [3]float64) (v float64) {
	at, k := corners(b)
	for i, j := range at {
		v += k[i] * h.v[j]
	}
	return v
}

// corners are the eight bins round a point and their trilinear weights.
func corners(b [3]float64) (at [8]int, k [8]float64) {
	k[0] = 1
	for axis, v := range b {
		low := int(v)
		high, f := min(low+1, inkBins-1), v-float64(low)
		for i := 1<<axis - 1; i >= 0; i-- {
			j := i | 1<<axis
			at[j], k[j] = at[i]*inkBins+high, k[i]*f
			at[i], k[i] = at[i]*inkBins+low, k[i]*(1-f)
		}
	}
	return at, k
}
