package httpapi

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"unink/internal/httpapi/setup"
)

// Where the pages have TLS every answer says that there is nothing else, and without TLS none does.
func TestTransportSecurity(t *testing.T) {
	for public, want := range map[string]string{
		"https://example.com": "max-age=31536000", "http://localhost:8080": "",
	} {
		s := start(t, &fakeCleaner{}, func(c *setup.Config) { c.PublicURL = public })
		for _, path := range []string{"/", "/healthz", "/nothing", "/cleanup", "/assets/nothing"} {
			a, err := s.try(request(t, http.MethodGet, s.url+path, nil))
			if err != nil {
				t.Fatal(err)
			}
			if got := a.header.Get("Strict-Transport-Security"); got != want {
				t.Errorf("%s%s: %q, want %q", public, path, got, want)
			}
		}
	}
}

// Without TLS readers are sent on, to hosts of the service alone; what is sent along is refused,
// and challenges come first.
func TestWithoutTLS(t *testing.T) {
	cfg := setup.Default()
	cfg.DeveloperToken, cfg.PublicURL = testToken, "https://example.com:8443"
	s, err := New(&fakeCleaner{}, cfg, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, host, path string
		status             int
		location           string
	}{
		{http.MethodGet, "example.com", "/a%2Fb?c=%20d", 301, "https://example.com:8443/a%2Fb?c=%20d"},
		{http.MethodHead, "EXAMPLE.com.:80", "/", 301, "https://example.com:8443/"},
		{http.MethodPost, "example.com", "/cleanup", 403, ""},
		{http.MethodPut, "example.com", "/", 403, ""},
		{http.MethodGet, "evil.example", "/", 404, ""},
		{http.MethodGet, "acme.localhost", "/", 404, ""}, // an open service has no customers
		{http.MethodGet, "", "/", 404, ""},
	} {
		r := httptest.NewRequest(c.method, "http://placeholder"+c.path, strings.NewReader("x"))
		r.Host = c.host
		w := httptest.NewRecorder()
		s.toTLS(w, r)
		answer := w.Result()
		body, _ := io.ReadAll(answer.Body)
		if answer.StatusCode != c.status || answer.Header.Get("Location") != c.location {
			t.Errorf("%s %s%s: %d %q %s", c.method, c.host, c.path, answer.StatusCode,
				answer.Header.Get("Location"), body)
		}
	}
}
