package restore

import "math"

// Regions are counted by the thickness of their strokes and by their longer side, both in octaves of working pixels.
const (
	thickPerOctave, thickBins = 4, 16 // from half a pixel on
	tallPerOctave, tallBins   = 2, 16 // from one pixel on
)

// sizeHistogram is a density of the sizes of regions.
type sizeHistogram struct {
	v     [thickBins * tallBins]float64
	total float64
}

// weighSizes adds to the regions' evidence what their sizes tell: a pen's strokes are as thick, and its letters as
// tall, all over the page, and so are those of the print. field is how surely each region is writing so far. Where
// both have the same sizes that tells nothing, and where there is little writing it tells little.
func weighSizes(regions []region, field []float64) {
	const (
		doubt  = 1.5  // of the field: what is less sure counts neither way
		floor  = 0.04 // share below which a size is unknown
		most   = 1.5
		enough = 1500 // pixels of writing that make up for half the doubt
	)
	var hand, print sizeHistogram
	for i := range regions {
		if r := &regions[i]; !isRule(r.Component) {
			sure := float64(r.Area) * math.Tanh((math.Abs(field[i])-doubt)/2)
			if field[i] > doubt {
				hand.add(r, sure)
			} else if field[i] < -doubt {
				print.add(r, sure)
			}
		}
	}
	if hand.total == 0 || print.total == 0 {
		return
	}
	weight := hand.total / (hand.total + enough)
	for i := range regions {
		if r := &regions[i]; !isRule(r.Component) {
			odds := math.Log((hand.at(r)/hand.total + floor) / (print.at(r)/print.total + floor))
			r.evidence += weight * min(max(odds, -most), most)
		}
	}
}

func (h *sizeHistogram) add(r *region, mass float64) {
	r.sizeBins(func(i int, k float64) { h.v[i] += k * mass })
	h.total += mass
}

func (h *sizeHistogram) at(r *region) (v float64) {
	r.sizeBins(func(i int, k float64) { v += k * h.v[i] })
	return v
}

// sizeBins visits the four bins round a region's size with their bilinear weights.
func (r *region) sizeBins(visit func(i int, k float64)) {
	thickness := 2 * float64(r.Area) / float64(r.border) // of a long stroke
	thick := math.Log2(thickness) + 1
	tall := math.Log2(float64(max(r.Width(), r.Height())))
	i, fi := binOf(thick*thickPerOctave, thickBins)
	j, fj := binOf(tall*tallPerOctave, tallBins)
	at := i*tallBins + j
	visit(at, (1-fi)*(1-fj))
	visit(at+1, (1-fi)*fj)
	visit(at+tallBins, fi*(1-fj))
	visit(at+tallBins+1, fi*fj)
}

// binOf is the bin at or before v and the way to the next, 0 to 1.
func binOf(v float64, bins int) (at int, way float64) {
	v = min(max(v, 0), float64(bins-1))
	at = min(int(v), bins-2)
	return at, v - float64(at)
}
