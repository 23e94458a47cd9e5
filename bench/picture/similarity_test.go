package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

func noise(seed uint64, base, spread int) *rgb {
	r := rand.New(rand.NewPCG(seed, 1))
	p := &rgb{w: 64, h: 48, pix: make([]uint8, 3*64*48)}
	for i := range p.pix {
		p.pix[i] = uint8(base + r.IntN(spread))
	}
	return p
}

func TestAPageIsLikeItself(t *testing.T) {
	p := noise(1, 60, 120)
	if got := ssim(p, p); math.Abs(got-1) > 1e-9 {
		t.Errorf("ssim with itself = %v, want 1", got)
	}
	if got := psnr(p, p); got != 99 {
		t.Errorf("psnr with itself = %v, want 99", got)
	}
}

func TestAKnownErrorHasAKnownPSNR(t *testing.T) {
	p, q := noise(1, 60, 120), noise(1, 60, 120)
	for i := range q.pix {
		q.pix[i] += 10
	}
	want := 10 * math.Log10(255*255/100.0)
	if got := psnr(p, q); math.Abs(got-want) > 1e-9 {
		t.Errorf("psnr = %v, want %v", got, want)
	}
}

func TestUnrelatedPagesAreUnlike(t *testing.T) {
	if got := ssim(noise(1, 0, 255), noise(2, 0, 255)); got > 0.2 {
		t.Errorf("ssim of unrelated noise = %v, want near 0", got)
	}
}

func TestErasedPrintCountsAsLost(t *testing.T) {
	clean := &rgb{w: 64, h: 48, pix: make([]uint8, 3*64*48)}
	for i := range clean.pix {
		clean.pix[i] = 250
	}
	c := &testCase{clean: clean, class: make([]class, 64*48), ruled: make([]bool, 64*48)}
	for x := 10; x < 50; x++ { // a black rule, its left half ruled
		i := 20*64 + x
		c.class[i], c.ruled[i] = printed, x < 30
		clean.pix[3*i], clean.pix[3*i+1], clean.pix[3*i+2] = 0, 0, 0
	}
	after := &rgb{w: 64, h: 48, pix: append([]uint8(nil), clean.pix...)}
	for x := 20; x < 30; x++ {
		i := 20*64 + x
		after.pix[3*i], after.pix[3*i+1], after.pix[3*i+2] = 250, 250, 250
	}
	all, ruled := c.lost(after)
	if all != 0.25 || ruled != 0.5 {
		t.Errorf("lost = %v of all, %v of the ruled; want 0.25 and 0.5", all, ruled)
	}
}
