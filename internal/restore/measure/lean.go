package measure

import (
	"math"

	"unink/internal/raster"
)

// Lean is how a page lies askew whose lines of print are far off both axes of the picture.
type Lean struct {
	Degrees float64 // clockwise, -45 to 45, off the nearer axis; 0 where that is little
	// Reach is how far from the picture's middle, in its pixels, print lies across and down once it
	// is level.
	Reach [2]float64
}

// Turned is the lean in the picture turned by so many quarters.
func (l Lean) Turned(quarters int) Lean {
	if quarters%2 == 1 {
		l.Reach[0], l.Reach[1] = l.Reach[1], l.Reach[0]
	}
	return l
}

// Times is the lean in the picture at another scale.
func (l Lean) Times(scale float64) Lean {
	l.Reach[0] *= scale
	l.Reach[1] *= scale
	return l
}

const (
	leanEm    = 10  // pixels: the print's em in the picture in which its lines are sought
	leanCell  = 160 // pixels: lines of a page seen at an angle are parallel to those near them only
	leanBin   = 2   // pixels: the height of a bin in which ink is counted
	leanBins  = 128 // more than a cell's diagonal has
	leanSteps = 60  // directions tried, in half a circle
	mostLevel = 12  // degrees: print that leans no further can be read and flattened as it is
	leanRatio = 1.5 // how much sharper leaning lines must be than level ones to be believed
)

// LeanOf finds the direction along which the lines of print show most sharply. em is the print's
// size in the picture.
func LeanOf(m *raster.RGB, em float64, workers int) Lean {
	scale := leanEm / em
	cells := letterCells(m, scale, workers)
	var sharpnesses [leanSteps]float64
	raster.Rows(leanSteps, workers, func(from, to int) {
		for step := from; step < to; step++ {
			for _, ink := range cells {
				sharpnesses[step] += sharpness(ink, axisAt(directionOf(step)))
			}
		}
	})
	var degrees, most, level float64
	for step, sharp := range sharpnesses {
		along := directionOf(step)
		if off := along - 90*math.Round(along/90); math.Abs(off) <= mostLevel {
			level = max(level, sharp)
		} else if sharp > most {
			degrees, most = off, sharp
		}
	}
	if most <= leanRatio*level {
		return Lean{}
	}
	return Lean{degrees, reachOf(cells, axisAt(degrees))}.Times(1 / scale)
}

// directionOf is a direction that is tried, in degrees.
func directionOf(step int) float64 { return float64(step) * 180 / leanSteps }

// reachOf is how far from the middle ink lies along an axis and off it.
func reachOf(cells [][]place, lines axis) (reach [2]float64) {
	for _, ink := range cells {
		for _, p := range ink {
			reach[0] = max(reach[0], math.Abs(lines.along(p)))
			reach[1] = max(reach[1], math.Abs(lines.off(p)))
		}
	}
	return reach
}

// axis is a direction, and where places of the picture lie along it and off it.
type axis struct{ sin, cos float64 }

func axisAt(degrees float64) axis {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	return axis{sin, cos}
}

func (a axis) along(p place) float64 { return a.cos*p.x + a.sin*p.y }
func (a axis) off(p place) float64   { return a.cos*p.y - a.sin*p.x }

// place is one of the picture, from its middle.
type place struct{ x, y float64 }

// letterCells are the places of the ink of what may be characters, from the picture's middle and at
// a scale, cell by cell.
func letterCells(m *raster.RGB, scale float64, workers int) [][]place {
	w, h := raster.Scaled(m.W, scale), raster.Scaled(m.H, scale)
	grey := raster.ResizeGrey(m.Grey(workers), m.W, m.H, w, h, workers)
	ink := raster.Threshold(Contrast(grey, w, h, PaperCell(leanEm), workers), MinContrast)
	runs, components := raster.Connected(ink, w, 1)
	across := w/leanCell + 1
	cells := make([][]place, across*(h/leanCell+1))
	for _, r := range LetterRuns(runs, components, leanEm) {
		y := int(r.From) / w
		for x := int(r.From) - y*w; x < int(r.To)-y*w; x++ {
			at := y/leanCell*across + x/leanCell
			cells[at] = append(cells[at], place{float64(x - w/2), float64(y - h/2)})
		}
	}
	return cells
}

// sharpness tells how sharply lines along an axis end above and below: the more ink there is at one
// height off it and the less at the next, the more.
func sharpness(ink []place, lines axis) (sum float64) {
	const positive = 1 << 20 * leanBins // so that no height is negative
	// Neighbours, which lie in the same bins, are counted by turns, lest one wait for the other: so
	// near positive all parts are whole multiples of one number, and their sums are exact.
	var turns [2][leanBins]float64
	for i, p := range ink {
		at := lines.off(p)/leanBin + positive
		whole := int(at)
		part := at - float64(whole)
		heights := &turns[i%2]
		heights[uint(whole)%leanBins] += 1 - part
		heights[uint(whole+1)%leanBins] += part
	}
	for i := range leanBins {
		next := (i + 1) % leanBins
		d := turns[0][next] + turns[1][next] - (turns[0][i] + turns[1][i])
		sum += d * d
	}
	return sum
}
