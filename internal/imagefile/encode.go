package imagefile

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"runtime"
	"sync/atomic"

	"unink/internal/raster"
)

// Choose decides the format of a result: the one asked for or, for Auto, PNG when the input was
// PNG or the result is grey line art, WebP when the input was WebP, else JPEG.
func Choose(asked, input Format, m *image.RGBA) Format {
	switch {
	case asked != Auto:
		return asked
	case input == PNG || input == WebP:
		return input
	case look(m).lineArt:
		return PNG
	}
	return JPEG
}

// Encode writes an opaque picture with its metadata. Grey pictures are written as grey where the
// format can, and PNG with as few bits a pixel as lose nothing. WebP is lossless and carries no
// resolution. A profile is kept where the file may have it: of RGB with colours, of grey with
// greys. It returns the context's error soon after that ended.
func Encode(ctx context.Context, m *image.RGBA, f Format, meta Meta) ([]byte, error) {
	if row := f.row(); row != nil && row.encode != nil {
		return row.encode(ctx, m, meta)
	}
	return nil, fmt.Errorf("%w: %s is not an output format", ErrFormat, f)
}

// EncodePNG writes any picture as PNG without metadata.
func EncodePNG(ctx context.Context, m image.Image) ([]byte, error) {
	var b bytes.Buffer
	err := pngEncoder.Encode(attentiveWriter{ctx, &b}, m)
	return b.Bytes(), err
}

func insert(b []byte, at int, extra []byte) []byte {
	out := make([]byte, 0, len(b)+len(extra))
	out = append(out, b[:at]...)
	out = append(out, extra...)
	return append(out, b[at:]...)
}

// appearance is what of a picture matters to its encoding.
type appearance struct{ grey, lineArt bool }

// Bilevel says that a picture has nothing but black and white.
func Bilevel(m *image.RGBA) bool { return raster.Bilevel(m) }

// look examines every pixel. Line art is grey with most of the page pure white.
func look(m *image.RGBA) appearance {
	const paper = 0.7
	workers := runtime.GOMAXPROCS(0)
	if !raster.Grey(m, workers) {
		return appearance{}
	}
	w, h := m.Rect.Dx(), m.Rect.Dy()
	var white atomic.Int64
	raster.Rows(h, workers, func(y0, y1 int) {
		n := 0
		for y := y0; y < y1; y++ {
			for x, row := 0, m.Pix[y*m.Stride:][:4*w]; x < len(row); x += 4 {
				if row[x] == 255 {
					n++
				}
			}
		}
		white.Add(int64(n))
	})
	return appearance{grey: true, lineArt: float64(white.Load()) >= paper*float64(w*h)}
}

func toGray(m *image.RGBA) *image.Gray {
	g := image.NewGray(m.Rect)
	raster.Rows(m.Rect.Dy(), runtime.GOMAXPROCS(0), func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			src, dst := m.Pix[y*m.Stride:], g.Pix[y*g.Stride:][:g.Rect.Dx()]
			for x := range dst {
				dst[x] = src[4*x]
			}
		}
	})
	return g
}
