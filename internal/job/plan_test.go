package job

import (
	"bytes"
	"context"
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

// asPNG is an engine's work that leaves a page as it was.
func asPNG(ctx context.Context, data []byte) (*unink.Result, error) {
	p, err := imagefile.Decode(ctx, data, imagefile.Limits{})
	if err != nil {
		return nil, err
	}
	out, err := imagefile.EncodePNG(ctx, p.Pixels)
	return &unink.Result{Data: out, Format: unink.PNG, Width: p.Width, Height: p.Height}, err
}

// unchanged is the same for a PDF's page.
func unchanged(_ context.Context, m image.Image) (*unink.Page, error) {
	return &unink.Page{Image: imagefile.Opaque(m)}, nil
}

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
	png := unink.Options{Format: unink.PNG}
	p, err := Request{Inputs: []string{in}, Out: out, Options: png}.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	report := all(t, p, cleaning(asPNG), 1)
	for i, name := range []string{"scan-001.png", "scan-002.png", "scan-003.png"} {
		got, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		want, err := imagefile.Decode(t.Context(), imagefile.Page(data, i), imagefile.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		page, err := imagefile.Decode(t.Context(), got, imagefile.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(page.Pixels.Pix, want.Pixels.Pix) {
			t.Errorf("%s is not page %d", name, i+1)
		}
	}
	if len(report.pages) != 3 || report.pages[1].Input != in+", page 2" {
		t.Errorf("the report: %+v", report.pages)
	}

	// Beside the input, and never into one file.
	p, err = Request{Inputs: []string{in}, Options: png}.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, pg := range p.pages {
		names = append(names, filepath.Base(pg.names[unink.PNG]))
	}
	if !slices.Equal(names, []string{"scan-001.clean.png", "scan-002.clean.png",
		"scan-003.clean.png"}) {
		t.Errorf("beside it: %v", names)
	}
	for _, file := range []string{filepath.Join(dir, "all.png"), Stream} {
		if _, err := (Request{Inputs: []string{in}, Out: file}).Plan(t.Context()); err == nil {
			t.Errorf("three pages go to %s", file)
		}
	}
}

// The pages of a TIFF, and pictures, become one PDF when its name is asked for: in their order,
// each at the size that its resolution gives it, or as wide as A4.
func TestPicturesAreBound(t *testing.T) {
	dir := t.TempDir()
	scan, err := os.ReadFile("../imagefile/testdata/pages.tif")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"scan.tif": scan, "broken.png": []byte("\x89PNG\r\n\x1a\n and nothing"),
		"plain.png": pngOf(t, 100, 50, 0), "fine.png": pngOf(t, 600, 900, 144)}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bind := func(out, pages string, names ...string) error {
		t.Helper()
		r := Request{Out: filepath.Join(dir, out)}
		var err error
		if r.Pages, err = ParsePages(pages); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			r.Inputs = append(r.Inputs, filepath.Join(dir, name))
		}
		p, err := r.Plan(t.Context())
		if err != nil {
			return err
		}
		report := &told{}
		p.Run(t.Context(), painter{clean: unchanged}, 2, report)
		return report.documents[0].Err
	}
	sizes := func(out string) string {
		t.Helper()
		var all []string
		for _, size := range sizesOf(t, filepath.Join(dir, out)) {
			all = append(all, fmt.Sprintf("%.0fx%.0f", size.Width, size.Height))
		}
		return strings.Join(all, " ")
	}
	var leaves []string
	for i := range 3 {
		picture, err := imagefile.Decode(t.Context(), imagefile.Page(scan, i), imagefile.Limits{})
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
		{"all.PDF", "", "300x450 " + strings.Join(leaves, " ") + " 595x298", []string{"fine.png", "scan.tif", "plain.png"}},
	} {
		if err := bind(c.out, c.pages, c.names...); err != nil {
			t.Errorf("%s: %v", c.out, err)
		} else if got := sizes(c.out); got != c.want {
			t.Errorf("%s has pages of %s, want %s", c.out, got, c.want)
		}
	}

	if err := bind("bad.pdf", "", "plain.png", "broken.png"); err == nil {
		t.Error("a PDF was made without a page that is broken")
	}
	if _, err := os.Stat(filepath.Join(dir, "bad.pdf")); err == nil {
		t.Error("a PDF lies there that lacks a page")
	}
	if err := os.WriteFile(filepath.Join(dir, "odd.pdf"), files["plain.png"], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := bind("odd.pdf", "", "fine.png", "odd.pdf"); err == nil ||
		!strings.Contains(err.Error(), "one of the inputs") {
		t.Errorf("an input would be written over: %v", err)
	}
}

// pngOf is a white picture with a mark, which states its resolution unless that is 0.
func pngOf(t *testing.T, width, height int, dpi float64) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(m, m.Rect, image.White, image.Point{}, draw.Src)
	m.Set(width/2, height/2, color.Black)
	meta := imagefile.Meta{DPI: [2]float64{dpi, dpi}}
	data, err := imagefile.Encode(t.Context(), m, imagefile.PNG, meta)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A picture's resolution is that of a page, or it means nothing: cameras state 72 dpi.
func TestSizeOnPaper(t *testing.T) {
	for _, c := range []struct {
		width, height int
		dpi           float64
		want          string
	}{
		{3000, 4000, 72, "595x794"}, {1240, 1754, 150, "595x842"}, {2480, 3508, 0, "595x842"},
		{3508, 4961, 300, "842x1191"}, {900, 2400, 300, "216x576"}, {200, 300, 300, "595x893"},
	} {
		size := onPaper(&imagefile.Picture{Pixels: image.NewRGBA(image.Rect(0, 0, c.width, c.height)),
			Meta: imagefile.Meta{DPI: [2]float64{c.dpi, c.dpi}}})
		if got := fmt.Sprintf("%.0fx%.0f", size.Width, size.Height); got != c.want {
			t.Errorf("%d×%d pixels at %g dpi: %s points, want %s", c.width, c.height, c.dpi, got, c.want)
		}
	}
}
