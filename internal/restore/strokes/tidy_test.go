package strokes

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"unink/internal/raster"
	"unink/internal/restore/segment"
)

// drawn makes scores of a picture: h is writing, p print, and a blank paper.
func drawn(rows ...string) *segment.Scores {
	s := &segment.Scores{W: len(rows[0]), H: len(rows)}
	for _, row := range rows {
		for _, c := range row {
			hand, print := int8(-4*segment.Unit), int8(-4*segment.Unit)
			switch c {
			case 'h':
				hand = 2 * segment.Unit
			case 'p':
				print = 2 * segment.Unit
			}
			s.Hand, s.Print = append(s.Hand, hand), append(s.Print, print)
		}
	}
	return s
}

func drawing(s *segment.Scores) string {
	var out []byte
	for i := range s.Hand {
		if i > 0 && i%s.W == 0 {
			out = append(out, '\n')
		}
		switch {
		case s.Hand[i] > 0:
			out = append(out, 'h')
		case s.Print[i] > 0:
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
	joinSpecks(s, make([]bool, len(s.Hand)))
	want := drawing(drawn(
		"  hh        pp   ",
		"  hhhhhhhhhhpp   ",
		"  hhhhhhhhhhpppp ",
		"     hh     pppp ",
		"            pppp ",
		"      pp    pppp ",
		"      pp    pppp ",
	))
	if drawing(s) != want {
		t.Errorf("got\n%s\nwant\n%s", drawing(s), want)
	}
}

// A small piece that is taken for print under a stroke goes with the stroke, if it is writing
// before all. A letter under it stays, and so does a piece of one that goes on beside it.
func TestFragmentsAmidWritingAreWriting(t *testing.T) {
	for name, c := range map[string]struct {
		w, h  int
		hand  int8
		stays bool
	}{
		"fragment":        {4, 6, 2 * segment.Unit, false},
		"letter":          {8, 10, 2 * segment.Unit, true},
		"hardly writing":  {4, 6, segment.Unit, true},
		"goes on outside": {20, 2, 2 * segment.Unit, true},
	} {
		t.Run(name, func(t *testing.T) {
			row := strings.Repeat("h", 12) + strings.Repeat(" ", 12)
			s := drawn(slices.Repeat([]string{row}, 14)...)
			for y := 2; y < 2+c.h; y++ {
				for x := 2; x < 2+c.w; x++ {
					i := y*s.W + x
					s.Print[i] = 2 * segment.Unit
					if s.Hand[i] > 0 {
						s.Hand[i] = c.hand
					}
				}
			}
			dropFragments(s, make([]bool, len(s.Hand)))
			if got := s.Print[3*s.W+3] > 0; got != c.stays {
				t.Errorf("it is print: %v", got)
			}
		})
	}
}

// Print under a stroke stays where it goes on beside it, or where the network sees it clearly.
func TestPrintUnderStrokes(t *testing.T) {
	const doubtful, clearly = segment.Unit / 2, segment.Unit
	for name, c := range map[string]struct {
		beside string
		print  int8
		stays  bool
	}{
		"doubtful, alone":      {" ", doubtful, false},
		"doubtful, and beside": {"p", doubtful, true},
		"clear, alone":         {" ", clearly, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := drawn("hhhhh"+c.beside, "hhhhh"+c.beside, "hhhhh"+c.beside)
			for i := range s.Print {
				if x := i % s.W; x == 3 || x == 4 {
					s.Print[i] = c.print
				}
			}
			dropFalsePrint(s, make([]bool, len(s.Hand)))
			if got := s.Print[s.W+4] > 0; got != c.stays {
				t.Errorf("print stays: %v, want %v", got, c.stays)
			}
		})
	}
}

// A line is given to writing where a stroke touches it and a little beside, and nowhere else: not
// at its ends, from which it could not be drawn on.
func TestLinesAreTakenWhereStrokesTouchThem(t *testing.T) {
	blank, line := strings.Repeat(" ", 60), strings.Repeat("p", 60)
	// One in the middle, one at the end.
	feet := strings.Repeat(" ", 30) + "hhh" + strings.Repeat(" ", 24) + "hhh"
	s := drawn(blank, feet, feet, line, line, blank, blank)
	r := Rule{Centre: make([]float32, 60), clear: 60, Thick: 2}
	for i := range r.Centre {
		r.Centre[i] = 3.5
	}
	takeCrossings(s, []Rule{r})
	taken := strings.Repeat("p", 28) + strings.Repeat("h", 7) + strings.Repeat("p", 25)
	if rows := strings.Split(drawing(s), "\n"); rows[3] != taken || rows[4] != taken ||
		rows[1] != feet {
		t.Errorf("got\n%s", drawing(s))
	}
}

// A page of print with a few specks that look written stays whole. A stroke of a pen goes, and so
// do many small marks.
func TestSpecksAloneMakeNoPageWritten(t *testing.T) {
	specks := drawn(slices.Repeat([]string{strings.Repeat("pphhhppp", 5)}, 12)...)
	keepUnwritten(specks)
	if got := drawing(specks); strings.Contains(got, "h") {
		t.Errorf("the specks are taken:\n%s", got)
	}
	row, marks := strings.Repeat("h", 24), strings.Repeat("pphhhppp", 6)
	for name, rows := range map[string][]string{"stroke": {row, row},
		"marks": slices.Repeat([]string{marks}, 12)} {
		s := drawn(rows...)
		keepUnwritten(s)
		if got := drawing(s); got != strings.Join(rows, "\n") {
			t.Errorf("the %s stay:\n%s", name, got)
		}
	}
}

// Wherever one begins, the small pieces are the small components, each once.
func TestSmallPiecesAreComponents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 12).Draw(t, "w"), rapid.IntRange(1, 12).Draw(t, "h")
		class := rapid.SliceOfN(rapid.Uint8Range(0, 1), w*h, w*h).Draw(t, "class")
		most := rapid.IntRange(1, 20).Draw(t, "most")
		s := &segment.Scores{W: w, H: h, Hand: make([]int8, w*h)}
		p := newSmallPieces(s, most, func(i int) bool { return class[i] != 0 })
		found := map[raster.Component]int{}
		for _, i := range rapid.Permutation(slices.Collect(raster.Marked(class))).Draw(t, "order") {
			if piece := p.of(i); len(piece) > 0 {
				found[boxOf(piece, w)]++
			}
		}
		_, components := raster.Connected(class, w, 1)
		for _, c := range components {
			if c.Area <= most {
				found[c]--
			}
		}
		for c, n := range found {
			if n != 0 {
				t.Errorf("%v is found %d times too often", c, n)
			}
		}
	})
}
