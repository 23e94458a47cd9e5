package ink

import (
	"math"
)

// Of names the ink that lets the given share of red, green and blue light through.
func Of(t [3]float64) Set {
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

// Set is a set of ink colours; zero is all.
type Set uint8

// The inks.
const (
	Black Set = 1 << iota
	Blue
	Red
	Green
	Pencil
)
