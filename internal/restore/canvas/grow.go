package canvas

import (
	"encoding/binary"
	"math"
)

// growStrokes widens the strokes over the ink that is connected to them and not print, down to
// the paper's noise, and then by a rim for what is lost in the noise. The network's outline is
// true to about one of its pixels.
func (c *Canvas) growStrokes() {
	frontier := c.outline(IsHand)
	reach := int(math.Ceil(1.5*c.Scale)) + 1
	for range reach {
		frontier = c.spread(frontier, func(i int) bool { return c.Dark[i] > c.Noise })
	}
	rim := 1 + int(c.Scale/2)
	frontier = c.outline(IsHand)
	for range rim {
		frontier = c.spread(frontier, func(int) bool { return true })
	}
}

// outline lists the pixels with the flag that touch one without it.
func (c *Canvas) outline(flag uint8) []int32 {
	eight := uint64(flag) * 0x0101010101010101 // the flag in each of eight bytes
	var out []int32
	for y := range c.H {
		row := c.Flags[y*c.W:][:c.W]
		for x := 0; x < c.W; x++ {
			for x+8 <= c.W && binary.NativeEndian.Uint64(row[x:])&eight == 0 {
				x += 8
			}
			if x == c.W {
				break
			}
			if row[x]&flag == 0 {
				continue
			}
			i := y*c.W + x
			if x > 0 && row[x-1]&flag == 0 || x+1 < c.W && row[x+1]&flag == 0 ||
				y > 0 && c.Flags[i-c.W]&flag == 0 || y+1 < c.H && c.Flags[i+c.W]&flag == 0 {
				out = append(out, int32(i))
			}
		}
	}
	return out
}

// spread adds to the strokes the free neighbours of the frontier that are wanted, and returns
// them as the next frontier.
func (c *Canvas) spread(frontier []int32, wanted func(i int) bool) []int32 {
	var next []int32
	for _, f := range frontier {
		x, y := int(f)%c.W, int(f)/c.W
		for _, d := range [4][2]int{{0, -1}, {-1, 0}, {1, 0}, {0, 1}} {
			nx, ny := x+d[0], y+d[1]
			if nx < 0 || ny < 0 || nx >= c.W || ny >= c.H {
				continue
			}
			if i := ny*c.W + nx; c.Flags[i]&(IsHand|IsPrint) == 0 && wanted(i) {
				c.Flags[i] |= IsHand
				next = append(next, int32(i))
			}
		}
	}
	return next
}
