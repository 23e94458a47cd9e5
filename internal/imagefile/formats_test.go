package imagefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"

	"golang.org/x/image/tiff"
)

func TestFiles(t *testing.T) {
	for name, want := range map[string]*image.RGBA{
		"deep.tif": bigCorner(), "tiles.tif": bigCorner(), "alpha.tif": onHalf(),
		"planes.tif": bigCorner(), "palette2.tif": bigCorner(), "cmyk.tif": bigCorner(),
		"big.tif": bigCorner(), "lzma.tif": bigCorner(),
		"rgb24.bmp": odd(), "rgba32.bmp": odd(), "palette4.bmp": odd(), "rle8.bmp": odd(),
		"interlaced.gif": bigCorner(),
	} {
		p, err := Decode(t.Context(), fixture(t, name), Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		same(t, name, p.Pixels, want, 2, true)
	}
	for name, want := range map[string]*image.RGBA{
		"inks.jpg": bigCorner(), "jpeg.tif": bigCorner(),
		"lossy.webp": bigCorner(), "lossy-alpha.webp": onHalf(),
	} {
		p, err := Decode(t.Context(), fixture(t, name), Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		same(t, name, p.Pixels, want, 3, false)
	}
}

// Fax pages are dithered: what is white and what is black in them is told by their blue quarter,
// which is dark, and the white one.
func TestFax(t *testing.T) {
	for _, name := range []string{"fax3.tif", "fax3-2d.tif", "fax3-fill.tif", "pages.tif"} {
		p, err := Decode(t.Context(), fixture(t, name), Limits{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		mean := func(r image.Rectangle) (sum int) {
			for y := r.Min.Y; y < r.Max.Y; y++ {
				for x := r.Min.X; x < r.Max.X; x++ {
					sum += int(p.Pixels.RGBAAt(x, y).G)
				}
			}
			return sum / (r.Dx() * r.Dy())
		}
		if blue, white := mean(image.Rect(4, 52, 76, 92)), mean(image.Rect(84, 52, 156, 92)); blue > 90 ||
			white != 255 {
			t.Errorf("%s: blue is %d, white %d", name, blue, white)
		}
		if p.DPI != [2]float64{300, 300} {
			t.Errorf("%s: %v dpi", name, p.DPI)
		}
	}
}

func TestPages(t *testing.T) {
	data := fixture(t, "pages.tif")
	before := bytes.Clone(data)
	if n := Pages(data); n != 3 {
		t.Fatalf("%d pages, want 3", n)
	}
	for i, want := range []*image.RGBA{nil, bigCorner(), greyCorner()} {
		p, err := Decode(t.Context(), Page(data, i), Limits{})
		if err != nil {
			t.Fatalf("page %d: %v", i, err)
		}
		if want != nil {
			same(t, "page", p.Pixels, want, 2, true)
		}
	}
	if !bytes.Equal(data, before) {
		t.Error("the file was changed")
	}
	if Pages(fixture(t, "plain.heic")) != 1 || Pages(nil) != 1 {
		t.Error("what is no TIFF has one page")
	}

	// A thumbnail at first is no page.
	head, at, _ := tiffHead(data)
	order, first := head.order, uint32(at)
	n := 12 * int(order.Uint16(data[first:]))
	tags := bytes.Clone(data[first+2:][:n+4])
	small := bytes.Clone(data)
	order.PutUint32(small[4:], uint32(len(small)))
	small = binary.LittleEndian.AppendUint16(small, uint16(n/12+1))
	small = append(small, tagSubfile, 0, 4, 0, 1, 0, 0, 0, 1, 0, 0, 0)
	small = append(small, tags...)
	p, err := Decode(t.Context(), small, Limits{})
	if err != nil || Pages(small) != 2 {
		t.Fatalf("%d pages (%v)", Pages(small), err)
	}
	same(t, "after a thumbnail", p.Pixels, bigCorner(), 2, true)

	// Pages in a circle end.
	loop := bytes.Clone(data)
	order.PutUint32(loop[int(first)+2+n:], first)
	if n := Pages(loop); n != 1 {
		t.Errorf("%d pages in a circle of one", n)
	}
}

// What is not supported is refused from the header, with a reason and what to do.
func TestRefusedVariants(t *testing.T) {
	jpeg2000 := bytes.Clone(fixture(t, "tiles.tif"))
	setTag(t, jpeg2000, tagCompression, 34712)
	fractions := tiffOf(16, nil, [3]int{tagSampleFormat, 3, 3})
	huffman := os2(1, nil)
	binary.LittleEndian.PutUint32(huffman[30:], 3)
	for reason, data := range map[string][]byte{
		"JPEG 2000 compression; save it": jpeg2000, "fractions as samples; save it": fractions,
		"compression 3; save it": huffman,
	} {
		_, err := Inspect(data, Limits{})
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), reason) {
			t.Errorf("%v, want ErrFormat that says %q", err, reason)
		}
	}
}

// YCCK, which inks.jpg is, is CMYK whose first three inks went through the matrix of RGB. The
// marker is all that tells them apart: as CMYK, its Y, Cb and Cr are what three inks leave of
// white.
func TestCMYK(t *testing.T) {
	data := bytes.Clone(fixture(t, "inks.jpg"))
	const ycck, cmyk = 2, 0
	at := bytes.Index(data, []byte("Adobe")) + 11
	if data[at] != ycck {
		t.Fatal("inks.jpg is not marked as YCCK")
	}
	data[at] = cmyk
	p, err := Decode(t.Context(), data, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	y, cb, cr := color.RGBToYCbCr(255, 255, 0) // the inks of blue
	if got, want := p.Pixels.RGBAAt(20, 70), (color.RGBA{y, cb, cr, 255}); !near(got, want, 2) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := p.Pixels.RGBAAt(140, 70); !near(got, color.RGBA{0, 128, 128, 255}, 2) {
		t.Errorf("%v at what was white", got)
	}
}

func TestSixteenBits(t *testing.T) {
	m := image.NewNRGBA64(image.Rect(0, 0, 256, 4))
	want := image.NewRGBA(m.Rect)
	for x := range 256 {
		for y := range 4 {
			v := uint16(x * 257)
			m.SetNRGBA64(x, y, color.NRGBA64{v, 0xffff - v, v / 2, 0xffff})
			want.SetRGBA(x, y, color.RGBA{uint8(x), uint8(255 - x), uint8(x / 2), 255})
		}
	}
	var b bytes.Buffer
	if err := tiff.Encode(&b, m, &tiff.Options{
		Compression: tiff.Deflate, Predictor: true,
	}); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"png": encodeAs(t, PNG, m), "tiff": b.Bytes()} {
		p, err := Decode(t.Context(), data, Limits{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		same(t, name, p.Pixels, want, 1, true)
	}
}

func TestPalettesWithAlpha(t *testing.T) {
	m := image.NewPaletted(image.Rect(0, 0, 3, 1), color.Palette{
		color.NRGBA{255, 0, 0, 255}, color.NRGBA{0, 0, 255, 128}, color.NRGBA{0, 0, 0, 0},
	})
	copy(m.Pix, []byte{0, 1, 2})
	p, err := Decode(t.Context(), encodeAs(t, PNG, m), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for x, want := range []color.RGBA{{255, 0, 0, 255}, {127, 127, 255, 255}, {255, 255, 255, 255}} {
		if got := p.Pixels.RGBAAt(x, 0); !near(got, want, 1) {
			t.Errorf("%v at %d, want %v", got, x, want)
		}
	}
}

// greyProfile is a minimal profile of grey.
func greyProfile() []byte {
	b := rgbProfile("Dot Gain 20%")
	copy(b[16:], "GRAY")
	return b
}

func TestProfiles(t *testing.T) {
	colours, greys := corner(40, 30), bigGrey(99)
	for name, c := range map[string]struct {
		m       *image.RGBA
		profile []byte
		kept    map[Format]bool
	}{
		"sRGB":            {colours, rgbProfile("sRGB IEC61966-2.1"), nil},
		"RGB":             {colours, rgbProfile("Adobe RGB (1998)"), map[Format]bool{PNG: true, JPEG: true, WebP: true}},
		"RGB on grey":     {greys, rgbProfile("Adobe RGB (1998)"), nil},
		"grey":            {greys, greyProfile(), map[Format]bool{PNG: true, JPEG: true}},
		"grey on colours": {colours, greyProfile(), nil},
		"grey on bilevel": {bigGrey(0), greyProfile(), map[Format]bool{PNG: true, JPEG: true}},
	} {
		for _, f := range []Format{PNG, JPEG, WebP} {
			data, err := Encode(t.Context(), c.m, f, Meta{ICC: c.profile})
			if err != nil {
				t.Fatal(err)
			}
			p, err := Decode(t.Context(), data, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if kept := bytes.Equal(p.ICC, c.profile); kept != c.kept[f] || !kept && p.ICC != nil {
				t.Errorf("%s in %s: kept is %v, want %v", name, f, kept, c.kept[f])
			}
		}
	}
}

// bigGrey is a white page with a grey bar on it.
func bigGrey(v uint8) *image.RGBA {
	m := Opaque(image.NewRGBA(image.Rect(0, 0, 40, 30)))
	for x := range 40 {
		m.SetRGBA(x, 5, color.RGBA{v, v, v, 255})
	}
	return m
}

// tiffWith adds a tag of single bytes to a little-endian TIFF file of one page.
func tiffWith(data []byte, tag uint16, kind uint16, value []byte) []byte {
	return tiffTag(data, tag, kind, len(value), value)
}

// tiffTag adds a tag of so many values, which together take more than 4 bytes.
func tiffTag(data []byte, tag, kind uint16, count int, value []byte) []byte {
	data = append(bytes.Clone(data), make([]byte, len(data)&1)...)
	first := binary.LittleEndian.Uint32(data[4:])
	n := int(binary.LittleEndian.Uint16(data[first:]))
	tags := data[first+2:][:12*n]
	at := len(data)
	data = append(append(data, value...), make([]byte, len(value)&1)...)
	binary.LittleEndian.PutUint32(data[4:], uint32(len(data)))
	data = binary.LittleEndian.AppendUint16(data, uint16(n+1))
	data = append(data, tags...) // the new tag is higher than all of them
	data = binary.LittleEndian.AppendUint16(data, tag)
	data = binary.LittleEndian.AppendUint16(data, kind)
	data = binary.LittleEndian.AppendUint32(data, uint32(count))
	data = binary.LittleEndian.AppendUint32(data, uint32(at))
	return append(data, 0, 0, 0, 0)
}

func TestProfileOfTIFF(t *testing.T) {
	data := tiffWith(encodeAs(t, TIFF, corner(40, 30)), tagICC, 7, rgbProfile("Adobe RGB (1998)"))
	p, err := Decode(t.Context(), data, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(p.ICC, rgbProfile("Adobe RGB (1998)")) {
		t.Error("the profile is lost")
	}
}

func TestResolutionIsKept(t *testing.T) {
	jfif, err := Encode(t.Context(), corner(40, 30), JPEG, Meta{DPI: [2]float64{200, 100}})
	if err != nil {
		t.Fatal(err)
	}
	phys, err := Encode(t.Context(), corner(40, 30), PNG, Meta{DPI: [2]float64{200, 100}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data []byte
		want [2]float64
	}{
		"JPEG": {jfif, [2]float64{200, 100}}, "PNG": {phys, [2]float64{200, 100}},
		"TIFF": {fixture(t, "deep.tif"), [2]float64{300, 300}},
		"BMP":  {rgb24At(t, 11811), [2]float64{300, 300}},
	} {
		p, err := Decode(t.Context(), c.data, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []Format{PNG, JPEG} {
			out, err := Encode(t.Context(), p.Pixels, f, p.Meta)
			if err != nil {
				t.Fatal(err)
			}
			back, err := Decode(t.Context(), out, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range back.DPI {
				if math.Abs(back.DPI[i]-c.want[i]) > 0.1 {
					t.Errorf("%s to %s: %v dpi, want %v", name, f, back.DPI, c.want)
				}
			}
		}
	}
}

// rgb24At is a BMP of so many pixels a metre.
func rgb24At(t *testing.T, metre uint32) []byte {
	data := bytes.Clone(fixture(t, "rgb24.bmp"))
	binary.LittleEndian.PutUint32(data[38:], metre)
	binary.LittleEndian.PutUint32(data[42:], metre)
	return data
}

// pngWith puts a chunk after a PNG's header.
func pngWith(data []byte, kind string, body []byte) []byte {
	var chunk bytes.Buffer
	pngChunk(&chunk, kind, body)
	return insert(data, 33, chunk.Bytes())
}

// Where a picture was taken, by whom and with what goes nowhere.
func TestMetadataIsDropped(t *testing.T) {
	const secret = "52.5 N 13.4 E, by nobody"
	page := corner(40, 30)
	exif := []byte(
		"Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x82\x98" +
			"\x00\x02\x00\x00\x00\x18\x00\x00\x00\x1a\x00\x00\x00\x00" + secret,
	)
	xmp := []byte("http://ns.adobe.com/xap/1.0/\x00<x:xmpmeta>" + secret + "</x:xmpmeta>")
	segment := func(jpg []byte, marker byte, body []byte) []byte {
		return insert(jpg, 2,
			append([]byte{0xff, marker, byte((len(body) + 2) >> 8), byte(len(body) + 2)}, body...))
	}
	jpg := segment(segment(segment(encodeAs(t, JPEG, page), 0xe1, exif), 0xe1, xmp), 0xfe,
		[]byte(secret))
	pic := pngWith(pngWith(encodeAs(t, PNG, page), "eXIf", exif[6:]), "tEXt",
		[]byte("Author\x00"+secret))
	still := encodeAs(t, WebP, page)
	head := append([]byte{1<<3 | 1<<2, 0, 0, 0}, 39, 0, 0, 29, 0, 0)
	chunks := append(riffChunk(nil, "VP8X", head), still[12:]...)
	web := webpFile(riffChunk(riffChunk(chunks, "EXIF", exif[6:]), "XMP ", xmp[29:]))
	tif := tiffWith(encodeAs(t, TIFF, page), 33432, 2, []byte(secret))
	for name, data := range map[string][]byte{
		"JPEG": jpg, "PNG": pic, "WebP": web, "TIFF": tif,
		"HEIC": append(heicGrid(t, 1, 1), box("free", []byte(secret))...),
	} {
		if !bytes.Contains(data, []byte(secret)) {
			t.Fatalf("%s: the test is wrong", name)
		}
		p, err := Decode(t.Context(), data, Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, f := range []Format{PNG, JPEG, WebP} {
			out, err := Encode(t.Context(), p.Pixels, f, p.Meta)
			if err != nil {
				t.Fatal(err)
			}
			for _, trace := range []string{secret, "Exif", "EXIF", "eXIf", "xmpmeta", "XMP "} {
				if bytes.Contains(out, []byte(trace)) {
					t.Errorf("%s to %s: %q goes out", name, f, trace)
				}
			}
		}
	}
}

// The smallest form of a PNG that may carry a profile of grey is grey.
func TestGreyProfileStandsInGreyPNG(t *testing.T) {
	data, err := Encode(t.Context(), bigGrey(99), PNG, Meta{ICC: greyProfile()})
	if err != nil {
		t.Fatal(err)
	}
	if cfg, err := png.DecodeConfig(bytes.NewReader(data)); err != nil ||
		cfg.ColorModel != color.GrayModel {
		t.Errorf("%v (%v)", cfg.ColorModel, err)
	}
}
