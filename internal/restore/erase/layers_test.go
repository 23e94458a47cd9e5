package erase

import (
	"image"
	"math"
	"testing"

	"unink/internal/restore/canvas"
	"unink/internal/restore/restoretest"
)

// What was divided out of a pixel is in the layers and counts as removed, as a stroke does.
func TestHighlighterInTheLayers(t *testing.T) {
	m, _ := restoretest.Written(700, 500, 24, restoretest.Blue)
	c := &canvas.Canvas{Input: m, Src: m, W: 700, H: 500, Flags: make([]uint8, 700*500)}
	lifted := image.NewRGBA(m.Rect)
	copy(lifted.Pix, m.Pix)
	i := m.PixOffset(300, 170)
	m.Pix[i+2] = 90
	c.Src = lifted
	writing, mask := Layers(c, lifted)
	if mask.Pix[i/4] != 255 || writing.Pix[i+3] == 0 || Removed(c) != 1.0/(700*500) {
		t.Errorf("mask %d, layer %v, removed %g", mask.Pix[i/4], writing.Pix[i:i+4], Removed(c))
	}
	opaque := float64(writing.Pix[i+3]) / 255
	over := float64(writing.Pix[i+2])*opaque + float64(lifted.Pix[i+2])*(1-opaque)
	if math.Abs(over-90) > 2 {
		t.Errorf("the layer over the page gives %.0f, want 90", over)
	}
}
