// Package codec asks the program's host for the decoders that Go has none of, or poorer ones,
// compiled to WebAssembly.
package codec

import "unink/internal/host"

// Module is a decoder's module: "heif", "avif" or "tiff".
func Module(name string) ([]byte, error) { return host.File(name + ".wasm") }
