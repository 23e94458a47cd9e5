package packages

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestEmbed(t *testing.T) {
	data := []byte("a library")
	want := hexSum(data)
	target := filepath.Join(t.TempDir(), "library.zst")

	if _, err := Embed(target, want, func() ([]byte, error) {
		return []byte("another"), nil
	}); err == nil {
		t.Error("another library was embedded")
	}
	if _, err := os.Stat(target); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was left: %v", err)
	}
	for _, fetches := range []bool{true, false} {
		fetched, err := Embed(target, want, func() ([]byte, error) { return data, nil })
		if err != nil || fetched != fetches {
			t.Errorf("fetched %v, want %v (%v)", fetched, fetches, err)
		}
	}
	if err := os.WriteFile(target, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if fetched, err := Embed(target, want, func() ([]byte, error) {
		return data, nil
	}); err != nil || !fetched {
		t.Errorf("a damaged file was left: %v", err)
	}
}

// A wheel is a zip; both it and the file in it are the pinned ones, or it is an error.
func TestFromPyPI(t *testing.T) {
	var wheel bytes.Buffer
	z := zip.NewWriter(&wheel)
	w, err := z.Create("package/library.so")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("a library")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	pip := t.TempDir()
	for name, content := range map[string]string{
		"wheel": wheel.String(),
		"pip3":  "#!/bin/sh\ncat '" + pip + "/wheel' >package.whl\n",
	} {
		if err := os.WriteFile(filepath.Join(pip, name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", pip+string(os.PathListSeparator)+os.Getenv("PATH"))

	pinned := File{"package", "1.0", hexSum(wheel.Bytes()), "package/library.so",
		hexSum([]byte("a library"))}
	if got, err := pinned.FromPyPI("any"); err != nil || string(got) != "a library" {
		t.Errorf("%q, %v", got, err)
	}
	for name, f := range map[string]File{
		"another wheel":   {Package: "package", PackageSHA256: hexSum(nil)},
		"another library": {PackageSHA256: pinned.PackageSHA256, Path: pinned.Path, SHA256: hexSum(nil)},
		"no such file":    {PackageSHA256: pinned.PackageSHA256, Path: "package/other.so"},
	} {
		if _, err := f.FromPyPI("any"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
