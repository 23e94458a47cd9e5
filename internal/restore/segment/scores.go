package segment

import (
	"unink/internal/nn"
	"unink/internal/raster"
)

// Confidence is the share of the ink that is plainly of one kind.
func (s *Scores) Confidence() float64 {
	ink, sure := 0, 0
	for i, hand := range s.Hand {
		if print := s.Print[i]; hand > 0 || print > 0 {
			ink++
			if int(hand)-int(print) > Sure || int(print)-int(hand) > Sure {
				sure++
			}
		}
	}
	return float64(sure) / float64(max(ink, 1))
}

// Scores are what the network says of each pixel of the working picture, as log-odds in steps of
// 1/Unit. Above zero in one, the pixel holds that kind of ink; above zero in both, writing
// lies over print.
type Scores struct {
	W, H  int
	Hand  []int8 // the better of handwriting and both, over the better of paper and print
	Print []int8 // the better of print and both, over the better of paper and handwriting
}

// Scores: of a log-odds of one, and of those from which the network, or who judges after it, is
// sure.
const (
	Unit = 16
	Sure = 2 * Unit
)

// paste takes a tile's core over into the scores.
func (s *Scores) paste(logits []float32, tile nn.Shape, tx, ty tileSpan) {
	for y := ty.core0; y < ty.core1; y++ {
		line := func(class int) [2][]float32 { return nn.Line(logits, tile, class, y-ty.at) }
		papers, prints := line(nn.Paper), line(nn.Print)
		hands, boths := line(nn.Handwriting), line(nn.Both)
		toHand, toPrint := s.Hand[y*s.W:][:tx.core1], s.Print[y*s.W:][:tx.core1]
		for side := range 2 {
			first := tx.core0 + (tx.core0-tx.at+side)%2
			papers, prints := papers[side], prints[side]
			hands, boths := hands[side][:len(papers)], boths[side][:len(papers)]
			for x, i := first, (first-tx.at)/2; x < tx.core1; x, i = x+2, i+1 {
				paper, print, hand, both := papers[i], prints[i], hands[i], boths[i]
				toHand[x] = score(raster.Larger(hand, both) - raster.Larger(paper, print))
				toPrint[x] = score(raster.Larger(print, both) - raster.Larger(paper, hand))
			}
		}
	}
}

func score(v float32) int8 { return int8(min(max(int32(v*Unit), -127), 127)) }

// resized brings scores to a picture of another size.
func (s *Scores) resized(w, h, workers int) *Scores {
	if w == s.W && h == s.H {
		return s
	}
	out := &Scores{W: w, H: h}
	out.Hand, out.Print = raster.ResizePair(s.Hand, s.Print, s.W, s.H, w, h, workers)
	return out
}

// Relabel makes a pixel of ink writing or print.
func (s *Scores) Relabel(i int, hand bool) {
	if hand {
		s.Hand[i], s.Print[i] = max(s.Hand[i], Sure), -Sure
	} else {
		s.Hand[i], s.Print[i] = -Sure, max(s.Print[i], Sure)
	}
}
