//go:build !js

// Package codec holds decoders, compiled to WebAssembly, of the formats that Go does not read, or
// reads only in part; README.md says what they are.
package codec

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
)

//go:embed *.wasm.gz
var modules embed.FS

// Names are the decoders.
var Names = []string{"avif", "heif", "tiff"}

// Packed is a decoder's module, compressed by gzip, as web pages load it.
func Packed(name string) ([]byte, error) { return modules.ReadFile(name + ".wasm.gz") }

// Module is a decoder's module.
func Module(name string) ([]byte, error) {
	packed, err := Packed(name)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
