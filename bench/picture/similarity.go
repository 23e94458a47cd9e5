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
	const size, step = 8, 4
	const c1, c2 = (0.01 * 255) * (0.01 * 255), (0.03 * 255) * (0.03 * 255)
	la, lb := a.Luminance(), b.Luminance()
	var sum, n float64
	for y := 0; y+size <= a.H; y += step {
		for x := 0; x+size <= a.W; x += step {
			var ma, mb, aa, bb, ab float64
			for j := y; j < y+size; j++ {
				for i := j*a.W + x; i < j*a.W+x+size; i++ {
					ma, mb = ma+la[i], mb+lb[i]
					aa, bb, ab = aa+la[i]*la[i], bb+lb[i]*lb[i], ab+la[i]*lb[i]
				}
			}
			const k = size * size
			ma, mb = ma/k, mb/k
			va, vb, cov := aa/k-ma*ma, bb/k-mb*mb, ab/k-ma*mb
			sum += (2*ma*mb + c1) * (2*cov + c2) / ((ma*ma + mb*mb + c1) * (va + vb + c2))
			n++
		}
	}
	if n == 0 {
		return 1
	}
	return sum / n
}
