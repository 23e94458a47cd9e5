package strokes

import (
	"testing"
)

// A link stays, whatever the network thinks of it, and what somebody wrote across it goes. What is
// written on a blank, or above a line by hand, is no link.
func TestLinksStay(t *testing.T) {
	blue, red, black := [3]uint8{20, 40, 230}, [3]uint8{220, 60, 70}, [3]uint8{40, 40, 45}
	const left, right, feet, under = 100, 260, 200, 204
	for name, c := range map[string]struct {
		colour    [3]uint8
		uneven    int // pixels by which letters stand higher or lower
		first, to int // of the line
		sloping   bool
		stays     bool
	}{
		"link":                {blue, 0, left, right, false, true},
		"link by a hand":      {blue, 3, left, right, false, false},
		"words on a blank":    {blue, 0, left, right + 60, false, false},
		"a line under a part": {blue, 0, left, right - 60, false, false},
		"a sloping line":      {blue, 0, left, right, true, false},
		"black":               {black, 0, left, right, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, plane, dot := inColour()
			for x := c.first; x < c.to; x++ {
				y := under
				if c.sloping {
					y += (x - c.first) / 20
				}
				dot(float64(x), float64(y), 2, c.colour)
			}
			for k, x := 0, left; x < right; k, x = k+1, x+12 {
				foot := feet + c.uneven*(k%3-1)
				for y := foot - 10; y <= foot; y++ {
					dot(float64(x+2), float64(y), 2, c.colour)
					dot(float64(x+8), float64(y), 2, c.colour)
				}
				for dx := 2; dx < 8; dx++ {
					dot(float64(x+dx), float64(foot-5), 2, c.colour)
				}
			}
			for y := feet - 40; y < feet+40; y++ {
				dot(150, float64(y), 3, red)
			}
			plane.Connect()
			for _, l := range findLinks(byColour(plane), sheetW) {
				l.keep(s)
			}
			letter, line := (feet-3)*sheetW+left+2, under*sheetW+left+30
			for what, i := range map[string]int{"letters": letter, "line": line} {
				if got := s.Hand[i] <= 0; got != c.stays {
					t.Errorf("the %s stay: %v", what, got)
				}
			}
			if s.Hand[(feet-35)*sheetW+150] <= 0 {
				t.Error("what was written above stays")
			}
		})
	}
}
