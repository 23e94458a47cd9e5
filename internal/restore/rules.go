package restore

import "unink/internal/raster"

// Ruled lines and borders at the network's scale, where print has an em of about 24.
const (
	ruleRun    = 10 // a line less than some 5° off the axis is made of runs at least this long
	ruleLength = 60 // and is this long in all
	ruleThick  = 6  // and no thicker than this
)

// findRules labels the pixels of straight, thin, long lines along either axis: 0 is none, n is
// line n-1. Whatever crosses a line does not break it, since ink of any kind counts.
func findRules(ink []uint8, w, h int) (labels []int32, rules int) {
	labels, rules = axisRules(ink, w)
	across, more := axisRules(transpose(ink, w, h), h)
	for i, l := range transpose(across, h, w) {
		if l > 0 && labels[i] == 0 {
			labels[i] = l + int32(rules)
		}
	}
	return labels, rules + more
}

// axisRules finds lines along the rows.
func axisRules(ink []uint8, w int) (labels []int32, rules int) {
	runs := make([]uint8, len(ink))
	for at := 0; at < len(ink); at += w {
		row := ink[at : at+w]
		for x := 0; x < w; x++ {
			from := x
			for x < w && row[x] != 0 {
				x++
			}
			if x-from >= ruleRun {
				for i := from; i < x; i++ {
					runs[at+i] = 1
				}
			}
		}
	}
	labels, components := raster.Components(runs, w)
	number := make([]int32, len(components)+1)
	for i, c := range components {
		if c.Width() >= ruleLength && c.Area <= ruleThick*c.Width() && 3*c.Height() <= c.Width() {
			rules++
			number[i+1] = int32(rules)
		}
	}
	for i, l := range labels {
		labels[i] = number[l]
	}
	return labels, rules
}

func transpose[T any](v []T, w, h int) []T {
	out := make([]T, len(v))
	const tile = 32 // stays in the cache
	for ty := 0; ty < h; ty += tile {
		for tx := 0; tx < w; tx += tile {
			for y := ty; y < min(ty+tile, h); y++ {
				for x := tx; x < min(tx+tile, w); x++ {
					out[x*h+y] = v[y*w+x]
				}
			}
		}
	}
	return out
}

// continueRules marks print under the writing wherever a printed line runs through it. A line is
// printed when most of it that the network is sure of is print.
func (s *scores) continueRules(rules []int32, count int) {
	print, hand := make([]int, count+1), make([]int, count+1)
	for i, l := range rules {
		switch {
		case s.print[i] > 0:
			print[l]++
		case s.hand[i] > 0:
			hand[l]++
		}
	}
	const under = scoreUnit
	for i, l := range rules {
		if l > 0 && s.hand[i] > 0 && print[l] > hand[l] {
			s.print[i] = max(s.print[i], under)
		}
	}
}
