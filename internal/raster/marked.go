package raster

import (
	"encoding/binary"
	"iter"
)

// Marked visits the places of a plane's values that are not zero, in their order.
func Marked(plane []uint8) iter.Seq[int] {
	return func(visit func(i int) bool) {
		for i := NextMarked(plane, 0); i < len(plane) && visit(i); i = NextMarked(plane, i+1) {
		}
	}
}

// NextMarked is the place of the first value that is not zero, from one on; the end if there is
// none. Most of a page is zero, so it is passed by eight at a time.
func NextMarked(plane []uint8, from int) int {
	for from+8 <= len(plane) && binary.NativeEndian.Uint64(plane[from:]) == 0 {
		from += 8
	}
	for from < len(plane) && plane[from] == 0 {
		from++
	}
	return from
}

// Positive visits the places of a plane's values above zero, in their order. Most of a page is
// below zero, so it is passed by eight at a time.
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
