package imagefile

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/png"
	"io"
)

// decodePNG decodes a file, also one without a right end: what is missing of at most a tenth of its
// lines is white.
func decodePNG(ctx context.Context, data []byte) (image.Image, error) {
	m, err := png.Decode(reading(ctx, data))
	if err == nil || ctx.Err() != nil {
		return m, err
	}
	parts, ok := cutPNG(data)
	if !ok {
		return nil, err
	}
	for _, complete := range []func(context.Context) []byte{parts.ended, parts.filled} {
		if whole := complete(ctx); whole != nil {
			if m, err := png.Decode(reading(ctx, whole)); err == nil {
				return m, nil
			}
		}
	}
	return nil, err
}

// pngCut is what there is of a PNG.
type pngCut struct {
	head    []byte // up to the pixels
	ihdr    []byte
	palette []byte
	chunks  []byte // of the pixels
	data    []byte // in these chunks, whose last one may be cut
}

// cutPNG takes a PNG apart. It is not ok where its header is not, or no pixels are found.
func cutPNG(data []byte) (p pngCut, ok bool) {
	const signature, ihdr = 8, 13
	first := -1
	last := 0
	for at := signature; at+8 <= len(data); {
		n := int(binary.BigEndian.Uint32(data[at:]))
		kind, body := string(data[at+4:at+8]), data[at+8:]
		body = body[:min(n, len(body))]
		switch kind {
		case "IHDR":
			p.ihdr = body
		case "PLTE":
			p.palette = body
		case "IDAT":
			if first < 0 {
				first = at
			}
			p.data = append(p.data, body...)
			if at+12+n <= len(data) {
				last = at + 12 + n
			}
		}
		at += 12 + n
	}
	if first < 0 || len(p.ihdr) != ihdr {
		return p, false
	}
	p.head, p.chunks = data[:first], data[first:max(first, last)]
	return p, true
}

// ended is the file with an end of its own.
func (p pngCut) ended(context.Context) []byte {
	b := bytes.NewBuffer(bytes.Join([][]byte{p.head, p.chunks}, nil))
	pngChunk(b, "IEND", nil)
	return b.Bytes()
}

// filled is the file with white lines where lines are missing; nil where these are more than a
// tenth, or interlaced.
func (p pngCut) filled(ctx context.Context) []byte {
	const depth, colour, interlace = 8, 9, 12
	w, h := int(binary.BigEndian.Uint32(p.ihdr)), int(binary.BigEndian.Uint32(p.ihdr[4:]))
	samples := map[byte]int{0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[p.ihdr[colour]]
	line := 1 + (w*samples*int(p.ihdr[depth])+7)/8 // with its filter
	if p.ihdr[interlace] != 0 || w <= 0 || h <= 0 {
		return nil
	}
	z, err := zlib.NewReader(reading(ctx, p.data))
	if err != nil {
		return nil
	}
	raw, err := io.ReadAll(io.LimitReader(z, int64(line)*int64(h)))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	there := len(raw) / line
	if there < h-h/10 {
		return nil
	}
	white := bytes.Repeat([]byte{0xff}, line)
	if p.ihdr[colour] == 3 {
		white = bytes.Repeat([]byte{lightest(p.palette, int(p.ihdr[depth]))}, line)
	}
	white[0] = 0 // no filter
	var pixels bytes.Buffer
	deflate, _ := zlib.NewWriterLevel(&pixels, zlib.BestSpeed) // to memory, as what follows
	_, _ = deflate.Write(raw[:there*line])
	for range h - there {
		_, _ = deflate.Write(white)
	}
	_ = deflate.Close()
	b := bytes.NewBuffer(bytes.Clone(p.head))
	pngChunk(b, "IDAT", pixels.Bytes())
	pngChunk(b, "IEND", nil)
	return b.Bytes()
}

// lightest is a byte of pixels of a palette's lightest colour.
func lightest(palette []byte, depth int) byte {
	index, most := 0, -1
	for i := 0; 3*i+2 < len(palette) && i < 1<<depth; i++ {
		if light := int(palette[3*i]) + int(palette[3*i+1]) + int(palette[3*i+2]); light > most {
			index, most = i, light
		}
	}
	b := byte(index)
	for bits := depth; bits < 8; bits *= 2 {
		b |= b << bits
	}
	return b
}
