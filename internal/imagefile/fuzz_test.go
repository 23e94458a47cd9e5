package imagefile

import (
	"bytes"
	"image"
	"testing"
)

// FuzzStill: whatever the boxes are, what is read of them holds together.
func FuzzStill(f *testing.F) {
	for _, name := range []string{"plain.heic", "odd.heic", "alpha.heic", "plain.avif", "turned.avif",
		"crop.avif"} {
		f.Add(fixture(f, name))
	}
	f.Add(heicGrid(f, 2, 2, box("irot", []byte{1}), box("imir", []byte{1})))
	f.Add(heicGrid(f, 1, 1, box("clap", be32(100, 1, 60, 1, 20, 2, 0xfffffffc, 1)),
		box("colr", []byte("nclx"), be16(1, 13, 6), []byte{0})))
	f.Fuzz(func(t *testing.T, data []byte) {
		brandOf(data)
		s, err := parseStill(data)
		if err != nil {
			return
		}
		if s.crop.Empty() || !s.crop.In(image.Rectangle{Max: s.coded}) || s.orientation < 1 ||
			s.orientation > 8 {
			t.Fatalf("%+v", s)
		}
		if len(s.icc) > maxProfile {
			t.Fatalf("a profile of %d bytes", len(s.icc))
		}
	})
}

// FuzzPages: the pages of whatever file are files of their own, and taking them changes nothing.
func FuzzPages(f *testing.F) {
	for _, name := range []string{"pages.tif", "tiles.tif", "cmyk.tif"} {
		f.Add(fixture(f, name))
	}
	f.Add(tiffWith(encodeAs(f, TIFF, corner(16, 16)), tagICC, 7, rgbProfile("Adobe RGB (1998)")))
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		n := Pages(data)
		if n < 1 || n > maxTIFFPages {
			t.Fatalf("%d pages", n)
		}
		for i := range min(n, 3) {
			page := Page(data, i)
			if d, ok := tiffFirst(page); ok {
				_ = d.unsupported()
				_ = d.bytes(tagICC, 1)
				_ = tiffExif(page)
			}
		}
		if !bytes.Equal(data, before) {
			t.Fatal("the file was changed")
		}
	})
}
