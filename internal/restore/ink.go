package restore

import (
	"math"

	"unink/internal/raster"
)

// keepOthers takes the strokes whose ink is not in the set out of the scores: they are then kept
// like print. A stroke's ink is the mean colour of its connected pixels, weighted by darkness.
func (s *scores) keepOthers(remove Ink, m *raster.RGB, paper [3]*raster.Grid) {
	strokes := make([]uint8, len(s.hand))
	for i, v := range s.hand {
		if v > 0 {
			strokes[i] = 1
		}
	}
	labels, components := raster.Components(strokes, s.w)
	light := s.transmittance(labels, len(components), m, paper)
	keep := make([]bool, len(components))
	for i, t := range light {
		keep[i] = inkOf(t)&remove == 0
	}
	for i, l := range labels {
		if l > 0 && keep[l-1] {
			s.hand[i], s.print[i] = -scoreUnit, scoreUnit
		}
	}
}

// transmittance is, for each component and channel, the share of the paper's light that is left.
func (s *scores) transmittance(labels []int32, count int, m *raster.RGB, paper [3]*raster.Grid) [][3]float64 {
	sums := make([][3]float64, count)
	weights := make([]float64, count)
	var line [3][]float32
	var samplers [3]*raster.Sampler
	for ch := range line {
		line[ch] = make([]float32, s.w)
		samplers[ch] = paper[ch].Sample(s.w, s.h)
	}
	scratch := make([]float32, paper[0].W)
	for y := range s.h {
		for ch := range line {
			samplers[ch].Row(line[ch], scratch, y)
		}
		for x := range s.w {
			i := y*s.w + x
			if labels[i] == 0 {
				continue
			}
			var t [3]float64
			for ch := range t {
				t[ch] = min(float64(m.Pix[ch][i])/float64(max(line[ch][x], 1)), 1)
			}
			weight := 1.001 - min(t[0], t[1], t[2])
			weight *= weight
			n := labels[i] - 1
			weights[n] += weight
			for ch := range t {
				sums[n][ch] += weight * t[ch]
			}
		}
	}
	for n, w := range weights {
		for ch := range sums[n] {
			sums[n][ch] /= w
		}
	}
	return sums
}

// inkOf names the ink that lets the given share of red, green and blue light through.
func inkOf(t [3]float64) Ink {
	low, high := min(t[0], t[1], t[2]), max(t[0], t[1], t[2])
	const (
		coloured = 0.33 // share of the light taken that is taken unevenly
		faint    = 0.45 // darkness below which grey is pencil
	)
	if high-low < coloured*(1-low) {
		if 1-(t[0]+t[1]+t[2])/3 < faint {
			return Pencil
		}
		return Black
	}
	switch hue := hueOf(t); {
	case hue < 60, hue >= 300:
		return Red
	case hue < 165:
		return Green
	}
	return Blue
}

// hueOf is the angle of a colour on the hexagon red 0°, green 120°, blue 240°.
func hueOf(t [3]float64) float64 {
	a := math.Sqrt(3) * (t[1] - t[2])
	b := 2*t[0] - t[1] - t[2]
	return math.Mod(math.Atan2(a, b)*180/math.Pi+360, 360)
}
