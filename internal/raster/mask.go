package raster

import "unsafe"

// CloseMask marks what is no wider than twice d cells between marked cells.
func CloseMask(m []bool, w, h, d int) {
	wide, not := make([]bool, len(m)), make([]bool, len(m))
	SpreadMask(wide, m, w, h, d)
	for i, v := range wide {
		wide[i] = !v
	}
	SpreadMask(not, wide, w, h, d)
	for i, v := range not {
		m[i] = m[i] || !v
	}
}

// OpenMask takes away what is thinner than d cells either side.
func OpenMask(m []bool, w, h, d int) {
	not, thick := make([]bool, len(m)), make([]bool, len(m))
	for i, v := range m {
		not[i] = !v
	}
	SpreadMask(thick, not, w, h, d) // what is near paper
	for i, v := range thick {
		not[i], m[i] = !v, false
	}
	SpreadMask(m, not, w, h, d)
}

// SpreadMask marks the cells within d rows and columns of the given ones.
func SpreadMask(dst, from []bool, w, h, d int) {
	rows := make([]bool, len(from))
	for at := 0; at < len(from); at += w {
		until := 0 // cells of the row before this are marked
		for x, v := range from[at : at+w] {
			for ; v && until <= min(x+d, w-1); until++ {
				rows[at+until] = rows[at+until] || until >= x-d
			}
		}
	}
	for y := range h {
		for yy := max(y-d, 0); yy <= min(y+d, h-1); yy++ {
			Or(bytesOf(dst[yy*w:][:w]), bytesOf(rows[y*w:][:w]))
		}
	}
}

// bytesOf is a mask as what lies in memory: 1 for each marked cell and 0 for each other.
func bytesOf(m []bool) []uint8 {
	return unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(m))), len(m))
}
