// Command regions writes what the network that judges regions of ink learns from
// (training/judge/net.py).
//
//	go run ./training/judge/regions -dir DIR -out OUT [-models MODELS]
//
// MODELS holds segment.onnx and overview.onnx with their manifests, as training.segment.export
// writes them; models/ of this repository by default. DIR/pages holds pages, DIR/labels a PNG of
// each page's size and name: 0 paper, 1 print, 2 handwriting, anything else not known. For each
// page OUT/NAME.bin gets little-endian float32 values: the number of regions N, then
// nn.RegionTraits of each, the indices of its nn.RegionBonds neighbours, nn.BondTraits of each of
// these, and for each region the pixels known to be print and those known to be handwriting. Pages
// without labels have print alone.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"unink/bench/stage"
	"unink/internal/nn"
	"unink/internal/restore"
	"unink/internal/restore/strokes"
	"unink/models"
)

func main() {
	dir := flag.String("dir", "", "folder with pages/ and labels/")
	out := flag.String("out", "", "folder to write to")
	from := flag.String("models", "models", "folder with segment.onnx and overview.onnx")
	flag.Parse()
	if err := run(*dir, *out, os.DirFS(*from)); err != nil {
		fmt.Fprintln(os.Stderr, "regions:", err)
		os.Exit(1)
	}
}

func run(dir, out string, from fs.FS) error {
	pages, err := filepath.Glob(filepath.Join(dir, "pages", "*"))
	if err != nil || len(pages) == 0 {
		return errors.Join(err, fmt.Errorf("no pages in %s", filepath.Join(dir, "pages")))
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	engine, err := open(from)
	if err != nil {
		return err
	}
	for _, path := range pages {
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		data, err := survey(engine, path, filepath.Join(dir, "labels", name+".png"))
		if err == nil {
			err = os.WriteFile(filepath.Join(out, name+".bin"), data, 0o644)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// open opens the networks that look at a page before its regions are judged.
func open(from fs.FS) (*restore.Engine, error) {
	e := &restore.Engine{Threads: runtime.NumCPU()}
	for _, n := range []struct {
		name string
		to   *nn.Runner
	}{
		{"overview", &e.Overview},
		{"segment", &e.Segmenter},
	} {
		network, err := models.Read(from, n.name)
		if err != nil {
			return nil, err
		}
		runner, err := nn.Open(nn.Config{Network: network})
		if err != nil {
			return nil, err
		}
		*n.to, e.Em = runner, network.Em
	}
	return e, nil
}

func survey(e *restore.Engine, page, labels string) ([]byte, error) {
	src, err := stage.Page(page)
	if err != nil {
		return nil, err
	}
	v, size, err := e.Survey(context.Background(), src)
	if err != nil {
		return nil, err
	}
	known := make([]float32, 2*v.Regions())
	truth, err := readLabels(labels)
	if errors.Is(err, os.ErrNotExist) {
		truth = image.NewUniform(image.Black)
	} else if err != nil {
		return nil, err
	}
	count(known, v, truth, src.Rect.Size(), size)
	var b bytes.Buffer
	for _, part := range [][]float32{{float32(v.Regions())}, v.Traits, v.Near, v.Bonds, known} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

func readLabels(path string) (image.Image, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return png.Decode(file)
}

// count counts each region's pixels that are known to be print and to be handwriting: a pixel of
// the working picture is what the middle of its place on the page is.
func count(known []float32, v *strokes.Survey, truth image.Image, page, seen image.Point) {
	const print, hand = 1, 2
	for i, l := range v.Labels {
		if l == 0 {
			continue
		}
		x, y := (2*(i%seen.X)+1)*page.X/(2*seen.X), (2*(i/seen.X)+1)*page.Y/(2*seen.Y)
		switch value(truth, x, y) {
		case print:
			known[2*(l-1)]++
		case hand:
			known[2*(l-1)+1]++
		}
	}
}

// value is a pixel of a label picture, grey or with a palette whose index is the label; all is
// print in a picture that is of one colour.
func value(m image.Image, x, y int) uint8 {
	switch m := m.(type) {
	case *image.Paletted:
		return m.ColorIndexAt(x, y)
	case *image.Gray:
		return m.GrayAt(x, y).Y
	}
	return 1
}
