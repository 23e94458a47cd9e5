package cli

import (
	"bytes"
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
