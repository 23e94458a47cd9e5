package imagefile

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"testing"

	"golang.org/x/image/webp"
	"pgregory.net/rapid"
)

// painted is a picture of pixels that a function of their places gives.
func painted(w, h int, at func(x, y int) color.RGBA) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetRGBA(x, y, at(x, y))
		}
	}
	return m
}

// speckle is a number from 0 to 255 for each place.
func speckle(x, y int) uint8 {
	v := uint32(x)*2654435761 + uint32(y)*2246822519
	v ^= v >> 15
	return uint8(v * 2654435761 >> 24)
}

// Frequencies that make an optimal code as deep as can be: each is the sum of the two before it.
// The encoder that was used before wrote files that nobody could read where that came to 16 bits.
func TestNoSymbolIsLongerThanWebPAllows(t *testing.T) {
	frequency := []uint32{1, 1}
	for len(frequency) < 40 {
		frequency = append(frequency, frequency[len(frequency)-1]+frequency[len(frequency)-2])
	}
	taken := 0.0 // of all that codes can begin with
	for s, n := range lengths(frequency) {
		if n < 1 || n > longest {
			t.Errorf("symbol %d has %d bits", s, n)
		}
		taken += 1 / float64(int(1)<<n)
	}
	if taken != 1 {
		t.Errorf("the codes take %v of what there is", taken)
	}
}

func TestWebPIsLossless(t *testing.T) {
	grey := func(v uint8) color.RGBA { return color.RGBA{v, v, v, 255} }
	for name, m := range map[string]*image.RGBA{
		"a corner": corner(33, 21),
		"a pixel":  painted(1, 1, func(_, _ int) color.RGBA { return color.RGBA{1, 2, 3, 255} }),
		"white":    painted(300, 200, func(_, _ int) color.RGBA { return grey(255) }),
		"black":    painted(5000, 2, func(_, _ int) color.RGBA { return grey(0) }),
		"wide":     painted(mostVP8L, 1, func(x, _ int) color.RGBA { return grey(uint8(x)) }),
		"tall":     painted(1, mostVP8L, func(_, y int) color.RGBA { return grey(uint8(y * y >> 7)) }),
		"noise": painted(257, 129, func(x, y int) color.RGBA {
			return color.RGBA{speckle(x, y), speckle(x+999, y), speckle(x, y+999), 255}
		}),
		"text": painted(400, 300, func(x, y int) color.RGBA {
			return grey(255 * min(1, speckle(x/9, y/30)%3))
		}),
	} {
		t.Run(name, func(t *testing.T) { sameAsWebP(t, m) })
	}
}

func TestAnyPictureComesBackFromWebP(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 40).Draw(t, "width"), rapid.IntRange(1, 40).Draw(t, "height")
		colours := rapid.SliceOfN(rapid.Uint32(), 1, 9).Draw(t, "colours")
		places := rapid.SliceOfN(rapid.IntRange(0, len(colours)-1), w*h, w*h).Draw(t, "pixels")
		sameAsWebP(t, painted(w, h, func(x, y int) color.RGBA {
			c := colours[places[y*w+x]]
			return color.RGBA{uint8(c), uint8(c >> 8), uint8(c >> 16), 255}
		}))
	})
}

// sameAsWebP fails where a picture does not come back as it went.
func sameAsWebP(t rapid.TB, m *image.RGBA) {
	t.Helper()
	data, err := Encode(context.Background(), m, WebP, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := webp.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(Opaque(got).Pix, m.Pix) {
		t.Error("pixels changed")
	}
}

func TestWebPRefusesWhatItCannotHold(t *testing.T) {
	_, err := Encode(t.Context(), image.NewRGBA(image.Rect(0, 0, mostVP8L+1, 1)), WebP, Meta{})
	if !errors.Is(err, ErrDimensions) {
		t.Errorf("a picture that is too wide for WebP: %v", err)
	}
}
