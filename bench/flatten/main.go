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
	"math/cmplx"
	"os"
	"path/filepath"
	"runtime"

	"unink/bench/picture"
	"unink/bench/reading"
	"unink/bench/stage"
	"unink/internal/nn"
	"unink/internal/raster"
	"unink/internal/restore"
	"unink/models"
)

// testCase is a page, and where points of it lie in the picture; Text is what can be read in it, if
// that is asked.
type testCase struct {
	Name, Class, Text string
	Page              [2]float64
	Map               [][2]float64
}

const (
	mapColumns, mapRows = 13, 17
	unbent              = "print" // the class of pages to be read with nothing to be put right
	more                = 1.3     // times its errors may be made
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
	cases, err := stage.Cases[testCase](dir)
	if err != nil {
		return err
	}
	if out != "" {
		if err := os.MkdirAll(out, 0o755); err != nil {
			return err
		}
	}
	runner, err := stage.Network(models.Flatten, nn.Flattening)
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
func (b *bench) measure(c testCase) (f figures, err error) {
	src, err := stage.Page(filepath.Join(b.dir, c.Name+".jpg"))
	if err != nil {
		return f, err
	}
	flat, err := restore.Flatten(context.Background(), b.runner, src, runtime.GOMAXPROCS(0))
	if err != nil {
		return f, err
	}
	warp := flat.Warp
	was, is := place(c, nil, 0), place(c, warp, src.Rect.Dx())
	before, after, skew, left := was.shift, is.shift, was.degrees(), is.degrees()
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
	ideal := c.page(src, c.at)
	f.ssim = [2]float64{picture.MultiScaleSSIM(c.page(src, was.at), ideal),
		picture.MultiScaleSSIM(c.page(straight, is.at), ideal)}
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
func (b *bench) errors(c testCase, after []byte) (cer [2]float64, err error) {
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

// placed is how a page lies in a picture: the similarity, as a complex factor and an offset, that
// brings its points best to where they are, and their mean distance from there.
type placed struct {
	factor, offset complex128
	shift          float64
}

// place measures the points of a page, after a warp of the picture, which has the given width.
func place(c testCase, w *raster.Warp, width int) (p placed) {
	is, want := make([]complex128, len(c.Map)), make([]complex128, len(c.Map))
	for i, at := range c.Map {
		want[i] = complex(float64(i%mapColumns)/(mapColumns-1)*(c.Page[0]-1),
			float64(i/mapColumns)/(mapRows-1)*(c.Page[1]-1))
		is[i] = complex(at[0], at[1])
		if w != nil {
			is[i] = straightened(w, width, at)
		}
	}
	var mi, mw complex128
	for i := range is {
		mi += is[i] / complex(float64(len(is)), 0)
		mw += want[i] / complex(float64(len(is)), 0)
	}
	var num complex128
	var den float64
	for i := range is {
		a, b := want[i]-mw, is[i]-mi
		num += b * complex(real(a), -imag(a))
		den += real(a)*real(a) + imag(a)*imag(a)
	}
	p.factor = num / complex(den, 0)
	p.offset = mi - p.factor*mw
	for i := range is {
		p.shift += cmplx.Abs(is[i]-p.factor*want[i]-p.offset) / float64(len(is))
	}
	return p
}

// degrees that the page as a whole is turned by.
func (p placed) degrees() float64 { return cmplx.Phase(p.factor) * 180 / math.Pi }

// at is where a point of the page lies in the picture.
func (p placed) at(x, y float64) (float64, float64) {
	v := p.factor*complex(x, y) + p.offset
	return real(v), imag(v)
}

// at is where a point of the page is known to lie in the picture, between the four known points
// around it.
func (c testCase) at(x, y float64) (float64, float64) {
	u, v := x/(c.Page[0]-1)*(mapColumns-1), y/(c.Page[1]-1)*(mapRows-1)
	i, j := min(int(u), mapColumns-2), min(int(v), mapRows-2)
	u, v = u-float64(i), v-float64(j)
	var out [2]float64
	for ch := range out {
		p := func(dx, dy int) float64 { return c.Map[(j+dy)*mapColumns+i+dx][ch] }
		out[ch] = (1-v)*((1-u)*p(0, 0)+u*p(1, 0)) + v*((1-u)*p(0, 1)+u*p(1, 1))
	}
	return out[0], out[1]
}

// page is the page as a picture shows it whose points lie there.
func (c testCase) page(src *image.RGBA, at func(x, y float64) (float64, float64)) *picture.RGB {
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

// straightened is where a point of the picture lies after the warp, by Newton's method.
func straightened(w *raster.Warp, width int, p [2]float64) complex128 {
	scale := float64(w.SrcW) / float64(width)
	x, y := float64(w.W)/2, float64(w.H)/2
	px, py := (p[0]+0.5)*scale-0.5, (p[1]+0.5)*scale-0.5
	for range 30 {
		const d = 8
		ax, ay := w.At(x, y)
		bx, by := w.At(x+d, y)
		cx, cy := w.At(x, y+d)
		ux, uy, vx, vy := (bx-ax)/d, (by-ay)/d, (cx-ax)/d, (cy-ay)/d
		det := ux*vy - vx*uy
		x += (vy*(px-ax) - vx*(py-ay)) / det
		y += (ux*(py-ay) - uy*(px-ax)) / det
	}
	return complex((x+0.5)/scale-0.5, (y+0.5)/scale-0.5)
}
