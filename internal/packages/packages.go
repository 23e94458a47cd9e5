// Package packages takes single files out of pinned packages of npm and PyPI, to be built into the
// program. Nothing of a package is installed or run.
package packages

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
)

// File is a file of a package's archive; both are known by their SHA-256, in hex.
type File struct {
	Package, Version, PackageSHA256 string
	Path, SHA256                    string
}

// FromNPM downloads the package with npm and returns the file.
func (f File) FromNPM() ([]byte, error) {
	return f.fetch(untar, "npm", "pack", "--silent", "--pack-destination", ".",
		f.Package+"@"+f.Version)
}

// FromPyPI downloads the package's wheel for a platform with pip and returns the file.
func (f File) FromPyPI(platform string) ([]byte, error) {
	return f.fetch(unzip, "pip3", "download", "--quiet", "--no-deps", "--only-binary=:all:",
		"--implementation=cp", "--python-version=3.11", "--platform="+platform,
		f.Package+"=="+f.Version)
}

// fetch returns the file out of the one archive that a command downloads into its folder.
func (f File) fetch(extract func(archive []byte, path string) ([]byte, error), name string,
	args ...string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "unink-fetch-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("%s is needed once, to download %s %s: install it (Debian: "+
			"apt-get install npm python3-pip)", name, f.Package, f.Version)
	} else if err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	archive, err := onlyFile(dir)
	if err != nil {
		return nil, err
	}
	if err := verify(f.Package+" "+f.Version, archive, f.PackageSHA256); err != nil {
		return nil, err
	}
	data, err := extract(archive, f.Path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	return data, verify(f.Path, data, f.SHA256)
}

func onlyFile(dir string) ([]byte, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if len(files) != 1 {
		return nil, fmt.Errorf("%d files were downloaded instead of one", len(files))
	}
	return os.ReadFile(filepath.Join(dir, files[0].Name()))
}

func untar(archive []byte, path string) ([]byte, error) {
	gz, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	for files := tar.NewReader(gz); ; {
		h, err := files.Next()
		if err != nil {
			return nil, err
		}
		if h.Name == path {
			return io.ReadAll(files)
		}
	}
}

func unzip(archive []byte, path string) ([]byte, error) {
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, err
	}
	return fs.ReadFile(files, path)
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
