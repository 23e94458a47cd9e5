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
