package imagefile

import (
	"context"
	"fmt"
	"image"
	"image/draw"
	"runtime"

	"unink/internal/raster"
)

// Picture is a decoded file.
type Picture struct {
	Header
	Meta
	Pixels *image.RGBA // upright, opaque, origin at 0,0
}

// Decode checks the header as [Inspect] does, then decodes the (first) picture, lays it over
// white and turns it upright. It returns the context's error soon after that ended.
func Decode(ctx context.Context, data []byte, l Limits) (p *Picture, err error) {
	defer recoverBroken(&err)
	h, file, err := open(data, l)
	if err != nil {
		return nil, err
	}
	m, err := file.pixels(ctx)
	if ended := ctx.Err(); ended != nil {
		return nil, ended
	}
	if err != nil {
		return nil, broken(h.Format, err)
	}
	size, orientation := file.size, file.orientation
	if file.upright {
		size, orientation = image.Pt(h.Width, h.Height), 1
	}
	if got := m.Bounds().Size(); got != size {
		return nil, fmt.Errorf("%w: the header says %d×%d, the data %d×%d", ErrBroken, size.X, size.Y,
			got.X, got.Y)
	}
	return &Picture{
		Header: h,
		Meta:   file.meta().sound(),
		Pixels: raster.Upright(onWhite(m, image.Rectangle{Max: size}), orientation),
	}, nil
}

// Opaque returns m laid over white, with its origin at 0,0: m itself where it is so already.
func Opaque(m image.Image) *image.RGBA { return onWhite(m, m.Bounds()) }

// onWhite lays m, which may be smaller than the canvas (a GIF's frame), over white. It is m itself
// where there is nothing to do.
func onWhite(m image.Image, canvas image.Rectangle) *image.RGBA {
	if own, ok := m.(*image.RGBA); ok && own.Rect == canvas && canvas.Min == (image.Point{}) &&
		own.Stride == 4*canvas.Dx() && raster.Opaque(own, runtime.GOMAXPROCS(0)) {
		return own
	}
	dst := image.NewRGBA(canvas.Sub(canvas.Min))
	at := m.Bounds().Sub(canvas.Min)
	if o, ok := m.(interface{ Opaque() bool }); ok && at == dst.Rect && o.Opaque() {
		raster.Rows(at.Dy(), runtime.GOMAXPROCS(0), func(y0, y1 int) {
			draw.Draw(dst, image.Rect(0, y0, at.Dx(), y1), m, m.Bounds().Min.Add(image.Pt(0, y0)), draw.Src)
		})
		return dst
	}
	draw.Draw(dst, dst.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(dst, at, m, m.Bounds().Min, draw.Over)
	return dst
}
