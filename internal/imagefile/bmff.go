package imagefile

import (
	"context"
	"encoding/binary"
	"image"
	"math"

	"github.com/bep/imagemeta"
)

// HEIC and AVIF files are boxes within boxes (ISO/IEC 14496-12 and 23008-12): a meta box lists
// items, says which is the picture, and gives each its properties.

var heicFormat = format{
	name: "HEIC", endings: []string{".heic", ".heif"}, mediaType: "image/heic",
	sniff: func(head []byte) bool { return brandOf(head) == HEIC },
	open: func(data []byte) (stored, error) {
		s, err := parseStill(data)
		if err == nil && s.alpha { // the decoder would show what lies under it
			err = errTransparent
		}
		file := s.stored(imagemeta.HEIF, data, decodeHEIC)
		file.upright = true
		return file, err
	},
}

var avifFormat = format{
	name: "AVIF", endings: []string{".avif"}, mediaType: "image/avif",
	sniff: func(head []byte) bool { return brandOf(head) == AVIF },
	open: func(data []byte) (stored, error) {
		s, err := parseStill(data)
		return s.stored(imagemeta.AVIF, data, decodeAVIF), err
	},
}

// stored is the file that the boxes describe. Its resolution is in EXIF.
func (s still) stored(exif imagemeta.ImageFormat, data []byte,
	decode func(context.Context, still, []byte) (image.Image, error)) stored {
	return stored{
		coded: s.coded, size: s.crop.Size(), orientation: s.orientation,
		pixels: func(ctx context.Context) (image.Image, error) { return decode(ctx, s, data) },
		meta:   func() Meta { return Meta{DPI: readExif(exif, data).dpi, ICC: s.icc} },
	}
}

// still is what the boxes say of the primary picture.
type still struct {
	coded       image.Point     // size before the crop
	crop        image.Rectangle // what of it is to be seen
	orientation int             // to be applied after the crop; as in EXIF, 1 to 8
	icc         []byte
	colour      *cicp // nil when not stated
	alpha       bool  // it has a plane of transparency
}

// cicp are coding-independent code points (ITU-T H.273).
type cicp struct {
	primaries, transfer, matrix int
	full                        bool // range
}

var (
	errBoxes       = problem("its boxes are damaged")
	errNoStill     = problem("it has no still picture")
	errNoSize      = problem("its size is not stated")
	errBadCrop     = problem("its crop does not lie within the picture")
	errTooMany     = problem("it has too many items")
	errTransparent = unsupportedError("transparency; save it as PNG")
	errLateCrop    = unsupportedError("a crop after a rotation; save it as JPEG")
)

// maxItems bounds items and properties; a panorama of a phone has a few hundred tiles.
const maxItems = 10_000

// brandOf tells HEIC and AVIF by the file type box, of which head has at least the beginning.
func brandOf(head []byte) Format {
	if len(head) < 12 || string(head[4:8]) != "ftyp" {
		return Auto
	}
	brands := head[8:min(uint64(len(head)), max(12, uint64(binary.BigEndian.Uint32(head))))]
	for i := 0; i+4 <= len(brands); i += 4 { // the first is the major one, the second a version
		switch string(brands[i : i+4]) {
		case "avif", "avis":
			return AVIF
		case "heic", "heix", "heim", "heis", "hevc", "hevx":
			return HEIC
		}
	}
	return Auto
}

// eachBox calls fn for each box of b.
func eachBox(b []byte, fn func(kind string, body []byte) error) error {
	for len(b) > 0 {
		if len(b) < 8 {
			return errBoxes
		}
		size, head := uint64(binary.BigEndian.Uint32(b)), 8
		switch {
		case size == 0: // to the end
			size = uint64(len(b))
		case size == 1 && len(b) >= 16:
			size, head = binary.BigEndian.Uint64(b[8:]), 16
		}
		if size < uint64(head) || size > uint64(len(b)) {
			return errBoxes
		}
		if err := fn(string(b[4:8]), b[head:size]); err != nil {
			return err
		}
		b = b[size:]
	}
	return nil
}

// fields reads big-endian numbers one after another. What is not there reads as zero and is
// remembered.
type fields struct {
	b     []byte
	short bool
}

func (f *fields) bytes(n int) []byte {
	if n > len(f.b) {
		f.b, f.short = nil, true
		return make([]byte, n)
	}
	v := f.b[:n]
	f.b = f.b[n:]
	return v
}

func (f *fields) u8() int     { return int(f.bytes(1)[0]) }
func (f *fields) u16() int    { return int(binary.BigEndian.Uint16(f.bytes(2))) }
func (f *fields) u32() uint32 { return binary.BigEndian.Uint32(f.bytes(4)) }

// wide reads 16 bits, or 32 when wide says so.
func (f *fields) wide(wide bool) uint32 {
	if wide {
		return f.u32()
	}
	return uint32(f.u16())
}

func (f *fields) err() error {
	if f.short {
		return errBoxes
	}
	return nil
}

// metaBox is what of a meta box is needed.
type metaBox struct {
	primary    uint32
	properties []property          // numbered from 1
	of         map[uint32][]int    // item → its properties, in order
	auxiliary  map[uint32][]uint32 // item → those that add to it, such as transparency
}

type property struct {
	kind string
	body []byte
}

// parseStill reads the boxes of a HEIC or AVIF file.
func parseStill(data []byte) (still, error) {
	m := metaBox{of: map[uint32][]int{}, auxiliary: map[uint32][]uint32{}}
	found := false
	err := eachBox(data, func(kind string, body []byte) error {
		if kind != "meta" || found {
			return nil
		}
		if len(body) < 4 {
			return errBoxes
		}
		found = true
		return eachBox(body[4:], m.read)
	})
	switch {
	case !found && err != nil:
		return still{}, err
	case !found || m.primary == 0:
		return still{}, errNoStill
	case len(m.properties) == 0:
		return still{}, errNoSize
	}
	return m.still()
}

func (m *metaBox) read(kind string, body []byte) error {
	f := fields{b: body}
	switch kind {
	case "pitm":
		version := f.u32() >> 24
		m.primary = f.wide(version > 0)
	case "iref":
		version := f.u32() >> 24
		return eachBox(f.b, func(kind string, body []byte) error {
			return m.reference(kind, body, version > 0)
		})
	case "iprp":
		return eachBox(body, m.readProperties)
	}
	return f.err()
}

func (m *metaBox) reference(kind string, body []byte, wide bool) error {
	f := fields{b: body}
	from := f.wide(wide)
	if kind != "auxl" {
		return nil
	}
	for range f.u16() {
		if to := f.wide(wide); f.short {
			break
		} else if len(m.auxiliary[to]) < maxItems {
			m.auxiliary[to] = append(m.auxiliary[to], from)
		}
	}
	return f.err()
}

func (m *metaBox) readProperties(kind string, body []byte) error {
	switch kind {
	case "ipco":
		return eachBox(body, func(kind string, body []byte) error {
			if len(m.properties) == maxItems {
				return errTooMany
			}
			m.properties = append(m.properties, property{kind, body})
			return nil
		})
	case "ipma":
		return m.associate(fields{b: body})
	}
	return nil
}

func (m *metaBox) associate(f fields) error {
	head := f.u32()
	wideID, wideIndex := head>>24 > 0, head&1 == 1
	for range f.u32() {
		id := f.wide(wideID)
		for range f.u8() {
			index := 0
			if wideIndex {
				index = f.u16() & 0x7fff
			} else {
				index = f.u8() & 0x7f
			}
			if f.short || len(m.of) > maxItems {
				return errBoxes
			}
			m.of[id] = append(m.of[id], index)
		}
		if f.short {
			return errBoxes
		}
	}
	return nil
}

// each calls fn for an item's properties.
func (m *metaBox) each(item uint32, fn func(p property) error) error {
	for _, i := range m.of[item] {
		if i == 0 || i > len(m.properties) { // zero is "none"
			continue
		}
		if err := fn(m.properties[i-1]); err != nil {
			return err
		}
	}
	return nil
}

func (m *metaBox) still() (still, error) {
	s := still{orientation: 1}
	var t turn
	err := m.each(m.primary, func(p property) error {
		f := fields{b: p.body}
		switch p.kind {
		case "ispe":
			f.u32()
			w, h := f.u32(), f.u32()
			if w == 0 || h == 0 || w > math.MaxInt32 || h > math.MaxInt32 {
				return errNoSize
			}
			s.coded = image.Pt(int(w), int(h))
			s.crop = image.Rectangle{Max: s.coded}
		case "clap":
			if t != (turn{}) {
				return errLateCrop
			}
			return s.aperture(f)
		case "irot":
			t.quarters = (t.quarters - f.u8()&3) & 3
		case "imir":
			t = turn{mirrored: !t.mirrored, quarters: (2 - t.quarters) & 3}
			if f.u8()&1 == 1 { // left and right change places; otherwise top and bottom
				t.quarters = (t.quarters + 2) & 3
			}
		case "colr":
			s.describe(f)
			return nil
		}
		return f.err()
	})
	if err != nil {
		return still{}, err
	}
	if s.coded == (image.Point{}) {
		return still{}, errNoSize
	}
	s.orientation = t.exif()
	for _, item := range m.auxiliary[m.primary] {
		_ = m.each(item, func(p property) error {
			if p.kind == "auxC" && isAlpha(p.body) {
				s.alpha = true
			}
			return nil
		})
	}
	return s, nil
}

// describe reads a colour box: a profile, or code points.
func (s *still) describe(f fields) {
	switch kind := string(f.bytes(4)); {
	case (kind == "prof" || kind == "rICC") && len(f.b) <= maxProfile:
		s.icc = f.b
	case kind == "nclx":
		c := cicp{primaries: f.u16(), transfer: f.u16(), matrix: f.u16(), full: f.u8()&0x80 != 0}
		if !f.short {
			s.colour = &c
		}
	}
}

// aperture reads a clean aperture: width, height, and where its centre is off the picture's, as
// fractions.
func (s *still) aperture(f fields) error {
	var v [8]int64
	for i := range v {
		v[i] = int64(f.u32())
	}
	if f.short || v[1] == 0 || v[3] == 0 || v[5] == 0 || v[7] == 0 {
		return errBoxes
	}
	span := func(full int, size, sizeOf, offset, offsetOf int64) (from, to int) {
		n := (2*size + sizeOf) / (2 * sizeOf) // rounded
		if n < 1 || n > int64(full) {
			return 0, -1
		}
		// Twice the distance from the edge, which is half of what is cut off and the offset.
		twice := int64(full) - n + int64(math.Floor(2*float64(int32(offset))/float64(offsetOf)))
		at := int(twice >> 1)
		return at, at + int(n)
	}
	x0, x1 := span(s.coded.X, v[0], v[1], v[4], v[5])
	y0, y1 := span(s.coded.Y, v[2], v[3], v[6], v[7])
	crop := image.Rectangle{image.Pt(x0, y0), image.Pt(x1, y1)}
	if crop.Empty() || !crop.In(image.Rectangle{Max: s.coded}) {
		return errBadCrop
	}
	s.crop = crop
	return nil
}

func isAlpha(auxC []byte) bool {
	f := fields{b: auxC}
	f.u32()
	for _, urn := range []string{"urn:mpeg:hevc:2015:auxid:1\x00",
		"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\x00"} {
		if len(f.b) >= len(urn) && string(f.b[:len(urn)]) == urn {
			return true
		}
	}
	return false
}

// turn is a mirroring of left and right, followed by quarter turns clockwise.
type turn struct {
	mirrored bool
	quarters int
}

func (t turn) exif() int {
	if t.mirrored {
		return [...]int{2, 7, 4, 5}[t.quarters]
	}
	return [...]int{1, 6, 3, 8}[t.quarters]
}
