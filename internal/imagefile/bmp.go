package imagefile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"math/bits"
)

var bmpFormat = format{
	name: "BMP", endings: []string{".bmp"}, mediaType: "image/bmp",
	sniff: begins("BM"),
	open:  parts{size: bmpConfig, pixels: decodeBMP, meta: bmpMeta}.open,
}

// Compressions of BMP.
const (
	bmpRGB       = 0
	bmpRLE8      = 1
	bmpRLE4      = 2
	bmpMasks     = 3
	bmpJPEG      = 4
	bmpPNG       = 5
	bmpAlphaMask = 6
)

// bmpHeader is the header of a bitmap of Windows or OS/2.
type bmpHeader struct {
	width, height int
	topDown       bool
	bits          int // a pixel
	compression   uint32
	masks         [4]uint32 // of red, green, blue and alpha, for 16 and 32 bits
	palette       [][3]uint8
	pixels        []byte
}

const bmpHint = "; save it as PNG"

var errBMPHeader = errors.New("the header is broken")

func bmpConfig(data []byte) (image.Config, error) {
	h, err := readBMP(data)
	return image.Config{Width: h.width, Height: h.height}, err
}

func readBMP(data []byte) (h bmpHeader, err error) {
	const file, core, info = 14, 12, 40 // bytes of headers
	if len(data) < file+core {
		return h, errBMPHeader
	}
	word, long := binary.LittleEndian.Uint16, binary.LittleEndian.Uint32
	size := int(long(data[file:]))
	if size != core && size < 16 || size > len(data)-file {
		return h, errBMPHeader
	}
	head := make([]byte, max(size, info))
	copy(head, data[file:file+size])
	var colours, entry int // how many the palette has, of how many bytes
	if size == core {
		h.width, h.height, h.bits = int(word(head[4:])), int(word(head[6:])), int(word(head[10:]))
		entry = 3
	} else {
		h.width, h.height = int(int32(long(head[4:]))), int(int32(long(head[8:])))
		h.bits, h.compression = int(word(head[14:])), long(head[16:])
		colours, entry = int(long(head[32:])), 4
		if h.height < 0 {
			h.height, h.topDown = -h.height, true
		}
	}
	const os2 = 64 // its compressions 3 and 4 are Huffman's and of runs of 24 bits
	if reason := h.unsupported(size == os2); reason != "" {
		return h, unsupportedError(reason + bmpHint)
	}
	at := file + size
	at += h.readMasks(data[file:], size)
	if at > len(data) {
		return h, errBMPHeader
	}
	first := int(long(data[10:]))
	if first == 0 || first > len(data) {
		first = at
	}
	if h.bits <= 8 {
		if most := 1 << h.bits; colours <= 0 || colours > most {
			colours = most
		}
		if first > at { // some state more colours than they have
			colours = min(colours, (first-at)/entry)
		}
		for ; colours > 0 && at+entry <= len(data); colours-- {
			h.palette = append(h.palette, [3]uint8{data[at+2], data[at+1], data[at]})
			at += entry
		}
	}
	h.pixels = data[max(first, min(at, len(data))):]
	return h, nil
}

// unsupported names what of a file is not decoded.
func (h *bmpHeader) unsupported(os2 bool) string {
	switch {
	case h.compression == bmpJPEG || h.compression == bmpPNG, os2 && h.compression >= bmpMasks,
		h.compression > bmpAlphaMask:
		return fmt.Sprintf("compression %d", h.compression)
	case h.compression == bmpRLE8 && h.bits != 8, h.compression == bmpRLE4 && h.bits != 4,
		(h.compression == bmpMasks || h.compression == bmpAlphaMask) && h.bits != 16 && h.bits != 32:
		return fmt.Sprintf("compression %d with %d bits a pixel", h.compression, h.bits)
	}
	switch h.bits {
	case 1, 2, 4, 8, 16, 24, 32:
		return ""
	}
	return fmt.Sprintf("%d bits a pixel", h.bits)
}

// readMasks sets the masks, and returns how many bytes they have behind the header.
func (h *bmpHeader) readMasks(head []byte, size int) (behind int) {
	if h.bits == 16 {
		h.masks = [4]uint32{0x7c00, 0x3e0, 0x1f}
	} else {
		h.masks = [4]uint32{0xff0000, 0xff00, 0xff}
	}
	if h.compression != bmpMasks && h.compression != bmpAlphaMask {
		return 0
	}
	const at = 40
	n := 3
	if size >= at+16 || h.compression == bmpAlphaMask {
		n = 4
	}
	for i := range n {
		if at+4*i+4 <= len(head) {
			h.masks[i] = binary.LittleEndian.Uint32(head[at+4*i:])
		}
	}
	return max(0, at+4*n-size)
}

// decodeBMP decodes a bitmap of Windows or OS/2.
func decodeBMP(_ context.Context, data []byte) (image.Image, error) {
	h, err := readBMP(data)
	if err != nil {
		return nil, err
	}
	m := image.NewNRGBA(image.Rect(0, 0, h.width, h.height))
	if h.compression == bmpRLE8 || h.compression == bmpRLE4 {
		h.runs(m)
		return m, nil
	}
	stride := (h.width*h.bits + 31) / 32 * 4
	if len(h.pixels) < stride*(h.height-1)+(h.width*h.bits+7)/8 {
		return nil, errors.New("rows are missing")
	}
	for y := range h.height {
		row := h.pixels[y*stride:]
		h.row(m.Pix[h.line(y)*m.Stride:][:m.Stride], row)
	}
	if h.masks[3] != 0 && transparent(m) { // nobody meant to show nothing
		for i := 3; i < len(m.Pix); i += 4 {
			m.Pix[i] = 255
		}
	}
	return m, nil
}

// line is where the row that is stored as number y stands in the picture.
func (h *bmpHeader) line(y int) int {
	if h.topDown {
		return y
	}
	return h.height - 1 - y
}

func (h *bmpHeader) row(dst, src []byte) {
	switch h.bits {
	case 24:
		for x := range h.width {
			copy(dst[4*x:], []byte{src[3*x+2], src[3*x+1], src[3*x], 255})
		}
	case 16, 32:
		for x := range h.width {
			v := uint32(binary.LittleEndian.Uint16(src[h.bits/8*x:]))
			if h.bits == 32 {
				v = binary.LittleEndian.Uint32(src[4*x:])
			}
			for i, mask := range h.masks {
				dst[4*x+i] = masked(v, mask)
			}
			if h.masks[3] == 0 {
				dst[4*x+3] = 255
			}
		}
	default:
		for x := range h.width {
			shift := 8 - h.bits - x*h.bits%8
			h.colour(dst[4*x:], int(src[x*h.bits/8]>>shift)&(1<<h.bits-1))
		}
	}
}

// masked is the part of v under a mask, as 0 to 255.
func masked(v, mask uint32) uint8 {
	if mask == 0 {
		return 0
	}
	shift := bits.TrailingZeros32(mask)
	most := uint64(mask >> shift)
	return uint8((uint64(v&mask>>shift)*255 + most/2) / most)
}

func (h *bmpHeader) colour(dst []byte, index int) {
	var c [3]uint8
	if index < len(h.palette) {
		c = h.palette[index]
	}
	copy(dst, []byte{c[0], c[1], c[2], 255})
}

func transparent(m *image.NRGBA) bool {
	for i := 3; i < len(m.Pix); i += 4 {
		if m.Pix[i] != 0 {
			return false
		}
	}
	return true
}

// runs decodes run lengths. What they leave out has the first colour; what goes beyond a row is
// dropped.
func (h *bmpHeader) runs(m *image.NRGBA) {
	for i := 0; i < len(m.Pix); i += 4 {
		h.colour(m.Pix[i:], 0)
	}
	x, y := 0, 0
	put := func(index int) {
		if x < h.width {
			h.colour(m.Pix[h.line(y)*m.Stride+4*x:], index)
			x++
		}
	}
	index := func(b []byte, i int) int {
		if h.bits == 8 {
			return int(b[i])
		}
		return int(b[i/2]>>(4-i%2*4)) & 15
	}
	const endOfRow, end, jump = 0, 1, 2
	for src := h.pixels; len(src) >= 2 && y < h.height; {
		n, code := int(src[0]), int(src[1])
		two := []byte{src[1], src[1]}
		src = src[2:]
		switch {
		case n > 0:
			for i := range n {
				put(index(two, i%2))
			}
		case code == endOfRow:
			x, y = 0, y+1
		case code == end:
			return
		case code == jump:
			if len(src) < 2 {
				return
			}
			x, y = x+int(src[0]), y+int(src[1])
			src = src[2:]
		default: // so many pixels as they are
			size := (code*h.bits + 7) / 8
			if len(src) < size {
				return
			}
			for i := range code {
				put(index(src, i))
			}
			src = src[min(size+size&1, len(src)):]
		}
	}
}

func bmpMeta(data []byte, m *Meta) {
	if len(data) < 46 || binary.LittleEndian.Uint32(data[14:]) < 40 {
		return
	}
	for i := range m.DPI {
		m.DPI[i] = float64(binary.LittleEndian.Uint32(data[38+4*i:])) * 0.0254
	}
}
