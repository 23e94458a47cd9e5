package picture

import (
	"math"
	"math/rand/v2"
	"testing"
)

func noise(seed uint64, base, spread int) *RGB {
	r := rand.New(rand.NewPCG(seed, 1))
	p := &RGB{W: 64, H: 48, Pix: make([]uint8, 3*64*48)}
	for i := range p.Pix {
		p.Pix[i] = uint8(base + r.IntN(spread))
	}
	return p
}

func TestAPageIsLikeItself(t *testing.T) {
	p := noise(1, 60, 120)
	if got := SSIM(p, p); math.Abs(got-1) > 1e-9 {
		t.Errorf("ssim with itself = %v, want 1", got)
	}
	if got := PSNR(p, p); got != 99 {
		t.Errorf("psnr with itself = %v, want 99", got)
	}
}

func TestAKnownErrorHasAKnownPSNR(t *testing.T) {
	p, q := noise(1, 60, 120), noise(1, 60, 120)
	for i := range q.Pix {
		q.Pix[i] += 10
	}
	want := 10 * math.Log10(255*255/100.0)
	if got := PSNR(p, q); math.Abs(got-want) > 1e-9 {
		t.Errorf("psnr = %v, want %v", got, want)
	}
}

func TestUnrelatedPagesAreUnlike(t *testing.T) {
	if got := SSIM(noise(1, 0, 255), noise(2, 0, 255)); got > 0.2 {
		t.Errorf("ssim of unrelated noise = %v, want near 0", got)
	}
}

func TestMultiScaleSSIM(t *testing.T) {
	page := func(shift int) *RGB { // lines of print
		p := &RGB{W: 256, H: 256, Pix: make([]uint8, 3*256*256)}
		for i := range p.Pix {
			p.Pix[i] = 255
			if y := i/3/256 + shift; y%16 < 3 && (i/3)%7 < 4 {
				p.Pix[i] = 20
			}
		}
		return p
	}
	if got := MultiScaleSSIM(page(0), page(0)); math.Abs(got-1) > 1e-9 {
		t.Errorf("with itself %v, want 1", got)
	}
	near, far := MultiScaleSSIM(page(0), page(1)), MultiScaleSSIM(page(0), page(8))
	if near >= 0.99 || far >= near {
		t.Errorf("%v a pixel off, %v eight: want less and less", near, far)
	}
}
