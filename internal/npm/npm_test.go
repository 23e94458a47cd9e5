package npm

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestEmbed(t *testing.T) {
	data := []byte("a library")
	sum := sha256.Sum256(data)
	want := hex.EncodeToString(sum[:])
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
