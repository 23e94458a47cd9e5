package highlight

import (
	_ "embed"
	"encoding/json"
	"image"
	"math"
	"slices"
)

// The traits of a tint.
const (
	traitSize     = iota // logarithm of its cells
	traitNarrow          // logarithm of the shorter side of its frame, in cells
	traitThick           // share of its cells that lie within others
	traitEven            // share of its cells in which nothing else lies
	traitHand            // mean log-odds of writing, by the network
	traitWhole           // share of the light that it lets through where it lets most through
	traitColour          // strength of its colour: what it takes of the light where it takes most
	traitFill            // share of its frame that it fills
	traitStraight        // share of the rows and columns of its frame in which its sides lie level
	traitRim             // strength of its rim's colour, of the inside's
	traitUneven          // deviation of that strength inside, of its mean
	traitCompany         // logarithm of 1 and the page's tints of its colour
	traitCount           // how many there are
)

// TraitNames names the traits in their order.
var TraitNames = [traitCount]string{"size", "narrow", "thick", "even", "hand", "whole", "colour",
	"fill", "straight", "rim", "uneven", "company"}

//go:embed weights.json
var weightsFile []byte

// regression is what training/highlight has learned.
var regression = func() (r struct {
	Traits    []string
	Mean      [traitCount]float64
	Deviation [traitCount]float64
	Weights   []float64 // of the traits, then of their products: 0·0, 0·1, ... 1·1, 1·2, ...
	Bias      float64
}) {
	if err := json.Unmarshal(weightsFile, &r); err != nil {
		panic("weights.json: " + err.Error()) // it is part of the program, and tested
	}
	return r
}()

// odds are the log-odds that a marker left the tint, less those from which on it is lifted.
func (t *Tint) odds() float64 {
	const farthest = 3 // deviations from the mean; beyond, traits say no more
	var z [traitCount]float64
	for i, v := range t.Traits {
		z[i] = (v - regression.Mean[i]) / regression.Deviation[i]
		z[i] = max(-farthest, min(z[i], farthest))
	}
	sum, product := regression.Bias, traitCount
	for i, v := range z {
		sum += regression.Weights[i] * v
		for _, u := range z[i:] {
			sum += regression.Weights[product] * v * u
			product++
		}
	}
	return sum
}

// look sums up cells.
type look struct {
	cells, even         float64
	light               [3]float64 // let through
	hand                float64    // log-odds of writing
	strength, strength2 float64    // of the colour, and its square
}

func (l *look) add(f *tintField, cell int) {
	const smooth = 0.04 // share of the brightness that grain and noise make up
	l.cells++
	if f.rough[cell] < smooth {
		l.even++
	}
	l.hand += float64(f.hand[cell])
	through := f.through(cell)
	for ch, v := range through {
		l.light[ch] += float64(v)
	}
	strength := float64(1 - min(through[0], through[1], through[2])/
		max(through[0], through[1], through[2]))
	l.strength += strength
	l.strength2 += strength * strength
}

// through is the share of the light that is let through in the mean.
func (l *look) through() (out [3]float64) {
	for ch, v := range l.light {
		out[ch] = min(v/max(l.cells, 1), 1)
	}
	return out
}

// traitsOf are the traits that the cells of a tint, those that are thick and those of its rim tell.
func traitsOf(all, inner, edge *look, frame image.Rectangle) (t [traitCount]float64) {
	mean := all.through()
	low, high := extremes(mean)
	t[traitSize] = math.Log(all.cells)
	t[traitNarrow] = math.Log(float64(min(frame.Dx(), frame.Dy())))
	t[traitThick] = inner.cells / all.cells
	t[traitEven] = all.even / all.cells
	t[traitHand] = all.hand / all.cells
	t[traitWhole] = mean[high]
	t[traitColour] = 1 - mean[low]/mean[high]
	t[traitFill] = all.cells / float64(frame.Dx()*frame.Dy())
	t[traitRim] = 1
	if inner.strength > 0 {
		strength := inner.strength / inner.cells
		t[traitRim] = edge.strength / edge.cells / strength
		spread := inner.strength2/inner.cells - strength*strength
		t[traitUneven] = math.Sqrt(max(spread, 0)) / strength
	}
	return t
}

// outline is where a tint begins and ends in each row and column of its frame.
type outline struct {
	frame                    image.Rectangle
	left, right, top, bottom []int
}

func newOutline(frame image.Rectangle) *outline {
	s := &outline{frame: frame, left: make([]int, frame.Dy()), right: make([]int, frame.Dy()),
		top: make([]int, frame.Dx()), bottom: make([]int, frame.Dx())}
	for i := range s.left {
		s.left[i], s.right[i] = frame.Max.X, frame.Min.X
	}
	for i := range s.top {
		s.top[i], s.bottom[i] = frame.Max.Y, frame.Min.Y
	}
	return s
}

func (s *outline) add(x, y int) {
	row, column := y-s.frame.Min.Y, x-s.frame.Min.X
	s.left[row], s.right[row] = min(s.left[row], x), max(s.right[row], x)
	s.top[column], s.bottom[column] = min(s.top[column], y), max(s.bottom[column], y)
}

// straight is the share of rows and columns in which the sides lie within a cell of where they
// mostly lie.
func (s *outline) straight() float64 {
	level := 0
	for _, side := range [][]int{s.left, s.right, s.top, s.bottom} {
		sorted := slices.Sorted(slices.Values(side))
		middle := sorted[len(sorted)/2]
		for _, v := range side {
			if v >= middle-1 && v <= middle+1 {
				level++
			}
		}
	}
	return float64(level) / float64(2*len(s.left)+2*len(s.top))
}
