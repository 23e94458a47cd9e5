package strokes

import (
	"context"
	"math"
	"slices"
	"testing"

	"unink/internal/nn"
	"unink/internal/raster"
	"unink/internal/restore/ink"
	"unink/internal/restore/segment"
)

// A bond is told of from both sides, nearest first; what is too far is no neighbour.
func TestNeighboursAreFoundNearestFirst(t *testing.T) {
	const w, h = 60, 8
	class := make([]uint8, w*h)
	draw := func(x, width int, c uint8) {
		for y := 2; y < 6; y++ {
			for i := x; i < x+width; i++ {
				class[y*w+i] = c
			}
		}
	}
	draw(2, 4, 1)  // touches the next
	draw(6, 4, 2)  // 4 pixels from the next
	draw(14, 4, 1) // 30 pixels from the next
	draw(48, 4, 1)
	labels, components := raster.Components(class, w)
	bonds := findBonds(nearestInk(class, w), labels, w, components)
	want := [][]int32{{1, 2}, {0, 2}, {1, 0}, nil}
	for i, near := range bonds {
		var to []int32
		for _, b := range near {
			to = append(to, b.to)
		}
		// Whether the first and the third meet around the second is not of interest.
		if i == 0 || i == 2 {
			to, want[i] = to[:1], want[i][:1]
		}
		if !slices.Equal(to, want[i]) {
			t.Errorf("region %d has neighbours %v, want %v", i, near, want[i])
		}
	}
	if first := bonds[1][0]; !first.touch || first.gap != 0 {
		t.Errorf("%+v, want one that touches", first)
	}
	if second := bonds[1][1]; second.touch || second.gap < 2 || second.gap > 6 {
		t.Errorf("%+v, want a gap of about 4", second)
	}
}

// counting is a judge that is sure of every region, and counts those it was given.
type counting struct{ given int }

func (c *counting) Run(_ context.Context, in, out []nn.Tensor) error {
	for i := range out[0].Floats {
		if in[0].Floats[i*nn.RegionTraits] > 0 {
			c.given++
		}
		out[0].Floats[i] = float32(i + 10)
	}
	return nil
}

// surveyOf is a survey of so many regions, every third of which is large.
func surveyOf(n int) *Survey {
	v, none := &Survey{hand: make([]float64, n)}, make([]region, n)
	for i := range n {
		r := region{Component: raster.Component{X1: 3, Y1: 3, Area: 9}, border: 8}
		if i%3 == 0 {
			r.Component = raster.Component{X1: 9, Y1: 9, Area: 81}
		}
		v.hand[i] = -5
		v.Traits = append(v.Traits, r.traits(math.NaN())...)
		v.bind(none, i, nil)
	}
	return v
}

// Of more regions than the network takes, the smallest keep the segmenter's word.
func TestTheSmallestAreLeftOut(t *testing.T) {
	for _, n := range []int{1, 600, nn.MostRegions, nn.MostRegions + 500} {
		judge := &counting{}
		odds, err := surveyOf(n).Judge(context.Background(), judge)
		if err != nil || len(odds) != n || judge.given != min(n, nn.MostRegions) {
			t.Fatalf("%d regions: %d odds, %d given, %v", n, len(odds), judge.given, err)
		}
		left := 0
		for i, v := range odds {
			if v < 0 {
				left++
				if i%3 == 0 {
					t.Fatalf("of %d, the large region %d is left out", n, i)
				}
			}
		}
		if left != max(n-nn.MostRegions, 0) {
			t.Errorf("of %d regions %d are left out", n, left)
		}
	}
}

// The judge has no say in a line that the segmenter takes for print; in others it has.
func TestPrintedLinesAreNotJudgedWriting(t *testing.T) {
	v, none := &Survey{}, make([]region, 2)
	for i, hand := range []float64{-3, 3} {
		r := region{Component: raster.Component{X1: 200, Y1: 3, Area: 600}, border: 400}
		v.hand, v.Traits = append(v.hand, hand), append(v.Traits, r.traits(math.NaN())...)
		v.bind(none, i, nil)
	}
	odds, err := v.Judge(context.Background(), &counting{})
	if err != nil || odds[0] != -3 || odds[1] < 0 {
		t.Errorf("the lines are judged %v, %v", odds, err)
	}
}

// What is told of a region is its own: what the network says of its pixels, and how much they
// differ.
func TestTraitsTellOfTheRegion(t *testing.T) {
	const w, h = 12, 4
	s := &segment.Scores{W: w, H: h, Hand: make([]int8, w*h), Print: make([]int8, w*h)}
	plane := &ink.Plane{Scores: s, Evidence: make([]float32, w*h)}
	for ch := range plane.Light {
		plane.Light[ch] = slices.Repeat([]uint8{255}, w*h)
	}
	class := make([]uint8, w*h)
	put := func(i int, hand float64, light uint8) {
		class[i], s.Hand[i] = 1, int8(hand*segment.Unit)
		for ch := range plane.Light {
			plane.Light[ch][i] = light
		}
	}
	put(w+1, 2, 100) // even
	put(w+2, 2, 100)
	put(w+6, -1, 50) // uneven
	put(w+7, 3, 200)
	runs, components := raster.Connected(class, w, 1)
	labels := make([]int32, len(class))
	raster.Paint(labels, runs)
	got := measureRegions(s, labels, runs, components, plane)
	if r := got[0]; r.hand != 2 || r.surest != 2 || r.divided > 1e-6 || r.uneven > 1e-6 {
		t.Errorf("the even region: %+v", r)
	}
	if r := got[1]; r.hand != 1 || r.surest != 3 || math.Abs(r.divided-2) > 1e-6 || r.uneven < 0.3 {
		t.Errorf("the uneven region: %+v", r)
	}
}

// A page without ink has no regions, and that is no error.
func TestNoRegions(t *testing.T) {
	s := &segment.Scores{W: 40, H: 30, Hand: make([]int8, 1200), Print: make([]int8, 1200)}
	plane := &ink.Plane{Scores: s, Solid: make([]uint8, 1200), Evidence: make([]float32, 1200)}
	for ch := range plane.Light {
		plane.Light[ch] = slices.Repeat([]uint8{255}, 1200)
	}
	rules, marks, err := Decide(context.Background(), nn.Trusting{}, s, plane, 0, 1)
	if err != nil || len(rules) > 0 || len(marks) > 0 {
		t.Errorf("%v, %v, %v", rules, marks, err)
	}
}
