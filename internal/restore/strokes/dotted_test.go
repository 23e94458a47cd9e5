package strokes

import (
	"image"
	"testing"

	"unink/internal/raster"
	"unink/internal/restore/ink"
	"unink/internal/restore/segment"
)

// dottedAt draws a line of so many dots or dashes of a width, at a pitch.
func dottedAt(s *segment.Scores, plane *ink.Plane, x, y, n, wide, pitch int) {
	for i := range n {
		for dy := range 2 {
			for dx := range wide {
				setInk(s, plane, x+i*pitch+dx, y+dy, false)
			}
		}
	}
}

// scribble covers a part of a line with writing.
func scribble(s *segment.Scores, plane *ink.Plane, from, to, y int) {
	for x := from; x < to; x++ {
		for dy := -3; dy < 5; dy++ {
			setInk(s, plane, x, y+dy, true)
		}
	}
}

// dotsOf finds the dotted lines, and the dots that are hidden.
func dotsOf(s *segment.Scores, plane *ink.Plane) (lines []dottedLine, marks []Mark) {
	_, components := raster.Components(plane.Solid, s.W)
	lines = findDotted(components)
	for _, l := range lines {
		marks = append(marks, l.hidden(s)...)
	}
	return lines, marks
}

func TestDotsUnderWritingAreDrawnAnew(t *testing.T) {
	for _, c := range []struct{ wide, pitch int }{{2, 6}, {3, 10}, {12, 18}} {
		s, plane := emptyPlane(600, 100)
		dottedAt(s, plane, 20, 50, 30, c.wide, c.pitch)
		from, to := 20+10*c.pitch-1, 20+15*c.pitch-2
		scribble(s, plane, from, to, 50)
		lines, marks := dotsOf(s, plane)
		if len(lines) != 1 {
			t.Fatalf("%+v: %d dotted lines, want 1", c, len(lines))
		}
		if len(marks) != 5 {
			t.Fatalf("%+v: %d hidden dots, want 5: %v", c, len(marks), marks)
		}
		for i, m := range marks {
			if want := image.Pt(20+(10+i)*c.pitch, 50); m.At != want {
				t.Errorf("%+v: dot %d lies at %v, want %v", c, i, m.At, want)
			}
			if m.Empty.Dx() != c.wide || anyWriting(s, m.Empty) {
				t.Errorf("%+v: dot %d is drawn like %v", c, i, m.Empty)
			}
		}
	}
}

// A word between two blanks is none of the dots.
func TestBetweenTwoDottedLinesNothingIsDrawn(t *testing.T) {
	s, plane := emptyPlane(600, 100)
	dottedAt(s, plane, 20, 50, 20, 2, 6)
	dottedAt(s, plane, 260, 50, 20, 2, 6)
	scribble(s, plane, 150, 190, 50)
	if _, marks := dotsOf(s, plane); len(marks) != 0 {
		t.Errorf("dots are drawn where there were none: %v", marks)
	}
}

func TestDotsThatWritingTouchesStayPrint(t *testing.T) {
	s, plane := emptyPlane(600, 100)
	dottedAt(s, plane, 20, 50, 30, 2, 6)
	for _, x := range []int{80, 81, 140, 141} { // as they were judged
		for y := 50; y < 52; y++ {
			s.Relabel(y*s.W+x, true)
		}
	}
	lines, _ := dotsOf(s, plane)
	for _, l := range lines {
		l.keep(s)
	}
	if n := countWritten(s); n != 0 {
		t.Errorf("%d pixels of dots are taken for writing", n)
	}
}

// A line that somebody dotted by hand goes, and so do dots at uneven distances.
func TestDotsOfAPenAreNotKept(t *testing.T) {
	s, plane := emptyPlane(600, 100)
	dottedAt(s, plane, 20, 50, 30, 2, 6)
	for i := range s.Hand {
		if s.Print[i] > 0 {
			s.Relabel(i, true)
		}
	}
	lines, _ := dotsOf(s, plane)
	for _, l := range lines {
		l.keep(s)
	}
	if n := countWritten(s); n != 120 {
		t.Errorf("%d pixels of a pen's dots are left to go, want 120", n)
	}
	s, plane = emptyPlane(600, 100)
	x := 20
	for i := range 20 {
		dottedAt(s, plane, x, 50, 1, 2, 6)
		x += 5 + 9*(i%3)
	}
	if lines, _ := dotsOf(s, plane); len(lines) != 0 {
		t.Errorf("dots at uneven distances make %d lines", len(lines))
	}
}
