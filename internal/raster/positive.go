package raster

import "iter"

// Positive visits the places of a plane's values above zero, in their order. What is below zero
// for long, as most of a page is, is passed by eight at a time.
func Positive(plane []int8) iter.Seq[int] {
	return func(visit func(i int) bool) {
		for i := 0; i < len(plane); i++ {
			for i+8 <= len(plane) && allNegative((*[8]int8)(plane[i:])) {
				i += 8
			}
			if i < len(plane) && plane[i] > 0 && !visit(i) {
				return
			}
		}
	}
}

func allNegative(v *[8]int8) bool {
	return v[0]&v[1]&v[2]&v[3]&v[4]&v[5]&v[6]&v[7] < 0
}
