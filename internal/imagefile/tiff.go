package imagefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"

	"github.com/bep/imagemeta"
)

var tiffFormat = format{
	name: "TIFF", endings: []string{".tiff", ".tif"}, mediaType: "image/tiff",
	sniff: begins("II*\x00", "MM\x00*"),
	open: func(data []byte) (stored, error) {
		// What stands before the first page, such as a thumbnail, is skipped.
		return parts{tiffConfig, exifIn(imagemeta.TIFF), decodeTIFF, tiffMeta}.open(Page(data, 0))
	},
}

// maxTIFFPages bounds the pages that are looked for.
const maxTIFFPages = 10_000

// Tags of TIFF 6.0 and its supplements.
const (
	tagSubfile      = 254
	tagWidth        = 256
	tagHeight       = 257
	tagBits         = 258
	tagCompression  = 259
	tagPhotometric  = 262
	tagPlanar       = 284
	tagRowsPerStrip = 278
	tagTileWidth    = 322
	tagTileLength   = 323
	tagSampleFormat = 339
	tagICC          = 34675
)

// directory is one page of a TIFF file: its tags, numbers as they are stored.
type directory struct {
	order binary.ByteOrder
	data  []byte
	tags  []byte // 12 bytes each
}

// tiffDirectory reads the directory at an offset, and the offset of the next one.
func tiffDirectory(data []byte, order binary.ByteOrder,
	at uint32) (d directory, next uint32, ok bool) {
	if uint64(at)+2 > uint64(len(data)) {
		return d, 0, false
	}
	tags := data[at+2:]
	n := 12 * int(order.Uint16(data[at:]))
	if n > len(tags) {
		return d, 0, false
	}
	if len(tags) >= n+4 {
		next = order.Uint32(tags[n:])
	}
	return directory{order, data, tags[:n]}, next, true
}

// find returns a tag's type, count and value or offset.
func (d directory) find(tag uint16) (kind uint16, count uint32, value []byte) {
	for t := d.tags; len(t) >= 12; t = t[12:] {
		if d.order.Uint16(t) == tag {
			return d.order.Uint16(t[2:]), d.order.Uint32(t[4:]), t[8:12]
		}
	}
	return 0, 0, nil
}

// number is a tag's first value, where that stands in the tag itself.
func (d directory) number(tag uint16) int {
	switch kind, _, value := d.find(tag); {
	case value == nil:
		return 0
	case kind == 3: // short
		return int(d.order.Uint16(value))
	case kind == 4: // long
		return int(d.order.Uint32(value))
	}
	return 0
}

// bytes is the value of a tag of single bytes.
func (d directory) bytes(tag uint16) []byte {
	_, n, value := d.find(tag)
	if value == nil || n <= 4 {
		return nil
	}
	at := uint64(d.order.Uint32(value))
	if at+uint64(n) > uint64(len(d.data)) {
		return nil
	}
	return d.data[at : at+uint64(n)]
}

func tiffOrder(data []byte) (order binary.ByteOrder, first uint32, ok bool) {
	switch {
	case len(data) < 8:
		return nil, 0, false
	case string(data[:4]) == "II*\x00":
		order = binary.LittleEndian
	case string(data[:4]) == "MM\x00*":
		order = binary.BigEndian
	default:
		return nil, 0, false
	}
	return order, order.Uint32(data[4:]), true
}

// tiffPages are the offsets of the pages' directories. Thumbnails and masks are no pages.
func tiffPages(data []byte) []uint32 {
	order, at, ok := tiffOrder(data)
	if !ok {
		return nil
	}
	var pages []uint32
	seen := map[uint32]bool{}
	for at != 0 && !seen[at] && len(seen) < maxTIFFPages {
		seen[at] = true
		d, next, ok := tiffDirectory(data, order, at)
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
	order, first, ok := tiffOrder(data)
	if !ok || n >= len(pages) || pages[n] == first {
		return data
	}
	data = bytes.Clone(data)
	order.PutUint32(data[4:], pages[n])
	return data
}

// tiffFirst is the directory of the first page.
func tiffFirst(data []byte) (directory, bool) {
	order, at, ok := tiffOrder(data)
	if !ok {
		return directory{}, false
	}
	d, _, ok := tiffDirectory(data, order, at)
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
	9: "JBIG", 10: "JBIG", 34661: "JBIG", 34712: "JPEG 2000", 34887: "LERC", 34925: "LZMA",
	50000: "Zstandard", 50001: "WebP", 50002: "JPEG XL",
}

const tiffHint = "; save it with LZW or Deflate compression, in RGB or grey"

func tiffMeta(data []byte, m *Meta) {
	if d, ok := tiffFirst(data); ok {
		if icc := d.bytes(tagICC); len(icc) <= maxProfile {
			m.ICC = icc
		}
	}
}
