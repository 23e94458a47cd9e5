package strokes

import (
	"math"
	"slices"

	"unink/internal/raster"
	"unink/internal/restore/segment"
)

// joinSpecks gives writing the specks of print along its strokes: a stroke's rim, lighter than its
// core, looks like other ink, and where a stroke stands on a printed line its foot looks like a
// part of the line.
func joinSpecks(s *segment.Scores, lines []bool) {
	const speck, foot, slim = 16, 40, 4 // working pixels: two areas and a width
	inHand := func(i int) bool { return s.Hand[i] > 0 }
	onLine := func(i int) bool { return lines[i] }
	print := newSmallPieces(s, foot, func(i int) bool {
		return s.Print[i] > 0 && s.Hand[i] <= 0 && !lines[i]
	})
	for i := range raster.Positive(s.Print) {
		if !beside(s, i, inHand) {
			continue
		}
		piece := print.of(i)
		if len(piece) == 0 {
			continue
		}
		c, rim, stands := boxOf(piece, s.W), 0, false
		for _, j := range piece {
			if beside(s, j, inHand) {
				rim++
			}
			stands = stands || beside(s, j, onLine)
		}
		if c.Area <= speck && 2*rim >= c.Area || stands && min(c.Width(), c.Height()) <= slim {
			takeForWriting(s, piece)
		}
	}
}

// smallPieces finds the 8-connected pieces of the wanted pixels of a page that are no larger than
// most.
type smallPieces struct {
	s      *segment.Scores
	most   int // pixels
	wanted func(i int) bool
	met    []uint8 // 0 where nothing has been looked at
}

const (
	metSmall = 1 + iota // of a piece that was handed out
	metLarge            // of one that is too large
)

func newSmallPieces(s *segment.Scores, most int, wanted func(i int) bool) *smallPieces {
	return &smallPieces{s, most, wanted, make([]uint8, len(s.Hand))}
}

// of lists the pixels of the piece at a pixel the first time that it is asked for. It is empty
// later, and where there is no piece, or a larger one.
func (p *smallPieces) of(i int) (piece []int) {
	add := func(j int) {
		if p.met[j] == 0 && p.wanted(j) {
			p.met[j] = metSmall
			piece = append(piece, j)
		}
	}
	add(i)
	for at := 0; at < len(piece); at++ {
		whole := len(piece) <= p.most
		p.around(piece[at], func(j int) {
			whole = whole && p.met[j] != metLarge
			add(j)
		})
		if !whole {
			for _, j := range piece {
				p.met[j] = metLarge
			}
			return nil
		}
	}
	return piece
}

// around visits a pixel and the eight about it.
func (p *smallPieces) around(i int, visit func(j int)) {
	x, y := i%p.s.W, i/p.s.W
	for yy := max(y-1, 0); yy <= min(y+1, p.s.H-1); yy++ {
		for xx := max(x-1, 0); xx <= min(x+1, p.s.W-1); xx++ {
			visit(yy*p.s.W + xx)
		}
	}
}

// takeForWriting makes writing of pixels of ink.
func takeForWriting(s *segment.Scores, pixels []int) {
	for _, i := range pixels {
		s.Relabel(i, true)
	}
}

// boxOf is the component that pixels of a page of width w make.
func boxOf(pixels []int, w int) raster.Component {
	c := raster.Component{X0: math.MaxInt, Y0: math.MaxInt}
	for _, i := range pixels {
		c.Add(i%w, i/w, 1)
	}
	return c
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
	for i := range raster.Positive(s.Hand) {
		if s.Print[i] > 0 {
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
	for i := range raster.Positive(s.Hand) {
		if print := s.Print[i]; print <= 0 && print > -segment.Unit &&
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
	print := newSmallPieces(s, fragment, func(i int) bool { return s.Print[i] > 0 && !lines[i] })
	for i := range raster.Positive(s.Hand) {
		piece, hand := print.of(i), 0
		for _, j := range piece {
			hand += int(s.Hand[j])
		}
		if hand >= surely*len(piece) {
			takeForWriting(s, piece)
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
	for range raster.Positive(s.Hand) {
		inked++
	}
	if inked == 0 || inked >= few {
		return
	}
	hand := make([]uint8, len(s.Hand))
	for i := range raster.Positive(s.Hand) {
		hand[i] = 1
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
