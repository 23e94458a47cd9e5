package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
)

// findReader is the path of tesseract, if it is installed.
func findReader() string {
	path, err := exec.LookPath("tesseract")
	if err != nil {
		return ""
	}
	return path
}

// read adds the errors of the characters read before and after to the figures.
func (b *bench) read(f *figures, before, after, truth []byte) error {
	var text [3][]rune
	for i, data := range [][]byte{before, after, truth} {
		cmd := exec.Command(b.reader, "-", "-", "--dpi", "150", "--psm", "3", "-l", "eng")
		cmd.Env = append(os.Environ(), "OMP_THREAD_LIMIT=1") // its threads spin against those of other programs
		cmd.Stdin = bytes.NewReader(data)
		out, err := cmd.Output()
		if err != nil {
			return err
		}
		text[i] = []rune(strings.Join(strings.Fields(string(out)), " "))
	}
	if n := float64(len(text[2])); n > 0 {
		f.cer.before.add(float64(edits(text[0], text[2])) / n)
		f.cer.after.add(float64(edits(text[1], text[2])) / n)
	}
	return nil
}

// edits is the Levenshtein distance.
func edits(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			cost := diagonal
			if x != y {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
