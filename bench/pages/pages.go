// Package pages cleans a folder of pages for the commands that measure the result.
package pages

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"unink"
)

// Set says which pages are cleaned and how.
type Set struct {
	Dir    string // pages are in Dir/pages
	Finish string // colour or scan
	Out    string // folder for the cleaned pages, as PNG; made where there is none
	Only   string // only pages whose name contains this
}

// Page is a page before and after. The cleaned one lies as the input does.
type Page struct {
	Name   string // without extension
	Before []byte
	After  *unink.Result
	Took   time.Duration // to clean it, without encoding
}

// Each cleans every page, one after the other, and hands it to do. It ends with the first error.
func (s Set) Each(do func(Page) error) error {
	finish, err := unink.ParseFinish(s.Finish)
	if err != nil {
		return err
	}
	paths, err := filepath.Glob(filepath.Join(s.Dir, "pages", "*"+s.Only+"*"))
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return fmt.Errorf("no pages in %s", filepath.Join(s.Dir, "pages"))
	}
	if err := os.MkdirAll(s.Out, 0o755); err != nil {
		return err
	}
	cleaner, err := unink.New(unink.Config{Limits: unink.Limits{MaxBytes: -1}})
	if err != nil {
		return err
	}
	defer func() { _ = cleaner.Close() }()
	options := unink.Options{
		Finish: finish, Format: unink.PNG, KeepOrientation: true, KeepDistortion: true,
	}
	for _, path := range paths {
		p, err := s.clean(cleaner, path, options)
		if err == nil {
			err = do(p)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

func (s Set) clean(cleaner *unink.Cleaner, path string, options unink.Options) (Page, error) {
	p := Page{Name: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))}
	var err error
	if p.Before, err = os.ReadFile(path); err != nil {
		return p, err
	}
	start := time.Now()
	if p.After, err = cleaner.Clean(context.Background(), p.Before, options); err != nil {
		return p, err
	}
	p.Took = time.Since(start) - p.After.Timings["encode"]
	return p, os.WriteFile(filepath.Join(s.Out, p.Name+".png"), p.After.Data, 0o644)
}
