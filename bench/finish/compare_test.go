package main

import (
	"math"
	"testing"

	"unink/bench/picture"
)

func blank(v uint8) *picture.RGB {
	p := &picture.RGB{W: 64, H: 48, Pix: make([]uint8, 3*64*48)}
	for i := range p.Pix {
		p.Pix[i] = v
	}
	return p
}

func rect(p *picture.RGB, x0, y0, x1, y1 int, c [3]uint8) *picture.RGB {
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			copy(p.Pix[3*(y*p.W+x):], c[:])
		}
	}
	return p
}

func TestPaperNearPrintIsNotCounted(t *testing.T) {
	black := [3]uint8{}
	p := pair{
		truth: rect(blank(255), 20, 0, 30, 48, black),
		after: rect(blank(255), 17, 0, 33, 48, black), // what a blur takes
	}
	if got := p.white(); got != 1 {
		t.Errorf("white = %v, want 1", got)
	}
	rect(p.after, 0, 0, 64, 24, [3]uint8{249, 255, 255})
	if got := p.white(); got != 0.5 {
		t.Errorf("white = %v of a page half tinted, want 0.5", got)
	}
}

func TestHueErrorIsAnAngle(t *testing.T) {
	red, orange, grey := [3]uint8{255, 0, 0}, [3]uint8{255, 128, 0}, [3]uint8{90, 90, 90}
	for _, c := range []struct {
		ink  [3]uint8
		want float64
	}{{red, 0}, {orange, 30}, {grey, 90}} {
		p := pair{truth: rect(blank(255), 0, 0, 32, 32, red),
			after: rect(blank(255), 0, 0, 32, 32, c.ink)}
		if got, ok := p.hueError(); !ok || math.Abs(got-c.want) > 0.5 {
			t.Errorf("red as %v is %.1f degrees off (told: %v), want %.0f", c.ink, got, ok, c.want)
		}
	}
}
