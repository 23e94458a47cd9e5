package strokes

import (
	"math"
	"testing"

	"unink/internal/restore/ink"
	"unink/internal/restore/segment"
)

// inColour is an empty sheet, and what writes squares of a colour on it.
func inColour() (*segment.Scores, *ink.Plane, func(x, y float64, side int, colour [3]uint8)) {
	s, plane := emptyPlane(sheetW, sheetH)
	for ch := range plane.Light {
		plane.Light[ch] = make([]uint8, sheetW*sheetH)
		for i := range plane.Light[ch] {
			plane.Light[ch][i] = 255
		}
	}
	return s, plane, func(x, y float64, side int, colour [3]uint8) {
		for dy := range side {
			for dx := range side {
				px, py := int(x)+dx-side/2, int(y)+dy-side/2
				setInk(s, plane, px, py, true)
				for ch, v := range colour {
					plane.Light[ch][py*sheetW+px] = v
				}
			}
		}
	}
}

// A seal that was stamped stays, whatever the network thinks of it, and what somebody wrote across
// it goes. Rings that a hand or a pair of compasses drew are no seals.
func TestSealsStay(t *testing.T) {
	const cx, cy, turn = 200, 200, 2 * math.Pi
	red, blue, black := [3]uint8{220, 60, 70}, [3]uint8{60, 70, 190}, [3]uint8{40, 40, 45}
	for name, c := range map[string]struct {
		colour        [3]uint8
		wide, shaking float64
		signs         int
		stays         bool
	}{
		"seal":       {red, 1, 0, 16, true},
		"oval seal":  {blue, 1.5, 0, 16, true},
		"compasses":  {blue, 1, 0, 0, false},
		"hand":       {red, 1, 0.04, 16, false},
		"few signs":  {red, 1, 0, 2, false},
		"black ring": {black, 1, 0, 16, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, plane, dot := inColour()
			for k := range 2000 {
				angle := turn * float64(k) / 2000
				r := 70 * (1 + c.shaking*math.Sin(5*angle))
				dot(cx+c.wide*r*math.Cos(angle), cy+r*math.Sin(angle), 3, c.colour)
			}
			for k := range c.signs {
				angle := turn * float64(k) / 16
				dot(cx+c.wide*50*math.Cos(angle), cy+50*math.Sin(angle), 9, c.colour)
			}
			for x := cx - 150; x < cx+150; x++ {
				dot(float64(x), cy+20, 3, black)
			}
			plane.Connect()
			for _, l := range findSeals(byColour(plane), sheetW) {
				l.keep(s)
			}
			if gone := s.Hand[cy*sheetW+cx+int(70*c.wide)] > 0; gone == c.stays {
				t.Errorf("the ring is written: %v", gone)
			}
			if s.Hand[(cy+20)*sheetW+cx] <= 0 {
				t.Error("the signature counts as print")
			}
		})
	}
}
