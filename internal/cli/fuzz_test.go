package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzSettings shows what is in force with a file of settings: it is taken, or the mistake is told.
func FuzzSettings(f *testing.F) {
	f.Add(
		[]byte(
			`{"public-url": "https://example.com", "trusted-proxy": ["10.0.0.0/8"], "workers": 2, "tls": true, "deadline": "5s"}`,
		),
	)
	f.Add([]byte(`{"workers": {"a": [null]}, "queue": 1e400, "listen": null}`))
	f.Add([]byte(`{"stripe-key": "s3cret-s3cret"}`))
	f.Add([]byte(`[]`))
	f.Add([]byte(`{"presets": {"school": {"finish": "scan", "remove": ["blue"]}, "odd": null}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "settings.json")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv(settingsVariable, path)
		var out, mistakes bytes.Buffer
		switch code := run(&environment{ctx: t.Context(), stdin: strings.NewReader(""), stdout: &out,
			stderr: &mistakes}, []string{"config"}); {
		case code == 0 && out.Len() == 0, code == exitUsage && mistakes.Len() == 0,
			code != 0 && code != exitUsage:
			t.Errorf("exit %d with %q and %q", code, out.String(), mistakes.String())
		case strings.Contains(out.String(), "s3cret-s3cret"):
			t.Error("a secret is shown")
		}
	})
}
