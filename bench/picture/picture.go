// Package picture is what the benchmarks compare: decoded pictures and how alike two of them are.
package picture

import (
	"bytes"
	"image"
	_ "image/jpeg" // for Decode
	_ "image/png"  // for Decode
)

// RGB is a picture: W × H pixels of three bytes.
type RGB struct {
	W, H int
	Pix  []uint8
}

// Decode reads a JPEG or PNG.
func Decode(data []byte) (*RGB, error) {
	m, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	b := m.Bounds()
	p := &RGB{W: b.Dx(), H: b.Dy(), Pix: make([]uint8, 0, 3*b.Dx()*b.Dy())}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, bl, _ := m.At(x, y).RGBA()
			p.Pix = append(p.Pix, uint8(r>>8), uint8(g>>8), uint8(bl>>8))
		}
	}
	return p, nil
}

// Luminance is the grey of each pixel (BT.601), 0 to 255.
func (p *RGB) Luminance() []float64 {
	out := make([]float64, p.W*p.H)
	for i := range out {
		out[i] = 0.299*float64(p.Pix[3*i]) + 0.587*float64(p.Pix[3*i+1]) + 0.114*float64(p.Pix[3*i+2])
	}
	return out
}
