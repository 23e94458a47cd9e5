// Command real measures the program on real pages.
//
//	go run ./bench/real -dir DIR [-finish colour|scan] [-out OUT] [-compare OUT]
//
// DIR/pages holds the pages, DIR/ann their annotations: PAGE.json with boxes of pixels that hold
// only handwriting or only print, {"hand": [[x0,y0,x1,y1]], "print": [...]}. The cleaned pages go
// to OUT as PNG; -compare also writes each page before and after, side by side.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"

	"unink/bench/pages"
	"unink/internal/imagefile"
)

func main() {
	dir := flag.String("dir", "", "folder with pages/ and ann/")
	finish := flag.String("finish", "colour", "colour or scan")
	out := flag.String("out", filepath.Join(os.TempDir(), "unink-real"),
		"folder for the cleaned pages")
	compare := flag.String("compare", "", "folder for pictures of before and after")
	only := flag.String("only", "", "only pages whose name contains this")
	flag.Parse()
	if err := run(pages.Set{Dir: *dir, Finish: *finish, Out: *out, Only: *only},
		*compare); err != nil {
		fmt.Fprintln(os.Stderr, "real:", err)
		os.Exit(1)
	}
}

func run(set pages.Set, compare string) error {
	if compare != "" {
		if err := os.MkdirAll(compare, 0o755); err != nil {
			return err
		}
	}
	b := bench{dir: set.Dir, compare: compare}
	fmt.Printf("%-32s %8s %8s %8s %8s %8s %7s\n",
		"page", "residue%", "ghost%", "loss%", "hurt%", "removed%", "seconds")
	if err := set.Each(b.page); err != nil {
		return err
	}
	b.means()
	return nil
}

type bench struct {
	dir, compare string
	sum          figures
	hand, print  float64 // pages with such boxes
}

func (b *bench) page(p pages.Page) error {
	read, err := imagefile.Decode(context.Background(), p.Before, imagefile.Limits{})
	if err != nil {
		return err
	}
	before := read.Pixels
	after, err := png.Decode(bytes.NewReader(p.After.Data))
	if err != nil {
		return err
	}
	if before.Bounds().Size() != after.Bounds().Size() {
		return errors.New("the cleaned page has another size; real pages must not need turning by EXIF")
	}
	if b.compare != "" {
		if err := sideBySide(filepath.Join(b.compare, p.Name+".png"), before, after); err != nil {
			return err
		}
	}
	a, err := readAnnotation(filepath.Join(b.dir, "ann", p.Name+".json"))
	if err != nil {
		return err
	}
	f := measure(a, before, after)
	b.add(a, f)
	fmt.Printf("%-32s %s %8.2f %7.2f\n", p.Name, f, 100*p.After.Removed, p.Took.Seconds())
	return nil
}

// readAnnotation reads a page's boxes; a page without a file has none.
func readAnnotation(path string) (a annotation, err error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return a, nil
	}
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(raw, &a)
}

func (b *bench) add(a annotation, f figures) {
	if len(a.Hand) > 0 {
		b.hand++
		b.sum.Residue += f.Residue
		b.sum.Ghost += f.Ghost
	}
	if len(a.Print) > 0 {
		b.print++
		b.sum.Loss += f.Loss
		b.sum.Hurt += f.Hurt
	}
}

func (b *bench) means() {
	hand, print := max(b.hand, 1), max(b.print, 1)
	mean := figures{b.sum.Residue / hand, b.sum.Ghost / hand, b.sum.Loss / print, b.sum.Hurt / print}
	fmt.Printf("%-32s %s\n", "MEAN", mean)
}

// String gives per cents, in the table's columns.
func (f figures) String() string {
	return fmt.Sprintf("%8.2f %8.1f %8.2f %8.1f", 100*f.Residue, 100*f.Ghost, 100*f.Loss, 100*f.Hurt)
}

func sideBySide(path string, a, b image.Image) error {
	w, h := a.Bounds().Dx(), a.Bounds().Dy()
	m := image.NewRGBA(image.Rect(0, 0, 2*w, h))
	draw.Draw(m, image.Rect(0, 0, w, h), a, a.Bounds().Min, draw.Src)
	draw.Draw(m, image.Rect(w, 0, 2*w, h), b, b.Bounds().Min, draw.Src)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join((&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(f, m), f.Close())
}
