package imagefile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/jpeg"
	"iter"
	"math"
	"slices"
	"sort"

	"github.com/bep/imagemeta"
)

var jpegFormat = format{
	name: "JPEG", endings: []string{".jpg", ".jpeg"}, mediaType: "image/jpeg",
	sniff:  begins("\xff\xd8\xff"),
	open:   parts{jpegConfig, exifIn(imagemeta.JPEG), decodeJPEG, jpegMeta}.open,
	encode: writeJPEG,
}

// The markers that are looked for in a JPEG.
const (
	markSOF0 = 0xc0 // frames: baseline, …
	markSOF2 = 0xc2 // … and progressive
	markRST0 = 0xd0
	markRST7 = 0xd7
	markEOI  = 0xd9
	markSOS  = 0xda // a scan, which its data follows
	markDNL  = 0xdc // the height, behind the first scan
	markDRI  = 0xdd // blocks between two restarts
)

// jpegSegment is a part of a JPEG between two markers.
type jpegSegment struct {
	marker byte
	at     int    // of the marker
	body   []byte // without the length, and without a scan's data
}

// jpegParts yields the segments of a JPEG up to its end mark, or to where it was cut.
func jpegParts(data []byte) iter.Seq[jpegSegment] {
	return func(yield func(jpegSegment) bool) {
		for at := 2; at+4 <= len(data) && data[at] == 0xff; {
			marker := data[at+1]
			if marker == 0xff { // fill byte
				at++
				continue
			}
			n := int(binary.BigEndian.Uint16(data[at+2:]))
			if marker == markEOI || n < 2 || at+2+n > len(data) {
				return
			}
			if !yield(jpegSegment{marker, at, data[at+4 : at+2+n]}) {
				return
			}
			at += 2 + n
			if marker == markSOS {
				at = scanEnd(data, at)
			}
		}
	}
}

// scanEnd is where the first marker after a scan's data is, or the data's end.
func scanEnd(data []byte, at int) int {
	for ; at+1 < len(data); at++ {
		if next := data[at+1]; data[at] == 0xff && next != 0 && (next < markRST0 || next > markRST7) {
			return at
		}
	}
	return len(data)
}

var errNoHeight = unsupportedError("it states no height; save it anew")

// withHeight is a JPEG whose frame states the height, where it is stated behind the first scan.
func withHeight(data []byte) ([]byte, error) {
	const height = 5 // in the frame's segment
	frame := 0
	for part := range jpegParts(data) {
		switch part.marker {
		case markSOF0, markSOF0 + 1, markSOF2:
			if len(part.body) < 3 || part.body[1] != 0 || part.body[2] != 0 {
				return data, nil
			}
			frame = part.at
		case markDNL:
			if frame == 0 || len(part.body) != 2 {
				return nil, errNoHeight
			}
			stated := slices.Concat(data[:part.at], data[part.at+4+len(part.body):])
			copy(stated[frame+height:], part.body)
			return stated, nil
		}
	}
	if frame > 0 {
		return nil, errNoHeight
	}
	return data, nil
}

// jpegConfig reads the size, and refuses a file that is too much work for it.
func jpegConfig(data []byte) (image.Config, error) {
	data, err := withHeight(data)
	if err != nil {
		return image.Config{}, err
	}
	size, err := jpeg.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return size, err
	}
	return size, checkJPEG(data)
}

// decodeJPEG decodes a file, also one that was cut: what is missing of at most a tenth of its lines
// is white, and of a progressive one the last refinement may be missing.
func decodeJPEG(ctx context.Context, data []byte) (image.Image, error) {
	m, err := jpegPlanes(ctx, data)
	return coloured(m), err
}

// coloured is a picture whose chroma, where it has some, is interpolated.
func coloured(m image.Image) image.Image {
	planes, ok := m.(*image.YCbCr)
	if !ok {
		return m
	}
	dst := image.NewRGBA(planes.Rect)
	newYCC(nil).pixels(dst.Pix, planes)
	return dst
}

func jpegPlanes(ctx context.Context, data []byte) (image.Image, error) {
	data, err := withHeight(data)
	if err != nil {
		return nil, err
	}
	m, err := jpeg.Decode(reading(ctx, data))
	if err == nil {
		return m, nil
	}
	var frame, scan jpegSegment
	for part := range jpegParts(data) {
		switch part.marker {
		case markSOF0, markSOF0 + 1, markSOF2:
			frame = part
		case markSOS:
			scan = part
		}
	}
	if scan.body == nil || frame.body == nil || scanEnd(data, scan.at+4+len(scan.body)) < len(data) {
		return nil, err // not cut in a scan
	}
	if m, err := decodeEnded(ctx, data); err == nil { // only the end mark was missing
		return m, nil
	}
	var rest image.Image
	if frame.marker == markSOF2 {
		rest = withoutRefinement(ctx, data, scan)
	} else {
		rest = upperLines(ctx, data, frame)
	}
	if rest == nil {
		return nil, err
	}
	return rest, nil
}

// decodeEnded decodes data that lacks an end mark.
func decodeEnded(ctx context.Context, data ...[]byte) (image.Image, error) {
	return jpeg.Decode(reading(ctx, append(bytes.Join(data, nil), 0xff, markEOI)))
}

// withoutRefinement decodes a progressive picture without the scan in which it was cut, if that
// was to add the last bit of the luminance's detail; nil if not.
func withoutRefinement(ctx context.Context, data []byte, scan jpegSegment) image.Image {
	// number of components, two bytes for each, first and last coefficient, bits before and after
	b := scan.body
	if len(b) != 6 || b[0] != 1 || b[3] == 0 || b[5] != 1<<4 {
		return nil
	}
	m, err := decodeEnded(ctx, data[:scan.at])
	if err != nil {
		return nil
	}
	return m
}

// upperLines decodes as many lines as there are of a picture, and leaves the rest white; nil if
// over a tenth is missing. The decoder is told of fewer lines, and passes over data that it needs
// not.
func upperLines(ctx context.Context, data []byte, frame jpegSegment) image.Image {
	height, width, block, err := frameSize(frame)
	if err != nil {
		return nil
	}
	before, after := data[:frame.at+5], data[frame.at+7:]
	var m image.Image
	decodes := func(lines int) bool {
		some, err := decodeEnded(ctx, before, binary.BigEndian.AppendUint16(nil, uint16(lines)), after)
		if err == nil {
			m = some
		}
		return err == nil
	}
	least, most := (height-height/10+block-1)/block, (height-1)/block
	missing := sort.Search(most-least+1, func(i int) bool { return decodes((most - i) * block) })
	if missing > most-least {
		return nil
	}
	return onWhite(coloured(m), image.Rect(0, 0, width, height))
}

// frameSize reads a frame's size in pixels and the height of its rows of blocks.
func frameSize(frame jpegSegment) (height, width, block int, err error) {
	b := frame.body // precision, height, width, number of components, three bytes for each
	if len(b) < 6 || len(b) != 6+3*int(b[5]) {
		return 0, 0, 0, errors.New("the frame is broken")
	}
	for c := 6; c < len(b); c += 3 {
		block = max(block, 8*int(b[c+1]&15))
	}
	if block == 0 {
		return 0, 0, 0, errors.New("the frame has no components")
	}
	return int(binary.BigEndian.Uint16(b[1:])), int(binary.BigEndian.Uint16(b[3:])), block, nil
}

// writeJPEG writes a picture with its metadata, a grey one as grey.
func writeJPEG(ctx context.Context, m *image.RGBA, meta Meta) ([]byte, error) {
	var src sheet = m
	grey := look(m).grey
	if grey {
		src = toGray(m)
	}
	if isGreyProfile(meta.ICC) != grey {
		meta.ICC = nil
	}
	data, err := encodeJPEG(ctx, src)
	if err != nil {
		return nil, err
	}
	return insert(data, 2, jpegSegments(meta)), nil
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
