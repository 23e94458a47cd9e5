// Command labelled measures the program on real pages that are labelled by pixel.
//
//	go run ./bench/labelled -dir DIR [-finish colour|scan] [-out OUT] [-only TEXT]
//
// DIR/pages holds the pages, DIR/labels a PNG of each page's size and name: 0 paper, 1 print,
// 2 handwriting, anything else not known. The cleaned pages go to OUT as PNG. The figures are per
// cent of ink, their mean is over the pages that have any; pages that nobody wrote on are counted
// once more by themselves.
package main

import (
	"errors"
	"flag"
	"fmt"
	"image"
	"os"
	"path/filepath"

	"unink/bench/labels"
	"unink/bench/pages"
	"unink/bench/picture"
)

func main() {
	dir := flag.String("dir", "", "folder with pages/ and labels/")
	finish := flag.String("finish", "colour", "colour or scan")
	temporary := filepath.Join(os.TempDir(), "unink-labelled")
	out := flag.String("out", temporary, "folder for the cleaned pages")
	only := flag.String("only", "", "only pages whose name contains this")
	flag.Parse()
	if err := run(pages.Set{Dir: *dir, Finish: *finish, Out: *out, Only: *only}); err != nil {
		fmt.Fprintln(os.Stderr, "labelled:", err)
		os.Exit(1)
	}
}

func run(set pages.Set) error {
	b := bench{dir: set.Dir}
	fmt.Printf("%-40s %7s %7s %7s %7s %8s %7s\n",
		"page", "left", "seen", "lost", "hurt", "removed", "seconds")
	if err := set.Each(b.page); err != nil {
		return err
	}
	b.summary()
	return nil
}

type bench struct {
	dir                string
	sum                labels.Figures
	pages, hand, print float64
	clean              int // pages that nobody wrote on
	untouched          int // of these, left as they are
	hurt               int // of these, those that lose one per cent of their print
}

func (b *bench) page(p pages.Page) error {
	before, err := picture.Decode(p.Before)
	if err != nil {
		return err
	}
	after, err := picture.Decode(p.After.Data)
	if err != nil {
		return err
	}
	label, err := labels.Read(filepath.Join(b.dir, "labels", p.Name+".png"))
	if err != nil {
		return err
	}
	size := image.Pt(before.W, before.H)
	if size != image.Pt(after.W, after.H) || size != label.Rect.Size() {
		return errors.New("the page, its labels and the cleaned page differ in size; " +
			"pages must not need turning by EXIF")
	}
	f := labels.Of(label, before).Measure(after)
	b.add(f, p.After.Removed)
	fmt.Printf("%-40s%s %8.2f %7.2f\n", p.Name, f, 100*p.After.Removed, p.Took.Seconds())
	return nil
}

func (b *bench) add(f labels.Figures, removed float64) {
	const much = 0.01
	b.pages++
	if f.Hand {
		b.hand++
		b.sum.Left += f.Left
		b.sum.Seen += f.Seen
	}
	if f.Print {
		b.print++
		b.sum.Lost += f.Lost
		b.sum.Hurt += f.Hurt
	}
	if !f.Hand {
		b.clean++
		if removed == 0 {
			b.untouched++
		}
		if f.Lost >= much {
			b.hurt++
		}
	}
}

func (b *bench) summary() {
	hand, print := max(b.hand, 1), max(b.print, 1)
	mean := labels.Figures{
		Left: b.sum.Left / hand, Seen: b.sum.Seen / hand,
		Lost: b.sum.Lost / print, Hurt: b.sum.Hurt / print,
		Hand: b.hand > 0, Print: b.print > 0,
	}
	fmt.Printf("%-40s%s\n", fmt.Sprintf("MEAN of %.0f pages", b.pages), mean)
	fmt.Printf("of %d pages that nobody wrote on, %d are left as they are "+
		"and %d lose 1 %% of their print or more\n", b.clean, b.untouched, b.hurt)
}
