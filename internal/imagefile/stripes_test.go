package imagefile

import (
	"bytes"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// A picture that is encoded in stripes is the same, pixel by pixel, as one that is encoded whole.
func TestStripesMakeTheSameJPEG(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 80).Draw(t, "width"), rapid.IntRange(1, 600).Draw(t, "height")
		noise := rand.New(rand.NewPCG(uint64(w), uint64(h)))
		colour, grey := image.NewRGBA(image.Rect(0, 0, w, h)), image.NewGray(image.Rect(0, 0, w, h))
		for i := range colour.Pix {
			colour.Pix[i] = uint8(i>>6) + uint8(noise.IntN(40))
		}
		copy(grey.Pix, colour.Pix)
		for _, m := range []sheet{colour, grey} {
			var whole bytes.Buffer
			if err := jpeg.Encode(&whole, m, &jpeg.Options{Quality: jpegQuality}); err != nil {
				t.Fatal(err)
			}
			want, err := jpeg.Decode(&whole)
			if err != nil {
				t.Fatal(err)
			}
			data, err := encodeJPEG(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			got, err := jpeg.Decode(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(Opaque(got).Pix, Opaque(want).Pix) {
				t.Fatalf("%T of %d×%d is another picture", m, w, h)
			}
		}
	})
}

// The number of blocks between two restarts has 16 bits.
func TestStripesOfTheWidestPicture(t *testing.T) {
	m := image.NewGray(image.Rect(0, 0, 65535, stripeHeight+1))
	data, err := encodeJPEG(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	got, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil || got.Bounds() != m.Rect {
		t.Fatalf("%v, %v", got, err)
	}
}
