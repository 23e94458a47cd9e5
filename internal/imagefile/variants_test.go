package imagefile

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"io"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/ccitt"

	"unink/internal/raster"
)

// setTag changes the first value of a tag, which must be there, in a TIFF file.
func setTag(t *testing.T, data []byte, tag uint16, to int) {
	t.Helper()
	d, _ := tiffFirst(data)
	kind, _, value := d.find(tag)
	switch {
	case value == nil:
		t.Fatalf("there is no tag %d", tag)
	case kind == 3:
		d.order.PutUint16(value, uint16(to))
	default:
		d.order.PutUint32(value, uint32(to))
	}
}

// The two colours of a fax are told apart by its tag of what black is, whatever its compression.
func TestFaxWithBlackAsZero(t *testing.T) {
	for _, name := range []string{"fax3.tif", "fax3-2d.tif", "pages.tif"} {
		data := bytes.Clone(fixture(t, name))
		usual, err := Decode(t.Context(), data, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		d, _ := tiffFirst(data)
		setTag(t, data, tagPhotometric, 1-d.number(tagPhotometric))
		p, err := Decode(t.Context(), data, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(usual.Pixels.Pix); i += 4 {
			if p.Pixels.Pix[i] != 255-usual.Pixels.Pix[i] {
				t.Fatalf("%s: pixel %d is %d with black as zero and %d with white", name, i/4, p.Pixels.Pix[i],
					usual.Pixels.Pix[i])
			}
		}
	}
}

// tiffOf is a TIFF file of one row of pixels, uncompressed, with the tags that are given beside.
func tiffOf(width int, pixels []byte, more ...[3]int) []byte {
	b := binary.LittleEndian
	out := append([]byte("II*\x00\x00\x00\x00\x00"), pixels...)
	out = append(out, make([]byte, len(out)&1)...)
	b.PutUint32(out[4:], uint32(len(out)))
	tags := append([][3]int{{tagWidth, 4, width}, {tagHeight, 4, 1}}, more...)
	out = b.AppendUint16(out, uint16(len(tags)))
	for _, tag := range tags {
		out = b.AppendUint16(out, uint16(tag[0]))
		out = b.AppendUint16(out, uint16(tag[1]))
		out = b.AppendUint32(out, 1)
		out = b.AppendUint32(out, uint32(tag[2]))
	}
	return append(out, 0, 0, 0, 0)
}

func TestGreyTIFFs(t *testing.T) {
	const offsets, samples, counts, extra, transparency = 273, 277, 279, 338, 2
	layout := func(bits, perPixel, n int, more ...[3]int) [][3]int {
		return append([][3]int{
			{tagBits, 3, bits}, {tagCompression, 3, 1}, {tagPhotometric, 3, 1}, {offsets, 4, 8},
			{samples, 3, perPixel}, {tagRowsPerStrip, 3, 1}, {counts, 4, n},
		}, more...)
	}
	for name, c := range map[string]struct {
		data []byte
		want []uint8
	}{
		"16 bits":      {tiffOf(3, []byte{0, 0, 7, 128, 255, 255}, layout(16, 1, 6)...), []uint8{0, 128, 255}},
		"4 bits":       {tiffOf(3, []byte{0x08, 0xf0}, layout(4, 1, 2)...), []uint8{0, 136, 255}},
		"with alpha":   {tiffOf(3, []byte{0, 255, 100, 128, 0, 0}, layout(8, 2, 6, [3]int{extra, 3, transparency})...), []uint8{0, 177, 255}},
		"with a spare": {tiffOf(3, []byte{0, 255, 100, 128, 0, 0}, layout(8, 2, 6, [3]int{extra, 3, 0})...), []uint8{0, 100, 0}},
	} {
		p, err := Decode(t.Context(), c.data, Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for x, v := range c.want {
			if got := p.Pixels.RGBAAt(x, 0); !near(got, color.RGBA{v, v, v, 255}, 1) {
				t.Errorf("%s: pixel %d is %v, want %d", name, x, got, v)
			}
		}
	}
}

// Samples that libtiff itself does not turn into RGB. Lab's white is paper's, whatever the light.
func TestDeepTIFFs(t *testing.T) {
	const offsets, samples, counts = 273, 277, 279
	const grey, rgb, inks, lab = 1, 2, 5, 8
	file := func(bits, perPixel, kind int, pixels ...byte) []byte {
		width := len(pixels) * 8 / bits / perPixel
		tags := [][3]int{
			{tagCompression, 3, 1}, {tagPhotometric, 3, kind}, {offsets, 4, 8},
			{samples, 3, perPixel}, {tagRowsPerStrip, 3, 1}, {counts, 4, len(pixels)},
		}
		if perPixel == 1 {
			tags = slices.Insert(tags, 0, [3]int{tagBits, 3, bits})
		}
		data := tiffOf(width, pixels, tags...)
		if perPixel > 1 { // a number for each does not go into the tag
			each := bytes.Repeat([]byte{byte(bits), 0}, perPixel)
			data = tiffTag(data, tagBits, 3, perPixel, each)
		}
		return data
	}
	for name, c := range map[string]struct {
		data []byte
		want []color.RGBA
	}{
		"grey of 12 bits": {file(12, 1, grey, 0x00, 0x08, 0x00, 0xff, 0xf4, 0x08),
			[]color.RGBA{{0, 0, 0, 255}, {128, 128, 128, 255}, {255, 255, 255, 255}, {64, 64, 64, 255}}},
		"grey of 32 bits, 16 used": {file(32, 1, grey, 0, 0, 0, 0, 0, 128, 0, 0, 255, 255, 0, 0),
			[]color.RGBA{{0, 0, 0, 255}, {128, 128, 128, 255}, {255, 255, 255, 255}}},
		"RGB of 32 bits": {file(32, 3, rgb, 0, 0, 0, 255, 0, 0, 0, 128, 0, 0, 0, 64),
			[]color.RGBA{{255, 128, 64, 255}}},
		"inks of 16 bits": {file(16, 4, inks, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0, 0, 128),
			[]color.RGBA{{255, 255, 255, 255}, {0, 127, 127, 255}}},
		"Lab of 8 bits": {file(8, 3, lab, 255, 0, 0, 0, 0, 0, 138, 81, 70), // white, black, red
			[]color.RGBA{{255, 255, 255, 255}, {0, 0, 0, 255}, {254, 0, 0, 255}}},
		"Lab of 16 bits": {file(16, 3, lab, 255, 255, 0, 0, 0, 0, 0, 128, 0, 0, 0, 0),
			[]color.RGBA{{255, 255, 255, 255}, {119, 119, 119, 255}}},
	} {
		p, err := Decode(t.Context(), c.data, Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for x, want := range c.want {
			if got := p.Pixels.RGBAAt(x, 0); !near(got, want, 2) {
				t.Errorf("%s: pixel %d is %v, want %v", name, x, got, want)
			}
		}
	}
}

// A BigTIFF's pages are pages, and its tags are read like those of any other.
func TestBigTIFF(t *testing.T) {
	data := fixture(t, "big-pages.tif")
	if n := Pages(data); n != 3 {
		t.Fatalf("%d pages, want 3", n)
	}
	for i := range 3 {
		p, err := Decode(t.Context(), Page(data, i), Limits{})
		if err != nil {
			t.Fatalf("page %d: %v", i, err)
		}
		if p.Width != 160 || p.DPI != [2]float64{300, 300} {
			t.Errorf("page %d is %d pixels broad at %v", i, p.Width, p.DPI)
		}
	}
	for n := range len(data) { // cut anywhere
		_, _ = Inspect(data[:n], Limits{})
	}
}

// What ImageMagick makes of a photograph's EXIF turns the picture.
func TestEXIFInText(t *testing.T) {
	page := corner(48, 32)
	block := withOrientation([]byte{0, 0}, 6)[6:]
	text := fmt.Sprintf("\nexif\n %d\n%x\n%x\n", len(block), block[:20], block[20:])
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	for kind, body := range map[string]string{"tEXt": text, "zTXt": "\x00" + packed.String()} {
		var chunk bytes.Buffer
		pngChunk(&chunk, kind, []byte("Raw profile type exif\x00"+body))
		other := strings.Replace(text, "00060000", "00030000", 1)
		pngChunk(&chunk, "tEXt", []byte("Raw profile type exif\x00"+other)) // the first counts
		const afterIHDR = 33
		data := insert(encodeAs(t, PNG, raster.Upright(page, 8)), afterIHDR, chunk.Bytes())
		p, err := Decode(t.Context(), data, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		same(t, kind, p.Pixels, page, 0, true)
	}
}

// Codes of a GIF that begin with more bits than its values need.
func TestWideCodesInGIF(t *testing.T) {
	page := corner(40, 24)
	usual := encodeAs(t, GIF, page)
	first, err := gif.Decode(bytes.NewReader(usual))
	if err != nil {
		t.Fatal(err)
	}
	const bits, clearing = 11, 1 << 11
	codes := []int{clearing}
	for _, v := range first.(*image.Paletted).Pix {
		codes = append(codes, int(v))
	}
	codes = append(codes, clearing+1)
	var packed []byte
	held, have := 0, 0
	for _, code := range codes { // fewer than make them wider
		held |= code << have
		for have += bits + 1; have >= 8; have -= 8 {
			packed = append(packed, byte(held))
			held >>= 8
		}
	}
	packed = append(packed, byte(held))
	_, at := gifFrame(usual)
	wide := append(bytes.Clone(usual[:len(usual)-len(at)]), bits)
	for block := range slices.Chunk(packed, 255) {
		wide = append(append(wide, byte(len(block))), block...)
	}
	wide = append(wide, 0, ';')
	p, err := Decode(t.Context(), wide, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := Decode(t.Context(), usual, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "wide codes", p.Pixels, want.Pixels, 0, true)
	for n := range len(wide) { // cut anywhere
		_, _ = Decode(t.Context(), wide[:n], Limits{})
	}
}

// What some programs write around a picture does not hide it.
func TestOddWebP(t *testing.T) {
	page := corner(40, 32)
	picture := webpChunk(encodeAs(t, WebP, page)[12:], "VP8L")
	head := riffChunk(nil, "VP8X", []byte{1 << 3, 0, 0, 0, 39, 0, 0, 31, 0, 0})
	exif := withOrientation([]byte{0, 0}, 6)[6:]
	whole := webpFile(riffChunk(head, "VP8L", picture))
	wrongSum := bytes.Clone(whole)
	binary.LittleEndian.PutUint32(wrongSum[4:], 12)
	odd := append(bytes.Clone(picture), make([]byte, 1-len(picture)&1)...)
	unpadded := riffChunk(bytes.Clone(head), "VP8L", odd)
	for name, data := range map[string][]byte{
		"a chunk of its own first": webpFile(riffChunk(riffChunk(bytes.Clone(head), "ABCD", []byte{1, 2, 3}), "VP8L", picture)),
		"a wrong sum":              wrongSum,
		"bytes behind":             append(bytes.Clone(whole), "and more"...),
		"no last padding":          webpFile(unpadded[:len(unpadded)-1]),
	} {
		p, err := Decode(t.Context(), data, Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		same(t, name, p.Pixels, page, 0, true)
	}
	for _, prefix := range []int{0, 6} { // with what stands before it in a JPEG, and without
		data := append(bytes.Clone(whole), riffChunk(nil, "EXIF", exif[prefix:])...)
		p, err := Decode(t.Context(), data, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		corner := p.Pixels.RGBAAt(30, 2)
		if p.Width != 32 || p.Height != 40 || corner != (color.RGBA{255, 0, 0, 255}) {
			t.Errorf("orientation 6 with %d bytes left out: %d×%d, %v at the top right", prefix, p.Width,
				p.Height, corner)
		}
	}
}

// windows is a bitmap of Windows of 8×2 pixels.
func windows(bits, compression int, behind, pixels []byte) []byte {
	b := binary.LittleEndian
	out := append([]byte("BM"), make([]byte, 52)...)
	b.PutUint32(out[10:], uint32(54+len(behind)))
	b.PutUint32(out[14:], 40)
	b.PutUint32(out[18:], 8)
	b.PutUint32(out[22:], 2)
	b.PutUint16(out[26:], 1)
	b.PutUint16(out[28:], uint16(bits))
	b.PutUint32(out[30:], uint32(compression))
	return append(append(out, behind...), pixels...)
}

// os2 is a bitmap of OS/2, version 2, of 8×2 pixels.
func os2(bits int, pixels []byte) []byte {
	out := windows(bits, 0, make([]byte, 24), pixels)
	binary.LittleEndian.PutUint32(out[14:], 64)
	return out
}

// Each of these has a row of black and white in turn over a white one.
func TestKindsOfBMP(t *testing.T) {
	white := bytes.Repeat([]byte{255}, 32)
	of := func(pixel ...byte) []byte { // a row of pixels in turn black and as given
		return bytes.Repeat(append(make([]byte, len(pixel)), pixel...), 4)
	}
	rgb565 := []byte{0, 0xf8, 0, 0, 0xe0, 7, 0, 0, 0x1f, 0, 0, 0}
	two := []byte{0, 0, 0, 0, 255, 255, 255, 0}
	palette16 := append(bytes.Clone(two), make([]byte, 56)...)
	palette256 := append(bytes.Clone(two), make([]byte, 1016)...)
	core := append([]byte("BM"), make([]byte, 24)...)
	binary.LittleEndian.PutUint32(core[10:], 32)
	copy(core[14:], []byte{12, 0, 0, 0, 8, 0, 2, 0, 1, 0, 1, 0})
	core = append(core, 0, 0, 0, 255, 255, 255, 0xff, 0, 0, 0, 0x55, 0, 0, 0)
	for name, data := range map[string][]byte{
		"5, 6 and 5 bits": windows(16, 3, rgb565, append(white[:16:16], of(255, 255)...)),
		"5 bits each":     windows(16, 0, nil, append(white[:16:16], of(255, 127)...)),
		"32 bits":         windows(32, 0, nil, append(white[:32:32], of(255, 255, 255, 0)...)),
		"runs of bytes":   windows(8, 1, palette256, []byte{8, 1, 0, 0, 0, 8, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}),
		"runs of halves":  windows(4, 2, palette16, []byte{8, 0x11, 0, 0, 8, 0x01, 0, 1}),
		"OS/2, version 1": core,
		"OS/2, version 2": os2(24, append(white[:24:24], of(255, 255, 255)...)),
	} {
		p, err := Decode(t.Context(), data, Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := Opaque(image.NewRGBA(image.Rect(0, 0, 8, 2)))
		for x := 0; x < 8; x += 2 {
			want.SetRGBA(x, 0, color.RGBA{0, 0, 0, 255})
		}
		same(t, name, p.Pixels, want, 0, true)
	}
}

// A JPEG's colours, of which it has one for four pixels, run from each to the next as they did on
// the picture, and as other programs show them.
func TestJPEGColoursAreSmooth(t *testing.T) {
	m := image.NewRGBA(image.Rect(0, 0, 63, 43))
	for y := range m.Rect.Dy() {
		for x := range m.Rect.Dx() {
			m.SetRGBA(x, y, color.RGBA{uint8(128 + 3*y), 100, uint8(4 * x), 255})
		}
	}
	p, err := Decode(t.Context(), encodeAs(t, JPEG, m), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	off, n := 0, 0 // by how much a step from pixel to pixel is not as it was
	for y := range m.Rect.Dy() - 1 {
		for x := range m.Rect.Dx() - 1 {
			here, right, below := p.Pixels.RGBAAt(x, y), p.Pixels.RGBAAt(x+1, y), p.Pixels.RGBAAt(x, y+1)
			across, down := int(right.B)-int(here.B)-4, int(below.R)-int(here.R)-3
			off, n = off+max(across, -across)+max(down, -down), n+2
		}
	}
	if off > n {
		t.Errorf("steps are off by %.1f levels in the mean, want at most 1", float64(off)/float64(n))
	}
}

// Scanners that send line by line know the height at the end.
func TestJPEGThatStatesItsHeightLate(t *testing.T) {
	page := corner(160, 96)
	early := encodeAs(t, JPEG, page)
	var frame int
	for part := range jpegParts(early) {
		if part.marker == markSOF0 {
			frame = part.at
		}
	}
	late := bytes.Clone(early[:len(early)-2])
	copy(late[frame+5:], []byte{0, 0})
	never := append(bytes.Clone(late), 0xff, markEOI)
	if _, err := Decode(t.Context(), never, Limits{}); !errors.Is(err, ErrFormat) {
		t.Errorf("no height at all: %v", err)
	}
	late = append(late, 0xff, markDNL, 0, 4, 0, 96, 0xff, markEOI)
	p, err := Decode(t.Context(), late, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	known, err := Decode(t.Context(), early, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "late", p.Pixels, known.Pixels, 0, true)
}

// A PNG that was cut, or whose end is wrong, is read as a JPEG is: lines that lack are white.
func TestPNGWithoutItsEnd(t *testing.T) {
	page := noise(200, 300)
	for name, m := range map[string]image.Image{"colours": page, "grey": toGray(page)} {
		data := encodeAs(t, PNG, m)
		want := Opaque(m)
		const end = 12
		wrong := bytes.Clone(data)
		wrong[len(wrong)-1] ^= 1
		for kind, cut := range map[string][]byte{
			"no end": data[:len(data)-end], "a wrong end": wrong, "no checksum": data[:len(data)-end-6],
		} {
			p, err := Decode(t.Context(), cut, Limits{})
			if err != nil {
				t.Errorf("%s, %s: %v", name, kind, err)
				continue
			}
			same(t, name+", "+kind, p.Pixels, want, 0, true)
		}
		p, err := Decode(t.Context(), data[:len(data)*95/100], Limits{})
		if err != nil {
			t.Fatalf("%s, last lines missing: %v", name, err)
		}
		first, last := p.Pixels.RGBAAt(7, 100), p.Pixels.RGBAAt(7, 299)
		if last != (color.RGBA{255, 255, 255, 255}) || first != want.RGBAAt(7, 100) {
			t.Errorf("%s, last lines missing: %v and %v", name, first, last)
		}
		if _, err := Decode(t.Context(), half(data), Limits{}); !errors.Is(err, ErrBroken) {
			t.Errorf("%s, half of it: %v", name, err)
		}
	}
}

// noise is a picture that does not compress.
func noise(w, h int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	state := uint32(1)
	for i := range m.Pix {
		state = state*1664525 + 1013904223
		m.Pix[i] = uint8(state >> 24)
		if i%4 == 3 {
			m.Pix[i] = 255
		}
	}
	return m
}

// What is compressed as Group 4 comes out again.
func TestGroup4(t *testing.T) {
	for _, size := range []image.Point{{1, 1}, {61, 40}, {800, 500}} {
		m := noise(size.X, size.Y)
		for i := range m.Pix { // of runs, too
			if i%4 != 3 {
				m.Pix[i] = 255 * (m.Pix[i/40*40] >> 7)
			}
		}
		if !Bilevel(m) || Bilevel(noise(3, 3)) {
			t.Fatal("what is black and white is not told")
		}
		code, err := Group4(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		r := ccitt.NewReader(bytes.NewReader(code), ccitt.MSB, ccitt.Group4, size.X, size.Y, nil)
		rows, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		stride := (size.X + 7) / 8
		for y := range size.Y {
			for x := range size.X {
				if white := rows[y*stride+x/8]>>(7-x%8)&1 == 1; white != (m.RGBAAt(x, y).R == 255) {
					t.Fatalf("%v: %d,%d is wrong", size, x, y)
				}
			}
		}
	}
}
