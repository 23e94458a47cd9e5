// Package reading tells how many characters of a picture a reader gets wrong.
package reading

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
)

// Reader reads the characters of pictures, by tesseract.
type Reader struct{ path string }

// Find is the reader that is installed; ok is false if none is.
func Find() (r Reader, ok bool) {
	path, err := exec.LookPath("tesseract")
	return Reader{path}, err == nil
}

// Read is the text in a picture's file, in the Latin alphabet; spaces and line ends are one space
// each.
func (r Reader) Read(data []byte) (string, error) {
	cmd := exec.Command(r.path, "-", "-", "--dpi", "150", "--psm", "3", "-l", "eng")
	// its threads spin against those of other programs
	cmd.Env = append(os.Environ(), "OMP_THREAD_LIMIT=1")
	cmd.Stdin = bytes.NewReader(data)
	out, err := cmd.Output()
	return strings.Join(strings.Fields(string(out)), " "), err
}

// Error is the share of the characters of want that text has wrong: the Levenshtein distance over
// the number of characters.
func Error(text, want string) float64 {
	a, b := []rune(text), []rune(want)
	return float64(edits(a, b)) / float64(max(len(b), 1))
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
