// Command fetch puts PDFium, compiled to WebAssembly, where it gets embedded.
//
//	go run ./internal/pdf/fetch
//
// It takes the pinned npm package with npm, verifies it and the module in it by SHA-256, makes the
// module interruptible (internal/imagefile/codec/meter) and writes internal/pdf/pdfium.wasm.zst.
// It does nothing when that file is already right.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"unink/internal/packages"
)

// module is from a package under the MIT licence; PDFium itself is under Apache-2.0.
var module = packages.File{
	Package: "@hyzyla/pdfium", Version: "2.1.13",
	PackageSHA256: "d758644310d11ce74f0b2039fe36782f09fcb95d36052fa1c5a9c5a80618341c",
	Path:          "package/dist/pdfium.wasm",
	SHA256:        "71aec412a303a0405baee21c3d6d3f30ad2033dc02444130fe476be3976e2d09",
}

// metered is the SHA-256 of what the meter makes of it.
const metered = "d923a51274dae7818c2e22c567b08ef0d3738902b73792aaf9fbc37a385aff0d"

func main() {
	fetched, err := packages.Embed(filepath.Join("internal", "pdf", "pdfium.wasm.zst"), metered,
		func() ([]byte, error) {
			wasm, err := module.FromNPM()
			if err != nil {
				return nil, err
			}
			return meter(wasm)
		})
	if err != nil {
		fmt.Fprintln(os.Stderr, "fetch:", err)
		os.Exit(1)
	}
	if fetched {
		fmt.Printf("fetched PDFium, %s %s\n", module.Package, module.Version)
	}
}

// meter runs the meter, which reads and writes gzip.
func meter(wasm []byte) ([]byte, error) {
	var in bytes.Buffer
	z := gzip.NewWriter(&in)
	_, _ = z.Write(wasm) // to memory
	_ = z.Close()
	cmd := exec.Command("go", "run", "./internal/imagefile/codec/meter")
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("the meter: %w", err)
	}
	r, err := gzip.NewReader(bytes.NewReader(out))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
