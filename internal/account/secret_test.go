package account_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"unink/internal/account"
	"unink/internal/store/storetest"
)

func TestLoadSecretMakesItOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "secret")
	w := &world{t: t}
	secrets := make([][]byte, 8)
	w.atOnce(len(secrets), nil, func(i int) (err error) {
		secrets[i], err = account.LoadSecret(path)
		return err
	})
	for _, secret := range secrets {
		if len(secret) < 32 || !bytes.Equal(secret, secrets[0]) {
			t.Fatalf("secrets are %q", secrets)
		}
	}
	info, err := os.Stat(path)
	w.must(err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v", info.Mode())
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); err != nil ||
		len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	other, err := account.LoadSecret(filepath.Join(t.TempDir(), "secret"))
	if err != nil || bytes.Equal(other, secrets[0]) {
		t.Errorf("another secret is %q, %v", other, err)
	}
}

func TestLoadSecretSaysWhatIsWrong(t *testing.T) {
	folder := t.TempDir()
	short := filepath.Join(folder, "short")
	if err := os.WriteFile(short, []byte("  0123456789abcdef0123456789abcde\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		short:                          "at least 32 bytes, not 31",
		folder:                         "is a directory",
		filepath.Join(short, "secret"): "not a directory",
	} {
		if _, err := account.LoadSecret(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, want %q", path, err, want)
		}
	}
}

func TestConfigSaysWhatIsWrong(t *testing.T) {
	good := account.DefaultConfig()
	good.Secret = secret
	good.OIDC = account.OIDC{Issuer: "https://id.example.com", ClientID: "id", ClientSecret: "secret",
		RedirectURL: "http://localhost:8080/api/sign-in/callback"}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*account.Config){
		"at least 32 bytes": func(c *account.Config) { c.Secret = c.Secret[:31] },
		"at least 1 pass":   func(c *account.Config) { c.Argon.Passes = 0 },
		"1 lane":            func(c *account.Config) { c.Argon.Lanes = 0 },
		"8 KiB":             func(c *account.Config) { c.Argon.Memory = 7 },
		"client secret":     func(c *account.Config) { c.OIDC.ClientSecret = "" },
		"issuer":            func(c *account.Config) { c.OIDC.Issuer = "http://id.example.com" },
		"redirect URL":      func(c *account.Config) { c.OIDC.RedirectURL = "/callback" },
	} {
		bad := good
		spoil(&bad)
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
		if _, err := account.New(bad, nil, nil, nil, time.Now,
			slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("%s: a service was made", want)
		}
	}
}

// What the database's files hold opens nothing.
func TestNothingSecretIsStored(t *testing.T) {
	url := storetest.SQLite(t)
	w := newWorld(t, storetest.Open(t, url), quick())
	_, session := w.user()
	w.must(w.SignUp(w.ctx, "bea@example.com", other, address))
	verify := w.mail(account.NoticeVerify).Token
	w.must(w.RequestReset(w.ctx, email, address))
	reset := w.mail(account.NoticeReset).Token
	_, _, err := w.anonymous("device-0001", address)
	w.must(err)
	token, _ := w.token(w.customer(), 0)
	var files []byte
	for _, suffix := range []string{"", "-wal"} {
		file, err := os.ReadFile(strings.TrimPrefix(url, "sqlite:") + suffix)
		w.must(err)
		files = append(files, file...)
	}
	if !bytes.Contains(files, []byte(email)) {
		t.Fatal("the files do not hold the users")
	}
	for _, secret := range []string{session, verify, reset, token, strings.Split(token, "_")[2],
		"device-0001", password, other} {
		if bytes.Contains(files, []byte(secret)) {
			t.Errorf("%q is stored as it is", secret)
		}
	}
}

// Who goes away while all computations are taken leaves, and holds nothing.
func TestHashingEndsWithItsContext(t *testing.T) {
	s := without(t, secret)
	release := s.HoldHashing()
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.SignUp(ctx, email, password, address); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}
