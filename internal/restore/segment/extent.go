package segment

import (
	"image"
	"sync"

	"unink/internal/raster"
)

// extent bounds what is not white paper, with the margin that a tile needs and no smaller than the
// windows which the network learned from; it is empty where all is white. So blank margins are not
// looked at. Grey or uneven paper is not white.
func extent(p Picture, workers int) image.Rectangle {
	const white = 0.94 // of the light: ink takes three times as much (measure.MinContrast)
	var least [3]uint8
	for c, gain := range p.Gain {
		least[c] = uint8(white * 255 / gain)
	}
	inked := func(x, y int) bool {
		i := y*p.W + x
		return p.Pix[0][i] < least[0] || p.Pix[1][i] < least[1] || p.Pix[2][i] < least[2]
	}
	var all image.Rectangle
	var adding sync.Mutex
	raster.Rows(p.H, workers, func(y0, y1 int) {
		part := boxOf(p.W, y0, y1, inked)
		adding.Lock()
		all = all.Union(part)
		adding.Unlock()
	})
	if all.Empty() {
		return all
	}
	across := max(tileMargin, (leastSide-all.Dx())/2)
	down := max(tileMargin, (leastSide-all.Dy())/2)
	return image.Rect(all.Min.X-across, all.Min.Y-down, all.Max.X+across, all.Max.Y+down).
		Intersect(image.Rect(0, 0, p.W, p.H))
}

// boxOf bounds the ink of some rows of w pixels; it is empty where there is none.
func boxOf(w, y0, y1 int, inked func(x, y int) bool) image.Rectangle {
	left, top, right, bottom := w, y1, 0, y0
	for y := y0; y < y1; y++ {
		from := 0 // where the line's first ink is looked for
		for from < w && !inked(from, y) {
			from++
		}
		if from == w {
			continue
		}
		top, bottom = min(top, y), y+1
		left = min(left, from)
		for x := w; x > right; x-- {
			if inked(x-1, y) {
				right = x
			}
		}
	}
	if left >= right {
		return image.Rectangle{}
	}
	return image.Rect(left, top, right, bottom)
}
