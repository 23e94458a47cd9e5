// Package demoire takes the pattern of a photographed screen off a page.
package demoire

import (
	"image"
	"image/draw"
	"math"
	"math/cmplx"
	"slices"
	"sync"

	"unink/internal/raster"
)

// wave is a periodic pattern over the whole page: its frequency in cycles per pixel.
type wave struct{ x, y float64 }

// Remove takes the beat patterns of a photographed screen off a page: waves that lie over all of
// it, found as narrow peaks of the spectrum of its paper and told from the print by that (after
// Sidorov and Kokaram 2002, "Suppression of Moiré Patterns via Spectral Analysis"). Each wave is
// followed over the paper, channel by channel, by synchronous demodulation, since its phase drifts,
// and is divided out, so that print keeps its edges. Without such peaks the page itself comes back.
func Remove(src *image.RGBA, workers int) (out *image.RGBA, waves int) {
	found := findWaves(src)
	if len(found) == 0 {
		return src, 0
	}
	p := newPlainPaper(src, workers)
	return p.without(p.follow(found)), len(found)
}

// plainPaper is a page's paper without its print.
type plainPaper struct {
	src     *image.RGBA
	w, h    int
	workers int
	level   [3]*raster.Sampler // what the paper is like on the whole, as gains that bring it to 1
	ink     []uint8            // 1 on and near what is far darker than the paper
}

const (
	paperCell = 16  // pixels over which the paper's level is taken
	inkBelow  = 0.8 // of the paper's level; waves are less deep
	inkRing   = 2   // pixels round ink
)

func newPlainPaper(src *image.RGBA, workers int) *plainPaper {
	p := &plainPaper{src: src, w: src.Rect.Dx(), h: src.Rect.Dy(), workers: workers}
	p.ink = p.findInk()
	f := raster.NewField((p.w+paperCell-1)/paperCell, (p.h+paperCell-1)/paperCell)
	raster.Rows(f.H, workers, func(a, b int) {
		for i := a * f.W; i < b*f.W; i++ {
			f.Colour[i], f.Weight[i] = p.mean(i%f.W*paperCell, i/f.W*paperCell)
		}
	})
	f.Fill()
	for ch := range p.level {
		g := raster.NewGrid(p.w, p.h, paperCell)
		for i := range g.V {
			g.V[i] = 1 / max(f.Colour[i][ch], 16)
		}
		p.level[ch] = g.Sample(p.w, p.h)
	}
	return p
}

// findInk marks ink and a ring round it.
func (p *plainPaper) findInk() []uint8 {
	green := make([]uint8, p.w*p.h)
	for i := range green {
		green[i] = p.src.Pix[4*i+1]
	}
	paper := raster.PaperGrid(green, p.w, p.h, paperCell, 0.6, p.workers)
	sampler := paper.Sample(p.w, p.h)
	rows := make([]uint8, len(green)) // ink within the ring along the row
	raster.Rows(p.h, p.workers, func(y0, y1 int) {
		line, scratch := make([]float32, p.w), make([]float32, paper.W)
		for y := y0; y < y1; y++ {
			sampler.Row(line, scratch, y)
			to := rows[y*p.w:][:p.w]
			for x, v := range green[y*p.w:][:p.w] {
				if float32(v) < inkBelow*line[x] {
					for k := max(x-inkRing, 0); k <= min(x+inkRing, p.w-1); k++ {
						to[k] = 1
					}
				}
			}
		}
	})
	raster.Rows(p.h, p.workers, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			to := green[y*p.w:][:p.w]
			clear(to)
			for k := max(y-inkRing, 0); k <= min(y+inkRing, p.h-1); k++ {
				for x, v := range rows[k*p.w:][:p.w] {
					to[x] |= v
				}
			}
		}
	})
	return green
}

// mean is the paper's mean colour in a cell, and how much of the cell is paper.
func (p *plainPaper) mean(x0, y0 int) (c [3]float32, weight float32) {
	n := 0
	for y := y0; y < min(y0+paperCell, p.h); y++ {
		for x := x0; x < min(x0+paperCell, p.w); x++ {
			if p.ink[y*p.w+x] == 0 {
				px := p.src.Pix[y*p.src.Stride+4*x:][:3]
				c[0], c[1], c[2] = c[0]+float32(px[0]), c[1]+float32(px[1]), c[2]+float32(px[2])
				n++
			}
		}
	}
	for ch := range c {
		c[ch] /= float32(max(n, 1))
	}
	return c, min(4*float32(n)/(paperCell*paperCell), 1)
}

const moireBlock = 64 // pixels of a side of what the spectrum is taken of

// findWaves finds the peaks of the paper's mean spectrum that are far above what is round the
// middle at their distance: noise, grain and the rims of print have none so narrow.
func findWaves(src *image.RGBA) (found []wave) {
	const (
		most     = 6
		above    = 9.0   // times the median at that frequency
		deep     = 0.006 // of the paper's level: the least amplitude
		longest  = 16.0  // pixels
		neighbor = 3     // bins that a drifting wave covers on either side
	)
	if src.Rect.Dx() < 2*moireBlock || src.Rect.Dy() < 2*moireBlock {
		return nil
	}
	power := paperSpectrum(src)
	var rings [moireBlock][]float64
	var floor [moireBlock]float64
	ring := func(kx, ky int) int { return int(math.Hypot(float64(kx), float64(ky)) + 0.5) }
	eachBin(func(i, kx, ky int) {
		if r := ring(kx, ky); r < moireBlock {
			rings[r] = append(rings[r], power[i])
		}
	})
	for r, v := range rings {
		if len(v) > 0 {
			floor[r] = raster.Quantile(v, 0.5)
		}
	}
	for len(found) < most {
		best, peak := -1, 0.0
		eachBin(func(i, kx, ky int) {
			r := ring(kx, ky)
			if ky < 0 || ky == 0 && kx < 0 || r < moireBlock/longest || r >= moireBlock/2 ||
				ofJPEG(kx, ky) {
				return
			}
			if power[i] > peak && power[i] > above*floor[r] {
				best, peak = i, power[i]
			}
		})
		if best < 0 {
			break
		}
		sum, at := 0.0, [2]float64{}
		bx, by := frequencyOf(best)
		for dy := -neighbor; dy <= neighbor; dy++ {
			for dx := -neighbor; dx <= neighbor; dx++ {
				i := indexOf(bx+dx, by+dy)
				v := power[i]
				sum, at = sum+v, [2]float64{at[0] + v*float64(dx), at[1] + v*float64(dy)}
				power[i], power[indexOf(-bx-dx, -by-dy)] = 0, 0
			}
		}
		if 2*math.Sqrt(peak) < deep { // a wave's power is the square of half its amplitude
			break
		}
		found = append(found, wave{(float64(bx) + at[0]/sum) / moireBlock,
			(float64(by) + at[1]/sum) / moireBlock})
	}
	return found
}

// ofJPEG says that a frequency is one of the edges of JPEG's blocks.
func ofJPEG(kx, ky int) bool {
	const step = moireBlock / 8
	near := func(k int) bool { return (k+moireBlock+1)%step <= 2 }
	return kx*kx <= 1 && near(ky) || ky*ky <= 1 && near(kx)
}

func eachBin(do func(i, kx, ky int)) {
	for i := range moireBlock * moireBlock {
		kx, ky := frequencyOf(i)
		do(i, kx, ky)
	}
}

// frequencyOf is the frequency of a bin, from -moireBlock/2 on.
func frequencyOf(i int) (kx, ky int) {
	return (i+moireBlock/2)%moireBlock - moireBlock/2,
		(i/moireBlock+moireBlock/2)%moireBlock - moireBlock/2
}

func indexOf(kx, ky int) int {
	return (ky+moireBlock)%moireBlock*moireBlock + (kx+moireBlock)%moireBlock
}

// paperSpectrum is the power of the green of the paper, relative to its level, that all but a few
// of the blocks spread over the page have at a frequency or beside it. A block's power, under a
// Hann window, sums up to its mean square.
func paperSpectrum(src *image.RGBA) []float64 {
	const (
		side   = 4   // blocks in a row
		enough = 6   // blocks with paper in them
		few    = 0.3 // of the blocks, that may have less
	)
	blocks := make([][]float64, side*side)
	var group sync.WaitGroup
	for k := range blocks {
		group.Go(func() {
			x := (src.Rect.Dx() - moireBlock) * (2*(k%side) + 1) / (2 * side)
			y := (src.Rect.Dy() - moireBlock) * (2*(k/side) + 1) / (2 * side)
			m := image.NewRGBA(image.Rect(0, 0, moireBlock, moireBlock))
			draw.Draw(m, m.Rect, src, image.Pt(x, y), draw.Src)
			blocks[k] = drifting(newPlainPaper(m, 1).power())
		})
	}
	group.Wait()
	blocks = slices.DeleteFunc(blocks, func(b []float64) bool { return b == nil })
	common := make([]float64, moireBlock*moireBlock)
	if len(blocks) < enough {
		return common
	}
	values := make([]float64, len(blocks))
	for i := range common {
		for k, b := range blocks {
			values[k] = b[i]
		}
		common[i] = raster.Quantile(values, few)
	}
	return common
}

// drifting brings the power beside a frequency to it: a wave that drifts is not at the same one in
// all blocks.
func drifting(power []float64) []float64 {
	if power == nil {
		return nil
	}
	out := make([]float64, len(power))
	eachBin(func(i, kx, ky int) {
		for dy := -1; dy <= 1; dy++ {
			for dx := -1; dx <= 1; dx++ {
				out[i] += power[indexOf(kx+dx, ky+dy)]
			}
		}
	})
	return out
}

// power is that of a block's green, or nil where there is hardly any paper.
func (p *plainPaper) power() []float64 {
	v := make([]complex128, moireBlock*moireBlock)
	line, scratch := make([]float32, moireBlock), make([]float32, moireBlock)
	const windowed = 0.14 // mean square of the window
	paper := 0.0
	for y := range moireBlock {
		p.level[1].Row(line, scratch, y)
		for x := range moireBlock {
			if i := y*moireBlock + x; p.ink[i] == 0 {
				k := hann(x) * hann(y)
				paper += k * k
				r := float64(float32(p.src.Pix[4*i+1])*line[x]) - 1
				v[i] = complex(k*min(max(r, -0.2), 0.2), 0)
			}
		}
	}
	if paper < 0.3*windowed*moireBlock*moireBlock {
		return nil
	}
	out := make([]float64, len(v))
	fourier(v)
	for i, c := range v {
		out[i] = (real(c)*real(c) + imag(c)*imag(c)) / (paper * moireBlock * moireBlock)
	}
	return out
}

func hann(i int) float64 { return 0.5 - 0.5*math.Cos(2*math.Pi*(float64(i)+0.5)/moireBlock) }

// fourier transforms a block in place, rows and then columns.
func fourier(v []complex128) {
	for y := range moireBlock {
		fourierLine(v[y*moireBlock:][:moireBlock])
	}
	var column [moireBlock]complex128
	for x := range moireBlock {
		for y := range column {
			column[y] = v[y*moireBlock+x]
		}
		fourierLine(column[:])
		for y, c := range column {
			v[y*moireBlock+x] = c
		}
	}
}

// roots are the powers of the root of unity.
var roots = func() (out [moireBlock]complex128) {
	for i := range out {
		out[i] = cmplx.Rect(1, -2*math.Pi*float64(i)/moireBlock)
	}
	return out
}()

// fourierLine is the fast transform of Cooley and Tukey, for as many values as a power of two.
func fourierLine(v []complex128) {
	n := len(v)
	for i, j := 1, 0; i < n; i++ {
		bit := n >> 1
		for ; j&bit != 0; bit >>= 1 {
			j ^= bit
		}
		if j ^= bit; i < j {
			v[i], v[j] = v[j], v[i]
		}
	}
	for size := 2; size <= n; size *= 2 {
		for from := 0; from < n; from += size {
			for k := range size / 2 {
				a, b := v[from+k], v[from+k+size/2]*roots[k*(moireBlock/size)]
				v[from+k], v[from+k+size/2] = a+b, a-b
			}
		}
	}
}

// waveCell is the side, in pixels, of the cells over which a wave's phase is taken.
const waveCell = 8

// followed is a wave and what it is like place by place.
type followed struct {
	wave
	amplitude [3][2]*raster.Grid // of each channel, as share of the level: real and imaginary part
}

// follow measures each wave over the page: the paper times the wave of frequency zero phase,
// averaged.
func (p *plainPaper) follow(waves []wave) []followed {
	out := make([]followed, len(waves))
	weight := raster.NewGrid(p.w, p.h, waveCell)
	for i, v := range waves {
		out[i].wave = v
		for ch := range out[i].amplitude {
			out[i].amplitude[ch] = [2]*raster.Grid{raster.NewGrid(p.w, p.h, waveCell),
				raster.NewGrid(p.w, p.h, waveCell)}
		}
	}
	raster.Rows(weight.H, p.workers, func(a, b int) {
		line, scratch := newLines(p.w), make([]float32, p.w)
		turn := make([][]complex64, len(waves))
		for y := a * waveCell; y < min(b*waveCell, p.h); y++ {
			for ch := range line {
				p.level[ch].Row(line[ch], scratch, y)
			}
			for i, v := range waves {
				turn[i] = v.row(turn[i], p.w, y)
			}
			cells := y / waveCell * weight.W
			for x := range p.w {
				if p.ink[y*p.w+x] != 0 {
					continue
				}
				at := cells + x/waveCell
				weight.V[at]++
				px := p.src.Pix[y*p.src.Stride+4*x:][:3]
				for ch := range line {
					r := min(max(float32(px[ch])*line[ch][x]-1, -0.2), 0.2)
					for i := range out {
						g := &out[i].amplitude[ch]
						g[0].V[at] += r * real(turn[i][x])
						g[1].V[at] -= r * imag(turn[i][x])
					}
				}
			}
		}
	})
	p.normalise(out, weight)
	return out
}

// row is the wave along a row.
func (v wave) row(dst []complex64, w, y int) []complex64 {
	if dst == nil {
		dst = make([]complex64, w)
	}
	const exact = 64 // pixels after which the turning starts anew, so that no error grows
	step := cmplx.Rect(1, 2*math.Pi*v.x)
	var c complex128
	for x := range dst {
		if x%exact == 0 {
			c = cmplx.Rect(1, 2*math.Pi*math.Mod(v.x*float64(x)+v.y*float64(y), 1))
		}
		dst[x] = complex64(c)
		c *= step
	}
	return dst
}

// normalise smooths the sums of cells and divides them by the weight of their paper.
func (p *plainPaper) normalise(waves []followed, weight *raster.Grid) {
	raster.Smooth(weight)
	const least = 0.15 * waveCell * waveCell // paper, below which the wave is not known well
	for _, v := range waves {
		for _, parts := range v.amplitude {
			for _, g := range parts {
				raster.Smooth(g)
				for i := range g.V {
					g.V[i] *= 2 / max(weight.V[i], least)
				}
			}
		}
	}
}

func newLines(w int) (out [3][]float32) {
	for ch := range out {
		out[ch] = make([]float32, w)
	}
	return out
}

// without divides the waves out.
func (p *plainPaper) without(waves []followed) *image.RGBA {
	dst := image.NewRGBA(p.src.Rect)
	samplers := make([][3][2]*raster.Sampler, len(waves))
	for i, v := range waves {
		for ch, parts := range v.amplitude {
			samplers[i][ch] = [2]*raster.Sampler{parts[0].Sample(p.w, p.h),
				parts[1].Sample(p.w, p.h)}
		}
	}
	raster.Rows(p.h, p.workers, func(y0, y1 int) {
		sum, re, im, scratch := newLines(p.w), make([]float32, p.w), make([]float32, p.w),
			make([]float32, p.w)
		var turn []complex64
		for y := y0; y < y1; y++ {
			for ch := range sum {
				clear(sum[ch])
			}
			for i, v := range waves {
				turn = v.row(turn, p.w, y)
				for ch, line := range sum {
					samplers[i][ch][0].Row(re, scratch, y)
					samplers[i][ch][1].Row(im, scratch, y)
					for x, t := range turn {
						line[x] += re[x]*real(t) - im[x]*imag(t)
					}
				}
			}
			from, to := p.src.Pix[y*p.src.Stride:][:4*p.w], dst.Pix[y*dst.Stride:][:4*p.w]
			for x := range p.w {
				for ch := range sum {
					to[4*x+ch] = raster.Clamp8(float32(from[4*x+ch]) / (1 + sum[ch][x]))
				}
				to[4*x+3] = 255
			}
		}
	})
	return dst
}
