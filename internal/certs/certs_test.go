package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/caddyserver/certmagic"
	"go.uber.org/goleak"
	"go.uber.org/zap"
)

// Orders, sharing and renewal are tested with an authority and the built program:
// internal/contract.

func TestConfigSaysWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		config Config
		want   string
	}{
		"fine":           {Config{Directory: LetsEncrypt, Email: "you@example.com"}, ""},
		"no address":     {Config{Directory: LetsEncrypt}, ""},
		"no directory":   {Config{}, "ACME directory"},
		"plain":          {Config{Directory: "http://acme.example.com/dir"}, "ACME directory"},
		"no URL":         {Config{Directory: "acme.example.com"}, "ACME directory"},
		"a name and all": {Config{Directory: LetsEncrypt, Email: "You <you@example.com>"}, "e-mail address"},
	} {
		err := c.config.Validate()
		if c.want == "" && err != nil || c.want != "" &&
			(err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The authority is not asked for a host that is not the service's, nor while that cannot be told.
func TestForeignHostsAreRefused(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	directory := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the authority was asked")
	}))
	defer directory.Close()
	unknown := errors.New("the database is away")
	var asked []string
	logs := &bytes.Buffer{}
	m, err := New(Config{
		Directory: directory.URL, Storage: &certmagic.FileStorage{Path: t.TempDir()},
		Serves: func(_ context.Context, host string) (bool, error) {
			asked = append(asked, host)
			if host == "unknown.example.com" {
				return false, unknown
			}
			return false, nil
		},
	}, slog.New(slog.NewTextHandler(logs, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for host, want := range map[string]error{"evil.example": errForeign,
		"unknown.example.com": unknown, "": errForeign} {
		client, server := net.Pipe()
		_, err := m.TLS().GetCertificate(&tls.ClientHelloInfo{ServerName: host, Conn: server})
		if !errors.Is(err, want) && host != "" || err == nil {
			t.Errorf("%q: %v", host, err)
		}
		_, _ = client.Close(), server.Close()
	}
	if len(asked) < 2 {
		t.Errorf("only %q were asked about", asked)
	}
	if logs.Len() > 0 {
		t.Errorf("strangers fill the log:\n%s", logs)
	}
}

// What the log is not for stays out of it, and an order's dozen lines are for those who look for
// them.
func TestLogTellsNoSecretsAndNoAddresses(t *testing.T) {
	text := &bytes.Buffer{}
	log := zap.New(
		bridge{handler: slog.NewTextHandler(text, &slog.HandlerOptions{Level: slog.LevelInfo})},
	)
	log = log.With(zap.String("remote_ip", "192.0.2.7"), zap.String("server_name", "acme.example.com"))
	log.Info("an order's line")
	log.Warn("a warning", zap.String("key_auth", "s3cret"))
	log.Error("a mistake", zap.Error(errForeign),
		zap.Any("account", map[string]string{"key": "s3cret"}))
	got := text.String()
	for _, want := range []string{"WARN", "ERROR", "certificates: a mistake", "acme.example.com",
		errForeign.Error()} {
		if !strings.Contains(got, want) {
			t.Errorf("the log lacks %q:\n%s", want, got)
		}
	}
	for _, not := range []string{"192.0.2", "s3cret", "an order's line"} {
		if strings.Contains(got, not) {
			t.Errorf("the log has %q:\n%s", not, got)
		}
	}
}
