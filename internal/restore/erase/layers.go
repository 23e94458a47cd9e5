package erase

import (
	"image"
	"sync/atomic"

	"unink/internal/raster"
	"unink/internal/restore/canvas"
)

// Layers separates what was removed: the writing alone, such that laid over the cleaned page it
// gives the page as it was, and the mask of the removed strokes.
func Layers(c *canvas.Canvas, cleaned *image.RGBA) (writing *image.NRGBA, mask *image.Gray) {
	writing, mask = image.NewNRGBA(c.Src.Rect), image.NewGray(c.Src.Rect)
	raster.Rows(c.H, c.Workers, func(y0, y1 int) {
		for i := y0 * c.W; i < y1*c.W; i++ {
			if !isRemoved(c, i) {
				continue
			}
			mask.Pix[i] = 255
			was, is := c.Input.Pix[4*i:4*i+3:4*i+3], cleaned.Pix[4*i:4*i+3:4*i+3]
			lift(writing.Pix[4*i:4*i+4:4*i+4], was, is)
		}
	})
	return writing, mask
}

// isRemoved says whether something was removed from a pixel.
func isRemoved(c *canvas.Canvas, i int) bool {
	return c.Flags[i]&canvas.IsHand != 0 ||
		c.Input != c.Src && [4]uint8(c.Input.Pix[4*i:]) != [4]uint8(c.Src.Pix[4*i:])
}

// Removed is the share of the page's pixels that something was removed from.
func Removed(c *canvas.Canvas) float64 {
	var all atomic.Int64
	raster.Rows(c.H, c.Workers, func(y0, y1 int) {
		n := int64(0)
		for i := y0 * c.W; i < y1*c.W; i++ {
			if isRemoved(c, i) {
				n++
			}
		}
		all.Add(n)
	})
	return float64(all.Load()) / float64(len(c.Flags))
}

// lift finds the least opaque ink that turns the clean colour into the one that was there.
func lift(out, was, is []uint8) {
	opaque := float32(0)
	for ch := range was {
		a, b := float32(was[ch]), float32(is[ch])
		switch {
		case a < b:
			opaque = max(opaque, (b-a)/b)
		case a > b:
			opaque = max(opaque, (a-b)/(255-b))
		}
	}
	if opaque == 0 {
		return
	}
	for ch := range was {
		b := float32(is[ch])
		out[ch] = raster.Clamp8(b + (float32(was[ch])-b)/opaque)
	}
	out[3] = raster.Clamp8(255 * opaque)
}
