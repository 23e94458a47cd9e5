package finish

import (
	"slices"
)

// pictureTally counts the colours of what is no text: one by one while they are few, and always in
// bins of 8 × 8 × 8.
type pictureTally struct {
	few  map[[3]uint8]struct{}
	bins []colourBin // nil while there are none
}

// colourBin sums colours that are alike, and their squares.
type colourBin struct {
	n           int64
	sum, square [3]int64
}

const colourBits = 5 // of a channel tell its bin

func newPictureTally() pictureTally { return pictureTally{few: map[[3]uint8]struct{}{}} }

func colourBinOf(px []uint8) int {
	const drop = 8 - colourBits
	return int(px[0]>>drop)<<(2*colourBits) | int(px[1]>>drop)<<colourBits | int(px[2]>>drop)
}

func (t *pictureTally) add(px []uint8) {
	if len(t.few) <= paletteSize {
		t.few[[3]uint8(px)] = struct{}{}
	}
	if t.bins == nil {
		t.bins = make([]colourBin, 1<<(3*colourBits))
	}
	b := &t.bins[colourBinOf(px)]
	b.n++
	for ch, v := range px {
		b.sum[ch] += int64(v)
		b.square[ch] += int64(v) * int64(v)
	}
}

func (t *pictureTally) merge(o *pictureTally) {
	for px := range o.few {
		t.few[px] = struct{}{}
	}
	if t.bins == nil {
		t.bins = o.bins
		return
	}
	for i := range o.bins {
		t.bins[i].merge(&o.bins[i])
	}
}

func (b *colourBin) merge(o *colourBin) {
	b.n += o.n
	for ch := range b.sum {
		b.sum[ch] += o.sum[ch]
		b.square[ch] += o.square[ch]
	}
}

// scatter is the sum of a channel's squared distances from its mean.
func (b *colourBin) scatter(ch int) float64 {
	s := float64(b.sum[ch])
	return float64(b.square[ch]) - s*s/float64(max(b.n, 1))
}

// widest is the channel with the most scatter.
func (b *colourBin) widest() (ch int) {
	for i := range b.sum {
		if b.scatter(i) > b.scatter(ch) {
			ch = i
		}
	}
	return ch
}

// pictureTable has the colour of each bin.
type pictureTable struct {
	colour [1 << (3 * colourBits)][3]uint8
}

// shade brings a pixel to the colour of its bin.
func (t *pictureTable) shade(px []uint8) { copy(px, t.colour[colourBinOf(px)][:]) }

// reduce finds at most so many colours that stand for all colours, by cutting the set with the most
// scatter in two at its mean, again and again (after Wan et al. 1988, "Multidimensional data
// clustering", as variance-based median cut). It is nil where they would be seen to be few.
func (t *pictureTally) reduce(room int) *pictureTable {
	type set struct {
		bins []int
		all  colourBin
		cost float64
	}
	measure := func(bins []int) (s set) {
		s.bins = bins
		for _, i := range bins {
			s.all.merge(&t.bins[i])
		}
		s.cost = s.all.scatter(s.all.widest())
		return s
	}
	var used []int
	for i := range t.bins {
		if t.bins[i].n > 0 {
			used = append(used, i)
		}
	}
	sets := []set{measure(used)}
	for len(sets) < room {
		worst := 0
		for i := range sets {
			if sets[i].cost > sets[worst].cost {
				worst = i
			}
		}
		s := sets[worst]
		ch := s.all.widest()
		split := slices.Clone(s.bins)
		k := partition(split, func(i int) bool {
			return t.bins[i].sum[ch]*s.all.n < s.all.sum[ch]*t.bins[i].n
		})
		if k == 0 || k == len(split) {
			break // no set of several bins is left
		}
		sets[worst] = measure(split[:k])
		sets = append(sets, measure(split[k:]))
	}
	// Of 255: the error, in the mean of the channels' squares, that may just be seen.
	const seen = 4.0
	table, scatter := &pictureTable{}, 0.0
	for _, s := range sets {
		var mean [3]uint8
		for ch := range mean {
			mean[ch] = uint8((s.all.sum[ch] + s.all.n/2) / max(s.all.n, 1))
			scatter += s.all.scatter(ch)
		}
		for _, i := range s.bins {
			table.colour[i] = mean
		}
	}
	n := int64(0)
	for i := range t.bins {
		n += t.bins[i].n
	}
	if scatter > seen*seen*3*float64(n) {
		return nil
	}
	return table
}

// partition brings what is chosen to the front and counts it.
func partition(v []int, chosen func(i int) bool) (n int) {
	for k, i := range v {
		if chosen(i) {
			v[n], v[k] = v[k], v[n]
			n++
		}
	}
	return n
}
