package erase

import (
	"image"
	"math"

	"unink/internal/raster"
	"unink/internal/restore/canvas"
	"unink/internal/restore/strokes"
)

// drawBox draws an empty box where a marked one was, with the light that its ink lets through in
// the empty one beside it.
func drawBox(c *canvas.Canvas, dst *image.RGBA, m strokes.Mark, paper *raster.Field, cell int) {
	full := func(v int) int { return int(math.Round(float64(v) * c.Scale)) }
	box := m.Empty
	area := image.Rect(full(box.Min.X)-1, full(box.Min.Y)-1, full(box.Max.X)+1, full(box.Max.Y)+1)
	move := image.Pt(full(m.At.X)-full(box.Min.X), full(m.At.Y)-full(box.Min.Y))
	area = area.Intersect(c.Src.Rect).Intersect(c.Src.Rect.Sub(move))
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			from, to := paper.At(x, y, cell), paper.At(x+move.X, y+move.Y, cell)
			px, out := c.Src.Pix[c.Src.PixOffset(x, y):][:3],
				dst.Pix[dst.PixOffset(x+move.X, y+move.Y):][:3]
			if c.Dark[y*c.W+x] <= c.Noise {
				continue
			}
			for ch := range out {
				share := min(float32(px[ch])/max(from[ch], 1), 1)
				out[ch] = min(out[ch], raster.Clamp8(to[ch]*share))
			}
		}
	}
}
