package finish

import (
	"math"

	"unink/internal/lsq"
	"unink/internal/raster"
)

// markGreys marks grey pictures and fills of any shape, on a page whose light is even or changes
// smoothly: what is sharply darker than the light there, grey, and has paper all round. A shadow
// that light like that leaves is bounded softly or reaches the border, and stains have a colour.
// measured tells how well each cell is known to be paper or a fill, and no print.
func markGreys(f *raster.Field, measured []float32, fill []bool) {
	const (
		darker = 0.05 // than the light, as a share of it
		edge   = 0.08 // step of light, as a share, in the mean
		tinted = 0.06 // distance from the paper's tint
		sharp  = 0.6  // share of the outline
	)
	shares := smoothShares(f, measured)
	if shares == nil {
		return
	}
	class := make([]uint8, len(shares))
	for i, s := range shares {
		if s < 1-darker {
			class[i] = 1
		}
	}
	labels, areas := raster.Components(class, f.W)
	tint := tintOf(f, shares)
	kept := make([]bool, len(areas))
	for n, a := range areas {
		if a.Area < smallestFill || min(a.Width(), a.Height()) < narrowestFill {
			continue
		}
		o := followOutline(f, f, labels, int32(n+1), a)
		kept[n] = o.border == 0 && float64(o.lighter) > sharp*float64(o.sides) &&
			o.steps > edge*float32(o.lighter)
	}
	for i, n := range labels {
		if n > 0 && kept[n-1] && tintDistance(f.Colour[i], tint) > tinted {
			kept[n-1] = false
		}
	}
	inside := make([]bool, len(labels))
	for i, n := range labels {
		inside[i] = n > 0 && kept[n-1]
	}
	raster.SpreadMask(fill, inside, f.W, f.H, 1)
}

// tintOf is the mean tint of the cells that are as light as the light.
func tintOf(f *raster.Field, shares []float32) (tint [3]float32) {
	n := float32(0)
	for i, s := range shares {
		if s > 0.97 && s < 1.03 {
			n++
			for ch, v := range f.Colour[i] {
				tint[ch] += v / max(raster.Brightness(f.Colour[i]), 1)
			}
		}
	}
	for ch := range tint {
		tint[ch] /= max(n, 1)
	}
	return tint
}

// smoothShares is how bright each cell is as a share of the light, where a surface of the second
// degree over the logarithms is the light of most of the page; else nil. It is fitted by
// reweighting (Holland and Welsch, 1977), what is darker than most being left out first.
func smoothShares(f *raster.Field, measured []float32) []float32 {
	const (
		rounds = 12    // of fitting
		step   = 7     // of the cells one is fitted to: many are left
		near   = 0.025 // of the light: paper
		most   = 0.8   // share of the measured cells that must be near
	)
	var x [6]float64
	terms := func(i int) [6]float64 {
		u, v := float64(i%f.W)/float64(f.W)-0.5, float64(i/f.W)/float64(f.H)-0.5
		return [...]float64{1, u, v, u * u, u * v, v * v}
	}
	logs := make([]float64, len(f.Colour))
	for i, c := range f.Colour {
		logs[i] = math.Log(float64(max(raster.Brightness(c), 1)))
	}
	off := func(i int) float64 {
		d := logs[i]
		for k, v := range terms(i) {
			d -= v * x[k]
		}
		return d
	}
	reach := math.Inf(1)
	for round := range rounds {
		q := lsq.NewNormal(len(x))
		for i := 0; i < len(measured); i += step {
			if measured[i] < 0.5 {
				continue
			}
			if d := off(i); round == 0 || d > -reach && d < 2*reach {
				row, y := terms(i), d
				for k, v := range row {
					y += v * x[k]
				}
				q.Add(row[:], y, 1)
			}
		}
		if !q.Solve(x[:]) {
			return nil
		}
		reach = max(0.3*math.Pow(0.7, float64(round)), near)
	}
	shares := make([]float32, len(f.Colour))
	all, paper := 0, 0
	for i, w := range measured {
		d := off(i)
		shares[i] = float32(math.Exp(d))
		if w >= 0.5 {
			all++
			if math.Abs(d) < near {
				paper++
			}
		}
	}
	if float64(paper) < most*float64(all) {
		return nil
	}
	return shares
}
