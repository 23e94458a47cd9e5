package restore

import "testing"

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
