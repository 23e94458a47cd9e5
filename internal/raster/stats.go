package raster

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// Clamp8 rounds a value to the nearest of a channel, 0 to 255.
func Clamp8(v float32) uint8 { return uint8(min(max(v+0.5, 0), 255)) }

// Larger is the larger one of two numbers, neither of which is NaN. The built-in max minds NaN: in
// browsers it calls a function for that, which takes as long as the rest of a loop over pixels.
func Larger[T uint8 | uint16 | float32](a, b T) T {
	if a > b {
		return a
	}
	return b
}

// Brightness is the mean of the channels.
func Brightness(c [3]float32) float32 { return (c[0] + c[1] + c[2]) / 3 }

// PageTint is the median of the cells' channels relative to their brightness. Cells darker than
// what is round them are left out: a picture may be larger than the paper between the lines.
func PageTint(f *Field, brightest []float32) (tint [3]float32) {
	for ch := range tint {
		var v []float64
		for i, w := range f.Weight {
			if b := Brightness(f.Colour[i]); w > 0.5 && b > 0.8*brightest[i] {
				v = append(v, float64(f.Colour[i][ch]/max(b, 1)))
			}
		}
		tint[ch] = 1
		if len(v) > 0 {
			tint[ch] = float32(Quantile(v, 0.5))
		}
	}
	return tint
}

func medianOf(v []uint8) uint8 { return HistogramQuantile(Histogram(v), 0.5) }

// Histogram counts how often each level is there.
func Histogram(v []uint8) (count [256]int) {
	for _, x := range v {
		count[x]++
	}
	return count
}

// HistogramQuantile is the level that the given share of what was counted does not exceed.
func HistogramQuantile(count [256]int, share float64) uint8 {
	total := 0
	for _, n := range count {
		total += n
	}
	at, seen := 0, count[0]
	for ; float64(seen) < share*float64(total); seen += count[at] {
		at++
	}
	return uint8(at)
}

// Scaled is a side of n pixels at a scale, in whole pixels and at least one.
func Scaled(n int, s float64) int { return max(1, int(float64(n)*s+0.5)) }

// Quantile is the value that the share q of the values, 0 to 1, lies below; there must be one.
func Quantile(v []float64, q float64) float64 {
	return ranked(slices.Clone(v), min(int(q*float64(len(v))), len(v)-1))
}

// ranked is the value that has so many before it in order; the values are moved about. It is
// Hoare's selection (1961, "Algorithm 65: find") with pivots by chance, so that no page can be made
// to take long.
func ranked(v []float64, rank int) float64 {
	for len(v) > 1 {
		pivot := v[rand.IntN(len(v))]
		i, j := 0, len(v)-1
		for i <= j {
			for cmp.Less(v[i], pivot) {
				i++
			}
			for cmp.Less(pivot, v[j]) {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i++
				j--
			}
		}
		switch {
		case rank <= j:
			v = v[:j+1]
		case rank >= i:
			v, rank = v[i:], rank-i
		default:
			return pivot
		}
	}
	return v[0]
}

// Threshold is 1 where a plane is at least so much, and 0 elsewhere.
func Threshold(plane []uint8, least uint8) []uint8 {
	out := make([]uint8, len(plane))
	for i, v := range plane {
		is := uint8(0)
		if v >= least {
			is = 1
		}
		out[i] = is
	}
	return out
}
