package raster

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
	for i, v := range from {
		if !v {
			continue
		}
		for y := max(i/w-d, 0); y <= min(i/w+d, h-1); y++ {
			for x := max(i%w-d, 0); x <= min(i%w+d, w-1); x++ {
				dst[y*w+x] = true
			}
		}
	}
}
