package raster

import (
	"encoding/binary"
	"image"
	"sync/atomic"
)

// everyRow says whether something holds for each row of a picture. It stops at the first row found
// for which it does not.
func everyRow(m *image.RGBA, workers int, holds func(row []uint8) bool) bool {
	var broken atomic.Bool
	Rows(m.Rect.Dy(), workers, func(y0, y1 int) {
		for y := y0; y < y1 && !broken.Load(); y++ {
			if !holds(m.Pix[y*m.Stride:][:4*m.Rect.Dx()]) {
				broken.Store(true)
			}
		}
	})
	return !broken.Load()
}

// pixelPair is the eight bytes of two pixels; the last pixel of an odd row stands for both.
func pixelPair(row []uint8, at int) uint64 {
	if at+8 > len(row) {
		last := uint64(binary.LittleEndian.Uint32(row[at:]))
		return last | last<<32
	}
	return binary.LittleEndian.Uint64(row[at:])
}

// Opaque says that nothing can be seen through a picture.
func Opaque(m *image.RGBA, workers int) bool {
	return everyRow(m, workers, func(row []uint8) bool {
		all := ^uint64(0)
		for at := 0; at < len(row); at += 8 {
			all &= pixelPair(row, at)
		}
		return all|0x00ffffff00ffffff == ^uint64(0) // the alphas are full
	})
}

// Grey says that an opaque picture has no colours.
func Grey(m *image.RGBA, workers int) bool {
	return everyRow(m, workers, func(row []uint8) bool {
		differ := uint64(0)
		for at := 0; at < len(row); at += 8 {
			p := pixelPair(row, at)
			differ |= p ^ p>>8 // where red is: red against green; where green is: green against blue
		}
		return differ&0x0000ffff0000ffff == 0
	})
}
