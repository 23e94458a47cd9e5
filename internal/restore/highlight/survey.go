package highlight

import (
	"image"
	"math"
	"slices"

	"unink/internal/raster"
	"unink/internal/restore/segment"
)

// Survey is what is seen of a page's tints.
type Survey struct {
	Labels []int32 // of each square of TintCell working pixels: its tint's number from 1; 0 without
	W, H   int     // squares
	Tints  []Tint
	field  *tintField
}

// Tint is a patch of one colour that is lighter than ink.
type Tint struct {
	Label  int32
	Cells  image.Rectangle // its frame
	Traits [traitCount]float64
	mean   [3]float64 // share of the paper's light that it lets through
}

// Look looks at each tint of a page that does not reach the picture's border: what does is as often
// the desk.
func Look(m *raster.RGB, sc *segment.Scores, workers int) *Survey {
	const fewest = 16 // cells of a tint
	if min(m.W, m.H) < TintCell {
		return &Survey{}
	}
	f := newTintField(m, sc, workers)
	s := &Survey{W: f.W, H: f.H, field: f}
	tinted := f.tinted(workers)
	if !slices.Contains(tinted, true) {
		return s
	}
	raster.CloseMask(tinted, f.W, f.H, 1)
	thick := slices.Clone(tinted)
	raster.OpenMask(thick, f.W, f.H, 1)
	class := make([]uint8, len(tinted))
	for i, v := range tinted {
		if v {
			class[i] = 1
		}
	}
	labels, components := raster.Components(class, f.W)
	s.Labels = labels
	for i, c := range components {
		whole := c.X0 > 0 && c.Y0 > 0 && c.X1 < f.W && c.Y1 < f.H
		if whole && c.Area >= fewest {
			s.Tints = append(s.Tints, s.lookAt(int32(i+1), image.Rect(c.X0, c.Y0, c.X1, c.Y1), thick))
		}
	}
	s.countCompany()
	return s
}

// lookAt looks at a tint in its frame. What is thick is marked.
func (s *Survey) lookAt(label int32, frame image.Rectangle, thick []bool) Tint {
	var all, inner, rim look
	edges := newOutline(frame)
	for y := frame.Min.Y; y < frame.Max.Y; y++ {
		for x := frame.Min.X; x < frame.Max.X; x++ {
			i := y*s.W + x
			if s.Labels[i] != label {
				continue
			}
			all.add(s.field, i)
			edges.add(x, y)
			if thick[i] {
				inner.add(s.field, i)
			}
			// A tint does not reach the border, so each of its cells has four neighbours.
			for _, next := range [4]int{i - 1, i + 1, i - s.W, i + s.W} {
				if s.Labels[next] != label {
					rim.add(s.field, i)
					break
				}
			}
		}
	}
	t := Tint{Label: label, Cells: frame, mean: all.through()}
	t.Traits = traitsOf(&all, &inner, &rim, frame)
	t.Traits[traitStraight] = edges.straight()
	return t
}

// countCompany tells each tint how many others have its colour.
func (s *Survey) countCompany() {
	const alike = 0.06 // share of the light that one colour differs by at most
	for i := range s.Tints {
		n := 0
		for j := range s.Tints {
			if i != j && distance(s.Tints[i].mean, s.Tints[j].mean) < alike {
				n++
			}
		}
		s.Tints[i].Traits[traitCompany] = math.Log1p(float64(n))
	}
}

// distance is how far two colours are apart in the channel that differs most.
func distance(a, b [3]float64) (far float64) {
	for ch := range a {
		far = max(far, math.Abs(a[ch]-b[ch]))
	}
	return far
}

// colour is what a tint lets through of the light where little else lies on it: in the cells that
// have no less than the mean of the light that it takes least of.
func (s *Survey) colour(t Tint) [3]float64 {
	_, high := extremes(t.mean)
	var bright look
	for y := t.Cells.Min.Y; y < t.Cells.Max.Y; y++ {
		for i := y*s.W + t.Cells.Min.X; i < y*s.W+t.Cells.Max.X; i++ {
			if s.Labels[i] == t.Label && float64(s.field.through(i)[high]) >= t.mean[high] {
				bright.add(s.field, i)
			}
		}
	}
	return bright.through()
}
