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
			s, plane := emptyPlane(w, h)
			set := func(x, y int, hand bool) { setInk(s, plane, x, y, hand) }
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

// A line that was found whole, and of which an end was then judged to be a stroke since a signature
// runs into it, stays whole; the signature does not.
func TestLineUnderASignatureIsWhole(t *testing.T) {
	const w, h, top, thick, from, judged, to = 300, 100, 50, 3, 20, 150, 260
	s, plane := emptyPlane(w, h)
	for x := from; x < to; x++ {
		for y := top; y < top+thick; y++ {
			setInk(s, plane, x, y, false)
		}
	}
	labels, pieces := findRules(plane.Printed(), w, h)
	for y := top - 30; y < top+thick+10; y++ {
		for x := 180; x < 186; x++ {
			setInk(s, plane, x, y, true)
		}
	}
	for x := judged; x < to; x++ {
		for y := top; y < top+thick; y++ {
			s.Relabel(y*w+x, true)
		}
	}
	rules := printedRules(s, plane, labels, pieces)
	if len(rules) != 1 || rules[0].From != from || rules[0].to() != to {
		t.Fatalf("%+v, want a line from %d to %d", rules, from, to)
	}
	for x := judged; x < to; x++ {
		crossed := x >= 180 && x < 186
		if print := s.Hand[(top+1)*w+x] <= 0; print == crossed {
			t.Errorf("at %d the line is print: %t", x, print)
		}
	}
	if s.Hand[(top-10)*w+182] <= 0 {
		t.Error("the signature became print")
	}
}

// A blank is whole of which writing leaves but its ends to be seen, if there is ink all along it;
// two dashes with a word between them are no line.
func TestBlankUnderAWordIsWhole(t *testing.T) {
	const w, h, top, thick, from, to, end = 300, 100, 50, 3, 60, 220, 20
	for name, c := range map[string]struct {
		gap  int // columns of it, one in so many, have no ink; 0 none
		line bool
	}{
		"inked all along": {0, true},
		"letters between": {3, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, plane := emptyPlane(w, h)
			for x := from; x < to; x++ {
				hidden := x >= from+end && x < to-end
				for y := top; y < top+thick && (!hidden || c.gap == 0 || x%c.gap != 0); y++ {
					setInk(s, plane, x, y, hidden)
				}
			}
			labels, pieces := findRules(plane.Printed(), w, h)
			rules := printedRules(s, plane, labels, pieces)
			if c.line != (len(rules) == 1) {
				t.Fatalf("%d lines", len(rules))
			}
			if c.line && (rules[0].From != from || rules[0].to() != to) {
				t.Errorf("the line goes from %d to %d, want %d to %d", rules[0].From,
					rules[0].to(), from, to)
			}
		})
	}
}

// A blank of which a word leaves but one end to be seen, or two that are hardly longer than broad,
// is whole where its ink is the print's; ends of a stroke are not taken for a line's.
func TestBlankGoesOnInItsOwnInk(t *testing.T) {
	const w, h, top, from, to = 300, 100, 50, 60, 180
	ends := map[string]struct{ thick, before, after int }{"one end": {3, 20, 0}, "two": {4, 10, 10}}
	inks := map[string]struct {
		evidence float32
		lines    int
	}{
		"print's ink":   {-2, 1},
		"writing's ink": {2, 0},
		"the same ink":  {0, 0},
	}
	for end, seen := range ends {
		for name, c := range inks {
			t.Run(end+", "+name, func(t *testing.T) {
				s, plane := emptyPlane(w, h)
				for x := from; x < to; x++ {
					for y := top; y < top+seen.thick; y++ {
						setInk(s, plane, x, y, x >= from+seen.before && x < to-seen.after)
						plane.Evidence[y*w+x] = c.evidence
					}
				}
				labels, pieces := findRules(plane.Printed(), w, h)
				rules := printedRules(s, plane, labels, pieces)
				if len(rules) != c.lines {
					t.Fatalf("%d lines, want %d", len(rules), c.lines)
				}
				if c.lines > 0 && (rules[0].From != from || rules[0].to() != to) {
					t.Errorf("the line goes from %d to %d, want %d to %d", rules[0].From,
						rules[0].to(), from, to)
				}
			})
		}
	}
}

// The end of a short line that the network takes for a stroke is the line's where its ink is the
// print's and not the writing's.
func TestRuleEndsWhereItsInkEnds(t *testing.T) {
	const w, h, top, thick, from, to, doubted = 300, 100, 50, 3, 60, 180, 40
	for name, c := range map[string]struct {
		evidence float32
		whole    bool
	}{
		"print's ink":   {-2, true},
		"writing's ink": {2, false},
		"the same ink":  {0, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, plane := emptyPlane(w, h)
			for x := from; x < to; x++ {
				for y := top; y < top+thick; y++ {
					setInk(s, plane, x, y, x < from+doubted)
					if x < from+doubted {
						plane.Evidence[y*w+x] = c.evidence
					}
				}
			}
			labels, pieces := findRules(plane.Printed(), w, h)
			rules := printedRules(s, plane, labels, pieces)
			if len(rules) != 1 {
				t.Fatalf("%d lines, want one", len(rules))
			}
			if whole := rules[0].From == from; whole != c.whole {
				t.Errorf("the line begins at %d", rules[0].From)
			}
		})
	}
}

// A line of which but its lowest row is seen under a word does not lean there: it is followed on to
// the end that the network takes for a stroke.
func TestPartlyHiddenRuleIsLevel(t *testing.T) {
	const w, h, top, from, word, wordTo, to = 300, 100, 50, 60, 80, 100, 180
	s, plane := emptyPlane(w, h)
	for x := from; x < to; x++ {
		for y := top; y < top+3; y++ {
			setInk(s, plane, x, y, x < word || x < wordTo && y < top+2)
			plane.Evidence[y*w+x] = -2
		}
		for y := top - 20; y < top && x >= word && x < wordTo; y++ {
			setInk(s, plane, x, y, true)
		}
	}
	labels, pieces := findRules(plane.Printed(), w, h)
	rules := printedRules(s, plane, labels, pieces)
	if len(rules) != 1 {
		t.Fatalf("%d lines, want one", len(rules))
	}
	if rules[0].From != from || rules[0].to() != to {
		t.Errorf("the line goes from %d to %d, want %d to %d", rules[0].From, rules[0].to(), from, to)
	}
}

// A thick line ends where, behind writing, a thin one goes on: drawn on, it would be a bar there.
func TestThickLineEndsBeforeAThinOne(t *testing.T) {
	const w, h, top, from, gap, gapTo, to = 400, 100, 50, 60, 160, 240, 340
	for name, c := range map[string]struct {
		thick int // beyond the gap
		ends  bool
	}{
		"as thick": {5, false},
		"thin":     {2, true},
	} {
		t.Run(name, func(t *testing.T) {
			s, plane := emptyPlane(w, h)
			bar := func(from, to, top, thick int, hand bool) {
				for x := from; x < to; x++ {
					for y := top; y < top+thick; y++ {
						setInk(s, plane, x, y, hand)
					}
				}
			}
			bar(from, gap, top, 5, false)
			bar(gap, gapTo, top-20, 25, true)
			bar(gapTo, to, top, c.thick, false)
			labels, pieces := findRules(plane.Printed(), w, h)
			ends := 0
			for _, r := range printedRules(s, plane, labels, pieces) {
				if r.Thick > 4 {
					ends = max(ends, r.to())
				}
			}
			if (ends <= gapTo) != c.ends {
				t.Errorf("the thick line ends at %d", ends)
			}
		})
	}
}

// emptyPlane is a page without ink.
func emptyPlane(w, h int) (*segment.Scores, *ink.Plane) {
	s := &segment.Scores{W: w, H: h, Hand: make([]int8, w*h), Print: make([]int8, w*h)}
	for i := range s.Hand {
		s.Hand[i], s.Print[i] = -100, -100
	}
	return s, &ink.Plane{Scores: s, Solid: make([]uint8, w*h), Evidence: make([]float32, w*h)}
}

// setInk puts ink of writing or of print on a pixel.
func setInk(s *segment.Scores, plane *ink.Plane, x, y int, hand bool) {
	i := y*s.W + x
	plane.Solid[i] = 1
	if hand {
		s.Hand[i] = 100
	} else {
		s.Print[i] = 100
	}
}
