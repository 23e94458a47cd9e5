package strokes

import (
	"testing"

	"unink/internal/restore/ink"
	"unink/internal/restore/segment"
)

// A long printed line, of which the network takes a part for a stroke, stays whole; what writing
// stands on it does not stay with it, and a short line says nothing of what lies before it.
func TestLongRuleIsWhole(t *testing.T) {
	const w, h, top, thick = 900, 100, 50, 3
	for name, c := range map[string]struct {
		doubted, length int
		kept            bool
	}{
		"long":  {200, 500, true},
		"short": {200, 100, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &segment.Scores{W: w, H: h, Hand: make([]int8, w*h), Print: make([]int8, w*h)}
			plane := &ink.Plane{Scores: s, Solid: make([]uint8, w*h),
				Evidence: make([]float32, w*h)}
			for i := range s.Hand {
				s.Hand[i], s.Print[i] = -100, -100
			}
			set := func(x, y int, hand bool) {
				i := y*w + x
				plane.Solid[i] = 1
				if hand {
					s.Hand[i] = 100
				} else {
					s.Print[i] = 100
				}
			}
			for x := 20; x < 20+c.doubted+c.length; x++ {
				for y := top; y < top+thick; y++ {
					set(x, y, x < 20+c.doubted)
				}
			}
			for y := top - 20; y < top; y++ { // a stroke that stands on the line
				set(100, y, true)
				set(101, y, true)
			}
			labels, pieces := findRules(plane.Printed(), w, h)
			rules := printedRules(s, plane, labels, pieces)
			if len(rules) != 1 {
				t.Fatalf("%d lines, want one", len(rules))
			}
			if kept := s.Hand[(top+1)*w+150] <= 0; kept != c.kept {
				t.Errorf("the part in doubt is print: %t", kept)
			}
			if whole := rules[0].From <= 22; whole != c.kept {
				t.Errorf("the line begins at %d", rules[0].From)
			}
			if s.Hand[(top-10)*w+100] <= 0 {
				t.Error("the stroke on the line became print")
			}
		})
	}
}
