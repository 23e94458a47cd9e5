package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What cannot go with --tls is told before anything listens.
func TestTLSSettings(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	https := []string{"--public-url", "https://example.com"}
	for name, c := range map[string]struct {
		flags []string
		want  string
	}{
		"open":            {append([]string{"--open"}, https...), "leave out --open"},
		"plain pages":     {nil, "begins with https://"},
		"plain authority": {append([]string{"--acme-directory", "http://acme.example.com"}, https...), "ACME directory"},
		"bad address":     {append([]string{"--acme-email", "nobody"}, https...), "e-mail address"},
		"no file":         {append([]string{"--acme-roots", empty + ".missing"}, https...), "--acme-roots"},
		"no certificate":  {append([]string{"--acme-roots", empty}, https...), "no certificate in PEM"},
	} {
		var mistakes bytes.Buffer
		env := &environment{ctx: t.Context(), stdin: strings.NewReader(""), stdout: &bytes.Buffer{},
			stderr: &mistakes, open: openDrawing}
		arguments := []string{"serve", "--tls", "--listen", "127.0.0.1:0", "--metrics-listen",
			"127.0.0.1:0", "--http-listen", "127.0.0.1:0", "--data", t.TempDir()}
		if code := run(env, append(arguments, c.flags...)); code == 0 ||
			!strings.Contains(mistakes.String(), c.want) {
			t.Errorf("%s: exit %d, %s", name, code, mistakes.String())
		}
	}
}
