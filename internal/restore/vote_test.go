package restore

import (
	"math"
	"strings"
	"testing"

	"unink/internal/raster"
)

// drawn makes scores of a picture: h is writing, p print, and a blank paper.
func drawn(rows ...string) *scores {
	s := &scores{w: len(rows[0]), h: len(rows)}
	for _, row := range rows {
		for _, c := range row {
			hand, print := int8(-4*scoreUnit), int8(-4*scoreUnit)
			switch c {
			case 'h':
				hand = 2 * scoreUnit
			case 'p':
				print = 2 * scoreUnit
			}
			s.hand, s.print = append(s.hand, hand), append(s.print, print)
		}
	}
	return s
}

func (s *scores) String() string {
	var out []byte
	for i := range s.hand {
		if i > 0 && i%s.w == 0 {
			out = append(out, '\n')
		}
		switch {
		case s.hand[i] > 0:
			out = append(out, 'h')
		case s.print[i] > 0:
			out = append(out, 'p')
		default:
			out = append(out, ' ')
		}
	}
	return string(out)
}

// The rim of a stroke goes with it; a dot of print beside it and a letter that it crosses stay.
func TestSpecksOfAStrokeAreWriting(t *testing.T) {
	s := drawn(
		"  pp        pp   ",
		"  hhhhhhhhhhpp   ",
		"  hhhhhhhhhhpppp ",
		"     pp     pppp ",
		"            pppp ",
		"      pp    pppp ",
		"      pp    pppp ",
	)
	s.joinSpecks(make([]bool, len(s.hand)))
	want := drawn(
		"  hh        pp   ",
		"  hhhhhhhhhhpp   ",
		"  hhhhhhhhhhpppp ",
		"     hh     pppp ",
		"            pppp ",
		"      pp    pppp ",
		"      pp    pppp ",
	).String()
	if s.String() != want {
		t.Errorf("got\n%s\nwant\n%s", s, want)
	}
}

// A line is given to writing where a stroke touches it and a little beside, and nowhere else: not at its ends, from
// which it could not be drawn on.
func TestLinesAreTakenWhereStrokesTouchThem(t *testing.T) {
	blank, line := strings.Repeat(" ", 60), strings.Repeat("p", 60)
	feet := strings.Repeat(" ", 30) + "hhh" + strings.Repeat(" ", 24) + "hhh" // one in the middle, one at the end
	s := drawn(blank, feet, feet, line, line, blank, blank)
	r := rule{centre: make([]float32, 60), clear: 60, thick: 2}
	for i := range r.centre {
		r.centre[i] = 3.5
	}
	s.takeCrossings([]rule{r})
	taken := strings.Repeat("p", 28) + strings.Repeat("h", 7) + strings.Repeat("p", 25)
	if rows := strings.Split(s.String(), "\n"); rows[3] != taken || rows[4] != taken || rows[1] != feet {
		t.Errorf("got\n%s", s)
	}
}

// Doubtful regions that only confirm each other are no writing; beside plain writing they are.
func TestMistakesDoNotConfirmEachOther(t *testing.T) {
	doubtful := region{Component: raster.Component{Area: 100, X1: 10, Y1: 10}, evidence: 1}
	plain := doubtful
	plain.evidence = 4
	bonds := []neighbours{{0, 1, 4}, {0, 2, 4}, {1, 2, 4}}
	for _, c := range []struct {
		third region
		want  bool
	}{{doubtful, false}, {plain, true}} {
		regions := []region{doubtful, doubtful, c.third}
		unknown := traits{5: math.NaN()}
		for i, v := range agreeOnLooks(regions, bonds, &likeness{regions, []traits{unknown, unknown, unknown}, 1}) {
			if (v > 0) != c.want {
				t.Errorf("beside a region of evidence %g, region %d is %g", c.third.evidence, i, v)
			}
		}
	}
}

// What comes again in the same shape is print, however much it looks like writing otherwise.
func TestWhatRepeatsIsPrint(t *testing.T) {
	regions := []region{{Component: raster.Component{Area: 100, X1: 10, Y1: 10}, evidence: 1.9}, {Component: raster.Component{Area: 900, X1: 30, Y1: 30}, evidence: 4}}
	for _, c := range []struct {
		twin float64
		want bool
	}{{0.15, false}, {0.8, true}, {math.NaN(), true}} {
		looks := &likeness{regions, []traits{{5: c.twin}, {5: math.NaN()}}, 1}
		if field := agreeOnLooks(regions, nil, looks); (field[0] > 0) != c.want || field[1] < 0 {
			t.Errorf("with its likest other shape at %g it is %g", c.twin, field[0])
		}
	}
}
