package restore

import (
	"math"

	"unink/internal/raster"
)

// keepOthers takes the strokes whose ink is not in the set out of the scores: they are then kept
// like print. A stroke's ink is the mean colour of its connected pixels, weighted by darkness.
func (s *scores) keepOthers(remove Ink, ink *inkPlane) {
	strokes := make([]uint8, len(s.hand))
	for i, v := range s.hand {
		if v > 0 {
			strokes[i] = 1
		}
	}
	labels, components := raster.Components(strokes, s.w)
	keep := make([]bool, len(components))
	for i, r := range s.regions(labels, components, ink) {
		keep[i] = inkOf(r.ink)&remove == 0
	}
	for i, l := range labels {
		if l > 0 && keep[l-1] {
			s.relabel(i, false)
		}
	}
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
