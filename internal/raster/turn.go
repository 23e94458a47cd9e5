package raster

import "image"

// Turn turns an opaque picture clockwise by quarters of a circle, 0 to 3; without any it is src
// itself.
func Turn(src *image.RGBA, quarters int) *image.RGBA {
	return Upright(src, [...]int{1, 6, 3, 8}[quarters])
}

// Upright undoes an EXIF orientation, 1 to 8; src itself comes back for 1 and for what is none.
func Upright(src *image.RGBA, orientation int) *image.RGBA {
	if orientation <= 1 || orientation > 8 {
		return src
	}
	w, h := src.Rect.Dx(), src.Rect.Dy()
	dw, dh := w, h
	if orientation >= 5 {
		dw, dh = h, w
	}
	// The source offset of the first upright pixel, and the steps right and down from it.
	const px = 4
	right, down := px, src.Stride
	last := px * (w - 1)
	bottom := src.Stride * (h - 1)
	o := [...]struct{ at, dx, dy int }{
		2: {last, -right, down},
		3: {last + bottom, -right, -down},
		4: {bottom, right, -down},
		5: {0, down, right},
		6: {bottom, -down, right},
		7: {last + bottom, -down, -right},
		8: {last, down, -right},
	}[orientation]
	dst := image.NewRGBA(image.Rect(0, 0, dw, dh))
	for y := range dh {
		row := dst.Pix[y*dst.Stride:][:dw*px]
		for x, from := 0, o.at+y*o.dy; x < len(row); x, from = x+px, from+o.dx {
			copy(row[x:x+px], src.Pix[from:from+px])
		}
	}
	return dst
}
