package main

import (
	"image"
	"math"
)

// annotation holds boxes (x0, y0, x1, y1 in pixels, end exclusive) with only handwriting or only
// print in them.
type annotation struct {
	Hand  [][4]int `json:"hand"`
	Print [][4]int `json:"print"`
}

// figures are shares from 0 to 1; lower is better.
type figures struct {
	Residue float64 // ink left in the handwriting boxes, of the ink that was there
	Ghost   float64 // handwriting boxes with over a tenth of their ink left
	Loss    float64 // print pixels with no ink left at or next to them
	Hurt    float64 // print boxes with over a twentieth of their pixels lost
}

// measure compares a page before and after, pictures of the same size.
//
// Ink is how much darker than the paper round it a pixel is, in its strongest channel; the paper
// is the 85th percentile of each 48-pixel cell with 12 pixels round it. So a page that was also
// whitened or evened out scores the same as one that was only erased.
func measure(a annotation, before, after image.Image) (f figures) {
	was, is := toPlanes(before), toPlanes(after)
	for _, b := range a.Hand {
		r := was.clip(b)
		left := residue(was.ink(r), is.ink(r))
		f.Residue += left
		if left > 0.10 {
			f.Ghost++
		}
	}
	for _, b := range a.Print {
		r := was.clip(b)
		lost := loss(was.ink(r), is.ink(r), r.Dx())
		f.Loss += lost
		if lost > 0.05 {
			f.Hurt++
		}
	}
	if n := float64(len(a.Hand)); n > 0 {
		f.Residue, f.Ghost = f.Residue/n, f.Ghost/n
	}
	if n := float64(len(a.Print)); n > 0 {
		f.Loss, f.Hurt = f.Loss/n, f.Hurt/n
	}
	return f
}

// planes are the channels of a picture over white, 0 to 255.
type planes struct {
	size image.Rectangle
	v    [3][]float32
}

func toPlanes(m image.Image) *planes {
	b := m.Bounds()
	p := &planes{size: b.Sub(b.Min)}
	for c := range p.v {
		p.v[c] = make([]float32, b.Dx()*b.Dy())
	}
	i := 0
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, bl, a := m.At(x, y).RGBA()
			for c, v := range [3]uint32{r, g, bl} {
				p.v[c][i] = float32(v)/257 + float32(0xffff-a)/257
			}
			i++
		}
	}
	return p
}

func (p *planes) clip(b [4]int) image.Rectangle {
	return image.Rect(b[0], b[1], b[2], b[3]).Intersect(p.size)
}

// ink is the darkness of each pixel of r against its cell's paper.
func (p *planes) ink(r image.Rectangle) []float32 {
	const cell, round = 48, 12
	out := make([]float32, r.Dx()*r.Dy())
	for y := r.Min.Y; y < r.Max.Y; y += cell {
		for x := r.Min.X; x < r.Max.X; x += cell {
			part := image.Rect(x, y, x+cell, y+cell).Intersect(r)
			for c := range p.v {
				paper := p.paper(c, part.Inset(-round).Intersect(p.size))
				for yy := part.Min.Y; yy < part.Max.Y; yy++ {
					for xx := part.Min.X; xx < part.Max.X; xx++ {
						o := &out[(yy-r.Min.Y)*r.Dx()+xx-r.Min.X]
						*o = max(*o, paper-p.v[c][yy*p.size.Dx()+xx])
					}
				}
			}
		}
	}
	return out
}

// paper is the 85th percentile of a channel in r.
func (p *planes) paper(c int, r image.Rectangle) float32 {
	var hist [256]int
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for _, v := range p.v[c][y*p.size.Dx():][r.Min.X:r.Max.X] {
			hist[level(v)]++
		}
	}
	seen := 0
	for v, n := range hist {
		if seen += n; float64(seen) >= 0.85*float64(r.Dx()*r.Dy()) {
			return float32(v)
		}
	}
	return 255
}

func level(v float32) int { return int(min(max(v, 0), 255)) }

// otsu is the threshold between ink and paper (Otsu 1979), at least floor.
func otsu(ink []float32, floor float32) float32 {
	var hist [256]float64
	sum := 0.0
	for _, v := range ink {
		hist[level(v)]++
	}
	for v, n := range hist {
		sum += float64(v) * n
	}
	n, best, at := float64(len(ink)), -1.0, 0
	low, lowSum := 0.0, 0.0
	for v, k := range hist {
		low += k
		lowSum += float64(v) * k
		if low == 0 || low == n {
			continue
		}
		apart := lowSum/low - (sum-lowSum)/(n-low)
		if between := low * (n - low) * apart * apart; between > best {
			best, at = between, v
		}
	}
	return max(float32(at), floor)
}

// residue is the ink above the paper's texture that is left where there was ink.
func residue(before, after []float32) float64 {
	const texture = 14
	t := otsu(before, 18)
	was, is := 0.0, 0.0
	for i, v := range before {
		if v >= t {
			was += float64(max(v-texture, 0))
			is += float64(max(after[i]-texture, 0))
		}
	}
	if was == 0 {
		return 0
	}
	return math.Min(is/was, 1)
}

// loss is the share of ink pixels round which, in 3 × 3, less than half of the ink is left.
func loss(before, after []float32, w int) float64 {
	t := otsu(before, 25)
	size := image.Rect(0, 0, w, len(before)/max(w, 1))
	ink, gone := 0, 0
	for i, v := range before {
		if v < t {
			continue
		}
		ink++
		x, y := i%w, i/w
		around := image.Rect(x-1, y-1, x+2, y+2).Intersect(size)
		left := float32(0)
		for yy := around.Min.Y; yy < around.Max.Y; yy++ {
			for xx := around.Min.X; xx < around.Max.X; xx++ {
				left = max(left, after[yy*w+xx])
			}
		}
		if left < v/2 {
			gone++
		}
	}
	if ink == 0 {
		return 0
	}
	return float64(gone) / float64(ink)
}
