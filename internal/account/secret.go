package account

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"unink/internal/ident"
)

// LoadSecret reads the server's secret from a file: any text of at least 32 bytes, without the
// white space around it. A file that is not there is made, readable by its owner only, so that
// programs that start at the same time find the same secret.
func LoadSecret(path string) ([]byte, error) {
	secret, err := readSecret(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	if err := makeSecret(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("the server's secret cannot be made: %w", err)
	}
	return readSecret(path)
}

func readSecret(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the server's secret: %w", err)
	}
	secret := []byte(strings.TrimSpace(string(text)))
	if len(secret) < minSecret {
		return nil, fmt.Errorf("the server's secret in %s must have at least %d bytes, not %d", path,
			minSecret, len(secret))
	}
	return secret, nil
}

// makeSecret writes a new secret beside its place and links it there: nobody reads half of it, and
// of several only the first gets the place.
func makeSecret(path string) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, ".secret-*") // with mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	secret := make([]byte, minSecret)
	_, _ = rand.Read(secret) // never fails
	_, err = fmt.Fprintf(f, "%x\n", secret)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), path)
}

// HashDevice returns what stands for a device: a keyed hash of its id, which must be 8 to 200
// printable ASCII characters, else the error is an [InputError].
func (s *Service) HashDevice(device string) (string, error) {
	if len(device) < 8 || len(device) > 200 || strings.ContainsFunc(device, func(r rune) bool {
		return r < ' ' || r > '~'
	}) {
		return "", &InputError{"device id", "must be 8 to 200 printable ASCII characters"}
	}
	return keyed(s.keys.device, device), nil
}

// HashAddress returns what stands for a network address: a keyed hash of it, or of its /64 for
// IPv6, where a single customer of a provider has at least that many addresses.
func (s *Service) HashAddress(a netip.Addr) string {
	a = a.Unmap()
	if a.Is6() {
		a = netip.PrefixFrom(a.WithZone(""), 64).Masked().Addr()
	}
	return keyed(s.keys.address, a.String())
}

func (s *Service) hashAddress(address string) string {
	if a, err := netip.ParseAddr(address); err == nil {
		return s.HashAddress(a)
	}
	return keyed(s.keys.address, address)
}

// keyed is 128 bits of the HMAC-SHA256 of a value.
func keyed(key []byte, value string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(value))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// newToken returns a random token for a session or a mail.
func newToken() string { return ident.Secret() }

// hashToken is how a random token is stored.
func hashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
