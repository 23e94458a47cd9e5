// Package npm takes single files out of pinned npm packages, to be built into the program. Nothing
// of a package is installed or run.
package npm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// File is a file of a package's archive; both are known by their SHA-256, in hex.
type File struct {
	Package, Version, PackageSHA256 string
	Path, SHA256                    string
}

// Fetch downloads the package with npm and returns the file.
func (f File) Fetch() ([]byte, error) {
	archive, err := f.pack()
	if err != nil {
		return nil, err
	}
	data, err := extract(archive, f.Path)
	if err != nil {
		return nil, err
	}
	return data, verify(f.Path, data, f.SHA256)
}

func (f File) pack() ([]byte, error) {
	dir, err := os.MkdirTemp("", "unink-fetch-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	spec := f.Package + "@" + f.Version
	cmd := exec.Command("npm", "pack", "--silent", "--pack-destination", dir, spec)
	if out, err := cmd.CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf(
			"npm is needed once, to download %s: install it (Debian: apt-get install npm)", spec,
		)
	} else if err != nil {
		return nil, fmt.Errorf("npm pack %s: %w\n%s", spec, err, out)
	}
	name := strings.ReplaceAll(strings.TrimPrefix(f.Package, "@"), "/", "-")
	archive, err := os.ReadFile(filepath.Join(dir, name+"-"+f.Version+".tgz"))
	if err != nil {
		return nil, err
	}
	return archive, verify(spec, archive, f.PackageSHA256)
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

// Embed makes target hold the data of that SHA-256, compressed with Zstandard, calling get when it
// does not yet. It reports whether it had to.
func Embed(target, sum string, get func() ([]byte, error)) (fetched bool, err error) {
	if _, err := os.Stat(filepath.Dir(target)); err != nil {
		return false, errors.New("run this in the root of the source tree")
	}
	if holds(target, sum) {
		return false, nil
	}
	data, err := get()
	if err != nil {
		return false, err
	}
	if err := verify(target, data, sum); err != nil {
		return false, err
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return false, err
	}
	temporary := target + ".part"
	if err := os.WriteFile(temporary, z.EncodeAll(data, nil), 0o644); err != nil {
		return false, err
	}
	return true, os.Rename(temporary, target)
}

// holds says that target is right already.
func holds(target, sum string) bool {
	compressed, err := os.ReadFile(target)
	if err != nil {
		return false
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		return false
	}
	defer z.Close()
	data, err := z.DecodeAll(compressed, nil)
	return err == nil && verify(target, data, sum) == nil
}

func verify(what string, data []byte, want string) error {
	sum := sha256.Sum256(data)
	if got := hex.EncodeToString(sum[:]); got != want {
		return fmt.Errorf("%s has SHA-256 %s, expected %s", what, got, want)
	}
	return nil
}
