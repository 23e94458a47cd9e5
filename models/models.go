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
	"math"
)

//go:embed *.json
var manifests embed.FS

// Manifest describes a network: what training, which reads the same file, and this program both
// need to know of it. What a network has no use for is zero.
type Manifest struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	SHA256  string   `json:"sha256"` // of the ONNX file, in hex
	Em      float64  `json:"em"`     // of body text, in pixels, that it wants
	Inputs  []string `json:"inputs"` // names of its tensors
	Outputs []string `json:"outputs"`
	// What the bytes of those of its tensors mean that are of bytes.
	Bytes map[string]Bytes `json:"bytes"`
	// Multiplications that its convolutions take for each pixel.
	Products int `json:"products"`

	Side       int      `json:"side"` // of its picture, in pixels, where that is square
	Width      int      `json:"width"`
	Height     int      `json:"height"`
	Multiple   int      `json:"multiple"`    // of which the sides of its picture are multiples
	Largest    float64  `json:"largest"`     // scale of its picture at most, against the segmenter's
	Stride     int      `json:"stride"`      // pixels to a value of each plane of its output
	Planes     int      `json:"planes"`      // of its output
	Step       int      `json:"step"`        // pixels between the nodes of its grid
	Traits     []string `json:"traits"`      // of a region, in their order
	Near       int      `json:"near"`        // neighbours of a region that it is told of
	BondTraits int      `json:"bond_traits"` // of a region and a neighbour
	Look       Look     `json:"look"`
}

// Bytes says what bytes stand for: numbers, rounded to steps of one size.
type Bytes struct {
	Scale float32 `json:"scale"` // the size of a step
	Zero  int     `json:"zero"`  // the byte that stands for zero
}

// Value is what a byte stands for.
func (b Bytes) Value(v uint8) float32 { return float32(int(v)-b.Zero) * b.Scale }

// Round is the byte that stands for a number, or for the nearest to it that there is. Halves are
// rounded to even, as ONNX has it.
func (b Bytes) Round(v float32) uint8 {
	return uint8(min(max(int(math.RoundToEven(float64(v/b.Scale)))+b.Zero, 0), 255))
}

// Look is how the orientation network has a page shown to it, and when it is believed.
type Look struct {
	Cell    int      `json:"cell"`    // pixels: the paper's light is told for each
	Paper   float64  `json:"paper"`   // grey level that paper is brought to
	Ink     float64  `json:"ink"`     // and its strongest print
	Faint   int      `json:"faint"`   // grey levels of contrast below which nothing is print
	Gain    float64  `json:"gain"`    // by which contrast is raised at most
	Edge    int      `json:"edge"`    // grey levels: larger steps are print
	Step    int      `json:"step"`    // pixels between the windows that are compared
	Windows int      `json:"windows"` // that are looked at, at each size of print, until it is sure
	Least   float64  `json:"least"`   // share of a window that must be edges for another look
	Sizes   [][2]int `json:"sizes"`   // of print, as fractions of the likely one: tried after it
	Sure    float64  `json:"sure"`    // from this probability on it is believed how a page lies
	// That a window lies upright, if it is seen from one side alone.
	SureAlone float64 `json:"sure_alone"`
	// If all windows at all sizes say so together; below it a page is left as it lies.
	SureTogether float64 `json:"sure_together"`
}

// Of returns the manifest of a network, which every program holds.
func Of(name string) Manifest {
	m, err := manifest(manifests, name)
	if err != nil {
		panic(err)
	}
	return m
}

// Segment returns the network that tells handwriting from print. It looks at a
// picture in squares of 2×2 pixels, of each of which values lie together: those of the top left,
// top right, bottom left and bottom right pixel for one channel, then for the next. Its inputs are
// uint8 [1, H/2, W/2, 12] of RGB from 0 to 1, less a half, with H and W multiples of 32, and a
// float32 [1, 64, H/32, W/32], what the overview says of the places under it. Its outputs are uint8
// [1, H/2, W/2, 16]: logits of paper, print, handwriting, handwriting over print, which do not know
// yet what lies under handwriting, and the log-odds that it is print, four values and twelve that
// say nothing. The manifest tells what the bytes stand for.
func Segment() Network { return embedded("segment") }

// Overview returns the network that looks at the whole page. Its input is a uint8 tensor
// [1, 256, 256, 12], a picture of 512×512 in squares as the segmenter's: the page at the top left,
// as large as it fits but at most at half the scale of the segmenter, the rest white. Its output is
// a float32 tensor [1, 64, 64, 64]: the context, a vector for each square of 8 pixels.
func Overview() Network { return embedded("overview") }

// Judge returns the network that tells which of a page's regions of ink were written. Its inputs
// are float32 tensors, as [unink/internal/nn.Regions] has them: [N, 21] of each region, [N, 8] the
// indices of its neighbours, [N, 8, 7] of each of these; its output is one [N] of log-odds.
func Judge() Network { return embedded("judge") }

// Orient returns the network that tells which way up a page lies. Its input is a float32 tensor
// [1, 1, 384, 384], grey from 0 to 1; its output is one [1, 5]: the sums of the votes for turned
// clockwise by 0, 90, 180 and 270 degrees, and of what they weigh.
func Orient() Network { return embedded("orient") }

// Flatten returns the network that tells how a sheet is bent. Its input is a float32 tensor [1, 1,
// 416, 320], grey from 0 to 1: the whole page; its output is one [1, 3, 26, 20]: a coarse backward
// grid, as [unink/internal/nn.GridPlanes] says.
func Flatten() Network { return embedded("flatten") }

func embedded(name string) Network {
	return Network{Of(name), func() ([]byte, error) { return network(name) }}
}

// Read reads the manifest of a network, NAME.json, beside which NAME.onnx is to lie.
func Read(from fs.FS, name string) (Network, error) {
	m, err := manifest(from, name)
	return Network{m, func() ([]byte, error) { return fs.ReadFile(from, name+".onnx") }}, err
}

// Network is a network and what is known of it.
type Network struct {
	Manifest
	read func() ([]byte, error)
}

// ONNX reads the network's file, and checks that its manifest belongs to it.
func (n Network) ONNX() ([]byte, error) {
	onnx, err := n.read()
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(onnx); hex.EncodeToString(sum[:]) != n.SHA256 {
		return nil, fmt.Errorf("%s.onnx does not match the SHA-256 in %s.json: run \"make deps\" "+
			"after it was trained anew", n.Name, n.Name)
	}
	return onnx, nil
}

func manifest(from fs.FS, name string) (m Manifest, err error) {
	text, err := fs.ReadFile(from, name+".json")
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%s.json: %w", name, err)
	}
	return m, nil
}
