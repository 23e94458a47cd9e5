package imagefile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"

	"github.com/bep/imagemeta"
	"golang.org/x/image/webp"
)

var webpFormat = format{
	name: "WebP", endings: []string{".webp"}, mediaType: "image/webp",
	sniff:  func(head []byte) bool { return hasAt(head, 0, "RIFF") && hasAt(head, 8, "WEBP") },
	open:   parts{webpConfig, webpExif, decodeWebP, webpMeta}.open,
	encode: encodeWebP,
}

// riffChunks calls fn for each chunk of a RIFF body until fn says stop. It never fails: what is
// cut short is not reported.
func riffChunks(body []byte, fn func(kind string, body []byte) (stop bool)) {
	for len(body) >= 8 {
		n := int(binary.LittleEndian.Uint32(body[4:]))
		if n < 0 || n > len(body)-8 || fn(string(body[:4]), body[8:8+n]) {
			return
		}
		body = body[min(8+n+n&1, len(body)):]
	}
}

func riffChunk(dst []byte, kind string, body []byte) []byte {
	dst = append(dst, kind...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(body)))
	dst = append(dst, body...)
	if len(body)&1 == 1 {
		dst = append(dst, 0)
	}
	return dst
}

func webpFile(chunks []byte) []byte {
	return riffChunk(nil, "RIFF", append([]byte("WEBP"), chunks...))
}

const (
	webpAnimated = 1 << 1
	webpAlpha    = 1 << 4
	webpICC      = 1 << 5
)

// webpExtended returns the body of the VP8X chunk, when there is one.
func webpExtended(data []byte) []byte {
	if len(data) >= 30 && string(data[12:16]) == "VP8X" {
		return data[20:30]
	}
	return nil
}

// webpConfig reads the size: of an animation, that of its canvas.
func webpConfig(data []byte) (image.Config, error) {
	if x := webpExtended(data); x != nil && x[0]&webpAnimated != 0 {
		return image.Config{Width: 1 + int(uint24(x[4:])), Height: 1 + int(uint24(x[7:]))}, nil
	}
	still, err := webpStill(data)
	if err != nil {
		return image.Config{}, err
	}
	return webp.DecodeConfig(bytes.NewReader(still))
}

func uint24(b []byte) uint32 { return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 }

var (
	errNoFrame   = problem("an animation without a whole first frame")
	errNoPicture = errors.New("no chunk with a whole picture")
)

// webpStill is a file of the chunks that hold a picture's pixels, of an animation those of its
// first frame, which must fill the canvas, as the format's encoders write it. What else a file has
// in its chunks, and how it states their sum, does not matter to the picture.
func webpStill(data []byte) ([]byte, error) {
	body, x := data[12:], webpExtended(data)
	if x != nil && x[0]&webpAnimated != 0 {
		frame := webpChunk(body, "ANMF")
		if len(frame) < 16 || uint24(frame) != 0 || uint24(frame[3:]) != 0 ||
			!bytes.Equal(frame[6:12], x[4:10]) {
			return nil, errNoFrame
		}
		body = frame[16:]
	}
	if lossless := webpChunk(body, "VP8L"); lossless != nil {
		return webpFile(riffChunk(nil, "VP8L", lossless)), nil
	}
	lossy := webpChunk(body, "VP8 ")
	if lossy == nil {
		return nil, errNoPicture
	}
	var chunks []byte
	if alpha := webpChunk(body, "ALPH"); alpha != nil && x != nil {
		head := append([]byte{webpAlpha, 0, 0, 0}, x[4:10]...)
		chunks = riffChunk(riffChunk(nil, "VP8X", head), "ALPH", alpha)
	}
	return webpFile(riffChunk(chunks, "VP8 ", lossy)), nil
}

// webpChunk is the body of the first chunk of a kind; nil if there is none.
func webpChunk(body []byte, kind string) (found []byte) {
	riffChunks(body, func(k string, b []byte) bool {
		if k == kind {
			found = b
		}
		return k == kind
	})
	return found
}

// decodeWebP decodes a still picture or the first frame of an animation.
func decodeWebP(ctx context.Context, data []byte) (image.Image, error) {
	still, err := webpStill(data)
	if err != nil {
		return nil, err
	}
	m, err := webp.Decode(reading(ctx, still))
	if err != nil {
		return nil, err
	}
	limited := newYCC(&cicp{matrix: 6}) // luma goes from 16 to 235, as a video frame's does
	switch m := m.(type) {
	case *image.YCbCr:
		dst := image.NewRGBA(m.Rect)
		limited.pixels(dst.Pix, m)
		return dst, nil
	case *image.NYCbCrA:
		dst := image.NewNRGBA(m.Rect)
		limited.pixels(dst.Pix, &m.YCbCr)
		for y := range m.Rect.Dy() {
			for x, a := range m.A[y*m.AStride:][:m.Rect.Dx()] {
				dst.Pix[y*dst.Stride+4*x+3] = a
			}
		}
		return dst, nil
	}
	return m, nil
}

// webpExif reads a file's EXIF chunk, which has the form of a TIFF file. Some programs put before
// it what stands before it in a JPEG.
func webpExif(data []byte) exif {
	chunk := webpChunk(data[12:], "EXIF")
	return readExif(imagemeta.TIFF, bytes.TrimPrefix(chunk, []byte("Exif\x00\x00")))
}

func webpMeta(data []byte, m *Meta) {
	if icc := webpChunk(data[12:], "ICCP"); len(icc) <= maxProfile {
		m.ICC = icc
	}
}

// webpWithProfile is a file of w × h pixels, the body of a VP8L chunk, with a colour profile.
func webpWithProfile(pixels, icc []byte, w, h int) []byte {
	head := make([]byte, 10)
	head[0] = webpICC
	for i, v := range []int{w - 1, h - 1} {
		head[4+3*i], head[5+3*i], head[6+3*i] = byte(v), byte(v>>8), byte(v>>16)
	}
	chunks := riffChunk(nil, "VP8X", head)
	chunks = riffChunk(chunks, "ICCP", icc)
	return webpFile(riffChunk(chunks, "VP8L", pixels))
}

// encodeWebP writes a picture without loss. Grey pictures are written as RGB, so that a grey
// profile would not fit them.
func encodeWebP(ctx context.Context, m *image.RGBA, meta Meta) ([]byte, error) {
	pixels, err := encodeVP8L(ctx, m)
	if err != nil {
		return nil, err
	}
	if meta.ICC == nil || isGreyProfile(meta.ICC) || look(m).grey {
		return webpFile(riffChunk(nil, "VP8L", pixels)), nil
	}
	return webpWithProfile(pixels, meta.ICC, m.Rect.Dx(), m.Rect.Dy()), nil
}
