package imagefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"pgregory.net/rapid"

	"unink/internal/raster"
)

// corner draws a page that is red at its top left, green at its top right, blue at its bottom left
// and white elsewhere, so that every orientation looks different.
func corner(w, h int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.RGBA{255, 255, 255, 255}
			switch {
			case x < w/2 && y < h/2:
				c = color.RGBA{255, 0, 0, 255}
			case y < h/2:
				c = color.RGBA{0, 200, 0, 255}
			case x < w/2:
				c = color.RGBA{0, 0, 255, 255}
			}
			m.SetRGBA(x, y, c)
		}
	}
	return m
}

func encodeAs(t testing.TB, f Format, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch f {
	case PNG:
		err = png.Encode(&b, m)
	case JPEG:
		err = jpeg.Encode(&b, m, &jpeg.Options{Quality: 95})
	case WebP:
		var data []byte
		data, err = Encode(t.Context(), Opaque(m), f, Meta{})
		b.Write(data)
	case BMP:
		err = bmp.Encode(&b, m)
	case TIFF:
		err = tiff.Encode(&b, m, nil)
	case GIF:
		err = gif.Encode(&b, m, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func near(a, b color.RGBA, tolerance int) bool {
	d := func(p, q uint8) bool { return int(p)-int(q) <= tolerance && int(q)-int(p) <= tolerance }
	return d(a.R, b.R) && d(a.G, b.G) && d(a.B, b.B) && a.A == b.A
}

func TestDecodeEveryFormat(t *testing.T) {
	page := corner(40, 24)
	for _, f := range []Format{PNG, JPEG, WebP, BMP, TIFF, GIF} {
		data := encodeAs(t, f, page)
		p, err := Decode(t.Context(), data, Limits{})
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		if p.Format != f || p.Width != 40 || p.Height != 24 || p.Orientation != 1 {
			t.Errorf("%s: header %+v", f, p.Header)
		}
		for _, at := range []image.Point{{5, 5}, {35, 5}, {5, 20}, {35, 20}} {
			if got, want := p.Pixels.RGBAAt(at.X, at.Y), page.RGBAAt(at.X, at.Y); !near(got, want, 24) {
				t.Errorf("%s: %v at %v, want %v", f, got, at, want)
			}
		}
	}
}

func TestDecodeKinds(t *testing.T) {
	grey := color.RGBA{128, 128, 128, 255}
	half := image.NewNRGBA(image.Rect(0, 0, 20, 20)) // half transparent black is grey on white
	deep := image.NewNRGBA64(image.Rect(0, 0, 20, 20))
	grey16 := image.NewGray16(image.Rect(0, 0, 20, 20))
	palette := image.NewPaletted(image.Rect(0, 0, 20, 20), color.Palette{color.NRGBA{0, 0, 0, 128}})
	for y := range 20 {
		for x := range 20 {
			half.SetNRGBA(x, y, color.NRGBA{0, 0, 0, 127})
			deep.SetNRGBA64(x, y, color.NRGBA64{0x8080, 0x8080, 0x8080, 0xffff})
			grey16.SetGray16(x, y, color.Gray16{0x8080})
		}
	}
	for name, m := range map[string]image.Image{
		"alpha": half, "16 bit": deep, "16 bit grey": grey16, "palette with alpha": palette,
	} {
		p, err := Decode(t.Context(), encodeAs(t, PNG, m), Limits{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := p.Pixels.RGBAAt(10, 10); !near(got, grey, 2) {
			t.Errorf("%s: %v, want %v", name, got, grey)
		}
	}
}

// withOrientation puts an EXIF segment with only that tag into a JPEG.
func withOrientation(jpg []byte, orientation uint16) []byte {
	b := []byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01")
	b = binary.BigEndian.AppendUint16(b, orientation)
	b = append(b, 0, 0, 0, 0, 0, 0)
	segment := append([]byte{0xff, 0xe1, 0, byte(len(b) + 2)}, b...)
	return insert(jpg, 2, segment)
}

func TestOrientation(t *testing.T) {
	page := corner(48, 32)
	// How a camera stores an upright page for each tag: the inverse of what is to be applied.
	inverse := []int{0, 1, 2, 3, 4, 5, 8, 7, 6}
	for o := 1; o <= 8; o++ {
		stored := raster.Upright(page, inverse[o])
		data := withOrientation(encodeAs(t, JPEG, stored), uint16(o))
		p, err := Decode(t.Context(), data, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if p.Width != 48 || p.Height != 32 || p.Orientation != o {
			t.Errorf("orientation %d: header %+v", o, p.Header)
		}
		for _, at := range []image.Point{{8, 8}, {40, 8}, {8, 24}, {40, 24}} {
			if got, want := p.Pixels.RGBAAt(at.X, at.Y), page.RGBAAt(at.X, at.Y); !near(got, want, 30) {
				t.Errorf("orientation %d: %v at %v, want %v", o, got, at, want)
			}
		}
		out, err := Encode(t.Context(), p.Pixels, JPEG, p.Meta)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(out, []byte("Exif")) {
			t.Error("EXIF in the output")
		}
	}
}

func TestLimits(t *testing.T) {
	data := encodeAs(t, PNG, corner(100, 50))
	for name, c := range map[string]struct {
		l    Limits
		want error
	}{
		"none":     {Limits{}, nil},
		"enough":   {Limits{MaxBytes: len(data), MaxPixels: 5000, MaxSide: 100, MinSide: 50}, nil},
		"bytes":    {Limits{MaxBytes: len(data) - 1}, ErrTooLarge},
		"pixels":   {Limits{MaxPixels: 4999}, ErrDimensions},
		"side":     {Limits{MaxSide: 99}, ErrDimensions},
		"too thin": {Limits{MinSide: 51}, ErrDimensions},
	} {
		if _, err := Inspect(data, c.l); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// A header that promises more than the limit is refused though there is no pixel behind it.
func TestHugeHeader(t *testing.T) {
	data := encodeAs(t, PNG, corner(16, 16))
	binary.BigEndian.PutUint32(data[16:], 100_000)
	binary.BigEndian.PutUint32(data[20:], 100_000)
	binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
	if _, err := Decode(t.Context(), data, Limits{MaxPixels: 50e6}); !errors.Is(err, ErrDimensions) {
		t.Errorf("%v, want ErrDimensions", err)
	}
}

func TestRefusals(t *testing.T) {
	page := corner(64, 64)
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"empty":          {nil, ErrFormat},
		"text":           {[]byte("hello, this is not a picture"), ErrFormat},
		"pdf":            {[]byte("%PDF-1.7 ..."), ErrFormat},
		"film":           {[]byte("\x00\x00\x00\x14ftypisom\x00\x00\x00\x00mp42"), ErrFormat},
		"only a type":    {[]byte("\x00\x00\x00\x14ftypheic\x00\x00\x00\x00mif1"), ErrBroken},
		"only a magic":   {[]byte("\x89PNG\r\n\x1a\n"), ErrBroken},
		"truncated png":  {half(encodeAs(t, PNG, page)), ErrBroken},
		"truncated jpeg": {half(encodeAs(t, JPEG, page)), ErrBroken},
		"truncated webp": {half(encodeAs(t, WebP, page)), ErrBroken},
		"truncated bmp":  {half(encodeAs(t, BMP, page)), ErrBroken},
		"truncated tiff": {half(encodeAs(t, TIFF, page)), ErrBroken},
		"truncated gif":  {half(encodeAs(t, GIF, page)), ErrBroken},
	} {
		if _, err := Decode(t.Context(), c.data, Limits{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func half(b []byte) []byte { return b[:len(b)/2] }

func TestFirstFrame(t *testing.T) {
	still := encodeAs(t, WebP, corner(32, 32))
	var vp8l []byte
	riffChunks(still[12:], func(kind string, body []byte) bool {
		if kind == "VP8L" {
			vp8l = body
		}
		return false
	})
	size := []byte{31, 0, 0, 31, 0, 0}
	frame := append(append([]byte{0, 0, 0, 0, 0, 0}, size...), 0, 0, 0, 0)
	frame = riffChunk(frame, "VP8L", vp8l)
	chunks := riffChunk(nil, "VP8X", append([]byte{webpAnimated, 0, 0, 0}, size...))
	chunks = riffChunk(chunks, "ANIM", make([]byte, 6))
	chunks = riffChunk(chunks, "ANMF", frame)
	p, err := Decode(t.Context(), webpFile(riffChunk(chunks, "ANMF", frame)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Pixels.RGBAAt(4, 4); got != (color.RGBA{255, 0, 0, 255}) {
		t.Errorf("first frame is %v at its top left", got)
	}

	g := &gif.GIF{Config: image.Config{Width: 30, Height: 30}, Delay: []int{1, 1}}
	for i, c := range []color.Color{color.Black, color.White} {
		m := image.NewPaletted(image.Rect(10, 10, 20, 20), color.Palette{c})
		g.Image = append(g.Image, m)
		g.Delay[i] = 1
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, g); err != nil {
		t.Fatal(err)
	}
	if p, err = Decode(t.Context(), b.Bytes(), Limits{}); err != nil {
		t.Fatal(err)
	}
	if p.Width != 30 || p.Pixels.RGBAAt(15, 15).R != 0 || p.Pixels.RGBAAt(2, 2).R != 255 {
		t.Errorf("the first frame is not laid over a white canvas: %+v", p.Header)
	}
}

// rgbProfile is a minimal profile of the given name.
func rgbProfile(name string) []byte {
	b := make([]byte, 144)
	copy(b[16:], "RGB ")
	copy(b[36:], "acsp")
	binary.BigEndian.PutUint32(b[128:], 1)
	copy(b[132:], "desc")
	binary.BigEndian.PutUint32(b[136:], 144)
	binary.BigEndian.PutUint32(b[140:], uint32(12+len(name)))
	b = append(b, "desc\x00\x00\x00\x00\x00\x00\x00\x00"...)
	return append(b, name...)
}

func TestMetaSurvives(t *testing.T) {
	meta := Meta{DPI: [2]float64{300, 300}, ICC: rgbProfile("Display P3")}
	for _, f := range []Format{PNG, JPEG, WebP} {
		data, err := Encode(t.Context(), corner(40, 30), f, meta)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Decode(t.Context(), data, Limits{})
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		if !bytes.Equal(p.ICC, meta.ICC) {
			t.Errorf("%s: the profile is lost", f)
		}
		if f != WebP && math.Abs(p.DPI[0]-300) > 0.1 {
			t.Errorf("%s: %v dpi, want 300", f, p.DPI)
		}
	}
	data, err := Encode(t.Context(), corner(40, 30), PNG, Meta{ICC: rgbProfile("sRGB IEC61966-2.1")})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := Decode(t.Context(), data, Limits{}); err != nil || p.ICC != nil {
		t.Errorf("an sRGB profile is kept: %v", err)
	}
}

func TestEncodeRepresentation(t *testing.T) {
	const grey, indexed, rgb = 0, 3, 2 // kinds of colour in the header of a PNG
	fill := func(dark uint8) *image.RGBA {
		m := corner(40, 30)
		for i := range m.Pix {
			m.Pix[i] = 255
			if i < 400 && i%4 != 3 {
				m.Pix[i] = dark
			}
		}
		return m
	}
	many := corner(40, 30)
	for i := range 400 {
		many.Pix[4*i], many.Pix[4*i+1] = uint8(i), uint8(i>>8)
	}
	for name, c := range map[string]struct {
		m           *image.RGBA
		choice      Format
		depth, kind byte
	}{
		"bilevel":     {fill(0), PNG, 1, grey},
		"four greys":  {fill(85), PNG, 2, grey},
		"16 greys":    {fill(51), PNG, 4, grey},
		"grey":        {fill(99), PNG, 8, grey},
		"colour":      {corner(40, 30), JPEG, 2, indexed},
		"many colour": {many, JPEG, 8, rgb},
	} {
		if got := Choose(Auto, JPEG, c.m); got != c.choice {
			t.Errorf("%s: chose %s, want %s", name, got, c.choice)
		}
		data, err := Encode(t.Context(), c.m, PNG, Meta{})
		if err != nil {
			t.Fatal(err)
		}
		if data[24] != c.depth || data[25] != c.kind {
			t.Errorf("%s: %d bits of kind %d, want %d of %d", name, data[24], data[25], c.depth, c.kind)
		}
		back, err := Decode(t.Context(), data, Limits{})
		if err != nil || !bytes.Equal(back.Pixels.Pix, c.m.Pix) {
			t.Errorf("%s: pixels changed (%v)", name, err)
		}
	}
	if got := Choose(Auto, WebP, corner(8, 8)); got != WebP {
		t.Errorf("WebP in, %s out", got)
	}
	if got := Choose(JPEG, PNG, corner(8, 8)); got != JPEG {
		t.Errorf("asked for JPEG, chose %s", got)
	}
}

func TestPNGIsLosslessWithAnyNumberOfColours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(1, 20), rapid.IntRange(250, 300)).Draw(t, "colours")
		colour := rapid.SampledFrom([]func(r *rand.Rand) [3]uint8{
			func(r *rand.Rand) [3]uint8 {
				return [3]uint8{uint8(r.IntN(256)), uint8(r.IntN(256)), uint8(r.IntN(256))}
			},
			func(r *rand.Rand) [3]uint8 { v := uint8(r.IntN(256)); return [3]uint8{v, v, v} },
			func(r *rand.Rand) [3]uint8 { v := uint8(r.IntN(16) * 17); return [3]uint8{v, v, v} },
		}).Draw(t, "kind")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		palette := make([][3]uint8, n)
		for i := range palette {
			palette[i] = colour(r)
		}
		m := image.NewRGBA(image.Rect(0, 0, rapid.IntRange(1, 70).Draw(t, "w"),
			rapid.IntRange(1, 30).Draw(t, "h")))
		for i := range len(m.Pix) / 4 {
			copy(m.Pix[4*i:], palette[(i+r.IntN(2))%n][:])
			m.Pix[4*i+3] = 255
		}
		data, err := Encode(t.Context(), m, PNG, Meta{DPI: [2]float64{150, 150}})
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(t.Context(), data, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(back.Pixels.Pix, m.Pix) {
			t.Fatal("pixels changed")
		}
		if math.Abs(back.DPI[0]-150) > 0.1 {
			t.Fatalf("%v dpi, want 150", back.DPI)
		}
	})
}

// FuzzDecode feeds anything: the answer is a picture within the limits or one of the errors.
func FuzzDecode(f *testing.F) {
	page := corner(20, 12)
	for _, format := range []Format{PNG, JPEG, WebP, BMP, TIFF, GIF} {
		f.Add(encodeAs(f, format, page))
	}
	f.Add(withOrientation(encodeAs(f, JPEG, page), 6))
	for _, format := range []Format{PNG, JPEG, WebP} {
		meta := Meta{DPI: [2]float64{72, 72}, ICC: rgbProfile("Display P3")}
		data, err := Encode(f.Context(), page, format, meta)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, name := range []string{"plain.heic", "odd.heic", "plain.avif", "deep.avif", "pages.tif",
		"tiles.tif"} {
		f.Add(fixture(f, name))
	}
	// fuzzing allows ten seconds an input
	for _, compile := range []func() (decoder, error){heifDecoder, avifDecoder} {
		if _, err := compile(); err != nil {
			f.Fatal(err)
		}
	}
	limits := Limits{MaxBytes: 1 << 20, MaxPixels: 1 << 20, MaxSide: 4000, MinSide: 1}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Decode(t.Context(), data, limits)
		if err != nil {
			for _, known := range []error{ErrTooLarge, ErrDimensions, ErrFormat, ErrBroken} {
				if errors.Is(err, known) {
					return
				}
			}
			t.Fatalf("an error without a reason: %v", err)
		}
		if limits.CheckSize(p.Width, p.Height) != nil ||
			p.Pixels.Rect != image.Rect(0, 0, p.Width, p.Height) {
			t.Fatalf("header %+v, pixels %v", p.Header, p.Pixels.Rect)
		}
		if _, err := Encode(t.Context(), p.Pixels, PNG, p.Meta); err != nil {
			t.Fatal(err)
		}
	})
}

func TestDecodeKindsOfJPEG(t *testing.T) {
	for name, want := range map[string]color.RGBA{
		"cmyk.jpg":             {200, 40, 40, 255},
		"progressive-grey.jpg": {255, 255, 255, 255},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Decode(t.Context(), data, Limits{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := p.Pixels.RGBAAt(2, 0); !near(got, want, 12) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
