package nn

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/klauspost/compress/zstd"

	"unink/internal/nn/pin"
)

// withLibrary calls load with the path of the embedded library, unpacked and verified. It lies
// in the user's cache folder under a name with its hash or, where there is no such folder, in a
// temporary folder of its own that is removed once loaded.
func withLibrary(load func(path string) error) error {
	want := pin.Libraries[runtime.GOOS+"-"+runtime.GOARCH].SHA256
	name := "onnxruntime-" + pin.Version + "-" + want[:16]
	if cache, err := os.UserCacheDir(); err == nil {
		path := filepath.Join(cache, "unink", name)
		if ensure(path, want) == nil {
			return load(path)
		}
	}
	dir, err := os.MkdirTemp("", "unink-")
	if err != nil {
		return fmt.Errorf("no folder to unpack ONNX Runtime into: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, name)
	if err := ensure(path, want); err != nil {
		return err
	}
	return load(path)
}

// ensure makes path hold the library with the wanted SHA-256, writing it if need be.
func ensure(path, want string) error {
	if sum, err := fileSum(path); err == nil && sum == want {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".unpack-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	sum, err := unpack(f)
	if err := firstError(err, f.Close()); err != nil {
		return fmt.Errorf("unpacking ONNX Runtime: %w", err)
	}
	if sum != want {
		return fmt.Errorf("the embedded ONNX Runtime has SHA-256 %s, expected %s: build again after 'make deps'", sum, want)
	}
	return os.Rename(f.Name(), path)
}

func unpack(dst io.Writer) (sum string, err error) {
	z, err := zstd.NewReader(bytes.NewReader(compressedLibrary))
	if err != nil {
		return "", err
	}
	defer z.Close()
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(dst, h), z)
	return hex.EncodeToString(h.Sum(nil)), err
}

func fileSum(path string) (string, error) {
	f, err := os.Open(path)
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
