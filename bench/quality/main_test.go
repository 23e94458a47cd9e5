package main

import (
	"testing"

	"unink/bench/picture"
)

func TestErasedPrintCountsAsLost(t *testing.T) {
	clean := &picture.RGB{W: 64, H: 48, Pix: make([]uint8, 3*64*48)}
	for i := range clean.Pix {
		clean.Pix[i] = 250
	}
	c := &testCase{clean: clean, class: make([]class, 64*48), ruled: make([]bool, 64*48)}
	for x := 10; x < 50; x++ { // a black rule, its left half ruled
		i := 20*64 + x
		c.class[i], c.ruled[i] = printed, x < 30
		if x >= 18 && x < 22 { // written across
			c.class[i] = both
		}
		clean.Pix[3*i], clean.Pix[3*i+1], clean.Pix[3*i+2] = 0, 0, 0
	}
	after := &picture.RGB{W: 64, H: 48, Pix: append([]uint8(nil), clean.Pix...)}
	for x := 20; x < 30; x++ {
		i := 20*64 + x
		after.Pix[3*i], after.Pix[3*i+1], after.Pix[3*i+2] = 250, 250, 250
	}
	var f figures
	c.countLost(&f, after)
	if f.Lost != 0.25 || f.Rules != 0.5 || f.Crossed != 0.5 {
		t.Errorf("lost = %v of all, %v of the ruled, %v of the crossed; want 0.25, 0.5 and 0.5",
			f.Lost, f.Rules, f.Crossed)
	}
}
