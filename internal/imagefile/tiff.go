package imagefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"math"
)

var tiffFormat = format{
	name: "TIFF", endings: []string{".tiff", ".tif"}, mediaType: "image/tiff",
	sniff: begins("II*\x00", "MM\x00*", "II+\x00", "MM\x00+"),
	open: func(data []byte) (stored, error) {
		// What stands before the first page, such as a thumbnail, is skipped.
		return parts{tiffConfig, tiffExif, decodeTIFF, tiffMeta}.open(Page(data, 0))
	},
}

// maxTIFFPages bounds the pages that are looked for.
const maxTIFFPages = 10_000

// Tags of TIFF 6.0 and its supplements.
const (
	tagSubfile        = 254
	tagWidth          = 256
	tagHeight         = 257
	tagBits           = 258
	tagCompression    = 259
	tagPhotometric    = 262
	tagOrientation    = 274
	tagRowsPerStrip   = 278
	tagXResolution    = 282
	tagYResolution    = 283
	tagPlanar         = 284
	tagResolutionUnit = 296
	tagTileWidth      = 322
	tagTileLength     = 323
	tagSampleFormat   = 339
	tagICC            = 34675
)

// tiffFile is how a file's numbers are stored: as in TIFF 6.0, or in BigTIFF, whose offsets and
// counts take 8 bytes.
type tiffFile struct {
	data  []byte
	order binary.ByteOrder
	big   bool
}

// tiffHead reads a file's head: how its numbers are stored, and where its first directory is.
func tiffHead(data []byte) (f tiffFile, first uint64, ok bool) {
	const head, bigHead = 8, 16
	f.data = data
	switch {
	case hasAt(data, 0, "II"):
		f.order = binary.LittleEndian
	case hasAt(data, 0, "MM"):
		f.order = binary.BigEndian
	default:
		return f, 0, false
	}
	switch kind := data[2:]; {
	case len(data) >= head && f.order.Uint16(kind) == 42:
		return f, f.offset(data[4:]), true
	case len(data) >= bigHead && f.order.Uint16(kind) == 43:
		f.big = true
		return f, f.offset(data[8:]), true
	}
	return f, 0, false
}

func (f tiffFile) offset(b []byte) uint64 {
	if f.big {
		return f.order.Uint64(b)
	}
	return uint64(f.order.Uint32(b))
}

// begin has the file begin with the directory at an offset.
func (f tiffFile) begin(at uint64) {
	if f.big {
		f.order.PutUint64(f.data[8:], at)
	} else {
		f.order.PutUint32(f.data[4:], uint32(at))
	}
}

// directory is one page of a TIFF file: its tags, numbers as they are stored.
type directory struct {
	tiffFile
	tags []byte
}

// wide is the bytes of an offset or a count.
func (f tiffFile) wide() int {
	if f.big {
		return 8
	}
	return 4
}

// tagSize is the bytes of a tag in a directory: what it is, its type, count, and value or offset.
func (f tiffFile) tagSize() int { return 4 + 2*f.wide() }

// directory reads the directory at an offset, and the offset of the next one.
func (f tiffFile) directory(at uint64) (d directory, next uint64, ok bool) {
	count := 2
	if f.big {
		count = 8
	}
	if at > uint64(len(f.data)) || len(f.data)-int(at) < count {
		return d, 0, false
	}
	tags := f.data[int(at)+count:]
	n := uint64(f.order.Uint16(f.data[at:]))
	if f.big {
		n = f.order.Uint64(f.data[at:])
	}
	if n > uint64(len(tags)/f.tagSize()) {
		return d, 0, false
	}
	size := int(n) * f.tagSize()
	if len(tags)-size >= f.wide() {
		next = f.offset(tags[size:])
	}
	return directory{f, tags[:size]}, next, true
}

// find returns a tag's type, count and value or offset.
func (d directory) find(tag uint16) (kind uint16, count uint64, value []byte) {
	size := d.tagSize()
	for t := d.tags; len(t) >= size; t = t[size:] {
		if d.order.Uint16(t) == tag {
			return d.order.Uint16(t[2:]), d.offset(t[4:]), t[4+d.wide() : size]
		}
	}
	return 0, 0, nil
}

// number is a tag's first value, where that stands in the tag itself.
func (d directory) number(tag uint16) int {
	const short, long, long8 = 3, 4, 16
	switch kind, _, value := d.find(tag); {
	case value == nil:
		return 0
	case kind == short:
		return int(d.order.Uint16(value))
	case kind == long:
		return int(d.order.Uint32(value))
	case kind == long8 && d.big:
		return int(min(d.order.Uint64(value), math.MaxInt32))
	}
	return 0
}

// bytes are a tag's value, of so many bytes each.
func (d directory) bytes(tag uint16, each int) []byte {
	_, n, value := d.find(tag)
	if value == nil || n > uint64(len(d.data)/each) {
		return nil
	}
	size := n * uint64(each)
	if size <= uint64(len(value)) {
		return value[:size]
	}
	at := d.offset(value)
	if at > uint64(len(d.data))-size {
		return nil
	}
	return d.data[at : at+size]
}

// rational is a tag's value, of one number over another; zero where there is none.
func (d directory) rational(tag uint16) float64 {
	const rational = 5
	kind, _, _ := d.find(tag)
	b := d.bytes(tag, 8)
	if kind != rational || len(b) < 8 || d.order.Uint32(b[4:]) == 0 {
		return 0
	}
	return float64(d.order.Uint32(b)) / float64(d.order.Uint32(b[4:]))
}

// tiffPages are the offsets of the pages' directories. Thumbnails and masks are no pages.
func tiffPages(data []byte) []uint64 {
	f, at, ok := tiffHead(data)
	if !ok {
		return nil
	}
	var pages []uint64
	seen := map[uint64]bool{}
	for at != 0 && !seen[at] && len(seen) < maxTIFFPages {
		seen[at] = true
		d, next, ok := f.directory(at)
		if !ok {
			break
		}
		const thumbnail, mask = 1, 4
		if d.number(tagSubfile)&(thumbnail|mask) == 0 {
			pages = append(pages, at)
		}
		at = next
	}
	return pages
}

// Pages is how many pages a TIFF file has; other files have one.
func Pages(data []byte) int { return max(1, len(tiffPages(data))) }

// Page is a TIFF file with only page n, from 0, of the one in data, which is left as it is.
// Of a file with one page it is data itself.
func Page(data []byte, n int) []byte {
	pages := tiffPages(data)
	f, first, ok := tiffHead(data)
	if !ok || n >= len(pages) || pages[n] == first {
		return data
	}
	f.data = bytes.Clone(data)
	f.begin(pages[n])
	return f.data
}

// tiffFirst is the directory of the first page.
func tiffFirst(data []byte) (directory, bool) {
	f, at, ok := tiffHead(data)
	if !ok {
		return directory{}, false
	}
	d, _, ok := f.directory(at)
	return d, ok
}

// tiffConfig reads the size, and refuses what the decoder does not know.
func tiffConfig(data []byte) (image.Config, error) {
	d, ok := tiffFirst(data)
	if !ok {
		return image.Config{}, errNoDirectory
	}
	if name := tiffCompressions[d.number(tagCompression)]; name != "" {
		return image.Config{}, unsupportedError(name + " compression" + tiffHint)
	}
	if reason := d.unsupported(); reason != "" {
		return image.Config{}, unsupportedError(reason + tiffHint)
	}
	size := image.Config{Width: d.number(tagWidth), Height: d.number(tagHeight)}
	return size, checkTIFF(data, size)
}

var errNoDirectory = errors.New("no directory of its pages")

// tiffCompressions are those that no decoder here knows.
var tiffCompressions = map[int]string{
	9: "JBIG", 10: "JBIG", 34661: "JBIG", 34712: "JPEG 2000", 34887: "LERC",
	50000: "Zstandard", 50001: "WebP", 50002: "JPEG XL",
}

const tiffHint = "; save it with LZW or Deflate compression, in RGB or grey"

func tiffMeta(data []byte, m *Meta) {
	if d, ok := tiffFirst(data); ok {
		if icc := d.bytes(tagICC, 1); len(icc) <= maxProfile {
			m.ICC = icc
		}
	}
}

// tiffExif reads how the page lies, and its resolution.
func tiffExif(data []byte) exif {
	e := exif{orientation: 1}
	d, ok := tiffFirst(data)
	if !ok {
		return e
	}
	if o := d.number(tagOrientation); o >= 1 && o <= 8 {
		e.orientation = o
	}
	unit := 1.0
	const centimetres = 3
	if d.number(tagResolutionUnit) == centimetres {
		unit = 2.54
	}
	e.dpi = [2]float64{d.rational(tagXResolution) * unit, d.rational(tagYResolution) * unit}
	return e
}
