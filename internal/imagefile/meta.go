package imagefile

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"strings"

	"github.com/bep/imagemeta"
)

// maxProfile bounds a colour profile; real ones are a few kilobytes, the largest some two
// megabytes.
const maxProfile = 4 << 20

// Meta is what of a file's metadata is kept.
type Meta struct {
	DPI [2]float64 // horizontal and vertical, dots per inch; zero when not stated
	ICC []byte     // colour profile, of RGB or grey; nil when sRGB or not stated
}

// unsupportedError names what of a picture is not supported.
type unsupportedError string

func (e unsupportedError) Error() string { return string(e) }

func isUnsupported(err error) bool {
	var j jpeg.UnsupportedError
	var p png.UnsupportedError
	var u unsupportedError
	return errors.As(err, &j) || errors.As(err, &p) || errors.As(err, &u)
}

// readMeta collects resolution and profile. Damaged metadata is dropped, never an error: the
// pixels are what matters.
func readMeta(f Format, data []byte) Meta {
	m := Meta{DPI: readExif(f, data).dpi}
	switch f {
	case JPEG:
		jpegMeta(data, &m)
	case PNG:
		pngMeta(data, &m)
	case WebP:
		webpMeta(data, &m)
	case BMP:
		bmpMeta(data, &m)
	case TIFF:
		tiffMeta(data, &m)
	case HEIC, AVIF:
		if s, err := parseStill(data); err == nil {
			m.ICC = s.icc
		}
	}
	if !keepProfile(m.ICC) {
		m.ICC = nil
	}
	for _, d := range m.DPI {
		if !(d >= 1 && d <= 1e5) {
			m.DPI = [2]float64{}
		}
	}
	return m
}

type exif struct {
	orientation int
	dpi         [2]float64
}

// readExif reads the orientation and the resolution tags; orientation is 1 when there is none.
func readExif(f Format, data []byte) exif {
	e := exif{orientation: 1}
	if f == WebP {
		f, data = TIFF, webpExif(data)
	}
	format, ok := map[Format]imagemeta.ImageFormat{
		JPEG: imagemeta.JPEG, PNG: imagemeta.PNG, TIFF: imagemeta.TIFF, HEIC: imagemeta.HEIF,
		AVIF: imagemeta.AVIF,
	}[f]
	if !ok {
		return e
	}
	defer func() { _ = recover() }() // hostile EXIF must not stop a good picture
	unit := 1.0
	wanted := map[string]func(float64){
		"Orientation": func(v float64) {
			if v >= 1 && v <= 8 {
				e.orientation = int(v)
			}
		},
		"XResolution": func(v float64) { e.dpi[0] = v },
		"YResolution": func(v float64) { e.dpi[1] = v },
		"ResolutionUnit": func(v float64) {
			if v == 3 { // dots per centimetre
				unit = 2.54
			}
		},
	}
	_, _ = imagemeta.Decode(imagemeta.Options{
		R:           bytes.NewReader(data),
		ImageFormat: format,
		Sources:     imagemeta.EXIF,
		ShouldHandleTag: func(t imagemeta.TagInfo) bool {
			return t.Namespace == "IFD0" && wanted[t.Tag] != nil
		},
		HandleTag: func(t imagemeta.TagInfo) error {
			if v, ok := number(t.Value); ok {
				wanted[t.Tag](v)
			}
			return nil
		},
		LimitNumTags: 1000,
	})
	e.dpi[0] *= unit
	e.dpi[1] *= unit
	return e
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case uint16:
		return float64(v), true
	case uint32:
		return float64(v), true
	case interface{ Float64() float64 }:
		return v.Float64(), true
	}
	return 0, false
}

// jpegMeta walks the segments up to the scan: JFIF density and the ICC profile's parts.
func jpegMeta(data []byte, m *Meta) {
	const iccTag = "ICC_PROFILE\x00"
	parts := map[byte][]byte{}
	for part := range jpegParts(data) {
		if part.marker == markSOS {
			break
		}
		body := part.body
		switch {
		case part.marker == 0xe0 && len(body) >= 12 && string(body[:5]) == "JFIF\x00":
			x, y := float64(binary.BigEndian.Uint16(body[8:])), float64(binary.BigEndian.Uint16(body[10:]))
			switch body[7] {
			case 1:
				m.DPI = [2]float64{x, y}
			case 2:
				m.DPI = [2]float64{x * 2.54, y * 2.54}
			}
		case part.marker == 0xe2 && len(body) > 14 && string(body[:12]) == iccTag:
			parts[body[12]] = body[14:]
		}
	}
	for i := byte(1); parts[i] != nil && len(m.ICC) < maxProfile; i++ {
		m.ICC = append(m.ICC, parts[i]...)
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
	pngChunks(data, func(kind string, body []byte) {
		switch {
		case kind == "pHYs" && len(body) == 9 && body[8] == 1:
			for i := range m.DPI {
				m.DPI[i] = float64(binary.BigEndian.Uint32(body[4*i:])) * 0.0254
			}
		case kind == "iCCP":
			if i := bytes.IndexByte(body, 0); i >= 0 && i+2 <= len(body) {
				m.ICC = inflate(body[i+2:])
			}
		}
	})
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

func bmpMeta(data []byte, m *Meta) {
	if len(data) < 46 || binary.LittleEndian.Uint32(data[14:]) < 40 {
		return
	}
	for i := range m.DPI {
		m.DPI[i] = float64(binary.LittleEndian.Uint32(data[38+4*i:])) * 0.0254
	}
}

// keepProfile says that a profile has something to say of the decoded pixels: it is of RGB or
// grey, and not sRGB by its description. The pixels are RGB once decoded, so a CMYK profile no
// longer tells the truth.
func keepProfile(icc []byte) bool {
	if len(icc) < 132 || string(icc[36:40]) != "acsp" {
		return false
	}
	return isGreyProfile(icc) || string(icc[16:20]) == "RGB " &&
		!strings.Contains(profileName(icc), "sRGB")
}

func isGreyProfile(icc []byte) bool { return len(icc) >= 20 && string(icc[16:20]) == "GRAY" }

// profileName reads the description tag, which is ASCII ("desc") or UTF-16 ("mluc").
func profileName(icc []byte) string {
	n := int(binary.BigEndian.Uint32(icc[128:]))
	for i := 0; i < min(n, 100) && 132+12*i+12 <= len(icc); i++ {
		tag := icc[132+12*i:]
		at, size := int(binary.BigEndian.Uint32(tag[4:])), int(binary.BigEndian.Uint32(tag[8:]))
		if string(tag[:4]) == "desc" && at >= 0 && size >= 0 && size <= 1000 && at <= len(icc)-size {
			return strings.ReplaceAll(string(icc[at:at+size]), "\x00", "")
		}
	}
	return ""
}

// jpegSegments are the segments that carry the metadata, to stand after a JPEG's SOI marker.
func jpegSegments(m Meta) []byte {
	var b bytes.Buffer
	segment := func(marker byte, body []byte) {
		b.Write([]byte{0xff, marker, byte((len(body) + 2) >> 8), byte(len(body) + 2)})
		b.Write(body)
	}
	jfif := []byte("JFIF\x00\x01\x02\x00\x00\x01\x00\x01\x00\x00")
	if m.DPI[0] > 0 {
		jfif[7] = 1
		for i, d := range m.DPI {
			binary.BigEndian.PutUint16(jfif[8+2*i:], uint16(min(math.Round(d), math.MaxUint16)))
		}
	}
	segment(0xe0, jfif)
	const part = 65519
	count := (len(m.ICC) + part - 1) / part
	for i := range count {
		head := append([]byte("ICC_PROFILE\x00"), byte(i+1), byte(count))
		segment(0xe2, append(head, m.ICC[i*part:min((i+1)*part, len(m.ICC))]...))
	}
	return b.Bytes()
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
