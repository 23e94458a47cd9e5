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
func (s *Scores) paste(t *piece, tx, ty tileSpan) {
	columns := t.W / nn.SquareSide
	for y := ty.core0; y < ty.core1; y++ {
		line, inSquare := (y-ty.at)/nn.SquareSide*columns, (y-ty.at)%nn.SquareSide*nn.SquareSide
		toHand, toPrint := s.Hand[y*s.W:][:tx.core1], s.Print[y*s.W:][:tx.core1]
		for x := tx.core0; x < tx.core1; x++ {
			at := (line + (x-tx.at)/nn.SquareSide) * nn.SquareOutputs
			k := inSquare + (x-tx.at)%nn.SquareSide
			of := t.classes[at+k:][:nn.Both*nn.SquarePixels+1] // one pixel's, SquarePixels apart
			toHand[x], toPrint[x] = scoresOf(of[nn.Paper*nn.SquarePixels], of[nn.Print*nn.SquarePixels],
				max(of[nn.Handwriting*nn.SquarePixels], of[nn.Both*nn.SquarePixels]), t.under[at+k])
		}
	}
}

// scoresOf are those of a pixel, by the network's logits of paper, print and what is written, and
// the log-odds that print lies under it if it is written.
func scoresOf(paper, print, written, under uint8) (hand, printed int8) {
	hand = margins[written][max(paper, print)]
	odds, lesser := unders[under], logits[written]
	if odds >= 0 { // handwriting is less likely than both
		return hand, score(logits[max(print, written)] - raster.Larger(logits[paper], lesser-odds))
	}
	return hand, score(raster.Larger(logits[print], lesser+odds) - logits[max(paper, written)])
}

// What bytes of the network's answers stand for, and the score of one logit above another.
var logits, unders, margins = func() (values, odds [256]float32, scores [256][256]int8) {
	for v := range values {
		values[v], odds[v] = nn.ClassBytes.Value(uint8(v)), nn.UnderBytes.Value(uint8(v))
	}
	for v := range scores {
		for than := range scores[v] {
			scores[v][than] = score(values[v] - values[than])
		}
	}
	return values, odds, scores
}()

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
