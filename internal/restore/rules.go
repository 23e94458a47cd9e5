package restore

import (
	"math"
	"sync"

	"unink/internal/raster"
)

// Ruled lines and borders at the network's scale, where print has an em of about 24.
const (
	ruleRun    = 10 // a line less than some 5° off the axis is made of runs at least this long
	ruleLength = 60 // and is this long in all
	ruleThick  = 6  // and no thicker than this
)

// findRules labels the pixels of straight, thin, long lines along either axis: 0 is none, n is
// line n-1. Whatever crosses a line does not break it, since ink of any kind counts.
func findRules(ink []uint8, w, h int) (labels []int32, rules int) {
	var upright []int32
	var more int
	var wg sync.WaitGroup
	wg.Go(func() {
		upright, more = axisRules(transpose(ink, w, h), h)
		upright = transpose(upright, h, w)
	})
	labels, rules = axisRules(ink, w)
	wg.Wait()
	for i, l := range upright {
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

// rule is a printed line at the network's scale: at column x (row, for a vertical one) from on,
// its centre lies at centre[x-from]; NaN where writing hides it.
type rule struct {
	vertical bool
	from     int
	centre   []float32
	thick    float32
}

// printedRules traces the lines that are print: most of what the network is sure of on them is.
// Under writing, a line's pixels are marked as print.
func (s *scores) printedRules(labels []int32, count int) []rule {
	print, hand := make([]int, count+1), make([]int, count+1)
	for i, l := range labels {
		switch {
		case s.hand[i] > 0:
			hand[l]++
		case s.print[i] > 0:
			print[l]++
		}
	}
	number := make([]int, count+1) // of the printed ones, from 1
	printed := 0
	for l := 1; l <= count; l++ {
		if print[l] > hand[l] {
			printed++
			number[l] = printed
		}
	}
	boxes := make([]raster.Component, printed)
	for i := range boxes {
		boxes[i].X0, boxes[i].Y0 = s.w, s.h
	}
	for i, l := range labels {
		if n := number[l]; n > 0 {
			boxes[n-1].Add(i%s.w, i/s.w)
		}
	}
	rules := make([]rule, printed)
	for i, b := range boxes {
		rules[i] = s.trace(b, func(at int) bool { return number[labels[at]] == i+1 })
	}
	return rules
}

// trace measures a line's centre and thickness where no writing is on it.
func (s *scores) trace(b raster.Component, on func(i int) bool) rule {
	r := rule{vertical: b.Height() > b.Width(), from: b.X0}
	along, across := b.Width(), b.Height()
	if r.vertical {
		r.from, along, across = b.Y0, across, along
	}
	r.centre = make([]float32, along)
	clear, pixels := 0, 0
	for i := range r.centre {
		n, sum := 0, 0
		for j := range across {
			x, y := b.X0+i, b.Y0+j
			if r.vertical {
				x, y = b.X0+j, b.Y0+i
			}
			at := y*s.w + x
			if !on(at) {
				continue
			}
			if s.hand[at] > 0 {
				n = 0
				break
			}
			n++
			sum += j
		}
		r.centre[i] = float32(math.NaN())
		if n > 0 && n <= ruleThick {
			start := b.Y0
			if r.vertical {
				start = b.X0
			}
			r.centre[i] = float32(start) + float32(sum)/float32(n)
			clear++
			pixels += n
		}
	}
	r.thick = float32(pixels) / float32(max(clear, 1))
	return r
}
