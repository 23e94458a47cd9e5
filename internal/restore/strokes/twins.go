package strokes

import (
	"math"
	"sync"

	"unink/internal/raster"
	"unink/internal/restore/ink"
)

// noTwin is the distance to the likest other shape where there is none of that size to compare
// with.
const noTwin = 1.2

// findTwins is, for every region, how far the page's likest other region of its size is: the sum of
// the differences between the two shapes' ink, from 0, the same, to 2. Print repeats its letters
// exactly; a hand never does. Of what is too large or too small for a letter it is not known: NaN.
func findTwins(regions []region, labels []int32, plane *ink.Plane, workers int) []float64 {
	shapes := make([]shape, len(regions))
	raster.Rows(len(regions), workers, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			shapes[i] = drawShape(&regions[i], int32(i+1), labels, plane)
		}
	})
	bySize := map[[2]int][]*shape{}
	for i := range shapes {
		if s := &shapes[i]; s.drawn {
			bySize[s.size] = append(bySize[s.size], s)
		}
	}
	twins := make([]float64, len(regions))
	raster.Rows(len(regions), workers, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			twins[i] = shapes[i].nearest(bySize)
		}
	})
	return twins
}

// shape is a region's ink, brought to a square: shares of the whole, so that light and dark copies
// of a letter are the same.
type shape struct {
	drawn bool
	size  [2]int // of the region, in steps of sizeStep
	v     [shapeSide * shapeSide]float32
	parts [(shapeSide / partSide) * (shapeSide / partSide)]float32 // sums of squares of v
}

const (
	shapeSide = 12
	partSide  = 3
	sizeStep  = 1.15 // shapes that differ by more than a step or two in size are not compared
)

// drawShape brings a region's ink to a square; what is too small or too large to be a letter is not
// drawn.
func drawShape(r *region, label int32, labels []int32, plane *ink.Plane) (s shape) {
	const fewest, least = 25, 8 // working pixels; of the longer side
	w, h := r.Width(), r.Height()
	if r.Area < fewest || max(w, h) < least || max(w, h) > largestShape || isRule(r.Component) {
		return s
	}
	covers := coversOfSides()
	across, down := covers[w], covers[h]
	sum := float32(0)
	for y := range h {
		var row [shapeSide]float32
		at := (r.Y0+y)*plane.Scores.W + r.X0
		for x, l := range labels[at:][:w] {
			if l == label {
				v := plane.Taken(at + x)
				sum += v
				for _, c := range across[x] {
					row[c.cell] += c.share * v
				}
			}
		}
		for _, c := range down[y] {
			to := s.v[int(c.cell)*shapeSide:][:shapeSide]
			for i, v := range row {
				to[i] += c.share * v
			}
		}
	}
	if sum == 0 {
		return s
	}
	for i := range s.v {
		s.v[i] /= sum
		x, y := i%shapeSide, i/shapeSide
		s.parts[y/partSide*(shapeSide/partSide)+x/partSide] += s.v[i]
	}
	steps := func(n int) int { return int(math.Round(math.Log(float64(n)) / math.Log(sizeStep))) }
	s.drawn, s.size = true, [2]int{steps(w), steps(h)}
	return s
}

// largestShape is a side, in working pixels: what is larger is no letter.
const largestShape = 120

// cover is what a pixel covers of a cell of a square's side.
type cover struct {
	cell  uint8
	share float32
}

// coversOfSides are, of n pixels along a side, the covers of each.
var coversOfSides = sync.OnceValue(func() (sides [largestShape + 1][][]cover) {
	for n := range sides {
		sides[n] = make([][]cover, n)
		for i := range n {
			from, to := i*shapeSide, (i+1)*shapeSide // in n-ths of a cell
			for cell := from / n; cell*n < to; cell++ {
				share := float32(min(to, (cell+1)*n)-max(from, cell*n)) / shapeSide
				sides[n][i] = append(sides[n][i], cover{uint8(cell), share})
			}
		}
	}
	return sides
})

// nearest is how far the likest other shape of about this size is, or the first that is the same.
// Of very many shapes it looks at some, evenly: letters come often on such pages.
func (s *shape) nearest(bySize map[[2]int][]*shape) float64 {
	if !s.drawn {
		return math.NaN()
	}
	const (
		same = 0.15 // as near as copies come in a good scan
		many = 200  // shapes
	)
	var near [9][]*shape
	total := 0
	for i := range near {
		near[i] = bySize[[2]int{s.size[0] + i%3 - 1, s.size[1] + i/3 - 1}]
		total += len(near[i])
	}
	step := max(1, total/many)
	best := float32(noTwin)
	for _, shapes := range near {
		for i := 0; i < len(shapes); i += step {
			if other := shapes[i]; other != s {
				best = s.apart(other, best)
			}
			if best < same {
				return same
			}
		}
	}
	return float64(best)
}

// apart is how much two shapes differ, or best where that is less. They differ by no less than
// their parts do, but for what rounding may make of it.
func (s *shape) apart(other *shape, best float32) float32 {
	const rounding = 1e-3
	sum := float32(0)
	for i, v := range s.parts {
		sum += magnitude(v - other.parts[i])
	}
	if sum > best+rounding {
		return best
	}
	sum = 0
	for i := 0; i < len(s.v); i += shapeSide {
		row, of := (*[shapeSide]float32)(s.v[i:]), (*[shapeSide]float32)(other.v[i:])
		for j, v := range row {
			sum += magnitude(v - of[j])
		}
		if sum >= best {
			return best
		}
	}
	return sum
}

// magnitude is a number without its sign, faster than math.Abs, which takes a wider one.
func magnitude(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1 << 31)) }
