// Package result is what the measuring program writes and the table is made of.
package result

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"unink/bench/sensitivity/tuned"
)

// Factors that each value is multiplied by.
var Factors = []float64{0.8, 1.2}

// Line is what came of all samples with one value multiplied by a factor.
type Line struct {
	Value   string             // its label; empty with none changed
	Factor  float64            //
	Used    int                // samples that asked for it
	Moved   int                // samples that came out different
	Failed  string             `json:",omitempty"` // why a sample could not be cleaned
	Sum     string             `json:",omitempty"` // with none changed: a hash of all samples
	Figures map[string]float64 // means over the samples
	Seconds float64            // that it took
}

// Is says that a line is of this value and factor.
func (l Line) Is(value string, factor float64) bool {
	return l.Value == value && l.Factor == factor
}

// Read reads a file of lines; one that is not there has none.
func Read(path string) (lines []Line, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	for d := json.NewDecoder(file); ; {
		var l Line
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return lines, nil
		} else if err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
}

// Append adds a line to a file.
func Append(path string, l Line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	return errors.Join(err, file.Close())
}

// Next is the first of the values, and the factor, that there is no line of.
func Next(lines []Line, values []tuned.Value) (value int, factor float64, ok bool) {
	for i, v := range values {
		for _, factor := range Factors {
			if !slices.ContainsFunc(lines, func(l Line) bool { return l.Is(v.Label(), factor) }) {
				return i, factor, true
			}
		}
	}
	return 0, 0, false
}
