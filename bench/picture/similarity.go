package picture

import "math"

// PSNR is the peak signal-to-noise ratio over all channels, in dB; identical pictures give 99.
func PSNR(a, b *RGB) float64 {
	var sum float64
	for i, v := range a.Pix {
		d := float64(v) - float64(b.Pix[i])
		sum += d * d
	}
	if sum == 0 {
		return 99
	}
	return min(10*math.Log10(255*255*float64(len(a.Pix))/sum), 99)
}

// SSIM is the mean structural similarity of the luminances (Wang, Bovik, Sheikh and Simoncelli,
// 2004), over windows of 8x8 pixels every 4.
func SSIM(a, b *RGB) float64 {
	all, _ := similarity(a.Luminance(), b.Luminance(), a.W, a.H)
	return all
}

// MultiScaleSSIM is the structural similarity of the luminances over five scales (Wang, Simoncelli
// and Bovik, 2003, with their weights), each half of the last, with the windows of [SSIM]. The
// shorter side must be 128 pixels or more.
func MultiScaleSSIM(a, b *RGB) float64 {
	weights := [...]float64{0.0448, 0.2856, 0.3001, 0.2363, 0.1333}
	la, lb, w, h := a.Luminance(), b.Luminance(), a.W, a.H
	product := 1.0
	for i, weight := range weights {
		all, structure := similarity(la, lb, w, h)
		if i == len(weights)-1 { // brightness counts in the coarsest alone
			structure = all
		}
		product *= math.Pow(max(structure, 0), weight)
		la, lb = halved(la, w, h), halved(lb, w, h)
		w, h = w/2, h/2
	}
	return product
}

// halved averages squares of two by two.
func halved(v []float64, w, h int) []float64 {
	out := make([]float64, (w/2)*(h/2))
	for y := range h / 2 {
		for x := range w / 2 {
			i := 2*y*w + 2*x
			out[y*(w/2)+x] = (v[i] + v[i+1] + v[i+w] + v[i+w+1]) / 4
		}
	}
	return out
}

// similarity is the mean structural similarity, and that without the windows' brightness.
func similarity(la, lb []float64, w, h int) (all, structure float64) {
	const size, step = 8, 4
	const c1, c2 = (0.01 * 255) * (0.01 * 255), (0.03 * 255) * (0.03 * 255)
	n := 0.0
	for y := 0; y+size <= h; y += step {
		for x := 0; x+size <= w; x += step {
			var ma, mb, aa, bb, ab float64
			for j := y; j < y+size; j++ {
				for i := j*w + x; i < j*w+x+size; i++ {
					ma, mb = ma+la[i], mb+lb[i]
					aa, bb, ab = aa+la[i]*la[i], bb+lb[i]*lb[i], ab+la[i]*lb[i]
				}
			}
			const k = size * size
			ma, mb = ma/k, mb/k
			va, vb, cov := aa/k-ma*ma, bb/k-mb*mb, ab/k-ma*mb
			s := (2*cov + c2) / (va + vb + c2)
			structure += s
			all += s * (2*ma*mb + c1) / (ma*ma + mb*mb + c1)
			n++
		}
	}
	if n == 0 {
		return 1, 1
	}
	return all / n, structure / n
}
