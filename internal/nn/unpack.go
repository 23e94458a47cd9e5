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
	"unink/internal/nn/x86"
)

const platform = runtime.GOOS + "-" + runtime.GOARCH

var pinned = pin.Libraries[platform]

// withLibrary calls load with the path of the embedded library, unpacked and verified. It lies
// in the user's cache folder under a name with its hash or, where there is no such folder, in a
// temporary folder of its own that is removed once loaded.
func withLibrary(load func(file string) error) error {
	name := "onnxruntime-" + pin.Version + "-" + pinned.SHA256[:16]
	if cache, err := os.UserCacheDir(); err == nil {
		target := filepath.Join(cache, "unink", name)
		if ensure(target) == nil {
			return load(target)
		}
	}
	dir, err := os.MkdirTemp("", "unink-")
	if err != nil {
		return fmt.Errorf("no folder to unpack ONNX Runtime into: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	target := filepath.Join(dir, name)
	if err := ensure(target); err != nil {
		return err
	}
	return load(target)
}

// errNotBuiltIn says that the program was built from a bare checkout.
var errNotBuiltIn = errors.New("ONNX Runtime is not built into this program: " +
	"run \"make deps\" in the checkout of unink and build again, or name a library of release " +
	pin.Version)

// ensure makes target hold the pinned library, writing it if need be.
func ensure(target string) error {
	if sum, err := fileSum(target); err == nil && sum == pinned.SHA256 {
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
	err = unpack(f)
	if err := firstError(err, f.Close()); err != nil {
		return fmt.Errorf("unpacking ONNX Runtime: %w", err)
	}
	return os.Rename(f.Name(), target)
}

// unpack writes the embedded library, verified.
func unpack(dst io.Writer) error {
	packed, err := library.ReadFile(path.Join("library", platform, "onnxruntime.zst"))
	if err != nil {
		return errNotBuiltIn
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		return err
	}
	defer z.Close()
	data, err := z.DecodeAll(packed, nil)
	if err != nil {
		return err
	}
	if pinned.AbsoluteSHA256 != "" {
		x86.Relative(data)
	}
	sum := sha256.Sum256(data)
	if got := hex.EncodeToString(sum[:]); got != pinned.SHA256 {
		return fmt.Errorf("it has SHA-256 %s, expected %s: build again after 'make deps'",
			got, pinned.SHA256)
	}
	_, err = dst.Write(data)
	return err
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
