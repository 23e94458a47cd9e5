// Package codec asks the program's host for decoders, compiled to WebAssembly, of the formats that
// Go does not read, or reads only in part.
package codec

import "unink/internal/host"

// Module is a decoder's module: "heif", "avif" or "tiff".
func Module(name string) ([]byte, error) { return host.File(name + ".wasm") }
