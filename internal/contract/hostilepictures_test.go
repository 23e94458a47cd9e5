package contract

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"unink/internal/store/storetest"
)

// TestHostilePictures sends pictures that are made to be work: each is answered within the
// deadline, none costs anything unless it is cleaned, and a customer beside them is served.
func TestHostilePictures(t *testing.T) {
	t.Parallel()
	const deadline, late = 5 * time.Second, 20 * time.Second // late on a busy machine
	s := prepare(t, storetest.SQLite(t), "--deadline", deadline.String(), "--per-customer", "4")
	s.start(t)
	c, customer := s.newCustomer(t), s.newCustomer(t)
	pictures := hostilePictures(t)
	if len(pictures) < 40 {
		t.Errorf("%d hostile pictures", len(pictures))
	}
	before := s.resident(t)
	cleaned := 0
	for _, name := range slices.Sorted(maps.Keys(pictures)) {
		if len(pictures[name]) > 5<<20 {
			t.Errorf("%s: %d bytes", name, len(pictures[name]))
		}
		answers := make(chan answer, 1)
		began := time.Now()
		go func() {
			a, err := s.try(c.cleanup(media(pictures[name])))
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			answers <- a
		}()
		s.serves(t, customer)
		a := <-answers
		if took := time.Since(began); took > deadline+late {
			t.Errorf("%s: answered after %v", name, took)
		}
		if a.status >= 500 && a.status != http.StatusServiceUnavailable &&
			a.status != http.StatusGatewayTimeout {
			t.Errorf("%s: %d %.200s", name, a.status, a.body)
		}
		if a.status == http.StatusOK {
			cleaned++
		}
		t.Logf("%s: %d, %d bytes, %v", name, a.status, len(pictures[name]), time.Since(began))
	}
	if l := s.ledger(t, c.id); l.sum() != 500-cleaned {
		t.Errorf("%d credits left of 500 after %d pages and hostile pictures", l.sum(), cleaned)
	}
	if after := s.resident(t); after > before+1500 {
		t.Errorf("memory is %d MiB after hostile pictures, and was %d", after, before)
	}
	if strings.Contains(s.log.text(), "panic") {
		t.Error("the service panicked")
	}
	s.stop(t)
}

// serves has a customer's page cleaned within the time that anybody would wait. On a busy machine
// a legal page before it may take all its deadline; the customer then asks again.
func (s *service) serves(t *testing.T, c customer) {
	t.Helper()
	for late := time.Now().Add(patience); ; {
		a := s.must(t, c.cleanup(media(smallPage)))
		switch {
		case time.Now().After(late) || a.status != http.StatusServiceUnavailable &&
			a.status != http.StatusGatewayTimeout:
			a.code(t, http.StatusOK, 0)
			return
		case a.status == http.StatusServiceUnavailable:
			after, err := strconv.Atoi(a.header.Get("Retry-After"))
			if err != nil {
				t.Fatalf("503 with Retry-After %q", a.header.Get("Retry-After"))
			}
			<-time.After(time.Duration(after) * time.Second)
		}
	}
}

// hostilePictures are pictures of every format, by name.
func hostilePictures(t *testing.T) map[string]string {
	out := map[string]string{}
	for kind, made := range map[string]map[string][]byte{
		"jpeg": hostileJPEGs(t), "png": hostilePNGs(), "gif": hostileGIFs(t), "bmp": hostileBMPs(),
		"tiff": hostileTIFFs(), "webp": hostileWebPs(t), "heif": hostileHEIFs(t),
	} {
		for name, data := range made {
			out[kind+" "+name] = string(data)
		}
	}
	return out
}

func fixture(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "imagefile", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func hostileJPEGs(t *testing.T) map[string][]byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, drawn(200, 200, true), nil); err != nil {
		t.Fatal(err)
	}
	plain := b.Bytes()
	frame := bytes.Index(plain, []byte{0xff, 0xc0})
	resized := func(w, h uint16) []byte {
		out := bytes.Clone(plain)
		binary.BigEndian.PutUint16(out[frame+5:], h)
		binary.BigEndian.PutUint16(out[frame+7:], w)
		return out
	}
	repeated := func(part []byte, times int) []byte { // before the frame
		return join(plain[:frame], bytes.Repeat(part, times), plain[frame:])
	}
	progressive := fixture(t, "progressive-grey.jpg")
	last := bytes.LastIndex(progressive, []byte{0xff, 0xda})
	table := join([]byte{0xff, 0xc4, 0, 20, 0x13}, make([]byte, 15), []byte{1, 0})
	return map[string][]byte{
		"scans":     join(progressive[:last], bytes.Repeat(progressive[last:len(progressive)-2], 2000)),
		"large":     resized(4000, 4000),
		"largest":   resized(65500, 65500),
		"a line":    resized(65500, 16),
		"frames":    repeated(plain[frame:frame+2+int(plain[frame+3])], 100_000),
		"tables":    repeated(table, 150_000),
		"comments":  repeated([]byte{0xff, 0xfe, 0, 2}, 1_000_000),
		"filling":   repeated([]byte{0xff}, 4_000_000),
		"restarts":  join(plain[:frame], []byte{0xff, 0xdd, 0, 4, 0, 1}, resized(4000, 4000)[frame:]),
		"cut":       resized(4000, 4000)[:len(plain)/2],
		"no length": join(plain[:frame], []byte{0xff, 0xe1, 0, 0}, plain[frame:]),
	}
}

// packedZeros is so many zeros, packed.
func packedZeros(n int) string {
	var b bytes.Buffer
	w, _ := zlib.NewWriterLevel(&b, zlib.BestCompression)
	for block := make([]byte, 1<<20); n > 0; n -= len(block) {
		_, _ = w.Write(block[:min(n, len(block))])
	}
	_ = w.Close()
	return b.String()
}

// gigabyte is a gigabyte of zeros, packed.
var gigabyte = sync.OnceValue(func() string { return packedZeros(1 << 30) })

func hostilePNGs() map[string][]byte {
	header := func(w, h uint32, depth, kind, interlace byte) string {
		size := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
		return "\x89PNG\r\n\x1a\n" +
			chunk("IHDR", string(size)+string([]byte{depth, kind, 0, 0, interlace}))
	}
	end := chunk("IEND", "")
	file := func(parts ...string) []byte { return []byte(strings.Join(parts, "") + end) }
	large := header(4000, 4000, 8, 0, 0)
	return map[string][]byte{
		"deep":        file(header(4000, 4000, 16, 6, 0), chunk("IDAT", packedZeros(4000*(8*4000+1)))),
		"interlaced":  file(header(4000, 4000, 16, 6, 1), chunk("IDAT", packedZeros(8*4000*4000+60_000))),
		"bomb":        file(large, chunk("IDAT", gigabyte())),
		"chunks":      file(large, strings.Repeat(chunk("IDAT", "x"), 300_000)),
		"empty":       file(large, strings.Repeat(chunk("IDAT", ""), 300_000)),
		"profile":     file(large, chunk("iCCP", "p\x00\x00"+gigabyte()), chunk("IDAT", packedZeros(4001*4000))),
		"text":        file(large, chunk("zTXt", "t\x00\x00"+gigabyte()), chunk("IDAT", packedZeros(4001*4000))),
		"huge":        file(header(1<<31-1, 1<<31-1, 1, 0, 0), chunk("IDAT", packedZeros(1<<20))),
		"ends early":  []byte(large + chunk("IDAT", packedZeros(4001*2000))),
		"long length": []byte(large + "\xff\xff\xff\xf0IDAT"),
	}
}

func hostileGIFs(t *testing.T) map[string][]byte {
	frame := image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.White, color.Black})
	many := &gif.GIF{Config: image.Config{Width: 1000, Height: 1000}}
	for range 50_000 {
		many.Image, many.Delay = append(many.Image, frame), append(many.Delay, 0)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, many); err != nil {
		t.Fatal(err)
	}
	screen := []byte("GIF89a\xa0\x0f\xa0\x0f\x80\x00\x00\xff\xff\xff\x00\x00\x00")
	picture := []byte(",\x00\x00\x00\x00\xa0\x0f\xa0\x0f\x00\x02")
	codes := bytes.Repeat(join([]byte{255}, bytes.Repeat([]byte{0x24}, 255)), 15_000) // clear, clear…
	return map[string][]byte{
		"frames":   b.Bytes(),
		"clears":   join(screen, picture, codes, []byte("\x00;")),
		"comments": join(screen, bytes.Repeat([]byte("!\xfe\x00"), 1_000_000), picture, []byte("\x00;")),
		"outside":  join(screen, []byte(",\xff\xff\xff\xff\xff\xff\xff\xff\x00\x02\x02\x44\x01\x00;")),
	}
}

func hostileBMPs() map[string][]byte {
	file := func(w, h, bits, compression uint32, data []byte) []byte {
		b := binary.LittleEndian
		out := append([]byte("BM"), make([]byte, 8)...)
		out = b.AppendUint32(out, 54+1024)
		out = b.AppendUint32(b.AppendUint32(b.AppendUint32(out, 40), w), h)
		out = b.AppendUint16(b.AppendUint16(out, 1), uint16(bits))
		out = b.AppendUint32(out, compression)
		return append(append(out, make([]byte, 20+1024)...), data...)
	}
	return map[string][]byte{
		"runs":  file(4000, 4000, 8, 1, bytes.Repeat([]byte{1, 0}, 2_000_000)),
		"jumps": file(4000, 4000, 8, 1, bytes.Repeat([]byte{0, 2, 0, 0}, 1_000_000)),
		"ends":  file(4000, 4000, 8, 1, bytes.Repeat([]byte{0, 0}, 2_000_000)),
		"huge":  file(1<<31-1, 1<<31-1, 32, 0, nil),
	}
}

func hostileTIFFs() map[string][]byte {
	// file has tags of a type and count, and a value or offset each, and goes on at a directory.
	file := func(data []byte, next uint32, tags ...[4]uint32) []byte {
		b := binary.LittleEndian
		out := b.AppendUint32([]byte("II*\x00"), uint32(8+len(data)))
		out = append(out, data...)
		out = b.AppendUint16(out, uint16(len(tags)))
		for _, tag := range tags {
			out = b.AppendUint16(b.AppendUint16(out, uint16(tag[0])), uint16(tag[1]))
			out = b.AppendUint32(b.AppendUint32(out, tag[2]), tag[3])
		}
		return b.AppendUint32(out, next)
	}
	const short, long = 3, 4
	grey := func(side, compression uint32) [][4]uint32 {
		return [][4]uint32{{256, long, 1, side}, {257, long, 1, side}, {258, short, 1, 8},
			{259, short, 1, compression}, {262, short, 1, 1}}
	}
	packed := []byte(gigabyte())
	offsets := bytes.Repeat([]byte{8, 0, 0, 0}, 400_000)
	return map[string][]byte{
		"bomb": file(packed, 0, append(grey(4000, 8), [4]uint32{273, long, 1, 8},
			[4]uint32{278, long, 1, 4000}, [4]uint32{279, long, 1, uint32(len(packed))})...),
		"strips": file(offsets, 0, append(grey(4000, 1), [4]uint32{273, long, 400_000, 8},
			[4]uint32{278, long, 1, 1}, [4]uint32{279, long, 400_000, 8})...),
		"tiles": file(offsets, 0, append(grey(4000, 1), [4]uint32{322, long, 1, 1 << 30},
			[4]uint32{323, long, 1, 1 << 30}, [4]uint32{324, long, 1, 8}, [4]uint32{325, long, 1, 8})...),
		"round":     file(nil, 8, grey(4000, 1)...),
		"long tags": file(nil, 0, append(grey(4000, 1), [4]uint32{273, long, 1<<32 - 1, 8})...),
		"fax": file(bytes.Repeat([]byte{0xff}, 4_000_000), 0, append(grey(4000, 4),
			[4]uint32{273, long, 1, 8}, [4]uint32{278, long, 1, 4000},
			[4]uint32{279, long, 1, 4_000_000})...),
	}
}

func hostileWebPs(t *testing.T) map[string][]byte {
	riff := func(parts ...[]byte) []byte {
		body := join(append([][]byte{[]byte("WEBP")}, parts...)...)
		return join([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body)
	}
	part := func(name string, body []byte) []byte {
		return join([]byte(name), binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body)
	}
	canvas := part("VP8X", []byte{0x12, 0, 0, 0, 0x9f, 0x0f, 0, 0x9f, 0x0f, 0})
	lossy := fixture(t, "lossy.webp")[12:]
	lossless := []byte{0x2f, 0x9f, 0xcf, 0xe7, 0x03}
	return map[string][]byte{
		"canvas":   riff(canvas),
		"chunks":   riff(canvas, bytes.Repeat(part("JUNK", nil), 400_000), lossy),
		"frames":   riff(canvas, bytes.Repeat(part("ANMF", make([]byte, 24)), 100_000)),
		"noise":    riff(part("VP8L", join(lossless, bytes.Repeat([]byte{0xa5, 0x5a, 0x3c}, 1_000_000)))),
		"cut":      riff(lossy)[:100],
		"oversize": riff(part("VP8 ", []byte("\x10\x00\x00\x9d\x01\x2a\xff\x3f\xff\x3f"))),
	}
}

func hostileHEIFs(t *testing.T) map[string][]byte {
	out := map[string][]byte{}
	for _, name := range []string{"plain.heic", "plain.avif"} {
		plain := fixture(t, name)
		box := func(kind string, body []byte) []byte {
			return join(binary.BigEndian.AppendUint32(nil, uint32(8+len(body))), []byte(kind), body)
		}
		nested := []byte{}
		for range 2000 {
			nested = box("meta", join([]byte{0, 0, 0, 0}, nested))
		}
		size := bytes.Index(plain, []byte("ispe"))
		large := bytes.Clone(plain)
		binary.BigEndian.PutUint32(large[size+8:], 4000)
		binary.BigEndian.PutUint32(large[size+12:], 4000)
		brand := plain[:binary.BigEndian.Uint32(plain)]
		rest := plain[len(brand):]
		out[name+" large"] = large
		out[name+" cut"] = plain[:len(plain)*2/3]
		out[name+" nested"] = join(brand, nested, rest)
		out[name+" free"] = join(brand, bytes.Repeat(box("free", nil), 500_000), rest)
		out[name+" twice"] = join(plain, bytes.Repeat(rest, 200))
	}
	return out
}
