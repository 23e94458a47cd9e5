package strokes

import (
	"image"

	"unink/internal/raster"
	"unink/internal/restore/ink"
	"unink/internal/restore/segment"
)

// A link is printed: a line of coloured ink, exactly level, and words of the same ink above it that
// begin and end where it does and whose letters stand level.
type link struct {
	at    image.Rectangle // the words with their line, and what hangs below it
	inked []uint8         // 1 where the page has ink of the link's colour
}

// What tells a link, in working pixels where nothing else is said.
const (
	linkLine   = 40  // length of its line at least
	linkGap    = 6   // breadth of a stroke across it at most
	linkThick  = 4   // thickness of its line at most
	linkAbove  = 22  // height of the words at most, from the line up
	linkBelow  = 9   // what letters hang below it
	linkEnds   = 8   // how far from the line's ends the words begin and end at most
	linkBeyond = 20  // how far beyond there is no more ink of its colour
	linkLetter = 6   // height of a letter at least
	linkCount  = 4   // letters at least
	linkLevel  = 0.7 // share of the letters whose feet are within a pixel of the most usual
)

// findLinks finds the links of a page of width w by their shape and by what [byColour] found.
func findLinks(of map[ink.Set][]uint8, w int) (found []link) {
	for _, inked := range of {
		_, lines := raster.Connected(levelRuns(inked, w), w, 1)
		for _, line := range lines {
			if line.Height() > linkThick {
				continue
			}
			at := image.Rect(line.X0-linkEnds, line.Y0-linkAbove, line.X1+linkEnds, line.Y1+linkBelow).
				Intersect(image.Rect(0, 0, w, len(inked)/w))
			l := link{at, inked}
			if l.hasWords(line, w) && l.standsAlone(line, w) {
				found = append(found, l)
			}
		}
	}
	return found
}

// levelRuns marks the rows of linkLine marked pixels and more, across what a stroke leaves between.
func levelRuns(marked []uint8, w int) []uint8 {
	out := make([]uint8, len(marked))
	for y := 0; y < len(marked); y += w {
		row := marked[y : y+w]
		for x := 0; x < w; {
			x = raster.NextMarked(row, x)
			from, to := x, x
			for ; x < w && x-to <= linkGap; x++ {
				if row[x] != 0 {
					to = x + 1
				}
			}
			if to-from >= linkLine {
				for i := y + from; i < y+to; i++ {
					out[i] = 1
				}
			}
		}
	}
	return out
}

// hasWords says that letters stand level on the line, from its one end to the other.
func (l link) hasWords(line raster.Component, w int) bool {
	h := line.Y0 - l.at.Min.Y
	if h < linkLetter {
		return false
	}
	above := make([]uint8, l.at.Dx()*h)
	for y := range h {
		copy(above[y*l.at.Dx():][:l.at.Dx()], l.inked[(l.at.Min.Y+y)*w+l.at.Min.X:])
	}
	_, pieces := raster.Connected(above, l.at.Dx(), 1)
	feet := make([]int, h+2)
	first, last, letters := l.at.Dx(), 0, 0
	for _, c := range pieces {
		if c.Height() < linkLetter {
			continue
		}
		first, last = min(first, c.X0), max(last, c.X1)
		if c.Y1 < h { // else it hangs below the line, or touches it
			feet[c.Y1]++
			letters++
		}
	}
	level := 0
	for y := 1; y <= h; y++ {
		level = max(level, feet[y-1]+feet[y]+feet[y+1])
	}
	return letters >= linkCount && float64(level) >= linkLevel*float64(letters) &&
		l.at.Min.X+first <= line.X0+linkEnds && l.at.Min.X+last >= line.X1-linkEnds
}

// standsAlone says that no ink of the colour goes on beyond the line's ends.
func (l link) standsAlone(line raster.Component, w int) bool {
	for y := l.at.Min.Y; y < line.Y1; y++ {
		row := l.inked[y*w:][:w]
		for x := max(line.X0-linkBeyond, 0); x < line.X0-linkEnds; x++ {
			if row[x] != 0 {
				return false
			}
		}
		for x := line.X1 + linkEnds; x < min(line.X1+linkBeyond, w); x++ {
			if row[x] != 0 {
				return false
			}
		}
	}
	return true
}

// keep makes the link's ink print, with its soft edges.
func (l link) keep(s *segment.Scores) {
	near := l.at.Inset(1)
	for y := near.Min.Y; y < near.Max.Y; y++ {
		for x := near.Min.X; x < near.Max.X; x++ {
			if i := y*s.W + x; s.Hand[i] > 0 && l.beside(i, s.W) {
				s.Relabel(i, false)
			}
		}
	}
}

func (l link) beside(i, w int) bool {
	for _, row := range []int{i - w, i, i + w} {
		if l.inked[row-1]|l.inked[row]|l.inked[row+1] != 0 {
			return true
		}
	}
	return false
}
