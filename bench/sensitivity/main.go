// Command sensitivity tells what each tuned value of the engine does.
//
//	go run ./bench/sensitivity -dir DIR [-out OUT] [-list]
//
// It builds the engine with every named number of its stages variable, multiplies each by 0.8 and
// by 1.2 (changing integers by one at least), cleans pages with it and measures the result:
//
//	left, seen   of the writing, in per cent, on a dozen generated pages (bench/quality) and squares
//	lost, hurt   of a dozen labelled ones (DIR, as bench/labelled has it), in the colour finish;
//	rules        lost of the ruled lines of the generated ones
//	psnr         of ten pages that were spoilt by their capture (bench/finish), in dB
//	shift        of two dozen that were bent (bench/flatten), in pixels
//	upright      of eight that were turned (bench/orient), in per cent
//
// Of constants that cannot be varied, such as sizes of arrays, it tells why. OUT keeps what was
// measured, so that a run goes on where one ended. -list only lists the values.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"unink/bench/sensitivity/result"
)

// engine are the packages that are looked at, in the order of a page's way.
var engine = []string{
	"unink/internal/raster", "unink/internal/restore", "unink/internal/restore/measure",
	"unink/internal/restore/orient", "unink/internal/restore/flatten",
	"unink/internal/restore/demoire", "unink/internal/restore/segment",
	"unink/internal/restore/highlight", "unink/internal/restore/ink",
	"unink/internal/restore/strokes", "unink/internal/restore/canvas",
	"unink/internal/restore/erase", "unink/internal/restore/finish",
}

func main() {
	dir := flag.String("dir", "", "folder with pages/ and labels/")
	out := flag.String("out", filepath.Join(os.TempDir(), "unink-sensitivity"), "folder of results")
	list := flag.Bool("list", false, "only list the values")
	flag.Parse()
	if err := run(*dir, *out, *list); err != nil {
		fmt.Fprintln(os.Stderr, "sensitivity:", err)
		os.Exit(1)
	}
}

func run(dir, out string, list bool) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	m, err := instrument(engine)
	if err != nil {
		return err
	}
	if list {
		m.list()
		return nil
	}
	results := filepath.Join(out, "results.json")
	if err := m.measure(dir, out, results); err != nil {
		return err
	}
	lines, err := result.Read(results)
	if err != nil {
		return err
	}
	m.print(lines)
	return nil
}

func (m *instrumented) list() {
	for _, v := range m.values {
		fmt.Printf("%s\t%v\t%s\n", v.Label(), v.Number, v.Comment)
	}
	for _, v := range m.fixed {
		fmt.Printf("%s\t%v\tnot varied: %s\n", v.Label(), v.Number, v.why)
	}
}

// measure builds the measuring program and runs it to its end. Where a value ends it, that is noted
// as its result.
func (m *instrumented) measure(dir, out, results string) error {
	overlay, err := m.overlay(out)
	if err != nil {
		return err
	}
	program := filepath.Join(out, "measure")
	build := command("go", "build", "-overlay", overlay, "-o", program, "./bench/sensitivity/measure")
	if err := build.Run(); err != nil {
		return err
	}
	for {
		err := command(program, "-dir", dir, "-results", results).Run()
		var ended *exec.ExitError
		if err == nil || !errors.As(err, &ended) {
			return err
		}
		lines, err := result.Read(results)
		if err != nil {
			return err
		}
		value, factor, ok := result.Next(lines, m.values)
		const told = 1 // exit status of an error that it tells itself
		if !ok || ended.ExitCode() == told || len(lines) == 0 {
			return ended
		}
		l := result.Line{Value: m.values[value].Label(), Factor: factor, Failed: ended.Error()}
		if err := result.Append(results, l); err != nil {
			return err
		}
	}
}

func command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd
}
