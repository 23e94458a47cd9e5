//go:build !js

package models

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
)

// What "make deps" (go run ./internal/webui/bundle) packs; packed.md is there without it.
//
//go:embed all:packed*
var packed embed.FS

// Packed is a network's ONNX file, compressed by Brotli, as web pages load it.
func Packed(name string) ([]byte, error) {
	content, err := packed.ReadFile("packed/" + name + ".onnx.br")
	if err != nil {
		return nil, errors.New("the networks are not built into this program: run \"make deps\" in " +
			"the checkout of unink and build again")
	}
	return content, nil
}

// network is a network's ONNX file.
func network(name string) ([]byte, error) {
	content, err := Packed(name)
	if err != nil {
		return nil, err
	}
	onnx, err := io.ReadAll(brotli.NewReader(bytes.NewReader(content)))
	if err != nil {
		return nil, fmt.Errorf("unpacking %s.onnx: %w", name, err)
	}
	return onnx, nil
}
