package imagefile

import (
	"bytes"
	"compress/lzw"
	"context"
	"encoding/binary"
	"image"
	"image/gif"
	"slices"
)

var gifFormat = format{
	name: "GIF", endings: []string{".gif"}, mediaType: "image/gif",
	sniff: begins("GIF87a", "GIF89a"),
	open:  parts{size: gifConfig, pixels: decodeGIF}.open,
}

func gifConfig(data []byte) (image.Config, error) { return gif.DecodeConfig(bytes.NewReader(data)) }

// decodeGIF decodes the first frame, on white where it does not fill the canvas.
func decodeGIF(ctx context.Context, data []byte) (image.Image, error) {
	size, err := gifConfig(data)
	if err != nil {
		return nil, err
	}
	m, err := gif.Decode(reading(ctx, withByteCodes(data, size)))
	if err != nil {
		return nil, err
	}
	if canvas := image.Rect(0, 0, size.Width, size.Height); m.Bounds() != canvas {
		return onWhite(m, canvas), nil
	}
	return m, nil
}

// withByteCodes is a GIF of its first frame alone, with codes that begin with 8 bits where they
// begin with more, which the decoder refuses although no value needs them. Any other file is data
// itself.
func withByteCodes(data []byte, canvas image.Config) []byte {
	const most = 8
	frame, codes := gifFrame(data)
	if len(codes) == 0 || codes[0] <= most || codes[0] >= lzwWidest {
		return data
	}
	const sides = 5 // where the frame's size is in its descriptor
	breadth := binary.LittleEndian.Uint16(data[frame+sides:])
	height := binary.LittleEndian.Uint16(data[frame+sides+2:])
	pixels := min(int(breadth)*int(height), canvas.Width*canvas.Height)
	var b bytes.Buffer
	b.Write(data[:len(data)-len(codes)])
	b.WriteByte(most)
	blocks := blockWriter{to: &b}
	w := lzw.NewWriter(&blocks, lzw.LSB, most)
	_, _ = w.Write(expandLZW(gifBlocks(codes[1:]), int(codes[0]), pixels))
	_ = w.Close()
	blocks.flush()
	b.Write([]byte{0, ';'})
	return b.Bytes()
}

// gifFrame is where the first frame's descriptor is, and the file from the size of its codes on.
func gifFrame(data []byte) (at int, codes []byte) {
	const header, extension, frame, descriptor = 13, 0x21, 0x2c, 10
	if len(data) < header {
		return 0, nil
	}
	at = header + gifColours(data[10])
	for at+descriptor < len(data) {
		switch data[at] {
		case frame:
			if end := at + descriptor + gifColours(data[at+9]); end < len(data) {
				return at, data[end:]
			}
			return 0, nil
		case extension:
			at += 2
			for at < len(data) && data[at] != 0 {
				at += 1 + int(data[at])
			}
			at++
		default:
			return 0, nil
		}
	}
	return 0, nil
}

// gifColours is the bytes of the colours that follow flags.
func gifColours(flags byte) int {
	const there = 0x80
	if flags&there == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// gifBlocks joins the blocks that data begins with.
func gifBlocks(data []byte) []byte {
	var out []byte
	for len(data) > 0 && data[0] > 0 {
		n := min(int(data[0]), len(data)-1)
		out = append(out, data[1:1+n]...)
		data = data[1+n:]
	}
	return out
}

// blockWriter writes a GIF's blocks, of up to 255 bytes each.
type blockWriter struct {
	to    *bytes.Buffer
	block []byte
}

func (w *blockWriter) Write(p []byte) (int, error) {
	for _, v := range p {
		if w.block = append(w.block, v); len(w.block) == 255 {
			w.flush()
		}
	}
	return len(p), nil
}

func (w *blockWriter) flush() {
	if len(w.block) > 0 {
		w.to.WriteByte(byte(len(w.block)))
		w.to.Write(w.block)
		w.block = w.block[:0]
	}
}

// lzwWidest is the bits of a GIF's codes at most.
const lzwWidest = 12

// expandLZW decodes up to n values of codes that begin with bits and one more (GIF89a, appendix F).
func expandLZW(codes []byte, bits, n int) []byte {
	clearing, end := 1<<bits, 1<<bits+1
	var before [1 << lzwWidest]int // of a code, the one that it goes on from
	var last [1 << lzwWidest]byte  // and the value that it adds
	var out []byte
	next, width, previous := end+1, bits+1, -1
	held, have := 0, 0
	for _, b := range codes {
		held |= int(b) << have
		for have += 8; have >= width; {
			code := held & (1<<width - 1)
			held >>= width
			have -= width
			switch {
			case code == clearing:
				next, width, previous = end+1, bits+1, -1
				continue
			case code == end || code > next || code == next && previous < 0 || len(out) >= n:
				return out[:min(len(out), n)]
			}
			from := len(out)
			at := code
			if code == next {
				at = previous
			}
			for ; at > end; at = before[at] {
				out = append(out, last[at])
			}
			out = append(out, byte(at))
			slices.Reverse(out[from:])
			if code == next {
				out = append(out, out[from])
			}
			if previous >= 0 && next < 1<<lzwWidest {
				before[next], last[next] = previous, out[from]
				if next++; next == 1<<width && width < lzwWidest {
					width++
				}
			}
			previous = code
		}
	}
	return out
}
