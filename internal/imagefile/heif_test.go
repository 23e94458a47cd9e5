package imagefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"unink/internal/raster"
)

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// same fails where two pictures differ by more than tolerance. Edges, where lossy formats ring,
// are looked at as well when edges says so.
func same(t *testing.T, name string, got, want *image.RGBA, tolerance int, edges bool) {
	t.Helper()
	if got.Rect != want.Rect {
		t.Errorf("%s: %v, want %v", name, got.Rect, want.Rect)
		return
	}
	for y := range want.Rect.Dy() {
		for x := range want.Rect.Dx() {
			if g, w := got.RGBAAt(x, y), want.RGBAAt(x, y); !near(g, w, tolerance) &&
				(edges || flat(want, x, y)) {
				t.Errorf("%s: %v at %d,%d, want %v", name, g, x, y, w)
				return
			}
		}
	}
}

// flat says that there is one colour around x, y.
func flat(m *image.RGBA, x, y int) bool {
	for _, far := range []int{2, 8} {
		for _, d := range []image.Point{{-far, -far}, {far, -far}, {-far, far}, {far, far}, {-far, 0},
			{far, 0}, {0, -far}, {0, far}} {
			if p := image.Pt(x, y).Add(d); p.In(m.Rect) && m.RGBAAt(p.X, p.Y) != m.RGBAAt(x, y) {
				return false
			}
		}
	}
	return true
}

// The pictures of testdata/make.sh.
func bigCorner() *image.RGBA { return corner(160, 96) }

func odd() *image.RGBA {
	return Opaque(corner(80, 48).SubImage(image.Rect(10, 10, 43, 31)))
}

func greyCorner() *image.RGBA {
	m := bigCorner()
	for i := 0; i < len(m.Pix); i += 4 {
		// imagemagick's grey, which weighs as BT.709 does
		v := uint8(0.212656*float64(m.Pix[i]) + 0.715158*float64(m.Pix[i+1]) +
			0.072186*float64(m.Pix[i+2]) + 0.5)
		m.Pix[i], m.Pix[i+1], m.Pix[i+2] = v, v, v
	}
	return m
}

func onHalf() *image.RGBA {
	m := bigCorner()
	for i := range m.Pix {
		if i%4 != 3 {
			m.Pix[i] = uint8((int(m.Pix[i]) + 255) / 2)
		}
	}
	return m
}

func TestHEICAndAVIF(t *testing.T) {
	cropped := Opaque(bigCorner().SubImage(image.Rect(40, 10, 140, 70)))
	for name, want := range map[string]*image.RGBA{
		"plain.heic": bigCorner(), "odd.heic": odd(), "grey.heic": greyCorner(), "deep.heic": bigCorner(),
		"plain.avif": bigCorner(), "odd.avif": odd(), "grey.avif": greyCorner(), "deep.avif": bigCorner(),
		"alpha.avif": onHalf(), "crop.avif": cropped,
	} {
		data := fixture(t, name)
		h, err := Inspect(data, Limits{})
		if err != nil || "."+h.Format.String() != filepath.Ext(name) || h.Width != want.Rect.Dx() ||
			h.Height != want.Rect.Dy() {
			t.Errorf("%s: header %+v (%v)", name, h, err)
		}
		p, err := Decode(t.Context(), data, Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		// the decoder blurs the colour of the outermost pixels of more than 8 bits
		if name == "deep.heic" {
			inner := want.Rect.Inset(4)
			p.Pixels, want = Opaque(p.Pixels.SubImage(inner)), Opaque(want.SubImage(inner))
		}
		same(t, name, p.Pixels, want, 2, false)
	}
	if _, err := Inspect(fixture(t, "alpha.heic"), Limits{}); !errors.Is(err, ErrFormat) {
		t.Errorf("transparent HEIC: %v, want ErrFormat", err)
	}
}

// Chroma of half the width is interpolated: taken from the nearest sample, it would be off by 7.
func TestChromaOfAVIFIsInterpolated(t *testing.T) {
	p, err := Decode(t.Context(), fixture(t, "wave.avif"), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	const period, steep, blue, off, turn = 28, 8, 1.772, 4, 3
	for x := range p.Pixels.Rect.Dx() {
		phase := x%period - period/2 // the wave turns at 0 and at both ends
		if a := abs(phase); a < turn || a > period/2-turn {
			continue
		}
		want := 128 + blue*float64(steep*abs(phase)-steep*period/4)
		if got := float64(p.Pixels.RGBAAt(x, 16).B); math.Abs(got-want) > off {
			t.Errorf("blue is %v at %d, want %.0f", got, x, want)
		}
	}
}

func abs(n int) int { return max(n, -n) }

// tile is the coded picture of plain.heic with its decoder's configuration.
func tile(t testing.TB) (config, coded []byte) {
	t.Helper()
	data := fixture(t, "plain.heic")
	at := bytes.Index(data, []byte("hvcC"))
	mdat := bytes.Index(data, []byte("mdat"))
	if at < 0 || mdat < 0 {
		t.Fatal("plain.heic is not as expected")
	}
	return data[at-4 : at-4+int(binary.BigEndian.Uint32(data[at-4:]))], data[mdat+4:]
}

func box(kind string, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(8+len(body))), kind...), body...)
}

func be32(v ...uint32) (b []byte) {
	for _, v := range v {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

func be16(v ...uint16) (b []byte) {
	for _, v := range v {
		b = binary.BigEndian.AppendUint16(b, v)
	}
	return b
}

// heicGrid is a file whose picture has across × down tiles, each plain.heic's, and properties of
// its own.
func heicGrid(t testing.TB, across, down int, properties ...[]byte) []byte {
	t.Helper()
	config, coded := tile(t)
	n := across * down
	primary := uint16(n + 1)
	size := func(w, h int) []byte { return box("ispe", be32(0, uint32(w), uint32(h))) }
	grid := append([]byte{0, 0, byte(down - 1), byte(across - 1)},
		be16(uint16(160*across), uint16(96*down))...)

	infe := func(id uint16, hidden uint32, kind string) []byte {
		return box("infe", be32(2<<24|hidden), be16(id, 0), []byte(kind), []byte{0})
	}
	items, tiles, associations := be16(primary), []byte(nil), be32(0, uint32(primary))
	for id := uint16(1); id < primary; id++ {
		items = append(items, infe(id, 1, "hvc1")...)
		tiles = append(tiles, be16(id)...)
		associations = append(associations, be16(id, 2<<8|1, 2<<8)[:5]...)
	}
	items = append(items, infe(primary, 0, "grid")...)
	associations = append(associations, be16(primary)...)
	associations = append(associations, byte(1+len(properties)))
	for i := range 1 + len(properties) {
		associations = append(associations, byte(3+i))
	}
	references := box("iref", be32(0), box("dimg", be16(primary, uint16(n)), tiles))
	ipco := box("ipco", append([][]byte{config, size(160, 96), size(160*across, 96*down)},
		properties...)...)

	file := func(base uint32) []byte {
		locations := be16(0x4400, primary) // offsets and lengths of 32 bits
		for id := uint16(1); id < primary; id++ {
			locations = append(append(locations, be16(id, 0, 1)...), be32(base, uint32(len(coded)))...)
		}
		locations = append(append(locations, be16(primary, 0, 1)...),
			be32(base+uint32(len(coded)), uint32(len(grid)))...)
		return bytes.Join([][]byte{
			box("ftyp", []byte("heic\x00\x00\x00\x00mif1heic")),
			box("meta", be32(0), box("hdlr", be32(0, 0), []byte("pict"), make([]byte, 13)),
				box("pitm", be32(0), be16(primary)),
				box("iloc", be32(0), locations), box("iinf", be32(0), items), references,
				box("iprp", ipco, box("ipma", associations))),
			box("mdat", coded, grid),
		}, nil)
	}
	return file(uint32(len(file(0)) - len(coded) - len(grid)))
}

func TestHEICGrid(t *testing.T) {
	p, err := Decode(t.Context(), heicGrid(t, 3, 2), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if p.Width != 480 || p.Height != 192 {
		t.Fatalf("header %+v", p.Header)
	}
	for _, at := range []image.Point{{0, 0}, {320, 96}} {
		sub := p.Pixels.SubImage(image.Rectangle{at, at.Add(image.Pt(160, 96))})
		same(t, "tile", Opaque(sub), bigCorner(), 2, false)
	}
}

// Phones turn pictures by boxes and say the same in EXIF, which must not count then.
func TestHEICTurned(t *testing.T) {
	irot := func(quarters byte) []byte { return box("irot", []byte{quarters}) }
	imir := func(axis byte) []byte { return box("imir", []byte{axis}) }
	for name, c := range map[string]struct {
		boxes       [][]byte
		orientation int
	}{
		"0": {[][]byte{irot(0)}, 1}, "90": {[][]byte{irot(1)}, 8}, "180": {[][]byte{irot(2)}, 3}, "270": {[][]byte{irot(3)}, 6},
		"top to bottom": {[][]byte{imir(0)}, 4}, "left to right": {[][]byte{imir(1)}, 2},
		"90, top to bottom":  {[][]byte{irot(1), imir(0)}, 5},
		"270, top to bottom": {[][]byte{irot(3), imir(0)}, 7},
		"top to bottom, 90":  {[][]byte{imir(0), irot(1)}, 7},
	} {
		p, err := Decode(t.Context(), heicGrid(t, 1, 1, c.boxes...), Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if p.Orientation != c.orientation {
			t.Errorf("%s: orientation %d, want %d", name, p.Orientation, c.orientation)
		}
		same(t, name, p.Pixels, raster.Upright(bigCorner(), c.orientation), 2, false)
	}
	p, err := Decode(t.Context(), fixture(t, "turned.avif"), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if p.Orientation != 5 {
		t.Errorf("turned.avif: orientation %d, want 5", p.Orientation)
	}
	same(t, "turned.avif", p.Pixels, raster.Upright(bigCorner(), 5), 2, false)
}

func TestHEICProperties(t *testing.T) {
	crop := box("clap", be32(100, 1, 60, 1, 20, 2, 0xfffffffc, 1)) // 10 right and 4 up of the centre
	profile := box("colr", []byte("prof"), rgbProfile("Display P3"))
	data := heicGrid(t, 1, 1, crop, box("irot", []byte{1}), profile)
	p, err := Decode(t.Context(), data, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := raster.Upright(Opaque(bigCorner().SubImage(image.Rect(40, 14, 140, 74))), 8)
	same(t, "cropped and turned", p.Pixels, want, 2, false)
	if !bytes.Equal(p.ICC, rgbProfile("Display P3")) {
		t.Error("the profile is lost")
	}
	copy(data[8:], "mif1") // a major brand that says little
	if _, err := Decode(t.Context(), data, Limits{}); err != nil {
		t.Errorf("mif1: %v", err)
	}
	// The header's size counts before anything is decoded, and so does what is cropped away.
	if _, err := Inspect(data, Limits{MaxSide: 159}); !errors.Is(err, ErrDimensions) {
		t.Errorf("%v, want ErrDimensions", err)
	}
	// Code points are heeded: full range taken for limited is stretched.
	limited := heicGrid(t, 1, 1, box("colr", []byte("nclx"), be16(1, 13, 6), []byte{0}))
	if p, err = Decode(t.Context(), limited, Limits{}); err != nil {
		t.Fatal(err)
	}
	if got := p.Pixels.RGBAAt(120, 20); !near(got, color.RGBA{0, 214, 0, 255}, 3) {
		t.Errorf("green is %v", got)
	}
}

func TestYCC(t *testing.T) {
	for name, c := range map[string]struct {
		cicp      *cicp
		y, cb, cr byte
		want      color.RGBA
		tolerance int
	}{
		"JPEG red":       {nil, 76, 85, 255, color.RGBA{254, 0, 0, 255}, 1},
		"JPEG white":     {nil, 255, 128, 128, color.RGBA{255, 255, 255, 255}, 0},
		"601 red":        {&cicp{matrix: 5}, 81, 90, 240, color.RGBA{255, 0, 0, 255}, 2},
		"709 red":        {&cicp{matrix: 1}, 63, 102, 240, color.RGBA{255, 0, 0, 255}, 2},
		"709 green":      {&cicp{matrix: 1}, 173, 42, 26, color.RGBA{0, 255, 0, 255}, 2},
		"709 blue":       {&cicp{matrix: 1}, 32, 240, 118, color.RGBA{0, 0, 255, 255}, 2},
		"709 black":      {&cicp{matrix: 1}, 16, 128, 128, color.RGBA{0, 0, 0, 255}, 0},
		"2020 red":       {&cicp{matrix: 9, full: true}, 67, 92, 255, color.RGBA{255, 0, 0, 255}, 2},
		"identity":       {&cicp{matrix: 0, full: true}, 20, 30, 10, color.RGBA{10, 20, 30, 255}, 0},
		"not understood": {&cicp{matrix: 2, full: true}, 76, 85, 255, color.RGBA{254, 0, 0, 255}, 1},
	} {
		got := make([]byte, 4)
		newYCC(c.cicp).row(got, []byte{c.y}, []byte{c.cb}, []byte{c.cr})
		if rgba := (color.RGBA{got[0], got[1], got[2], got[3]}); !near(rgba, c.want, c.tolerance) {
			t.Errorf("%s: %v, want %v", name, rgba, c.want)
		}
	}
}

func TestDamagedHEICAndAVIF(t *testing.T) {
	for _, name := range []string{"plain.heic", "odd.heic", "plain.avif", "deep.avif"} {
		data := fixture(t, name)
		for _, n := range []int{12, 60, len(data) / 2, len(data) * 9 / 10} {
			if p, err := Decode(t.Context(), data[:n], Limits{}); !errors.Is(err, ErrBroken) {
				t.Errorf("%s cut to %d bytes: %v %v, want ErrBroken", name, n, p, err)
			}
		}
	}
	// A size that the coded picture does not have.
	lie := heicGrid(t, 2, 2)
	at := bytes.LastIndex(lie, be32(320, 192))
	copy(lie[at:], be32(3200, 1920))
	if _, err := Decode(t.Context(), lie, Limits{}); !errors.Is(err, ErrBroken) {
		t.Errorf("a false size: %v, want ErrBroken", err)
	}
}

// Instances of one module share nothing.
func TestDecodersAtOnce(t *testing.T) {
	heic, avif := fixture(t, "plain.heic"), fixture(t, "plain.avif")
	var group sync.WaitGroup
	for i := range 6 {
		group.Go(func() {
			p, err := Decode(t.Context(), [][]byte{heic, avif}[i%2], Limits{})
			if err != nil {
				t.Error(err)
				return
			}
			same(t, p.Format.String(), p.Pixels, bigCorner(), 2, false)
		})
	}
	group.Wait()
}

// An instance ends with its time, and with its memory.
func TestDecodersAreBounded(t *testing.T) {
	d, err := heifDecoder()
	if err != nil {
		t.Fatal(err)
	}
	in, err := d.start(t.Context(), 4<<20)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.alloc(8 << 20); !errors.Is(err, errGuestMemory) {
		t.Errorf("8 MiB of 4: %v", err)
	}
	in.close()

	data := heicGrid(t, 12, 12)
	if in, err = d.start(t.Context(), guestMemory(160*96*144, len(data))); err != nil {
		t.Fatal(err)
	}
	defer in.close()
	file, err := in.put(data)
	if err != nil {
		t.Fatal(err)
	}
	out, err := in.alloc(3 * 160 * 96 * 144)
	if err != nil {
		t.Fatal(err)
	}
	in.cancel()
	if _, err := in.call("decode", file, uint32(len(data)), 0, out, out, out, out, out,
		out+64); !errors.Is(err, errGuestTime) {
		t.Errorf("after its time: %v", err)
	}
}
