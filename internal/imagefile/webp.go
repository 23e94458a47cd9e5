package imagefile

import (
	"bytes"
	"encoding/binary"
	"image"

	"golang.org/x/image/webp"
)

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

// webpConfig reads the canvas size, also of an animation, whose header the decoder refuses.
func webpConfig(data []byte) (image.Config, error) {
	if x := webpExtended(data); x != nil && x[0]&webpAnimated != 0 {
		return image.Config{Width: 1 + int(uint24(x[4:])), Height: 1 + int(uint24(x[7:]))}, nil
	}
	return webp.DecodeConfig(bytes.NewReader(data))
}

func uint24(b []byte) uint32 { return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 }

var errNoFrame = problem("an animation without a whole first frame")

// firstFrame returns a still picture: data itself, or the first frame of an animation as a file
// of its own. That frame must fill the canvas, as the format's encoders write it.
func firstFrame(data []byte) ([]byte, error) {
	x := webpExtended(data)
	if x == nil || x[0]&webpAnimated == 0 {
		return data, nil
	}
	var frame []byte
	riffChunks(data[12:], func(kind string, body []byte) bool {
		if kind == "ANMF" && len(body) > 16 {
			frame = body
		}
		return frame != nil
	})
	if frame == nil || uint24(frame) != 0 || uint24(frame[3:]) != 0 ||
		!bytes.Equal(frame[6:12], x[4:10]) {
		return nil, errNoFrame
	}
	head := append([]byte{0, 0, 0, 0}, x[4:10]...)
	var chunks []byte
	riffChunks(frame[16:], func(kind string, body []byte) bool {
		if kind == "ALPH" {
			head[0] |= webpAlpha
		}
		if kind == "ALPH" || kind == "VP8 " || kind == "VP8L" {
			chunks = riffChunk(chunks, kind, body)
		}
		return kind == "VP8 " || kind == "VP8L"
	})
	if head[0] == 0 { // a simple file: VP8X would be refused before VP8L
		return webpFile(chunks), nil
	}
	return webpFile(append(riffChunk(nil, "VP8X", head), chunks...)), nil
}

func webpMeta(data []byte, m *Meta) {
	if webpExtended(data) == nil {
		return
	}
	riffChunks(data[12:], func(kind string, body []byte) bool {
		if kind == "ICCP" && len(body) <= maxProfile {
			m.ICC = body
		}
		return kind == "ICCP"
	})
}

// webpWithProfile adds a colour profile to a simple lossless file of w × h pixels.
func webpWithProfile(simple, icc []byte, w, h int) []byte {
	head := make([]byte, 10)
	head[0] = webpICC
	for i, v := range []int{w - 1, h - 1} {
		head[4+3*i], head[5+3*i], head[6+3*i] = byte(v), byte(v>>8), byte(v>>16)
	}
	chunks := riffChunk(nil, "VP8X", head)
	chunks = riffChunk(chunks, "ICCP", icc)
	riffChunks(simple[12:], func(kind string, body []byte) bool {
		if kind == "VP8L" {
			chunks = riffChunk(chunks, kind, body)
		}
		return false
	})
	return webpFile(chunks)
}
