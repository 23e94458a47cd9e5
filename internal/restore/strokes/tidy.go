package strokes

import (
	"slices"

	"unink/internal/raster"
	"unink/internal/restore/segment"
)

// joinSpecks gives writing the specks of print along its strokes: a stroke's rim, lighter than its
// core, looks like other ink, and where a stroke stands on a printed line its foot looks like a
// part of the line.
func joinSpecks(s *segment.Scores, lines []bool) {
	const speck, foot, slim = 16, 40, 4 // working pixels: two areas and a width
	print := make([]uint8, len(s.Hand))
	for i := range print {
		if s.Print[i] > 0 && s.Hand[i] <= 0 && !lines[i] {
			print[i] = 1
		}
	}
	runs, components := raster.Connected(print, s.W, 1)
	writing, onLine := make([]int, len(components)), make([]bool, len(components))
	for _, r := range runs {
		of := r.Label - 1
		if components[of].Area > foot {
			continue
		}
		for i := int(r.From); i < int(r.To); i++ {
			if beside(s, i, func(j int) bool { return s.Hand[j] > 0 }) {
				writing[of]++
			}
			onLine[of] = onLine[of] || beside(s, i, func(j int) bool { return lines[j] })
		}
	}
	for _, r := range runs {
		c, of := components[r.Label-1], r.Label-1
		if writing[of] > 0 && (c.Area <= speck && 2*writing[of] >= c.Area ||
			onLine[of] && min(c.Width(), c.Height()) <= slim) {
			for i := int(r.From); i < int(r.To); i++ {
				s.Relabel(i, true)
			}
		}
	}
}

// beside says whether one of the four pixels next to a pixel is such a one.
func beside(s *segment.Scores, i int, such func(j int) bool) bool {
	x := i % s.W
	return x > 0 && such(i-1) || x+1 < s.W && such(i+1) || i >= s.W && such(i-s.W) ||
		i+s.W < len(s.Hand) && such(i+s.W)
}

// dropFalsePrint takes print away from under writing where it does not go on beside it: a stroke
// that crosses itself, or lies thick, looks like two inks too. Print that the network sees clearly
// stays, since strokes may cover a whole letter. Where there may be print but more likely is none,
// there is none unless print lies beside it. Printed lines do not count: they are continued through
// the writing later, and the foot of a stroke on a line is no print.
func dropFalsePrint(s *segment.Scores, lines []bool) {
	both := make([]uint8, len(s.Hand))
	for i := range both {
		if s.Hand[i] > 0 && s.Print[i] > 0 {
			both[i] = 1
		}
	}
	const clearly = segment.Unit // a log-odds of one
	runs, components := raster.Connected(both, s.W, 1)
	stays := make([]bool, len(components)+1)
	for _, r := range runs {
		for i := int(r.From); i < int(r.To) && !stays[r.Label]; i++ {
			stays[r.Label] = s.Print[i] >= clearly || besidePrint(s, i, lines)
		}
	}
	for _, r := range runs {
		for i := int(r.From); i < int(r.To) && !stays[r.Label]; i++ {
			s.Relabel(i, true)
		}
	}
	for i, hand := range s.Hand {
		if print := s.Print[i]; hand > 0 && print <= 0 && print > -segment.Unit &&
			!besidePrint(s, i, lines) {
			s.Relabel(i, true)
		}
	}
}

// dropFragments gives writing the small pieces of print in it that the network takes for writing
// before all: a page without the writing would show them as specks. What is as large as a letter
// stays, and so does what is a part of something larger.
func dropFragments(s *segment.Scores, lines []bool) {
	const (
		fragment = 60                   // working pixels
		surely   = 3 * segment.Unit / 2 // log-odds of writing, in the mean
	)
	print := make([]uint8, len(s.Hand))
	for i := range print {
		if s.Print[i] > 0 && !lines[i] {
			print[i] = 1
		}
	}
	runs, components := raster.Connected(print, s.W, 1)
	hand := make([]int, len(components))
	for _, r := range runs {
		for _, v := range s.Hand[r.From:r.To] {
			hand[r.Label-1] += int(v)
		}
	}
	for _, r := range runs {
		c := components[r.Label-1]
		if c.Area > fragment || hand[r.Label-1] < surely*c.Area {
			continue
		}
		for i := int(r.From); i < int(r.To); i++ {
			s.Relabel(i, true)
		}
	}
}

// besidePrint says whether there is print near a pixel that no writing lies on, printed lines left
// aside.
func besidePrint(s *segment.Scores, i int, lines []bool) bool {
	const near = 2 // working pixels
	x, y := i%s.W, i/s.W
	for yy := max(y-near, 0); yy <= min(y+near, s.H-1); yy++ {
		for j := yy*s.W + max(x-near, 0); j <= yy*s.W+min(x+near, s.W-1); j++ {
			if s.Print[j] > 0 && s.Hand[j] <= 0 && !lines[j] {
				return true
			}
		}
	}
	return false
}

// keepUnwritten leaves a page as it is on which a few specks alone seem to be written, none as
// large as a letter's stroke: these are print that was mistaken.
func keepUnwritten(s *segment.Scores) {
	const (
		stroke = 2 * segment.WorkingEm // working pixels: a line two wide and as long as an em
		few    = 4 * stroke
	)
	inked := 0
	for _, v := range s.Hand {
		if v > 0 {
			inked++
		}
	}
	if inked == 0 || inked >= few {
		return
	}
	hand := make([]uint8, len(s.Hand))
	for i, v := range s.Hand {
		if v > 0 {
			hand[i] = 1
		}
	}
	_, pieces := raster.Connected(hand, s.W, 1)
	if slices.ContainsFunc(pieces, func(c raster.Component) bool { return c.Area >= stroke }) {
		return
	}
	for i, v := range hand {
		if v != 0 {
			s.Relabel(i, false)
		}
	}
}
