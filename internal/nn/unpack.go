//go:build !js

package nn

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"

	"github.com/klauspost/compress/zstd"

	"unink/internal/nn/pin"
)

// withLibrary calls load with the path of the embedded library, unpacked and verified. It lies
// in the user's cache folder under a name with its hash or, where there is no such folder, in a
// temporary folder of its own that is removed once loaded.
func withLibrary(load func(file string) error) error {
	want := pin.Libraries[runtime.GOOS+"-"+runtime.GOARCH].SHA256
	name := "onnxruntime-" + pin.Version + "-" + want[:16]
	if cache, err := os.UserCacheDir(); err == nil {
		target := filepath.Join(cache, "unink", name)
		if ensure(target, want) == nil {
			return load(target)
		}
	}
	dir, err := os.MkdirTemp("", "unink-")
	if err != nil {
		return fmt.Errorf("no folder to unpack ONNX Runtime into: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	target := filepath.Join(dir, name)
	if err := ensure(target, want); err != nil {
		return err
	}
	return load(target)
}

// errNotBuiltIn says that the program was built from a bare checkout.
var errNotBuiltIn = errors.New("ONNX Runtime is not built into this program: " +
	"run \"make deps\" in the checkout of unink and build again, or name a library of release " +
	pin.Version)

// ensure makes target hold the library with the wanted SHA-256, writing it if need be.
func ensure(target, want string) error {
	if sum, err := fileSum(target); err == nil && sum == want {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(target), ".unpack-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	sum, err := unpack(f)
	if err := firstError(err, f.Close()); err != nil {
		return fmt.Errorf("unpacking ONNX Runtime: %w", err)
	}
	if sum != want {
		return fmt.Errorf("the embedded ONNX Runtime has SHA-256 %s, expected %s: build again after "+
			"'make deps'", sum, want)
	}
	return os.Rename(f.Name(), target)
}

func unpack(dst io.Writer) (sum string, err error) {
	compressed, err := library.Open(
		path.Join("library", runtime.GOOS+"-"+runtime.GOARCH, "onnxruntime.zst"),
	)
	if err != nil {
		return "", errNotBuiltIn
	}
	defer func() { _ = compressed.Close() }()
	z, err := zstd.NewReader(compressed)
	if err != nil {
		return "", err
	}
	defer z.Close()
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(dst, h), z)
	return hex.EncodeToString(h.Sum(nil)), err
}

func fileSum(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
