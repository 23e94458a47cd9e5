package strokes

import (
	"math"
	"testing"

	"unink/internal/restore/ink"
	"unink/internal/restore/segment"
)

// curveOn is a sheet with a stroke that is taken for writing: its middle and half its width at each
// of so many steps. Its edges are as soft as a camera sees them.
func curveOn(steps int, at func(t float64) (x, y, half float64)) (*segment.Scores, *ink.Plane) {
	s, plane := emptyPlane(sheetW, sheetH)
	for ch := range plane.Light {
		plane.Light[ch] = make([]uint8, sheetW*sheetH)
	}
	coverage := make([]float64, sheetW*sheetH)
	for step := range steps {
		px, py, half := at(float64(step) / float64(steps))
		reach := int(half) + 2
		for y := int(py) - reach; y <= int(py)+reach; y++ {
			for x := int(px) - reach; x <= int(px)+reach; x++ {
				d := math.Hypot(float64(x)-px, float64(y)-py)
				coverage[y*sheetW+x] = max(coverage[y*sheetW+x], min(half+0.5-d, 1))
			}
		}
	}
	for i, c := range coverage {
		if c > 0.4 {
			setInk(s, plane, i%sheetW, i/sheetW, true)
		}
		for ch := range plane.Light {
			plane.Light[ch][i] = uint8(255 - 200*c)
		}
	}
	plane.Connect()
	return s, plane
}

// What a machine draws stays, whatever the network thinks of it. A hand shakes a little, or presses
// more here than there, and what it draws with a ruler is straight.
func TestCurvesOfMachinesStay(t *testing.T) {
	const turn = 2 * math.Pi
	sine := func(t float64) (x, y, half float64) {
		return 50 + 600*t, 250 - 120*math.Sin(2*turn*t), 1.5
	}
	for name, c := range map[string]struct {
		at   func(t float64) (x, y, half float64)
		stay bool
	}{
		"sine": {sine, true},
		"circle": {func(t float64) (x, y, half float64) {
			return 350 + 90*math.Cos(turn*t), 250 + 90*math.Sin(turn*t), 1.2
		}, true},
		"shaking sine": {func(t float64) (x, y, half float64) {
			x, y, half = sine(t)
			return x, y + 0.5*math.Sin(90*turn*t) + 0.4*math.Sin(53*turn*t), half
		}, false},
		"uneven sine": {func(t float64) (x, y, half float64) {
			x, y, half = sine(t)
			return x, y, half + 0.5*math.Sin(70*turn*t)
		}, false},
		"ruled line": {func(t float64) (x, y, half float64) {
			return 50 + 600*t, 100 + 200*t, 1.5
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, plane := curveOn(9000, c.at)
			before := countWritten(s)
			keepCurves(s, plane)
			left := countWritten(s)
			if c.stay && left > 0 {
				t.Errorf("%d of %d pixels still count as written", left, before)
			}
			if !c.stay && left < before {
				t.Errorf("%d of %d pixels no longer count as written", before-left, before)
			}
		})
	}
}

// What stands within a printed curve is judged by itself.
func TestWritingWithinACurveIsNotKept(t *testing.T) {
	s, plane := curveOn(9000, func(t float64) (x, y, half float64) {
		const turn = 2 * math.Pi
		return 350 + 90*math.Cos(turn*t), 250 + 90*math.Sin(turn*t), 1.2
	})
	circle := countWritten(s)
	for x := 330; x < 370; x++ {
		setInk(s, plane, x, 250+x%7, true)
	}
	plane.Connect()
	keepCurves(s, plane)
	if left := countWritten(s); left != 40 {
		t.Errorf("of a ring of %d pixels and a word of 40 within it %d count as written", circle, left)
	}
}

// A word that touches a printed curve is still writing.
func TestWritingAtACurveIsNotKept(t *testing.T) {
	const turn = 2 * math.Pi
	s, plane := curveOn(9000, func(t float64) (x, y, half float64) {
		if t < 0.5 {
			return 350 + 90*math.Cos(2*turn*t), 250 + 90*math.Sin(2*turn*t), 1.2
		}
		t = 2*t - 1
		return 439 + 60*t + 4*math.Sin(5*turn*t), 250 + 10*math.Sin(3*turn*t), 1.5
	})
	keepCurves(s, plane)
	word := 0
	for y := 220; y < 280; y++ {
		for x := 450; x < 510; x++ {
			if s.Hand[y*sheetW+x] > 0 {
				word++
			}
		}
	}
	if word == 0 {
		t.Error("the word counts as print")
	}
}

func countWritten(s *segment.Scores) (n int) {
	for _, v := range s.Hand {
		if v > 0 {
			n++
		}
	}
	return n
}

func keepCurves(s *segment.Scores, plane *ink.Plane) {
	c := curves{}
	c.find(s, plane)
	c.keep(s)
}
