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
		Pixels: raster.Upright(ownOnWhite(m, image.Rectangle{Max: size}), orientation),
	}, nil
}

// ownOnWhite is onWhite for a picture that nobody else has: it may be the result.
func ownOnWhite(m image.Image, canvas image.Rectangle) *image.RGBA {
	if own, ok := m.(*image.RGBA); ok && own.Rect == canvas &&
		raster.Opaque(own, runtime.GOMAXPROCS(0)) {
		return own
	}
	return onWhite(m, canvas)
}

// Opaque returns m laid over white, as a picture of its own with its origin at 0,0.
func Opaque(m image.Image) *image.RGBA { return onWhite(m, m.Bounds()) }

// onWhite lays m, which may be smaller than the canvas (a GIF's frame), over white.
func onWhite(m image.Image, canvas image.Rectangle) *image.RGBA {
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
