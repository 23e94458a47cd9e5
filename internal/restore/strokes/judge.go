package strokes

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"unink/internal/nn"
	"unink/internal/raster"
	"unink/internal/restore/ink"
	"unink/internal/restore/segment"
)

// Survey is what a network is told of a page's regions of ink to judge which of them were written.
type Survey struct {
	Labels []int32   // of each pixel: 0 is none, n is region n-1
	Traits []float32 // nn.RegionTraits of each region
	Near   []float32 // nn.RegionBonds of each region: its nearest neighbours, as indices, itself last
	Bonds  []float32 // nn.BondTraits of each of these
	hand   []float64 // what the segmenter says of each region
	runs   []raster.Run
}

// Regions is how many there are.
func (v *Survey) Regions() int { return len(v.hand) }

// Look surveys the regions of ink.
func Look(s *segment.Scores, plane *ink.Plane, workers int) *Survey {
	return groundOf(s, plane).survey(s, plane, workers)
}

// ground is what a survey starts from. However the ink is judged, it stays.
type ground struct {
	lines  []int32 // what findRules found
	pieces []raster.Component
	near   []uint32 // what nearestInk found
	// Of each pixel, written anew by each survey: its class, and the label of its region.
	class  []uint8
	labels []int32
}

func groundOf(s *segment.Scores, plane *ink.Plane) *ground {
	g := &ground{class: make([]uint8, len(s.Hand)), labels: make([]int32, len(s.Hand))}
	var search sync.WaitGroup
	search.Go(func() { g.near = nearestInk(plane.Solid, s.W) })
	g.lines, g.pieces = findRules(plane.Printed(), s.W, s.H)
	search.Wait()
	return g
}

// survey looks at the regions as they are now. It overwrites the labels of the survey before.
func (g *ground) survey(s *segment.Scores, plane *ink.Plane, workers int) *Survey {
	g.parts(s, plane, workers)
	runs, components := raster.Connected(g.class, s.W, 1)
	n := len(components)
	v := &Survey{
		Labels: g.labels,
		Traits: make([]float32, 0, n*nn.RegionTraits),
		Near:   make([]float32, 0, n*nn.RegionBonds),
		Bonds:  make([]float32, 0, n*nn.RegionBonds*nn.BondTraits),
		hand:   make([]float64, 0, n),
		runs:   runs,
	}
	raster.Paint(v.Labels, runs)
	var bonds [][]bond
	var search sync.WaitGroup
	search.Go(func() { bonds = findBonds(g.near, v.Labels, s.W, components) })
	regions := measureRegions(s, v.Labels, runs, components, plane)
	for _, r := range runs {
		regions[r.Label-1].onRule = g.class[r.From]&onRule != 0
	}
	for i, twin := range findTwins(regions, v.Labels, plane, workers) {
		v.Traits = append(v.Traits, regions[i].traits(twin)...)
		v.hand = append(v.hand, regions[i].hand)
	}
	search.Wait()
	for i, near := range bonds {
		v.bind(regions, i, near)
	}
	return v
}

// Places among the traits of a region.
var areaTrait, lineTrait = nn.Trait("area"), nn.Trait("rule")

// traits are what the network is told of a region, each brought to about -1 to 1, in the order of
// its manifest.
func (r *region) traits(twin float64) []float32 {
	area, w, h := float64(r.Area), float64(r.Width()), float64(r.Height())
	colour := ink.Bin(r.ink)
	repeats := 1.0
	if math.IsNaN(twin) {
		twin, repeats = noTwin, 0
	}
	out := append(make([]float32, 0, nn.RegionTraits), 1)
	for _, v := range []float64{
		r.hand / 4, r.print / 4, float64(r.handed) / area, float64(r.printed) / area, r.colour / 3,
		math.Log2(area) / 8, math.Log2(w) / 6, math.Log2(h) / 6,
		math.Log2(2*area/float64(r.border)) / 3, area / (w * h),
		colour[0] / (ink.Bins - 1), colour[1] / (ink.Bins - 1), colour[2] / (ink.Bins - 1),
		twin, repeats, flag(r.onRule), flag(isRule(r.Component)),
		r.surest / 8, r.divided / 4, r.uneven,
	} {
		out = append(out, float32(v))
	}
	return out
}

func flag(v bool) float64 {
	if v {
		return 1
	}
	return 0
}

// bind tells of a region's neighbours; where there are fewer than the network wants, it is its own.
func (v *Survey) bind(regions []region, i int, near []bond) {
	for k := range nn.RegionBonds {
		if k >= len(near) {
			v.Near = append(v.Near, float32(i))
			v.Bonds = append(v.Bonds, make([]float32, nn.BondTraits)...)
			continue
		}
		v.Near = append(v.Near, float32(near[k].to))
		v.Bonds = append(v.Bonds, near[k].traits(&regions[i], &regions[near[k].to])...)
	}
}

// traits are what the network is told of two neighbours, each brought to about -1 to 1.
func (b bond) traits(from, to *region) []float32 {
	p, q := ink.Bin(from.ink), ink.Bin(to.ink)
	apart := 0.0
	for i := range p {
		apart += (p[i] - q[i]) * (p[i] - q[i])
	}
	away := func(a0, a1, b0, b1 int) float64 { // between the middles
		return min(max(float64(b0+b1-a0-a1)/2/64, -2), 2)
	}
	out := append(make([]float32, 0, nn.BondTraits), 1)
	for _, v := range []float64{
		float64(b.gap) / widestGap, flag(b.touch), math.Exp(-apart / 0.5),
		away(from.X0, from.X1, to.X0, to.X1), away(from.Y0, from.Y1, to.Y0, to.Y1),
		math.Log2(float64(to.Area)/float64(from.Area)) / 8,
	} {
		out = append(out, float32(v))
	}
	return out
}

// Judge has the network say how surely each region was written, as log-odds. Of more regions than
// it takes, the smallest are left to the segmenter. So are lines that it takes for print: three
// lines in five that the network held against it were printed.
func (v *Survey) Judge(ctx context.Context, judge nn.Runner) ([]float64, error) {
	order := v.largest(nn.MostRegions)
	n := nn.RegionsFor(len(order))
	traits, near := make([]float32, n*nn.RegionTraits), make([]float32, n*nn.RegionBonds)
	bonds := make([]float32, n*nn.RegionBonds*nn.BondTraits)
	place := make([]int, v.Regions())
	for at, i := range order {
		place[i] = at + 1
	}
	for at, i := range order {
		copy(traits[at*nn.RegionTraits:], v.Traits[i*nn.RegionTraits:][:nn.RegionTraits])
		for k := range nn.RegionBonds {
			from, to := i*nn.RegionBonds+k, at*nn.RegionBonds+k
			if other := place[int(v.Near[from])]; other > 0 {
				near[to] = float32(other - 1)
				copy(bonds[to*nn.BondTraits:], v.Bonds[from*nn.BondTraits:][:nn.BondTraits])
			}
		}
	}
	out := make([]float32, n)
	if err := judge.Run(ctx, nn.Regions(n, traits, near, bonds), nn.RegionsAnswer(out)); err != nil {
		return nil, err
	}
	odds := slices.Clone(v.hand)
	for at, i := range order {
		if v.hand[i] > 0 || v.Traits[i*nn.RegionTraits+lineTrait] == 0 {
			odds[i] = float64(out[at])
		}
	}
	return odds, nil
}

// settle makes each region writing or print, by the log-odds that it was written.
func (v *Survey) settle(odds []float64, s *segment.Scores) {
	for _, r := range v.runs {
		hand := odds[r.Label-1] > 0
		for i := int(r.From); i < int(r.To); i++ {
			if hand != (s.Hand[i] > 0) {
				s.Relabel(i, hand)
			}
		}
	}
}

// largest lists the regions in their order, only the largest if there are more than most.
func (v *Survey) largest(most int) []int {
	order := make([]int, v.Regions())
	for i := range order {
		order[i] = i
	}
	if len(order) <= most {
		return order
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Compare(v.Traits[j*nn.RegionTraits+areaTrait],
			v.Traits[i*nn.RegionTraits+areaTrait])
	})
	order = order[:most]
	slices.Sort(order)
	return order
}
