package restore

import (
	"image"

	"unink/internal/raster"
)

// layers separates what was removed: the writing alone, such that laid over the cleaned page it
// gives the page as it was, and the mask of the removed strokes.
func (c *canvas) layers(cleaned *image.RGBA) (writing *image.NRGBA, mask *image.Gray) {
	writing, mask = image.NewNRGBA(c.src.Rect), image.NewGray(c.src.Rect)
	raster.Rows(c.h, c.workers, func(y0, y1 int) {
		for i := y0 * c.w; i < y1*c.w; i++ {
			if !c.taken(i) {
				continue
			}
			mask.Pix[i] = 255
			was, is := c.came.Pix[4*i:4*i+3:4*i+3], cleaned.Pix[4*i:4*i+3:4*i+3]
			lift(writing.Pix[4*i:4*i+4:4*i+4], was, is)
		}
	})
	return writing, mask
}

// taken says whether something was removed from a pixel.
func (c *canvas) taken(i int) bool {
	return c.flags[i]&isHand != 0 || c.came != c.src && [4]uint8(c.came.Pix[4*i:]) != [4]uint8(c.src.Pix[4*i:])
}

// removed is the share of the page's pixels that something was removed from.
func (c *canvas) removed() float64 {
	n := 0
	for i := range c.flags {
		if c.taken(i) {
			n++
		}
	}
	return float64(n) / float64(len(c.flags))
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
		out[ch] = clamp8(b + (float32(was[ch])-b)/opaque)
	}
	out[3] = clamp8(255 * opaque)
}
