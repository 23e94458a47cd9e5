package strokes

import (
	"math"
	"testing"

	"unink/internal/restore/ink"
	"unink/internal/restore/segment"
)

const cellPitch, cellLeft, cellTop = 20, 60, 40

// tableOf draws a table of 6 columns and 10 rows with a ring in each cell, which the network takes
// for writing, and touches the lines, which are print. Wide apart, the rings stand alone.
func tableOf(pitch int) (*segment.Scores, *ink.Plane) {
	s, plane := emptyPlane(300, 400)
	if pitch == cellPitch {
		for y := cellTop; y <= cellTop+10*cellPitch; y++ {
			for x := cellLeft; x <= cellLeft+6*cellPitch; x++ {
				if (x-cellLeft)%cellPitch < 2 || (y-cellTop)%cellPitch < 2 {
					setInk(s, plane, x, y, false)
				}
			}
		}
	}
	for row := range 10 {
		for column := range 6 {
			eachOfRing(pitch, row, column, func(x, y int) { setInk(s, plane, x, y, true) })
		}
	}
	return s, plane
}

// eachOfRing visits the pixels of a cell's ring.
func eachOfRing(pitch, row, column int, visit func(x, y int)) {
	cx, cy := cellLeft+column*pitch+11, cellTop+row*pitch+11
	for dy := -9; dy <= 9; dy++ {
		for dx := -9; dx <= 9; dx++ {
			if r := math.Hypot(float64(dx), float64(dy)); r >= 7 && r < 9.5 {
				visit(cx+dx, cy+dy)
			}
		}
	}
}

// fillRing fills one as a pen does.
func fillRing(s *segment.Scores, plane *ink.Plane, row, column int) {
	cx, cy := cellLeft+column*cellPitch+11, cellTop+row*cellPitch+11
	for dy := -8; dy <= 8; dy++ {
		for dx := -8; dx <= 8; dx++ {
			if dx*dx+dy*dy <= 64 {
				setInk(s, plane, cx+dx, cy+dy, true)
			}
		}
	}
}

// bubblesInTables finds them in the ink that was set.
func bubblesInTables(plane *ink.Plane) []bubbleCells {
	plane.Connect()
	return findBubbleCells(plane)
}

func TestRingsInATableStay(t *testing.T) {
	s, plane := tableOf(cellPitch)
	fillRing(s, plane, 3, 2)
	found := bubblesInTables(plane)
	if len(found) != 1 || len(found[0].rings) != 59 {
		t.Fatalf("%d kinds of bubbles in tables, want one of 59", len(found))
	}
	found[0].keep(s)
	for row := range 10 {
		for column := range 6 {
			gone := 0
			eachOfRing(cellPitch, row, column, func(x, y int) {
				if s.Hand[y*s.W+x] > 0 {
					gone++
				}
			})
			if filled := row == 3 && column == 2; !filled && gone > 0 {
				t.Fatalf("%d pixels of the ring in row %d, column %d go", gone, row, column)
			}
		}
	}
	marks := found[0].hidden(s, nil)
	if len(marks) != 1 {
		t.Fatalf("%d bubbles are drawn anew, want the filled one", len(marks))
	}
	x, y := marks[0].At.X+marks[0].Empty.Dx()/2, marks[0].At.Y+marks[0].Empty.Dy()/2
	if wantX, wantY := cellLeft+2*cellPitch+11, cellTop+3*cellPitch+11; max(x-wantX, wantX-x) > 1 ||
		max(y-wantY, wantY-y) > 1 {
		t.Errorf("the bubble is drawn at %d, %d, want %d, %d", x, y, wantX, wantY)
	}
	if again := found[0].hidden(s, marks); len(again) != 0 {
		t.Errorf("what is drawn anew already is drawn once more: %v", again)
	}
}

// Lines that the network takes for print stay, whatever is judged of them.
func TestLinesBetweenRingsStay(t *testing.T) {
	s, plane := tableOf(cellPitch)
	found := bubblesInTables(plane)
	var lines []int
	for i := range s.Hand {
		if s.Print[i] > 0 {
			lines = append(lines, i)
			s.Relabel(i, true) // as judged
		}
	}
	found[0].keep(s)
	gone := 0
	for _, i := range lines {
		if s.Hand[i] > 0 {
			gone++
		}
	}
	if 20*gone > len(lines) {
		t.Errorf("%d of %d pixels of lines go", gone, len(lines))
	}
}

// Rings that touch nothing are told by their outlines, and letters are no bubbles.
func TestRingsAloneAreNoTable(t *testing.T) {
	_, plane := tableOf(30)
	if len(bubblesInTables(plane)) != 0 {
		t.Error("rings without lines are taken for a table's")
	}
	s, plane := emptyPlane(400, 280)
	at := 0
	for y := 30; y < 250; y += 30 {
		for x := 30; x < 370; x += 22 + 5*(at%4) {
			at++
			for dy := -8; dy <= 8; dy++ {
				for dx := -8; dx <= 8; dx++ {
					if r := math.Hypot(float64(dx), float64(dy)); r >= 5.5 && r < 8.5 || dx == 8 {
						setInk(s, plane, x+dx, y+dy, true)
					}
				}
			}
		}
	}
	if found := bubblesInTables(plane); len(found) != 0 {
		t.Errorf("letters are taken for %d bubbles of a table", len(found[0].rings))
	}
}
