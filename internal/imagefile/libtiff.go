package imagefile

import (
	"bytes"
	"context"
	"image"
)

var errTIFFKind = unsupportedError("its kind of samples" + tiffHint)

// unsupported names what of a page the decoder does not know.
func (d directory) unsupported() string {
	const fractions = 3
	if d.number(tagSampleFormat) == fractions {
		return "fractions as samples"
	}
	return ""
}

// decodeTIFF decodes the first page as it is stored.
func decodeTIFF(ctx context.Context, data []byte) (image.Image, error) {
	size, err := tiffConfig(data)
	if err != nil {
		return nil, err
	}
	decoder, err := tiffCodec()
	if err != nil {
		return nil, err
	}
	pixels := size.Width * size.Height
	in, err := decoder.start(ctx, guestMemory(pixels, len(data)))
	if err != nil {
		return nil, err
	}
	defer in.close()
	file, err := in.put(data)
	if err != nil {
		return nil, err
	}
	out, err := in.alloc(4 * pixels)
	if err != nil {
		return nil, err
	}
	const done, unknown = 1, 2
	result, err := in.call("decode", file, uint32(len(data)), uint32(size.Width),
		uint32(size.Height), out)
	switch {
	case err != nil:
		return nil, err
	case result == unknown:
		return nil, errTIFFKind
	case result != done:
		return nil, errGuestFailed
	}
	m := image.NewRGBA(image.Rect(0, 0, size.Width, size.Height))
	copy(m.Pix, in.View(out, 4*pixels))
	return m, nil
}

// Group4 compresses a picture of nothing but black and white by ITU-T T.6, without a header.
func Group4(ctx context.Context, m *image.RGBA) ([]byte, error) {
	encoder, err := tiffCodec()
	if err != nil {
		return nil, err
	}
	w, h := m.Rect.Dx(), m.Rect.Dy()
	stride := (w + 7) / 8
	in, err := encoder.start(ctx, guestMemory(w*h, 0))
	if err != nil {
		return nil, err
	}
	defer in.close()
	packed := make([]byte, stride*h)
	for y := range h {
		row, bits := m.Pix[y*m.Stride:][:4*w], packed[y*stride:][:stride]
		for x := range w {
			if row[4*x] == 0 {
				bits[x/8] |= 0x80 >> (x % 8)
			}
		}
	}
	rows, err := in.put(packed)
	if err != nil {
		return nil, err
	}
	size, err := in.alloc(4)
	if err != nil {
		return nil, err
	}
	at, err := in.call("encode", rows, uint32(w), uint32(h), size)
	if err != nil {
		return nil, err
	}
	if at == 0 {
		return nil, errGuestFailed
	}
	return bytes.Clone(in.View(at, int(in.Word(size)))), nil
}
