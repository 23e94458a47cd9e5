// Command orient measures how many pages are turned upright that lie on a side or on their head.
//
//	go run ./bench/orient [-data bench/orient/data] [-v]
//
// The pages are held-out ones, captured, made by python3 -m training.orient.benchmark pictures.
// Each is shown at all four angles; it is right if it comes out upright, wrong if it was turned and
// is not, and left if it stays as it lay for want of certainty. Pages with fewer than 20 letters
// and digits, such as mazes, boards and music, are counted apart: many of them nobody could tell.
package main

import (
	"context"
	"flag"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"runtime"

	"unink/bench/stage"
	"unink/internal/nn"
	"unink/internal/raster"
	"unink/internal/restore"
	"unink/models"
)

const fewLetters = 20

func main() {
	data := flag.String("data", filepath.Join("bench", "orient", "data"), "folder of the pages")
	verbose := flag.Bool("v", false, "name the pages that are not right")
	flag.Parse()
	if err := run(*data, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "orient:", err)
		os.Exit(1)
	}
}

type testCase struct {
	Name, Lang string
	Letters    int
}

// tally counts pictures.
type tally struct{ right, wrong, left int }

func (t *tally) add(o tally) {
	t.right += o.right
	t.wrong += o.wrong
	t.left += o.left
}

func (t tally) String() string {
	n := float64(max(1, t.right+t.wrong+t.left)) / 100
	return fmt.Sprintf("%6d %7.2f %7.2f %7.2f", t.right+t.wrong+t.left, float64(t.right)/n,
		float64(t.wrong)/n, float64(t.left)/n)
}

func run(dir string, verbose bool) error {
	cases, err := stage.Cases[testCase](dir)
	if err != nil {
		return err
	}
	runner, err := stage.Network(models.Orient())
	if err != nil {
		return err
	}
	defer func() { _ = runner.Close() }()
	var lettered, others tally
	for _, c := range cases {
		page, err := stage.Page(filepath.Join(dir, c.Name+".jpg"))
		if err != nil {
			return err
		}
		t, err := measure(runner, page)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		if c.Letters >= fewLetters {
			lettered.add(t)
		} else {
			others.add(t)
		}
		if verbose && t.right < 4 {
			fmt.Printf("%-44s %-8s %5d letters: %d right, %d wrong, %d left\n", c.Name, c.Lang, c.Letters,
				t.right, t.wrong, t.left)
		}
	}
	all := lettered
	all.add(others)
	fmt.Printf("%-24s %6s %7s %7s %7s\n", "pages with", "shown", "right%", "wrong%", "left%")
	fmt.Printf("%-24s %v\n%-24s %v\n%-24s %v\n", fmt.Sprintf("%d letters or more", fewLetters),
		lettered, "fewer", others, "all", all)
	return nil
}

// measure shows a page at all four angles.
func measure(runner nn.Runner, page *image.RGBA) (t tally, err error) {
	for k := range 4 {
		back, _, err := restore.Upright(context.Background(), runner, raster.Turn(page, k),
			runtime.GOMAXPROCS(0))
		switch {
		case err != nil:
			return t, err
		case (k+back)%4 == 0:
			t.right++
		case back != 0:
			t.wrong++
		default:
			t.left++
		}
	}
	return t, nil
}
