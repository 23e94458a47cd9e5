package pdf

import (
	"context"
	"image"
)

// bilevel says that a page is one scan in black and white, with nothing beside it but text, such as
// what a program has read of it.
func (g *guest) bilevel(ctx context.Context, page uint64, size Size) (bool, error) {
	const textObject, imageObject, most = 1, 3, 5000
	n, err := g.Call(ctx, "FPDFPage_CountObjects", page)
	if err != nil || n > most {
		return false, err
	}
	scans := 0
	for i := range n {
		object, err := g.Call(ctx, "FPDFPage_GetObject", page, i)
		if err != nil {
			return false, err
		}
		kind, err := g.Call(ctx, "FPDFPageObj_GetType", object)
		if err != nil || kind != textObject && kind != imageObject {
			return false, err
		}
		if kind == imageObject {
			if ok, err := g.bilevelScan(ctx, page, object, size); !ok {
				return false, err
			}
			scans++
		}
	}
	return scans == 1, nil
}

// bilevelScan says that a picture has one bit a pixel and covers the page.
func (g *guest) bilevelScan(ctx context.Context, page, object uint64, size Size) (bool, error) {
	// Width, height, two resolutions, bits a pixel, kind of colours, marked content: words.
	const words, bits, covered = 7, 16, 0.9
	out, err := g.Alloc(ctx, 4*words)
	if err != nil {
		return false, err
	}
	area, err := g.area(ctx, object, out)
	if err != nil {
		return false, err
	}
	ok, err := g.Call(ctx, "FPDFImageObj_GetImageMetadata", object, page, uint64(out))
	if err != nil {
		return false, err
	}
	bilevel := ok != 0 && g.Word(out+bits) == 1 && area >= covered*size.Width*size.Height
	_, err = g.Call(ctx, "free", uint64(out))
	return bilevel, err
}

// toBilevel makes a drawn page black and white: its greys are of the drawing.
func toBilevel(m *image.RGBA) {
	for i := 0; i+3 < len(m.Pix); i += 4 {
		v := uint8(0)
		if m.Pix[i+1] >= 128 {
			v = 255
		}
		m.Pix[i], m.Pix[i+1], m.Pix[i+2] = v, v, v
	}
}
