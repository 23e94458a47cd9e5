package strokes

import (
	"slices"

	"unink/internal/restore/ink"
	"unink/internal/restore/segment"
)

// labelling is pixels that the network takes for print, of the numbers and letters of an answer
// sheet and of the lines between its bubbles. People mark bubbles close to them and over them, and
// then whole labels are judged to be written.
type labelling []int

// labelling finds them among the bubbles, beside their rows, and above and below their columns.
// What is written to a good part is no label, but a mark with a piece that the network takes for
// print.
func (s *bubbleSheet) labelling() (found labelling) {
	const far, near, much = 1.6, 0.55, 0.3 // pitches; share of what is connected
	scores := s.plane.Scores
	areas := make([]int, slices.Max(s.labels)+1)
	hands := make([]int, len(areas))
	for i, label := range s.labels {
		areas[label]++
		if scores.Hand[i] > 0 {
			hands[label]++
		}
	}
	known := make([]bool, len(s.labels))
	take := func(i int) {
		label := s.labels[i]
		if label != 0 && scores.Hand[i] <= 0 && !known[i] &&
			float64(hands[label]) < much*float64(areas[label]) {
			known[i] = true
			found = append(found, i)
		}
	}
	for _, r := range s.rings {
		x, y := r.centre()
		for _, pitches := range [2][2]float64{{far, near}, {near, far}} {
			dx, dy := pitches[0]*s.pitch[0], pitches[1]*s.pitch[1]
			for row := max(int(y-dy), 0); row < min(int(y+dy)+1, scores.H); row++ {
				for column := max(int(x-dx), 0); column < min(int(x+dx)+1, scores.W); column++ {
					take(row*scores.W + column)
				}
			}
		}
	}
	return found
}

// keep makes print of what has its ink.
func (l labelling) keep(s *segment.Scores, plane *ink.Plane) {
	for _, i := range l {
		if s.Hand[i] > 0 && plane.Evidence[i] < 0 {
			s.Relabel(i, false)
		}
	}
}
