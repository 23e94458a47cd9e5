// Package models holds the trained networks: in a program embedded, compressed; in a browser loaded
// from beside it when they are asked for.
package models

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
)

//go:embed *.json
var manifests embed.FS

// Manifest describes a network.
type Manifest struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	SHA256  string   `json:"sha256"` // of the ONNX file, in hex
	Em      float64  `json:"em"`     // of body text, in pixels, that it wants
	Inputs  []string `json:"inputs"` // names of its tensors
	Output  string   `json:"output"`
}

// Segment returns the network that tells handwriting from print, and its manifest. Its inputs are
// float32 tensors: [1, 12, H/2, W/2] of RGB from 0 to 1, with H and W multiples of 32, and
// [1, 64, H/32, W/32], what the overview says of the places under it. Its output is one
// [1, 16, H/2, W/2] of logits: paper, print, handwriting, handwriting over print. Both have four
// planes for one: the top left, top right, bottom left and bottom right pixels of squares of 2×2.
func Segment() (onnx []byte, m Manifest, err error) { return read("segment") }

// Overview returns the network that looks at the whole page, and its manifest. Its input is a
// float32 tensor [1, 12, 256, 256] of RGB from 0 to 1, a picture of 512×512 in planes as the
// segmenter's: the page at the top left, as large as it fits but at most at half the scale of the
// segmenter, the rest white. Its output is one [1, 64, 64, 64]: the context, a vector for each
// square of 8 pixels.
func Overview() (onnx []byte, m Manifest, err error) { return read("overview") }

// Judge returns the network that tells which of a page's regions of ink were written, and its
// manifest. Its inputs are float32 tensors, as [unink/internal/nn.Judging] has them: [N, 21] of
// each region, [N, 8] the indices of its neighbours, [N, 8, 7] of each of these; its output is one
// [N] of log-odds.
func Judge() (onnx []byte, m Manifest, err error) { return read("judge") }

// Orient returns the network that tells which way up a page lies, and its manifest. Its input is a
// float32 tensor [1, 1, 384, 384], grey from 0 to 1; its output is one [1, 5]: the sums of the
// votes for turned clockwise by 0, 90, 180 and 270 degrees, and of what they weigh.
func Orient() (onnx []byte, m Manifest, err error) { return read("orient") }

// Flatten returns the network that tells how a sheet is bent, and its manifest. Its input is a
// float32 tensor [1, 1, 416, 320], grey from 0 to 1: the whole page; its output is one [1, 3, 26,
// 20]: a coarse backward grid, as [unink/internal/nn.GridStep] says.
func Flatten() (onnx []byte, m Manifest, err error) { return read("flatten") }

func read(name string) (onnx []byte, m Manifest, err error) {
	return check(manifests, name, network)
}

// Read reads NAME.onnx and its manifest, NAME.json, and checks that they belong together.
func Read(from fs.FS, name string) (onnx []byte, m Manifest, err error) {
	return check(from, name, func(name string) ([]byte, error) {
		return fs.ReadFile(from, name+".onnx")
	})
}

// check reads a manifest and the network that belongs to it.
func check(from fs.FS, name string, network func(name string) ([]byte, error)) (onnx []byte,
	m Manifest, err error) {
	manifest, err := fs.ReadFile(from, name+".json")
	if err != nil {
		return nil, m, err
	}
	if err := json.Unmarshal(manifest, &m); err != nil {
		return nil, m, fmt.Errorf("%s.json: %w", name, err)
	}
	if onnx, err = network(name); err != nil {
		return nil, m, err
	}
	if sum := sha256.Sum256(onnx); hex.EncodeToString(sum[:]) != m.SHA256 {
		return nil, m, fmt.Errorf("%s.onnx does not match the SHA-256 in %s.json: run \"make deps\" "+
			"after it was trained anew", name, name)
	}
	return onnx, m, nil
}
