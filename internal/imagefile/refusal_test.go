package imagefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// A decoder's own words are for the log: whoever sent the picture hears this package's.
func TestDecodersWordsStayInside(t *testing.T) {
	m := image.NewGray(image.Rect(0, 0, 40, 30))
	encoded := map[Format][]byte{}
	for f, encode := range map[Format]func(*bytes.Buffer) error{
		PNG:  func(b *bytes.Buffer) error { return png.Encode(b, m) },
		JPEG: func(b *bytes.Buffer) error { return jpeg.Encode(b, m, nil) },
		GIF:  func(b *bytes.Buffer) error { return gif.Encode(b, m, nil) },
		BMP:  func(b *bytes.Buffer) error { return bmp.Encode(b, m) },
		TIFF: func(b *bytes.Buffer) error { return tiff.Encode(b, m, nil) },
	} {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatal(err)
		}
		encoded[f] = b.Bytes()
	}
	encoded[WebP] = append([]byte("RIFF\x20\x00\x00\x00WEBPVP8 \x10\x00\x00\x00"), make([]byte, 16)...)
	told := 0
	for f, data := range encoded {
		for at := 4; at < len(data); at += 1 + len(data)/60 {
			changed := bytes.Clone(data)
			changed[at] ^= 0xff
			for _, bad := range [][]byte{data[:at], changed} {
				_, err := Decode(t.Context(), bad, Limits{MaxPixels: 1 << 20})
				if err == nil {
					continue
				}
				for _, word := range []string{"png:", "jpeg:", "gif:", "bmp:", "tiff:", "webp:", "vp8", "riff:",
					"EOF", "zlib", "lzw:", "runtime", "index out"} {
					if strings.Contains(err.Error(), word) {
						t.Fatalf("%s, %d: the error says %q", f, at, err)
					}
				}
				if cause := Cause(err); cause.Error() != err.Error() {
					told++
				}
			}
		}
	}
	if told < len(encoded) {
		t.Errorf("only %d of the errors have the decoder's words as their cause", told)
	}
}

// A PNG of more pixels than can be counted is too large, not damaged.
func TestUncountablePNG(t *testing.T) {
	for _, size := range [][2]uint32{{1 << 31, 1 << 31}, {1<<32 - 1, 1}, {16, 1 << 31},
		{1<<31 - 1, 1<<31 - 1}} {
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 16, 16))); err != nil {
			t.Fatal(err)
		}
		data := b.Bytes()
		binary.BigEndian.PutUint32(data[16:], size[0])
		binary.BigEndian.PutUint32(data[20:], size[1])
		binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
		if _, err := Inspect(data, Limits{MaxPixels: 50_000_000}); !errors.Is(err, ErrDimensions) {
			t.Errorf("%v: %v, want ErrDimensions", size, err)
		}
		if _, err := Decode(t.Context(), data, Limits{}); err == nil {
			t.Errorf("%v was decoded", size)
		}
	}
}

// A JPEG without its end mark is whole but for that; one without half of its data is not.
func TestJPEGWithoutItsEnd(t *testing.T) {
	m := image.NewGray(image.Rect(0, 0, 200, 120))
	for i := range m.Pix {
		m.Pix[i] = uint8(i * i >> 3)
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	whole, err := Decode(t.Context(), b.Bytes(), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for cut := 1; cut <= 2; cut++ {
		p, err := Decode(t.Context(), b.Bytes()[:b.Len()-cut], Limits{})
		if err != nil || !bytes.Equal(p.Pixels.Pix, whole.Pixels.Pix) {
			t.Errorf("without its last %d bytes: %v", cut, err)
		}
	}
	if _, err := Decode(t.Context(), b.Bytes()[:b.Len()/2], Limits{}); !errors.Is(err, ErrBroken) {
		t.Errorf("half of it: %v", err)
	}
}

// Of a JPEG that was cut, the lines that are there are as they were and the others white, if at
// most a tenth is missing. The colour of the lowest line that is there depends on what is missing.
func TestJPEGCut(t *testing.T) {
	const width, height = 320, 640
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range m.Pix {
		m.Pix[i] = uint8(i / 4 * i >> 7) // as much data in each line
	}
	data := encodeAs(t, JPEG, m)
	whole, err := Decode(t.Context(), data, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, percent := range []int{99, 95, 92} {
		p, err := Decode(t.Context(), data[:len(data)*percent/100], Limits{})
		if err != nil {
			t.Errorf("%d %% of it: %v", percent, err)
			continue
		}
		white, lowest := bytes.Repeat([]byte{255}, 4*width), 0
		for lines := 0; lines < height; lines++ {
			row, was := p.Pixels.Pix[lines*4*width:][:4*width], whole.Pixels.Pix[lines*4*width:][:4*width]
			wrong := !bytes.Equal(row, was)
			most := height * percent / 100
			if wrong && lowest == 0 && lines >= most-32 && !bytes.Equal(row, white) {
				lowest = lines
			}
			if wrong && lines != lowest && (lines < most-32 || !bytes.Equal(row, white)) {
				t.Fatalf("%d %% of it: line %d is neither as it was nor white after line %d", percent,
					lines, most-32)
			}
		}
	}
	for _, percent := range []int{85, 50, 10} {
		part := data[:len(data)*percent/100]
		if _, err := Decode(t.Context(), part, Limits{}); !errors.Is(err, ErrBroken) {
			t.Errorf("%d %% of it: %v", percent, err)
		}
	}
}

// A progressive JPEG that was cut in its last scan is as large as it was, and looks nearly the
// same.
func TestProgressiveJPEGCut(t *testing.T) {
	data, err := os.ReadFile("testdata/progressive.jpg")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := Decode(t.Context(), data, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Decode(t.Context(), data[:len(data)*95/100], Limits{})
	if err != nil {
		t.Fatal(err)
	}
	squares := 0
	for i, v := range p.Pixels.Pix {
		d := int(v) - int(whole.Pixels.Pix[i])
		squares += d * d
	}
	if mean := squares / len(p.Pixels.Pix); mean > 8*8 {
		t.Errorf("the mean square difference is %d levels", mean)
	}
	if _, err := Decode(t.Context(), data[:len(data)/3], Limits{}); !errors.Is(err, ErrBroken) {
		t.Errorf("a third of it: %v", err)
	}
}
