package cli

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"unink"
	"unink/internal/imagefile"
)

// A TIFF file's pages become a picture each.
func TestTIFFPages(t *testing.T) {
	data, err := os.ReadFile("../imagefile/testdata/pages.tif")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "scan.tif"), filepath.Join(dir, "out")
	if err := os.WriteFile(in, data, 0o600); err != nil {
		t.Fatal(err)
	}
	env := &environment{ctx: t.Context()}
	p, err := (&cleanCmd{Inputs: []string{in}, Out: out}).plan(env, unink.PNG)
	if err != nil {
		t.Fatal(err)
	}
	e, err := openDrawing(unink.Config{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	b, log := batchOf(t.Context(), e, 1)
	b.env = env
	if err := b.run(p); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	for i, name := range []string{"scan-001.png", "scan-002.png", "scan-003.png"} {
		got, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		want, err := imagefile.Decode(imagefile.Page(data, i), imagefile.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		page, err := imagefile.Decode(got, imagefile.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(page.Pixels.Pix, want.Pixels.Pix) {
			t.Errorf("%s is not page %d", name, i+1)
		}
	}
	if !strings.Contains(log.String(), in+", page 2 -> ") {
		t.Errorf("the report: %s", log)
	}

	// Beside the input, and never into one file.
	p, err = (&cleanCmd{Inputs: []string{in}}).plan(env, unink.PNG)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, pg := range p.pages {
		names = append(names, filepath.Base(pg.names[unink.PNG]))
	}
	if !slices.Equal(names, []string{"scan-001.clean.png", "scan-002.clean.png", "scan-003.clean.png"}) {
		t.Errorf("beside it: %v", names)
	}
	for _, file := range []string{filepath.Join(dir, "all.png"), stdStream} {
		if _, err := (&cleanCmd{Inputs: []string{in}, Out: file}).plan(env, unink.Auto); err == nil {
			t.Errorf("three pages go to %s", file)
		}
	}
}

// The pages of a TIFF, and pictures, become one PDF when its name is asked for: in their order, each at the size that its
// resolution gives it, or as wide as A4.
func TestPicturesAreBound(t *testing.T) {
	dir := t.TempDir()
	scan, err := os.ReadFile("../imagefile/testdata/pages.tif")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"scan.tif": scan, "broken.png": []byte("\x89PNG\r\n\x1a\n and nothing"), "plain.png": pngOf(t, 100, 50, 0), "fine.png": pngOf(t, 200, 300, 144)}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bind := func(out, pages string, names ...string) (log string, err error) {
		t.Helper()
		c := &cleanCmd{Out: filepath.Join(dir, out), Pages: pages}
		for _, name := range names {
			c.Inputs = append(c.Inputs, filepath.Join(dir, name))
		}
		env := &environment{ctx: t.Context()}
		p, err := c.plan(env, unink.Auto)
		if err != nil {
			return "", err
		}
		e, err := openDrawing(unink.Config{Device: "cpu"})
		if err != nil {
			t.Fatal(err)
		}
		b, text := batchOf(t.Context(), e, 2)
		b.env = env
		return text.String(), b.run(p)
	}
	sizes := func(out string) string {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(dir, out))
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, size := range sizesOf(func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}, data) {
			all = append(all, fmt.Sprintf("%.0fx%.0f", size.Width, size.Height))
		}
		return strings.Join(all, " ")
	}
	var leaves []string
	for i := range 3 {
		picture, err := imagefile.Decode(imagefile.Page(scan, i), imagefile.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		size := onPaper(picture)
		leaves = append(leaves, fmt.Sprintf("%.0fx%.0f", size.Width, size.Height))
	}
	for _, c := range []struct {
		out, pages, want string
		names            []string
	}{
		{"scan.pdf", "", strings.Join(leaves, " "), []string{"scan.tif"}},
		{"two.pdf", "2-", strings.Join(leaves[1:], " "), []string{"scan.tif"}},
		{"all.PDF", "", "100x150 " + strings.Join(leaves, " ") + " 595x298", []string{"fine.png", "scan.tif", "plain.png"}},
	} {
		if log, err := bind(c.out, c.pages, c.names...); err != nil {
			t.Errorf("%s: %v\n%s", c.out, err, log)
		} else if got := sizes(c.out); got != c.want {
			t.Errorf("%s has pages of %s, want %s", c.out, got, c.want)
		}
	}

	if _, err := bind("bad.pdf", "", "plain.png", "broken.png"); err == nil {
		t.Error("a PDF was made without a page that is broken")
	}
	if _, err := os.Stat(filepath.Join(dir, "bad.pdf")); err == nil {
		t.Error("a PDF lies there that lacks a page")
	}
	if err := os.WriteFile(filepath.Join(dir, "odd.pdf"), files["plain.png"], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := bind("odd.pdf", "", "fine.png", "odd.pdf"); err == nil || !strings.Contains(err.Error(), "one of the inputs") {
		t.Errorf("an input would be written over: %v", err)
	}
}

// pngOf is a white picture with a mark, which states its resolution unless that is 0.
func pngOf(t *testing.T, width, height int, dpi float64) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(m, m.Rect, image.White, image.Point{}, draw.Src)
	m.Set(width/2, height/2, color.Black)
	data, err := imagefile.Encode(m, imagefile.PNG, imagefile.Meta{DPI: [2]float64{dpi, dpi}})
	if err != nil {
		t.Fatal(err)
	}
	return data
}
