// Command tints writes what highlighter is told by (training/highlight/train.py).
//
//	go run ./training/highlight/tints -dir DIR [-models MODELS] > TINTS
//
// DIR/pages holds pages, DIR/labels a PNG of each page's size and name: 1 where a highlighter's
// strokes lie. The first line has the traits' names as JSON, each other line a tint that the
// program sees. MODELS holds segment.onnx and overview.onnx with their manifests; models/ of this
// repository by default.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"

	"unink/bench/labels"
	"unink/bench/stage"
	"unink/internal/restore"
	"unink/internal/restore/highlight"
)

// tint is what is seen and known of a tint.
type tint struct {
	Page   string    `json:"page"`
	At     [4]int    `json:"at"`     // its frame: left, top, right, bottom in working pixels
	Traits []float64 `json:"traits"` // highlight.TraitNames
	Struck float64   `json:"struck"` // share of its squares that were struck
}

func main() {
	dir := flag.String("dir", "", "folder with pages/ and labels/")
	from := flag.String("models", "models", "folder with segment.onnx and overview.onnx")
	flag.Parse()
	if err := run(*dir, *from, json.NewEncoder(os.Stdout)); err != nil {
		fmt.Fprintln(os.Stderr, "tints:", err)
		os.Exit(1)
	}
}

func run(dir, from string, out *json.Encoder) error {
	pages, err := filepath.Glob(filepath.Join(dir, "pages", "*"))
	if err != nil || len(pages) == 0 {
		return errors.Join(err, fmt.Errorf("no pages in %s", filepath.Join(dir, "pages")))
	}
	engine, err := stage.Surveyor(os.DirFS(from))
	if err != nil {
		return err
	}
	if err := out.Encode(highlight.TraitNames); err != nil {
		return err
	}
	for _, path := range pages {
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		tints, err := survey(engine, path, filepath.Join(dir, "labels", name+".png"))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, t := range tints {
			t.Page = name
			if err := out.Encode(t); err != nil {
				return err
			}
		}
	}
	return nil
}

func survey(e *restore.Engine, page, labelled string) ([]tint, error) {
	src, err := stage.Page(page)
	if err != nil {
		return nil, err
	}
	truth, err := labels.Read(labelled)
	if err != nil {
		return nil, err
	}
	s, size, err := e.Tints(context.Background(), src)
	if err != nil {
		return nil, err
	}
	var out []tint
	for _, t := range s.Tints {
		f := t.Cells
		seen := tint{At: [4]int{f.Min.X, f.Min.Y, f.Max.X, f.Max.Y}, Traits: t.Traits[:]}
		for i := range seen.At {
			seen.At[i] *= highlight.TintCell
		}
		seen.Struck = struck(s, t, truth, src.Rect.Size(), size)
		out = append(out, seen)
	}
	return out, nil
}

// struck is the share of a tint's squares whose middles are struck on the page.
func struck(s *highlight.Survey, t highlight.Tint, truth *image.Gray,
	page, seen image.Point) float64 {
	const cell, stroke = highlight.TintCell, 1
	var all, n float64
	for y := t.Cells.Min.Y; y < t.Cells.Max.Y; y++ {
		for x := t.Cells.Min.X; x < t.Cells.Max.X; x++ {
			if s.Labels[y*s.W+x] != t.Label {
				continue
			}
			all++
			at := image.Pt((2*x+1)*cell*page.X/(2*seen.X), (2*y+1)*cell*page.Y/(2*seen.Y))
			if truth.GrayAt(at.X, at.Y).Y == stroke {
				n++
			}
		}
	}
	return n / all
}
