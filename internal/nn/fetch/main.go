// Command fetch puts the ONNX Runtime library for the build's platform where it gets embedded.
//
//	go run ./internal/nn/fetch
//
// It takes the pinned npm package with npm, verifies it and the library in it by SHA-256 and
// writes internal/nn/onnxruntime-GOOS-GOARCH.zst. It does nothing when that file is already
// right. TARGET_GOOS and TARGET_GOARCH in the environment choose another platform.
package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/klauspost/compress/zstd"

	"unink/internal/nn/pin"
)

func main() {
	if err := fetch(); err != nil {
		fmt.Fprintln(os.Stderr, "fetch:", err)
		os.Exit(1)
	}
}

func fetch() error {
	platform := cmp.Or(os.Getenv("TARGET_GOOS"), runtime.GOOS) + "-" + cmp.Or(os.Getenv("TARGET_GOARCH"), runtime.GOARCH)
	lib, ok := pin.Libraries[platform]
	if !ok {
		return fmt.Errorf("%s %s has no library for %s; there are: %v",
			pin.Package, pin.Version, platform, slices.Sorted(maps.Keys(pin.Libraries)))
	}
	target := filepath.Join("internal", "nn", "onnxruntime-"+platform+".zst")
	if _, err := os.Stat(filepath.Dir(target)); err != nil {
		return errors.New("run this in the root of the source tree")
	}
	if compressed, err := os.ReadFile(target); err == nil && verify(compressed, lib) == nil {
		return nil
	}
	archive, err := npmPack()
	if err != nil {
		return err
	}
	library, err := extract(archive, lib.Path)
	if err != nil {
		return err
	}
	if got := hexSum(library); got != lib.SHA256 {
		return fmt.Errorf("%s has SHA-256 %s, expected %s", lib.Path, got, lib.SHA256)
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return err
	}
	temporary := target + ".part"
	if err := os.WriteFile(temporary, z.EncodeAll(library, nil), 0o644); err != nil {
		return err
	}
	fmt.Printf("fetched ONNX Runtime %s for %s\n", pin.Version, platform)
	return os.Rename(temporary, target)
}

func verify(compressed []byte, lib pin.Library) error {
	z, err := zstd.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return err
	}
	defer z.Close()
	library, err := io.ReadAll(z)
	if err != nil {
		return err
	}
	if hexSum(library) != lib.SHA256 {
		return errors.New("another library")
	}
	return nil
}

// npmPack downloads the package's archive; nothing of it is installed or run.
func npmPack() ([]byte, error) {
	dir, err := os.MkdirTemp("", "unink-fetch-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	spec := pin.Package + "@" + pin.Version
	cmd := exec.Command("npm", "pack", "--silent", "--pack-destination", dir, spec)
	if out, err := cmd.CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
		return nil, errors.New("npm is needed once, to download ONNX Runtime: install it (Debian: apt-get install npm)")
	} else if err != nil {
		return nil, fmt.Errorf("npm pack %s: %w\n%s", spec, err, out)
	}
	archive, err := os.ReadFile(filepath.Join(dir, pin.Package+"-"+pin.Version+".tgz"))
	if err != nil {
		return nil, err
	}
	if got := hexSum(archive); got != pin.PackageSHA256 {
		return nil, fmt.Errorf("%s has SHA-256 %s, expected %s", spec, got, pin.PackageSHA256)
	}
	return archive, nil
}

func extract(archive []byte, path string) ([]byte, error) {
	gz, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	for files := tar.NewReader(gz); ; {
		h, err := files.Next()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if h.Name == path {
			return io.ReadAll(files)
		}
	}
}

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
