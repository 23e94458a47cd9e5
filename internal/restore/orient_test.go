package restore

import (
	"testing"

	"pgregory.net/rapid"
)

// Wherever the print is, the window that the orientation network sees has it, as far as it is large enough.
func TestBusiestWindowHasThePrint(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const side, word = 200, 60
		w, h := rapid.IntRange(word, 700).Draw(rt, "w"), rapid.IntRange(word, 700).Draw(rt, "h")
		x, y := rapid.IntRange(0, w-word).Draw(rt, "x"), rapid.IntRange(0, h-word).Draw(rt, "y")
		grey := make([]uint8, w*h)
		for i := range grey {
			grey[i] = 255
			if dx, dy := i%w-x, i/w-y; dx >= 0 && dx < word && dy >= 0 && dy < word && (dx/4+dy/4)%2 == 0 {
				grey[i] = 0
			}
		}
		left, top := busiest(grey, w, h, side)
		if left < 0 || top < 0 || left > max(w-side, 0) || top > max(h-side, 0) {
			rt.Fatalf("the window lies at %d,%d", left, top)
		}
		if left > x || top > y || left+side < x+word || top+side < y+word {
			rt.Errorf("the print lies at %d,%d, the window at %d,%d", x, y, left, top)
		}
	})
}
