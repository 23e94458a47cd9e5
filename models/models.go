// Package models holds the trained networks, embedded.
package models

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

//go:embed segment.onnx
var segmentONNX []byte

//go:embed segment.json
var segmentManifest []byte

// Manifest describes a network.
//
// Its input is a float32 tensor [1, 3, H, W] of RGB from 0 to 1, with H and W multiples of
// Multiple, showing body text at an em of Em pixels. Its output is a float32 tensor
// [1, len(Classes), H, W] of logits.
type Manifest struct {
	Name     string   `json:"name"`
	Version  string   `json:"version"`
	SHA256   string   `json:"sha256"` // of the ONNX file, in hex
	Em       float64  `json:"em"`
	Classes  []string `json:"classes"`
	Input    string   `json:"input"`
	Output   string   `json:"output"`
	Multiple int      `json:"multiple"`
}

// Segment returns the network that tells handwriting from print, and its manifest.
func Segment() (onnx []byte, m Manifest, err error) {
	if err := json.Unmarshal(segmentManifest, &m); err != nil {
		return nil, m, fmt.Errorf("segment.json: %w", err)
	}
	if sum := sha256.Sum256(segmentONNX); hex.EncodeToString(sum[:]) != m.SHA256 {
		return nil, m, fmt.Errorf("segment.onnx does not match the SHA-256 in segment.json")
	}
	return segmentONNX, m, nil
}
