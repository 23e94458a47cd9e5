// Command measure cleans pages with each tuned value of the engine larger and smaller, one after
// the other, and writes a line of JSON for each. bench/sensitivity builds it with values that can
// be varied, and runs it; built without, it writes the figures of the engine as it is.
package main

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"unink/bench/sensitivity/result"
	"unink/bench/sensitivity/tuned"
)

// patience is how long all pages may take with one value before that counts as a failure.
const patience = 5 * time.Minute

func main() {
	dir := flag.String("dir", "", "folder with pages/ and labels/")
	path := flag.String("results", "", "file of results, which is gone on with")
	flag.Parse()
	if err := run(*dir, *path); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

func run(dir, path string) error {
	e, err := openEngine()
	if err != nil {
		return err
	}
	defer e.close()
	samples, err := e.samples(dir)
	if err != nil {
		return err
	}
	m := measurer{samples: samples, results: path}
	if err := m.asItIs(); err != nil {
		return err
	}
	e.learned()
	for {
		done, err := result.Read(path)
		if err != nil {
			return err
		}
		value, factor, ok := result.Next(done, tuned.All())
		if !ok {
			return nil
		}
		if err := m.with(value, factor); err != nil {
			return err
		}
	}
}

// measurer knows what comes of each sample with the engine as it is.
type measurer struct {
	samples []sample
	plain   []outcome
	used    [][]bool // by sample, the values that were asked for
	results string   // path of the file
}

// asItIs cleans the samples with no value changed.
func (m *measurer) asItIs() error {
	start := time.Now()
	sum, means := sha256.New(), means{}
	for _, s := range m.samples {
		clear(tuned.Used)
		o, err := s.clean(context.Background())
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		o.figures = o.score()
		means.add(o.figures)
		sum.Write(o.sum[:])
		m.plain, m.used = append(m.plain, o), append(m.used, slices.Clone(tuned.Used))
	}
	l := result.Line{Factor: 1, Sum: fmt.Sprintf("%x", sum.Sum(nil)), Figures: means.values(),
		Seconds: time.Since(start).Seconds()}
	before, err := result.Read(m.results)
	if err != nil {
		return err
	}
	for _, b := range before {
		if b.Value == "" && b.Sum != l.Sum {
			return fmt.Errorf("%s has what was measured of another engine or other pages", m.results)
		}
	}
	return result.Append(m.results, l)
}

// with cleans the samples with a value changed, those that depend on it.
func (m *measurer) with(value int, factor float64) error {
	start := time.Now()
	hung := time.AfterFunc(patience, func() { panic("a value takes too long") })
	defer hung.Stop()
	tuned.Multiply(value, factor)
	defer tuned.Reset(value)
	v := tuned.All()[value]
	l := result.Line{Value: v.Label(), Factor: factor}
	means := means{}
	for i, s := range m.samples {
		o := m.plain[i]
		if m.used[i][value] && !slices.Contains(s.skip, v.Package) {
			l.Used++
			is, err := s.clean(context.Background())
			switch {
			case err != nil:
				l.Failed = fmt.Sprintf("%s: %v", s.name, err)
			case is.sum != o.sum:
				l.Moved++
				o.figures = is.score()
			}
		}
		means.add(o.figures)
	}
	l.Figures, l.Seconds = means.values(), time.Since(start).Seconds()
	return result.Append(m.results, l)
}

// means of figures over the samples that have them.
type means map[string]*[2]float64

func (m means) add(figures map[string]float64) {
	for name, v := range figures {
		if m[name] == nil {
			m[name] = &[2]float64{}
		}
		m[name][0] += v
		m[name][1]++
	}
}

func (m means) values() map[string]float64 {
	out := map[string]float64{}
	for name, v := range m {
		out[name] = v[0] / v[1]
	}
	return out
}
