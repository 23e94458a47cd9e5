package flatten

import (
	"math"
	"slices"
	"sync"

	"unink/internal/raster"
	"unink/internal/restore/measure"
)

// features is what is found on a page.
type features struct {
	w, h       int     // of the picture that is looked at
	m          [2]int  // of the picture that was given
	unit       float64 // pixels of half the longer side
	em         float64
	ground     *ground
	lines      []textLine
	components []raster.Component
	letters    [][2]float64 // the ink of what may be characters
	rows       []guide      // along the rows of the sheet
	columns    []guide      // across them, with the axes swapped
	rules      [2]int       // how many of rows and columns are rules
	curves     []*curve
	onDesk     [][2]float64 // corners of a sheet that lies on something else
}

// findFeatures finds the lines of print and the rules.
func findFeatures(m *raster.RGB, em float64, workers int) *features {
	scale := min(1, flattenEm/em, flattenSide/float64(max(m.W, m.H)))
	f := &features{w: raster.Scaled(m.W, scale), h: raster.Scaled(m.H, scale), m: [2]int{m.W, m.H},
		em: em * scale}
	f.unit = float64(max(f.w, f.h)) / 2
	grey := raster.ResizeGrey(m.Grey(workers), m.W, m.H, f.w, f.h, workers)
	ink := raster.Threshold(measure.Contrast(grey, f.w, f.h, measure.PaperCell(f.em), workers),
		measure.MinContrast)
	const long, short = 4, 2.2 // ems: sides of boxes tell something, too
	var rows, columns []traced
	var search sync.WaitGroup
	search.Go(func() {
		f.ground = groundOf(m, em, workers)
		rows = traceRules(raster.Transpose(ink, f.w, f.h), f.w, f.h, f.em, long)
		columns = traceRules(ink, f.h, f.w, f.em, short)
	})
	var runs []raster.Run
	runs, f.components = raster.Connected(ink, f.w, 1)
	f.letters = f.placesOf(measure.LetterRuns(runs, f.components, f.em))
	g := findGlyphs(f.components, f.em)
	f.lines = textLines(g, f.em, slopesOf(g, f.w, f.h, f.em).slope)
	search.Wait()
	// What looks like lines on a desk that is darker than the paper is no print.
	dark := f.paperLevel() * 0.6
	f.lines = slices.DeleteFunc(f.lines, func(l textLine) bool {
		return f.levelAt(l.x, l.y) < dark
	})
	rows = slices.DeleteFunc(rows, func(l traced) bool {
		return f.levelAt((l.x0+l.x1)/2, (l.y0+l.y1)/2) < dark
	})
	columns = slices.DeleteFunc(columns, func(l traced) bool {
		return f.levelAt((l.y0+l.y1)/2, (l.x0+l.x1)/2) < dark
	})
	for _, l := range f.lines {
		f.rows = append(f.rows, f.guide(l.ends()))
		f.addCurve(l.points, false)
	}
	for _, r := range rows {
		f.addCurve(r.points, false)
		if r.straight {
			f.rows = append(f.rows, f.guide(r.guideLine))
			f.rules[0]++
		}
	}
	for _, r := range columns {
		f.addCurve(r.points, true)
		if r.straight {
			f.columns = append(f.columns, f.column(r.guideLine))
			if r.x1-r.x0 >= long*f.em {
				f.rules[1]++
			}
		}
	}
	return f
}

// levelAt is how light the ground is at a pixel.
func (f *features) levelAt(x, y float64) float64 {
	return float64(f.ground.at((x+0.5)/float64(f.w), (y+0.5)/float64(f.h)))
}

// paperLevel is how light the paper is under most lines of print.
func (f *features) paperLevel() float64 {
	if len(f.lines) == 0 {
		return 0
	}
	levels := make([]float64, len(f.lines))
	for i, l := range f.lines {
		levels[i] = f.levelAt(l.x, l.y)
	}
	return raster.Quantile(levels, 0.8)
}

// guide brings a line to a guide's units.
func (f *features) guide(l guideLine) guide {
	return guide{
		x:      ((l.x0+l.x1)/2 - float64(f.w-1)/2) / f.unit,
		y:      ((l.y0+l.y1)/2 - float64(f.h-1)/2) / f.unit,
		slope:  (l.y1 - l.y0) / (l.x1 - l.x0),
		weight: math.Hypot(l.x1-l.x0, l.y1-l.y0) / f.unit,
	}
}

// addCurve takes in a line as it runs, given by places along it in pixels, with the axes swapped
// where it runs across the rows.
func (f *features) addCurve(points [][2]float64, down bool) {
	every := 3.0 // ems
	if down {
		every = 0.8 // there are few, and short ones tell something, too
	}
	c := &curve{down: down}
	for from := 0; from < len(points); {
		to, x, y := from, 0.0, 0.0
		for ; to < len(points) && points[to][0] < points[from][0]+every*f.em; to++ {
			x, y = x+points[to][0], y+points[to][1]
		}
		n := float64(to - from)
		x, y = x/n, y/n
		if down {
			x, y = y, x
		}
		c.points = append(c.points, f.fromMiddle(x, y))
		c.trust = append(c.trust, 1)
		from = to
	}
	if len(c.points) > 1 {
		f.curves = append(f.curves, c)
	}
}

// fromMiddle brings a place in pixels to a guide's units.
func (f *features) fromMiddle(x, y float64) [2]float64 {
	return [2]float64{(x - float64(f.w-1)/2) / f.unit, (y - float64(f.h-1)/2) / f.unit}
}

// column is the guide of a line across the rows, given with the axes swapped.
func (f *features) column(l guideLine) guide {
	return guide{
		x:      ((l.x0+l.x1)/2 - float64(f.h-1)/2) / f.unit,
		y:      ((l.y0+l.y1)/2 - float64(f.w-1)/2) / f.unit,
		slope:  (l.y1 - l.y0) / (l.x1 - l.x0),
		weight: math.Hypot(l.x1-l.x0, l.y1-l.y0) / f.unit,
	}
}
