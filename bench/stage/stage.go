// Package stage is what the benchmarks of single stages share: their cases, pages and networks.
package stage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/draw"
	_ "image/jpeg" // for Page
	_ "image/png"  // for Page
	"os"
	"path/filepath"
	"runtime"

	"unink/internal/nn"
	"unink/models"
)

// Cases reads the cases that a folder's cases.json lists.
func Cases[Case any](dir string) (cases []Case, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "cases.json"))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		return nil, fmt.Errorf("cases.json: %w", err)
	}
	return cases, nil
}

// Page reads a JPEG or PNG.
func Page(path string) (*image.RGBA, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	out := image.NewRGBA(image.Rect(0, 0, m.Bounds().Dx(), m.Bounds().Dy()))
	draw.Draw(out, out.Rect, m, m.Bounds().Min, draw.Src)
	return out, nil
}

// Network opens one of the trained networks, with a thread for each CPU. The caller closes it.
func Network(read func() ([]byte, models.Manifest, error), layout nn.Layout) (*nn.ONNX, error) {
	onnx, manifest, err := read()
	if err != nil {
		return nil, err
	}
	return nn.Open(nn.Config{Model: onnx, Inputs: manifest.Inputs, Output: manifest.Output,
		Layout: layout, Threads: runtime.GOMAXPROCS(0)})
}
