package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealth(t *testing.T) {
	ready := http.StatusOK
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		w.WriteHeader(ready)
	})
	plain, secure := httptest.NewServer(answer), httptest.NewTLSServer(answer)
	defer secure.Close()
	ask := func(arguments ...string) (int, string) {
		var complaints bytes.Buffer
		env := &environment{ctx: t.Context(), stdout: &bytes.Buffer{}, stderr: &complaints}
		return run(env, append([]string{"health"}, arguments...)), complaints.String()
	}
	_, at, _ := strings.Cut(plain.URL, "//")
	_, port, _ := strings.Cut(at, ":")
	_, secureAt, _ := strings.Cut(secure.URL, "//")
	for _, arguments := range [][]string{{"--listen", at}, {"--listen", ":" + port},
		{"--listen", secureAt, "--tls", "--public-url", "https://example.com"}} {
		if code, complaints := ask(arguments...); code != exitDone {
			t.Errorf("%q: exit code %d, %s", arguments, code, complaints)
		}
	}
	ready = http.StatusServiceUnavailable
	if code, complaints := ask("--listen", at); code != exitFailed ||
		!strings.Contains(complaints, "503") {
		t.Errorf("not ready: exit code %d, %s", code, complaints)
	}
	plain.Close()
	if code, _ := ask("--listen", at); code != exitFailed {
		t.Errorf("nobody there: exit code %d", code)
	}
	if code, _ := ask("--listen", "8080"); code != exitUsage {
		t.Errorf("no address: exit code %d", code)
	}
}
