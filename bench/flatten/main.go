// Command flatten measures how straight pages become that were skewed, seen at an angle, bent or
// crumpled.
//
//	go run ./bench/flatten [-data bench/flatten/data] [-out OUT]
//
// The pages are made by training/flatten/benchmark.py, which knows where each of their points lies
// in the picture. For each page, before and after:
//
//	shift  mean distance of the page's points from where they belong, in pixels of the picture,
//	       but for a similarity transform (turned, moved, scaled)
//	skew   how far the page as a whole is turned, in degrees
//	ssim   multi-scale structural similarity with the picture straightened as it is known to lie, laid
//	       upon each other as for shift
//	cer%   characters read wrongly by tesseract, where that is installed, in per cent, against those
//	       read in the page itself at twice the size
//
// A flat page must come out untouched; skewed ones within 0.2 degrees; of the shift of pages seen
// at an angle a third may be left, of that of bent and folded ones half; and at most 1.3 times as
// many characters may be read wrongly as in the class print, the same pages with nothing to be put
// right. What misses its bar is marked with an asterisk. OUT takes the straightened pages.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"runtime"

	"unink/bench/picture"
	"unink/bench/reading"
	"unink/bench/sheet"
	"unink/bench/stage"
	"unink/internal/nn"
	"unink/internal/restore"
	"unink/models"
)

const (
	unbent = "print" // the class of pages to be read with nothing to be put right
	more   = 1.3     // times its errors may be made
)

func main() {
	data := flag.String("data", filepath.Join("bench", "flatten", "data"), "folder of the pages")
	out := flag.String("out", "", "folder for the results")
	flag.Parse()
	if err := run(*data, *out); err != nil {
		fmt.Fprintln(os.Stderr, "flatten:", err)
		os.Exit(1)
	}
}

// figures are those of a page, or sums over a class.
type figures struct {
	shift, cer, ssim [2]float64 // before and after
	pages            float64
}

func (f *figures) add(o figures) {
	for i := range f.shift {
		f.shift[i] += o.shift[i]
		f.cer[i] += o.cer[i]
		f.ssim[i] += o.ssim[i]
	}
	f.pages += o.pages
}

func run(dir, out string) error {
	cases, err := stage.Cases[sheet.Case](dir)
	if err != nil {
		return err
	}
	if out != "" {
		if err := os.MkdirAll(out, 0o755); err != nil {
			return err
		}
	}
	runner, err := stage.Network(models.Flatten())
	if err != nil {
		return err
	}
	defer func() { _ = runner.Close() }()
	b := bench{dir: dir, out: out, runner: runner}
	b.reader, b.reads = reading.Find()
	totals := map[string]*figures{}
	var classes []string
	fmt.Printf("%-16s %14s %14s %14s %14s\n", "page", "shift", "skew", "ssim", "cer%")
	for _, c := range cases {
		f, err := b.measure(c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		if totals[c.Class] == nil {
			totals[c.Class] = &figures{}
			classes = append(classes, c.Class)
		}
		totals[c.Class].add(f)
	}
	fmt.Println()
	for _, name := range classes {
		t := totals[name]
		fmt.Printf("%-16s %6.2f→%6.2f %15s %6.3f→%6.3f", name, t.shift[0]/t.pages, t.shift[1]/t.pages, "",
			t.ssim[0]/t.pages, t.ssim[1]/t.pages)
		if t.cer[0] > 0 {
			fmt.Printf("  %6.2f→%6.2f", 100*t.cer[0]/t.pages, 100*t.cer[1]/t.pages)
			if least := totals[unbent]; least != nil && t.cer[1]/t.pages > more*least.cer[1]/least.pages {
				fmt.Print(" *")
			}
		}
		fmt.Println()
	}
	return nil
}

type bench struct {
	dir, out string
	runner   nn.Runner
	reader   reading.Reader
	reads    bool
}

// measure measures a page and prints its line.
func (b *bench) measure(c sheet.Case) (f figures, err error) {
	src, err := stage.Page(filepath.Join(b.dir, c.Name+".jpg"))
	if err != nil {
		return f, err
	}
	flat, err := restore.Flatten(context.Background(), b.runner, src, runtime.GOMAXPROCS(0))
	if err != nil {
		return f, err
	}
	warp := flat.Warp
	was, is := c.Place(nil, 0), c.Place(warp, src.Rect.Dx())
	before, after, skew, left := was.Shift, is.Shift, was.Degrees(), is.Degrees()
	f = figures{shift: [2]float64{before, after}, pages: 1}
	mark, most := "", math.Inf(1)
	switch c.Class {
	case "perspective", "desk", "angle":
		most = max(2, before/3)
	case "curl", "book", "fold":
		most = max(2, before/2)
	}
	if after > most || (c.Class == "flat" || c.Class == unbent) && warp != nil || c.Class == "skew" &&
		math.Abs(left) > 0.2 {
		mark = " *"
	}
	if warp == nil {
		mark += " untouched"
	}
	straight := src
	if warp != nil {
		straight = warp.Apply(src, runtime.GOMAXPROCS(0))
	}
	ideal := page(c, src, c.At)
	f.ssim = [2]float64{picture.MultiScaleSSIM(page(c, src, was.At), ideal),
		picture.MultiScaleSSIM(page(c, straight, is.At), ideal)}
	fmt.Printf("%-16s %6.2f→%6.2f  %6.2f→%6.2f  %6.3f→%6.3f", c.Name, before, after, skew, left,
		f.ssim[0], f.ssim[1])
	var file bytes.Buffer
	if err := png.Encode(&file, straight); err != nil {
		return f, err
	}
	if c.Text != "" && b.reads {
		if f.cer, err = b.errors(c, file.Bytes()); err != nil {
			return f, err
		}
		fmt.Printf("  %6.2f→%6.2f", 100*f.cer[0], 100*f.cer[1])
	}
	fmt.Println(mark)
	if b.out != "" {
		err = os.WriteFile(filepath.Join(b.out, c.Name+".png"), file.Bytes(), 0o644)
	}
	return f, err
}

// errors are those made in reading a page before and after.
func (b *bench) errors(c sheet.Case, after []byte) (cer [2]float64, err error) {
	before, err := os.ReadFile(filepath.Join(b.dir, c.Name+".jpg"))
	if err != nil {
		return cer, err
	}
	for i, data := range [2][]byte{before, after} {
		text, err := b.reader.Read(data)
		if err != nil {
			return cer, err
		}
		cer[i] = reading.Error(text, c.Text)
	}
	return cer, nil
}

// page is the page as a picture shows it whose points lie there.
func page(c sheet.Case, src *image.RGBA, at func(x, y float64) (float64, float64)) *picture.RGB {
	w, h := int(c.Page[0]), int(c.Page[1])
	p := &picture.RGB{W: w, H: h, Pix: make([]uint8, 3*w*h)}
	side := src.Rect.Size()
	for i := range w * h {
		x, y := at(float64(i%w), float64(i/w))
		x, y = min(max(x, 0), float64(side.X-1)), min(max(y, 0), float64(side.Y-1))
		x0, y0 := min(int(x), side.X-2), min(int(y), side.Y-2)
		u, v := x-float64(x0), y-float64(y0)
		for ch := range 3 {
			px := func(dx, dy int) float64 { return float64(src.Pix[src.PixOffset(x0+dx, y0+dy)+ch]) }
			p.Pix[3*i+ch] = uint8((1-v)*((1-u)*px(0, 0)+u*px(1, 0)) + v*((1-u)*px(0, 1)+u*px(1, 1)) + 0.5)
		}
	}
	return p
}
