// Command fetch puts the ONNX Runtime library for the build's platform where it gets embedded.
//
//	go run ./internal/nn/fetch
//
// It takes the pinned wheel with pip, verifies it and the library in it by SHA-256 and
// writes internal/nn/library/GOOS-GOARCH/onnxruntime.zst. It does nothing when that file is already
// right. TARGET_GOOS and TARGET_GOARCH in the environment choose another platform.
package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"unink/internal/nn/pin"
	"unink/internal/nn/x86"
	"unink/internal/packages"
)

func main() {
	if err := fetch(); err != nil {
		fmt.Fprintln(os.Stderr, "fetch:", err)
		os.Exit(1)
	}
}

func fetch() error {
	platform := cmp.Or(os.Getenv("TARGET_GOOS"), runtime.GOOS) + "-" +
		cmp.Or(os.Getenv("TARGET_GOARCH"), runtime.GOARCH)
	lib, ok := pin.Libraries[platform]
	if !ok {
		return fmt.Errorf("%s %s has no library for %s; there are: %v",
			pin.Package, pin.Version, platform, slices.Sorted(maps.Keys(pin.Libraries)))
	}
	file := packages.File{
		Package: pin.Package, Version: pin.Version, PackageSHA256: lib.WheelSHA256,
		Path: lib.Path, SHA256: lib.SHA256,
	}
	fetched, err := packages.Embed(
		filepath.Join("internal", "nn", "library", platform, "onnxruntime.zst"),
		cmp.Or(lib.AbsoluteSHA256, lib.SHA256),
		func() ([]byte, error) {
			data, err := file.FromPyPI(lib.Platform)
			if lib.AbsoluteSHA256 != "" {
				x86.Absolute(data)
			}
			return data, err
		},
	)
	if fetched {
		fmt.Printf("fetched ONNX Runtime %s for %s\n", pin.Version, platform)
	}
	return err
}
