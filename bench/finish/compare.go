package main

import (
	"math"

	"unink/bench/picture"
)

// pair is a page that was captured, the capture before and after, and what was erased of it.
type pair struct{ before, after, truth, erased *picture.RGB }

func (p *pair) compare() (f figures) {
	p.forget()
	f.psnr.before.add(picture.PSNR(p.before, p.truth))
	f.psnr.after.add(picture.PSNR(p.after, p.truth))
	f.ssim.before.add(picture.SSIM(p.before, p.truth))
	f.ssim.after.add(picture.SSIM(p.after, p.truth))
	f.white.add(p.white())
	f.contrast.before.add(p.contrast(p.before))
	f.contrast.after.add(p.contrast(p.after))
	if e, ok := p.hueError(); ok {
		f.hue.add(e)
	}
	return f
}

// forget makes the pictures the same where something was erased.
func (p *pair) forget() {
	for i := range p.erased.W * p.erased.H {
		if p.erased.Pix[3*i] == 0 {
			continue
		}
		for ch := 3 * i; ch < 3*i+3; ch++ {
			p.before.Pix[ch], p.after.Pix[ch] = p.truth.Pix[ch], p.truth.Pix[ch]
		}
	}
}

// clearance is how far from anything printed plain paper is: a capture blurs.
const clearance = 3

// plainPaper tells the pixels of plain paper.
func (p *pair) plainPaper() []bool {
	t := p.truth
	out := make([]bool, t.W*t.H)
	for i := range out {
		out[i] = true
	}
	for i := range out {
		if t.Pix[3*i] == 255 && t.Pix[3*i+1] == 255 && t.Pix[3*i+2] == 255 {
			continue
		}
		x, y := i%t.W, i/t.W
		for yy := max(y-clearance, 0); yy <= min(y+clearance, t.H-1); yy++ {
			for xx := max(x-clearance, 0); xx <= min(x+clearance, t.W-1); xx++ {
				out[yy*t.W+xx] = false
			}
		}
	}
	return out
}

func (p *pair) white() float64 {
	const white = 250
	var n, good float64
	for i, paper := range p.plainPaper() {
		if !paper {
			continue
		}
		n++
		if px := p.after.Pix[3*i:][:3]; min(px[0], px[1], px[2]) >= white {
			good++
		}
	}
	return good / max(n, 1)
}

func (p *pair) contrast(m *picture.RGB) float64 {
	const dark = 110 // luminance of print
	truth, l, plain := p.truth.Luminance(), m.Luminance(), p.plainPaper()
	var paper, print mean
	for i, v := range truth {
		switch {
		case plain[i]:
			paper.add(l[i])
		case v < dark:
			print.add(l[i])
		}
	}
	return paper.value() - print.value()
}

// hueError is the mean error of the hue of coloured print in blocks of 16 pixels, each weighted
// with its coloured pixels, in degrees. It tells whether there is enough of it.
func (p *pair) hueError() (degrees float64, ok bool) {
	const block, coloured, enough = 16, 48, 400 // pixels; spread of the channels; pixels
	// share of the colour below which print has become grey
	const grey = 0.15
	var sum, total float64
	t := p.truth
	for y0 := 0; y0 < t.H; y0 += block {
		for x0 := 0; x0 < t.W; x0 += block {
			var want, got [2]float64
			n := 0.0
			for y := y0; y < min(y0+block, t.H); y++ {
				for x := x0; x < min(x0+block, t.W); x++ {
					i := 3 * (y*t.W + x)
					a, b := t.Pix[i:][:3], p.after.Pix[i:][:3]
					if max(a[0], a[1], a[2])-min(a[0], a[1], a[2]) < coloured {
						continue
					}
					n++
					addChroma(&want, a)
					addChroma(&got, b)
				}
			}
			if n == 0 || math.Hypot(want[0], want[1])/n < coloured/2 {
				continue
			}
			e := 90.0
			if math.Hypot(got[0], got[1]) > grey*math.Hypot(want[0], want[1]) {
				d := math.Abs(math.Atan2(want[1], want[0]) - math.Atan2(got[1], got[0]))
				e = min(d, 2*math.Pi-d) * 180 / math.Pi
			}
			sum, total = sum+n*e, total+n
		}
	}
	return sum / max(total, 1), total >= enough
}

// addChroma adds a colour as a vector whose angle is the hue, red at 0 and green at 120 degrees.
func addChroma(v *[2]float64, px []uint8) {
	r, g, b := float64(px[0]), float64(px[1]), float64(px[2])
	v[0] += r - (g+b)/2
	v[1] += math.Sqrt(3) / 2 * (g - b)
}
