// Command same prints hashes of cleaned pages, to show that a change of the code changes no result.
//
//	go run ./bench/same PAGE|FOLDER... >before.txt
//	(change the code)
//	go run ./bench/same PAGE|FOLDER... | diff before.txt -
//
// Each JPEG or PNG is cleaned in both finishes, with layers. A line holds the SHA-256 of the page's
// pixels, of both layers and of the report without its timings, then the finish and the file.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"unink"
	"unink/bench/stage"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "same:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	pages, err := pagesOf(args)
	if err != nil {
		return err
	}
	cleaner, err := unink.New(unink.Config{})
	if err != nil {
		return err
	}
	defer func() { _ = cleaner.Close() }()
	for _, page := range pages {
		for _, finish := range []unink.Finish{unink.Colour, unink.Scan} {
			sum, err := hash(cleaner, page, finish)
			if err != nil {
				return fmt.Errorf("%s: %w", page, err)
			}
			fmt.Printf("%x %v %s\n", sum, finish, page)
		}
	}
	return nil
}

// pagesOf lists the pages that are named, and those of the folders that are named, in order.
func pagesOf(args []string) (pages []string, err error) {
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			pages = append(pages, arg)
			continue
		}
		files, err := os.ReadDir(arg)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			ext := strings.ToLower(filepath.Ext(f.Name()))
			if slices.Contains([]string{".jpg", ".jpeg", ".png"}, ext) {
				pages = append(pages, filepath.Join(arg, f.Name()))
			}
		}
	}
	if len(pages) == 0 {
		return nil, errors.New("no pages; name JPEG or PNG files, or folders of them")
	}
	return pages, nil
}

// hash cleans a page and sums up what came of it; of a page that is refused, the reason.
func hash(cleaner *unink.Cleaner, path string, finish unink.Finish) (
	sum [sha256.Size]byte, err error) {
	src, err := stage.Page(path)
	if err != nil {
		return sum, err
	}
	h := sha256.New()
	options := unink.Options{Finish: finish, Layers: true}
	page, err := cleaner.CleanImage(context.Background(), src, options)
	var refused *unink.Error
	switch {
	case errors.As(err, &refused) && refused.Code == unink.ErrNoContent:
		h.Write([]byte(refused.Code))
	case err != nil:
		return sum, err
	default:
		page.Timings = nil
		report, err := json.Marshal(page.Report)
		if err != nil {
			return sum, err
		}
		fmt.Fprintln(h, page.Image.Rect, string(report))
		h.Write(page.Image.Pix)
		h.Write(page.Handwriting.Pix)
		h.Write(page.Mask.Pix)
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}
