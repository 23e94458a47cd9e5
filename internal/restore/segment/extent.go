package segment

import "image"

// extent bounds what is not white paper, with the margin that a tile needs and no smaller than the
// windows which the network learned from; it is empty where all is white. So blank margins are not
// looked at. Grey or uneven paper is not white.
func extent(p Picture) image.Rectangle {
	const white = 0.94 // of the light: ink takes three times as much (measure.MinContrast)
	var least [3]uint8
	for c, gain := range p.Gain {
		least[c] = uint8(white * 255 / gain)
	}
	inked := func(x, y int) bool {
		i := y*p.W + x
		return p.Pix[0][i] < least[0] || p.Pix[1][i] < least[1] || p.Pix[2][i] < least[2]
	}
	left, top, right, bottom := p.W, p.H, 0, 0
	for y := range p.H {
		from := 0 // where the line's first ink is looked for
		for from < p.W && !inked(from, y) {
			from++
		}
		if from == p.W {
			continue
		}
		top, bottom = min(top, y), y+1
		left = min(left, from)
		for x := p.W; x > right; x-- {
			if inked(x-1, y) {
				right = x
			}
		}
	}
	if left >= right {
		return image.Rectangle{}
	}
	across := max(tileMargin, (leastSide-right+left)/2)
	down := max(tileMargin, (leastSide-bottom+top)/2)
	return image.Rect(left-across, top-down, right+across, bottom+down).
		Intersect(image.Rect(0, 0, p.W, p.H))
}
