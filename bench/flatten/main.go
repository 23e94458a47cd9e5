// Command flatten measures how straight pages become that were skewed, seen at an angle, bent or crumpled.
//
//	go run ./bench/flatten [-data bench/flatten/data]
//
// The pages are made by training/flatten_benchmark.py, which knows where each of their points lies
// in the picture. For each page, before and after:
//
//	shift  mean distance of the page's points from where they belong, in pixels of the picture,
//	       but for a similarity transform (turned, moved, scaled)
//	skew   how far the page as a whole is turned, in degrees
//
// A flat page must come out untouched; skewed ones within 0.2 degrees; of the shift of pages seen at
// an angle a third may be left. What misses its bar is marked with an asterisk.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/draw"
	_ "image/jpeg"
	"math"
	"os"
	"path/filepath"
	"runtime"

	"unink/internal/raster"
	"unink/internal/restore"
)

// testCase is a page, and where points of it lie in the picture.
type testCase struct {
	Name, Class string
	Page        [2]float64
	Map         [][2]float64
}

const mapColumns, mapRows = 13, 17

func main() {
	data := flag.String("data", "bench/flatten/data", "folder of the pages")
	flag.Parse()
	if err := run(*data); err != nil {
		fmt.Fprintln(os.Stderr, "flatten:", err)
		os.Exit(1)
	}
}

// total sums the shifts of a class.
type total struct{ before, after, pages float64 }

func run(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "cases.json"))
	if err != nil {
		return err
	}
	var cases []testCase
	if err := json.Unmarshal(text, &cases); err != nil {
		return err
	}
	totals := map[string]*total{}
	var classes []string
	fmt.Printf("%-16s %8s %8s %8s %8s\n", "page", "shift", "after", "skew", "after")
	for _, c := range cases {
		src, err := read(filepath.Join(dir, c.Name+".jpg"))
		if err != nil {
			return err
		}
		warp, _ := restore.Flatten(src, runtime.GOMAXPROCS(0))
		before, skew := misplaced(c, nil, 0)
		after, left := misplaced(c, warp, src.Rect.Dx())
		mark := ""
		switch {
		case c.Class == "flat" && warp != nil, c.Class == "skew" && math.Abs(left) > 0.2,
			(c.Class == "perspective" || c.Class == "desk") && before > 2 && after > before/3:
			mark = "*"
		}
		if warp == nil {
			mark += " untouched"
		}
		fmt.Printf("%-16s %8.2f %8.2f %8.2f %8.2f %s\n", c.Name, before, after, skew, left, mark)
		t := totals[c.Class]
		if t == nil {
			t = &total{}
			totals[c.Class] = t
			classes = append(classes, c.Class)
		}
		t.before, t.after, t.pages = t.before+before, t.after+after, t.pages+1
	}
	fmt.Println()
	for _, name := range classes {
		t := totals[name]
		fmt.Printf("%-16s %8.2f %8.2f\n", name, t.before/t.pages, t.after/t.pages)
	}
	return nil
}

func read(path string) (*image.RGBA, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	out := image.NewRGBA(image.Rect(0, 0, m.Bounds().Dx(), m.Bounds().Dy()))
	draw.Draw(out, out.Rect, m, m.Bounds().Min, draw.Src)
	return out, nil
}

// misplaced measures the points of a page, after a warp of the picture, which has the given width.
func misplaced(c testCase, w *raster.Warp, width int) (shift, degrees float64) {
	is, want := make([]complex128, len(c.Map)), make([]complex128, len(c.Map))
	for i, p := range c.Map {
		want[i] = complex(float64(i%mapColumns)/(mapColumns-1)*(c.Page[0]-1), float64(i/mapColumns)/(mapRows-1)*(c.Page[1]-1))
		is[i] = complex(p[0], p[1])
		if w != nil {
			is[i] = straightened(w, width, p)
		}
	}
	// The similarity, as a complex factor and an offset, that brings them together best.
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
	k := num / complex(den, 0)
	for i := range is {
		d := is[i] - mi - k*(want[i]-mw)
		shift += math.Hypot(real(d), imag(d)) / float64(len(is))
	}
	return shift, math.Atan2(imag(k), real(k)) * 180 / math.Pi
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
