package nn

import _ "embed"

// When the compiler finds no such file, run "make deps" (go run ./internal/nn/fetch) first.
//
//go:embed onnxruntime-linux-arm64.zst
var compressedLibrary []byte
