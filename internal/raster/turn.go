package raster

import "image"

// Turn turns an opaque picture clockwise by quarters of a circle, 0 to 3; without any it is src itself.
func Turn(src *image.RGBA, quarters int) *image.RGBA {
	if quarters == 0 {
		return src
	}
	w, h := src.Rect.Dx(), src.Rect.Dy()
	if quarters != 2 {
		w, h = h, w
	}
	// The source offset of the first turned pixel, and the steps right and down from it.
	const px = 4
	last, bottom := px*(src.Rect.Dx()-1), src.Stride*(src.Rect.Dy()-1)
	o := [...]struct{ at, dx, dy int }{
		1: {bottom, -src.Stride, px},
		2: {last + bottom, -px, -src.Stride},
		3: {last, src.Stride, -px},
	}[quarters]
	dst := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		row := dst.Pix[y*dst.Stride:][:w*px]
		for x, from := 0, o.at+y*o.dy; x < len(row); x, from = x+px, from+o.dx {
			copy(row[x:x+px], src.Pix[from:from+px])
		}
	}
	return dst
}
