// Package stage is what the benchmarks of single stages share: their cases, pages and networks.
package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"runtime"

	"unink/internal/imagefile"
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

// Page reads a file's picture as the program does.
func Page(path string) (*image.RGBA, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	read, err := imagefile.Decode(context.Background(), data, imagefile.Limits{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return read.Pixels, nil
}

// Network opens one of the trained networks, with a thread for each CPU. The caller closes it.
func Network(n models.Network) (*nn.ONNX, error) {
	return nn.Open(nn.Config{Network: n, Threads: runtime.GOMAXPROCS(0)})
}
