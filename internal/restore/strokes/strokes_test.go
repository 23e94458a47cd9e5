package strokes

import (
	"testing"

	"unink/internal/restore/ink"
)

// A word goes with its own ink, though it touches a line of another that was taken for writing too;
// its dot goes with it though the dot is too small to have a colour of its own.
func TestInkIsToldByTheStroke(t *testing.T) {
	const w, h = 120, 60
	rows := make([]string, h)
	colour := map[byte][3]uint8{
		'b': {60, 70, 200}, 'k': {40, 40, 45}, 'd': {90, 90, 100}, ' ': {255, 255, 255},
	}
	picture := make([][]byte, h)
	for y := range picture {
		picture[y] = make([]byte, w)
		row := make([]byte, w)
		for x := range w {
			switch {
			case y >= 40 && y < 44: // the line
				picture[y][x] = 'k'
			case y >= 12 && y < 46 && x%20 < 6 && x > 20 && x < 100: // letters down to it
				picture[y][x] = 'b'
			case y >= 4 && y < 8 && x >= 42 && x < 46:
				picture[y][x] = 'd'
			default:
				picture[y][x] = ' '
			}
			row[x] = ' '
			if picture[y][x] != ' ' {
				row[x] = 'h'
			}
		}
		rows[y] = string(row)
	}
	for _, c := range []struct {
		remove ink.Set
		gone   string
	}{{ink.Blue, "bd"}, {ink.Black, "k"}} {
		s := drawn(rows...)
		plane := &ink.Plane{Scores: s, Evidence: make([]float32, w*h)}
		for ch := range plane.Light {
			for y := range h {
				for x := range w {
					plane.Light[ch] = append(plane.Light[ch], colour[picture[y][x]][ch])
				}
			}
		}
		keepOthers(s, c.remove, plane, make([]bool, w*h))
		went, all := map[byte]int{}, map[byte]int{}
		for y := range h {
			for x := range w {
				all[picture[y][x]]++
				if s.Hand[y*w+x] > 0 {
					went[picture[y][x]]++
				}
			}
		}
		for _, kind := range []byte("bdk") {
			goes := c.gone[0] == kind || len(c.gone) > 1 && c.gone[1] == kind
			share := float64(went[kind]) / float64(all[kind])
			if goes && share < 0.85 || !goes && share > 0.2 {
				t.Errorf("%v is removed: %.2f of %q go", c.remove, share, kind)
			}
		}
	}
}

// Where letters stand on a printed line, their feet are as dark as the line. They go with the
// letters, and a word of black ink that another's tick touches stays.
func TestFeetOnALineGoWithTheirStroke(t *testing.T) {
	const line = 200
	blue, black := [3]uint8{60, 70, 200}, [3]uint8{40, 40, 45}
	s, plane, dot := inColour()
	for x := 100; x < 220; x++ { // feet that run into each other, longer than any letter
		for y := line - 3; y < line+3; y++ {
			dot(float64(x), float64(y), 1, black)
		}
	}
	for x := 104; x < 220; x += 20 {
		for y := line - 20; y < line-3; y++ {
			dot(float64(x), float64(y), 3, blue)
		}
	}
	for x := 300; x < 360; x++ { // a black word on the line, and a tick that ends in it
		for y := line - 20; y < line+3; y++ {
			dot(float64(x), float64(y), 1, black)
		}
	}
	for k := range 30 {
		dot(float64(330+k), float64(line-24-k), 3, blue)
	}
	lines := make([]bool, len(s.Hand))
	for x := 60; x < 400; x++ {
		lines[line*sheetW+x], lines[(line+1)*sheetW+x] = true, true
	}
	keepOthers(s, ink.Blue, plane, lines)
	for what, c := range map[string]struct {
		x, y int
		goes bool
	}{
		"a letter": {104, line - 12, true}, "the feet": {134, line - 1, true},
		"the black word": {310, line - 10, false}, "its foot": {310, line, false},
		"the tick": {355, line - 49, true},
	} {
		if got := s.Hand[c.y*sheetW+c.x] > 0; got != c.goes {
			t.Errorf("%s goes: %v", what, got)
		}
	}
}
