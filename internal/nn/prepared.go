//go:build !js

package nn

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	ort "github.com/yalue/onnxruntime_go"
	"golang.org/x/sys/cpu"
)

// A network is opened in a fifth of the time once ONNX Runtime has worked out how to run it on this
// processor, so what it makes of a network is kept beside the library, with its SHA-256 at the end.

// openSession opens the network as it was kept, and else as it is.
func openSession(cfg Config) (*ort.DynamicAdvancedSession, error) {
	file := cfg.keptAs()
	if model, err := readSealed(file); err == nil {
		if session, err := newSession(cfg, model, ""); err == nil {
			return session, nil
		}
	}
	model, err := cfg.Network.ONNX()
	if err != nil {
		return nil, err
	}
	if session, err := keepSession(cfg, model, file); err == nil {
		return session, nil
	}
	return newSession(cfg, model, "")
}

// keptAs is the file that a network is kept in, by all that decides what is made of it. It is empty
// where nothing can be kept.
func (cfg Config) keptAs() string {
	cache, err := os.UserCacheDir()
	if err != nil || cfg.Device != "cpu" {
		return ""
	}
	of := fmt.Sprint(cfg.Network.SHA256, ort.GetVersion(), platform, cpu.X86, cpu.ARM64)
	return filepath.Join(cache, "unink", fmt.Sprintf("network-%x", sha256.Sum256([]byte(of)))[:32])
}

var errNotKept = errors.New("a network's prepared form is not to be had")

// keepSession opens a network and keeps what is made of it in a file.
func keepSession(cfg Config, model []byte, file string) (*ort.DynamicAdvancedSession, error) {
	if file == "" {
		return nil, errNotKept
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(file), ".prepare-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	made, sealed := filepath.Join(dir, "made.onnx"), filepath.Join(dir, "sealed")
	session, err := newSession(cfg, model, made)
	if err != nil {
		return nil, err
	}
	if writeSealed(sealed, made) == nil {
		_ = os.Rename(sealed, file) // without it the next start takes longer, no more
	}
	return session, nil
}

// writeSealed copies a file, with its SHA-256 after it.
func writeSealed(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	return os.WriteFile(to, append(data, sum[:]...), 0o600)
}

// readSealed reads what writeSealed wrote, if it is whole.
func readSealed(file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	end := max(len(data)-sha256.Size, 0)
	if sum := sha256.Sum256(data[:end]); !bytes.Equal(sum[:], data[end:]) {
		return nil, errNotKept
	}
	return data[:end], nil
}
