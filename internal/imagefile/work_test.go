package imagefile

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/jpeg"
	"strings"
	"testing"
	"time"
)

// repeatedScan is a progressive picture of grey whose last scan, which is short, stands in it so
// many times more.
func repeatedScan(t testing.TB, side uint16, times int) []byte {
	t.Helper()
	data := fixture(t, "progressive-grey.jpg")
	var frame, last jpegSegment
	for part := range jpegParts(data) {
		switch part.marker {
		case markSOF2:
			frame = part
		case markSOS:
			last = part
		}
	}
	// A scan of the first coefficient's next bit whose data is all ones: every block takes one bit.
	scan := append([]byte{0xff, markSOS, 0, 8, 1, last.body[1], 0, 1, 63, 0x00}, 0x3f, 0x3f, 0x3f)
	out := bytes.Clone(data[:last.at])
	if side > 0 {
		binary.BigEndian.PutUint16(out[frame.at+5:], side)
		binary.BigEndian.PutUint16(out[frame.at+7:], side)
	}
	out = append(out, bytes.Repeat(scan, times)...)
	return append(out, 0xff, markEOI)
}

// tiff16 is a picture of grey, 16 pixels wide, cut into tiles of which all are the same bytes.
func tiff16(height, tileWidth, tileLength int) []byte {
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	_, _ = w.Write(make([]byte, min(tileWidth*tileLength, 1<<20)))
	_ = w.Close()
	parts := ((16 + tileWidth - 1) / tileWidth) * ((height + tileLength - 1) / tileLength)
	b := binary.LittleEndian
	out := append([]byte("II*\x00"), 0, 0, 0, 0)
	at := len(out)
	out = append(out, z.Bytes()...)
	offsets := len(out)
	for range parts {
		out = b.AppendUint32(out, uint32(at))
	}
	counts := len(out)
	for range parts {
		out = b.AppendUint32(out, uint32(z.Len()))
	}
	b.PutUint32(out[4:], uint32(len(out)))
	tags := [][4]int{
		{256, 4, 1, 16}, {257, 4, 1, height}, {258, 3, 1, 8}, {259, 3, 1, 8}, {262, 3, 1, 1},
		{277, 3, 1, 1}, {322, 4, 1, tileWidth}, {323, 4, 1, tileLength},
		{324, 4, parts, offsets}, {325, 4, parts, counts},
	}
	out = b.AppendUint16(out, uint16(len(tags)))
	for _, tag := range tags {
		out = b.AppendUint16(out, uint16(tag[0]))
		out = b.AppendUint16(out, uint16(tag[1]))
		out = b.AppendUint32(out, uint32(tag[2]))
		out = b.AppendUint32(out, uint32(tag[3]))
	}
	return append(out, 0, 0, 0, 0)
}

// A file that is far more work than its picture is refused by its header, and the reason says what
// to do.
func TestWorkIsBoundedByThePicture(t *testing.T) {
	for name, data := range map[string][]byte{
		"scans of a small picture": repeatedScan(t, 0, 3000),
		"scans of a large picture": repeatedScan(t, 3999, 160_000),
		"wide tiles":               tiff16(50_000, 65_520, 1),
		"small tiles":              tiff16(30_000, 1, 1),
	} {
		if len(data) > 5<<20 {
			t.Errorf("%s: %d bytes, more than may be sent", name, len(data))
		}
		_, err := Inspect(data, Limits{MaxPixels: 50e6})
		if !errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), "save it anew") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What encoders write is never too much work.
func TestUsualFilesAreNotTooMuchWork(t *testing.T) {
	for name, data := range map[string][]byte{
		"progressive":  fixture(t, "progressive.jpg"),
		"grey":         fixture(t, "progressive-grey.jpg"),
		"some scans":   repeatedScan(t, 0, 20),
		"one tile":     tiff16(16, 256, 256),
		"a tile a row": tiff16(5000, 16, 16),
	} {
		if _, err := Inspect(data, Limits{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// endsAfter is a context that ends when it has been looked at so many times.
type endsAfter struct {
	context.Context
	looks int
}

func (c *endsAfter) Err() error {
	if c.looks--; c.looks < 0 {
		return context.Canceled
	}
	return nil
}

func (c *endsAfter) Done() <-chan struct{}       { return nil }
func (c *endsAfter) Deadline() (time.Time, bool) { return time.Time{}, false }
func (c *endsAfter) Value(any) any               { return nil }

// Decoding and encoding end with their context, also in the middle.
func TestDecodingEndsWithItsContext(t *testing.T) {
	m := image.NewRGBA(image.Rect(0, 0, 900, 900))
	for i := range m.Pix {
		m.Pix[i] = byte(i * i >> 7)
	}
	m = Opaque(m)
	for _, f := range []Format{JPEG, PNG, WebP} {
		data := encodeAs(t, f, m)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Decode(ended, data, Limits{}); !errors.Is(err, context.Canceled) {
			t.Errorf("decoding %s: %v", f, err)
		}
		if _, err := Encode(ended, m, f, Meta{}); !errors.Is(err, context.Canceled) {
			t.Errorf("encoding %s: %v", f, err)
		}
		if _, err := Decode(&endsAfter{looks: 3}, data, Limits{}); !errors.Is(err, context.Canceled) {
			t.Errorf("decoding %s, ended in the middle: %v", f, err)
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	looks := &endsAfter{looks: 1 << 30}
	if _, err := Decode(looks, b.Bytes(), Limits{}); err != nil {
		t.Fatal(err)
	}
	if looked := 1<<30 - looks.looks; looked < b.Len()/attention {
		t.Errorf("a decoder of %d bytes looked at its context %d times", b.Len(), looked)
	}
}
