// Package picture is what the benchmarks compare: decoded pictures and how alike two of them are.
package picture

import (
	"context"
	"image"

	"unink/internal/imagefile"
)

// RGB is a picture: W × H pixels of three bytes.
type RGB struct {
	W, H int
	Pix  []uint8
}

// Decode reads a file's picture as the program does.
func Decode(data []byte) (*RGB, error) {
	read, err := imagefile.Decode(context.Background(), data, imagefile.Limits{})
	if err != nil {
		return nil, err
	}
	return Of(read.Pixels), nil
}

// Of is a picture without its alpha channel.
func Of(m *image.RGBA) *RGB {
	p := &RGB{W: m.Rect.Dx(), H: m.Rect.Dy(), Pix: make([]uint8, 0, 3*len(m.Pix)/4)}
	for i := 0; i < len(m.Pix); i += 4 {
		p.Pix = append(p.Pix, m.Pix[i:i+3]...)
	}
	return p
}

// Luminance is the grey of each pixel (BT.601), 0 to 255.
func (p *RGB) Luminance() []float64 {
	out := make([]float64, p.W*p.H)
	for i := range out {
		out[i] = 0.299*float64(p.Pix[3*i]) + 0.587*float64(p.Pix[3*i+1]) + 0.114*float64(p.Pix[3*i+2])
	}
	return out
}
