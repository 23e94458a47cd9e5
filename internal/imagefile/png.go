package imagefile

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/zlib"
	"context"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"image"
	"image/png"
	"io"
	"math"
	"slices"

	"github.com/bep/imagemeta"
)

var pngFormat = format{
	name: "PNG", endings: []string{".png"}, mediaType: "image/png",
	sniff:  begins(pngMark),
	open:   parts{pngConfig, pngExif, decodePNG, pngMeta}.open,
	encode: encodePNG,
}

const pngMark = "\x89PNG\r\n\x1a\n"

var pngEncoder = png.Encoder{CompressionLevel: png.DefaultCompression}

// encodePNG writes an opaque picture in the smallest of the kinds of PNG that lose nothing: grey
// of 1 to 8 bits, a palette of up to 256 colours, or RGB. A profile that the kind may not have is
// left out.
func encodePNG(ctx context.Context, m *image.RGBA, meta Meta) ([]byte, error) {
	t := &colourTable{}
	colours := t.count(m)
	grey := colours != nil && !slices.ContainsFunc(colours, func(c uint32) bool { return !isGrey(c) })
	if isGreyProfile(meta.ICC) != grey {
		meta.ICC = nil
	}
	src := image.Image(m)
	switch {
	case grey:
		if bits := t.ramp(colours); bits < 8 {
			return t.encode(ctx, m, bits, nil, meta)
		}
		src = toGray(m)
	case colours != nil:
		return t.encode(ctx, m, bitsFor(len(colours)), colours, meta)
	}
	const afterIHDR = 33
	data, err := EncodePNG(ctx, src)
	if err != nil {
		return nil, err
	}
	return insert(data, afterIHDR, pngMetaChunks(meta)), nil
}

// pngConfig reads the header. The decoder gives up on sizes whose pixels it cannot count: they are
// too large, and say nothing of damage.
func pngConfig(data []byte) (image.Config, error) {
	config, err := png.DecodeConfig(bytes.NewReader(data))
	const header, countable = 24, 1 << 50
	if err == nil || len(data) < header || string(data[12:16]) != "IHDR" {
		return config, err
	}
	w, h := binary.BigEndian.Uint32(data[16:]), binary.BigEndian.Uint32(data[20:])
	if max(w, h) > math.MaxInt32 || uint64(w)*uint64(h) > countable {
		return image.Config{Width: int(w), Height: int(h)}, nil
	}
	return config, err
}

// mostColours is what a palette holds at most.
const mostColours = 256

// colourTable numbers up to mostColours colours: a hash table with open addressing, keyed by 1
// more than the colour.
type colourTable struct {
	key   [4 * mostColours]uint32
	index [4 * mostColours]uint8
}

func rgbOf(px []uint8) uint32 { return uint32(px[0])<<16 | uint32(px[1])<<8 | uint32(px[2]) }

func isGrey(c uint32) bool { return c>>16 == c&255 && c>>8&255 == c&255 }

// slot is where a colour is or would be.
func (t *colourTable) slot(c uint32) uint32 {
	i := c * 0x9e3779b1 >> 22
	for t.key[i] != 0 && t.key[i] != c+1 {
		i = (i + 1) % uint32(len(t.key))
	}
	return i
}

// count finds the colours of a picture, the most frequent one first, and numbers them. It gives
// up on pictures of too many and returns nil; photographs have them within a few rows.
func (t *colourTable) count(m *image.RGBA) []uint32 {
	var colours []uint32
	var times [mostColours]int
	last, at := ^uint32(0), uint32(0)
	for y := range m.Rect.Dy() {
		row := m.Pix[y*m.Stride:][:4*m.Rect.Dx()]
		for x := 0; x+3 < len(row); x += 4 {
			if c := rgbOf(row[x : x+3 : x+3]); c != last {
				last, at = c, t.slot(c)
				if t.key[at] == 0 {
					if len(colours) == mostColours {
						return nil
					}
					t.key[at], t.index[at] = c+1, uint8(len(colours))
					colours = append(colours, c)
				}
			}
			times[t.index[at]]++
		}
	}
	slices.SortFunc(colours, func(a, b uint32) int {
		i, j := t.index[t.slot(a)], t.index[t.slot(b)]
		return cmp.Or(times[j]-times[i], int(i)-int(j))
	})
	for i, c := range colours {
		t.set(c, uint8(i))
	}
	return colours
}

func (t *colourTable) set(c uint32, index uint8) { t.index[t.slot(c)] = index }

// bitsFor is how many bits a pixel needs to be one of so many colours.
func bitsFor(colours int) int {
	bits := 1
	for 1<<bits < colours {
		bits *= 2
	}
	return bits
}

// ramp numbers greys as PNG has them in as few bits as it can: even steps from black to white.
func (t *colourTable) ramp(greys []uint32) (bits int) {
	for bits = 1; bits < 8; bits *= 2 {
		step := uint32(255 / (1<<bits - 1))
		if slices.ContainsFunc(greys, func(c uint32) bool { return c&255%step != 0 }) {
			continue
		}
		for _, c := range greys {
			t.set(c, uint8(c&255/step))
		}
		break
	}
	return bits
}

// encode writes a picture with so many bits a pixel: the number of its colour in the palette, or
// of its grey where there is none.
func (t *colourTable) encode(ctx context.Context, m *image.RGBA, bits int, palette []uint32,
	meta Meta) ([]byte, error) {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	b := pngHead(w, h, bits, palette, meta)
	chunks := bufio.NewWriterSize(attentiveWriter{ctx, pngPixels{b}}, 32<<10)
	z := zlib.NewWriter(chunks)
	row := make([]uint8, 1+(w*bits+7)/8) // behind the kind of filter: none
	for y := range h {
		t.pack(row[1:], m.Pix[y*m.Stride:][:4*w], bits)
		if _, err := z.Write(row); err != nil {
			return nil, err
		}
	}
	if err := cmp.Or(z.Close(), chunks.Flush()); err != nil {
		return nil, err
	}
	pngChunk(b, "IEND", nil)
	return b.Bytes(), nil
}

// pngHead is a PNG up to its pixels; without a palette it is grey.
func pngHead(w, h, bits int, palette []uint32, meta Meta) *bytes.Buffer {
	const grey, indexed = 0, 3
	kind := byte(grey)
	var entries []byte
	for _, c := range palette {
		kind = indexed
		entries = append(entries, byte(c>>16), byte(c>>8), byte(c))
	}
	header := binary.BigEndian.AppendUint32(nil, uint32(w))
	header = binary.BigEndian.AppendUint32(header, uint32(h))
	b := bytes.NewBufferString(pngMark)
	pngChunk(b, "IHDR", append(header, byte(bits), kind, 0, 0, 0))
	b.Write(pngMetaChunks(meta))
	if palette != nil {
		pngChunk(b, "PLTE", entries)
	}
	return b
}

// pack puts the numbers of a row's colours side by side, so many bits of each.
func (t *colourTable) pack(dst, row []uint8, bits int) {
	last, index := ^uint32(0), uint8(0)
	packed, full := uint8(0), 0
	for x := 0; x+3 < len(row); x += 4 {
		if c := rgbOf(row[x : x+3 : x+3]); c != last {
			last, index = c, t.index[t.slot(c)]
		}
		packed = packed<<bits | index
		if full += bits; full == 8 {
			dst[0], dst = packed, dst[1:]
			full = 0
		}
	}
	if full > 0 {
		dst[0] = packed << (8 - full)
	}
}

// pngChunks calls fn for each chunk before the pixels.
func pngChunks(data []byte, fn func(kind string, body []byte)) {
	for at := 8; at+12 <= len(data); {
		n := int(binary.BigEndian.Uint32(data[at:]))
		kind := string(data[at+4 : at+8])
		if n < 0 || n > len(data)-at-12 || kind == "IDAT" {
			return
		}
		fn(kind, data[at+8:at+8+n])
		at += 12 + n
	}
}

func pngMeta(data []byte, m *Meta) {
	profiles := 0 // the first counts: each may be large once inflated
	pngChunks(data, func(kind string, body []byte) {
		switch {
		case kind == "pHYs" && len(body) == 9 && body[8] == 1:
			for i := range m.DPI {
				m.DPI[i] = float64(binary.BigEndian.Uint32(body[4*i:])) * 0.0254
			}
		case kind == "iCCP" && profiles == 0:
			profiles++
			if i := bytes.IndexByte(body, 0); i >= 0 && i+2 <= len(body) {
				m.ICC = inflate(body[i+2:])
			}
		}
	})
}

// pngExif reads the EXIF, where it has a chunk of its own and where ImageMagick puts it: as hex in
// a text, behind a name and a length.
func pngExif(data []byte) exif {
	e := exifIn(imagemeta.PNG)(data)
	if e != (exif{orientation: 1}) {
		return e
	}
	var in string // the chunk's kind: of the first alone, since each may be large once inflated
	var text []byte
	pngChunks(data, func(kind string, body []byte) {
		name, rest, _ := bytes.Cut(body, []byte{0})
		if in == "" && (string(name) == "Raw profile type exif" ||
			string(name) == "Raw profile type APP1") {
			in, text = kind, rest
		}
	})
	if in == "zTXt" && len(text) > 0 {
		text = inflate(text[1:])
	}
	const before = 2
	words := bytes.Fields(text)
	if len(words) <= before {
		return e
	}
	digits := bytes.Join(words[before:], nil)
	raw := make([]byte, hex.DecodedLen(len(digits)))
	if _, err := hex.Decode(raw, digits); err != nil {
		return e
	}
	return tiffExif(bytes.TrimPrefix(raw, []byte("Exif\x00\x00")))
}

func inflate(b []byte) []byte {
	z, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	out, err := io.ReadAll(io.LimitReader(z, maxProfile+1))
	if err != nil || len(out) > maxProfile {
		return nil
	}
	return out
}

// pngPixels writes each part of the compressed pixels as a chunk.
type pngPixels struct{ to *bytes.Buffer }

func (p pngPixels) Write(part []byte) (int, error) {
	pngChunk(p.to, "IDAT", part)
	return len(part), nil
}

func pngChunk(b *bytes.Buffer, kind string, body []byte) {
	head := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	b.Write(append(head, kind...))
	b.Write(body)
	sum := crc32.Update(crc32.ChecksumIEEE([]byte(kind)), crc32.IEEETable, body)
	b.Write(binary.BigEndian.AppendUint32(nil, sum))
}

// pngMetaChunks are the chunks that carry the metadata, to stand after a PNG's IHDR.
func pngMetaChunks(m Meta) []byte {
	var b bytes.Buffer
	if m.ICC != nil {
		var z bytes.Buffer
		z.WriteString("ICC profile\x00\x00")
		w := zlib.NewWriter(&z)
		_, _ = w.Write(m.ICC)
		_ = w.Close()
		pngChunk(&b, "iCCP", z.Bytes())
	}
	if m.DPI[0] > 0 {
		var body []byte
		for _, d := range m.DPI {
			body = binary.BigEndian.AppendUint32(body, uint32(math.Round(d/0.0254)))
		}
		pngChunk(&b, "pHYs", append(body, 1))
	}
	return b.Bytes()
}
