package httpapi

import (
	"bufio"
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"unink/internal/httpapi/setup"
)

// connected is a recorder that takes deadlines, as connections do.
type connected struct{ *httptest.ResponseRecorder }

func (connected) SetReadDeadline(time.Time) error { return nil }

func (connected) SetWriteDeadline(time.Time) error { return nil }

// FuzzRequest serves any request that HTTP can carry: none ends in a mistake of the program, and
// every answer has what each must have.
func FuzzRequest(f *testing.F) {
	page := string(picture(f, 16, 16))
	for _, r := range []string{
		"GET / HTTP/1.1\r\nHost: localhost\r\nAccept-Language: de;q=0.9\r\n\r\n",
		"GET /developers HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip;q=0\r\nIf-None-Match: " +
			"W/\"x\"\r\n\r\n",
		"GET /assets/..%2f..%2fetc/passwd HTTP/1.1\r\nHost: x\r\nRange: bytes=0-1,3-\r\n\r\n",
		"POST /cleanup HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + testToken +
			"\r\nContent-Type: application/json\r\nContent-Length: 19\r\n\r\n{\"media_id\":\"AAAA\"}",
		"POST /api/process-image?preserveColor=1 HTTP/1.1\r\nHost: localhost\r\nContent-Type: " +
			"multipart/form-data; boundary=b\r\nContent-Length: 70\r\n\r\n" +
			"--b\r\nContent-Disposition: form-data; name=\"image\"\r\n\r\n" + page + "\r\n--b--\r\n",
		"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		f.Add([]byte(r))
	}
	cfg := setup.Default()
	cfg.DeveloperToken = testToken
	s, err := New(&fakeCleaner{}, cfg, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(text)))
		if err != nil {
			return
		}
		r.RemoteAddr = "192.0.2.1:1"
		w := connected{httptest.NewRecorder()}
		s.Handler().ServeHTTP(w, r)
		if w.Code == http.StatusInternalServerError {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		for _, name := range []string{"X-Request-Id", "X-Content-Type-Options", "Content-Security-Policy",
			"Referrer-Policy"} {
			if w.Header().Get(name) == "" {
				t.Errorf("%d without %s", w.Code, name)
			}
		}
	})
}

// FuzzToTLS asks without TLS for anything: who is sent on is sent to the same host.
func FuzzToTLS(f *testing.F) {
	f.Add("web.example.com", "/a?b=c")
	f.Add("web.example.com:80", "//evil.example/%2e%2e")
	f.Add("evil.example", "/")
	f.Add("web.example.com@evil.example", "/\\evil.example")
	cfg := setup.Default()
	cfg.DeveloperToken, cfg.PublicURL = testToken, "https://web.example.com:8443"
	s, err := New(&fakeCleaner{}, cfg, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, host, target string) {
		to, err := url.ParseRequestURI(target)
		if err != nil {
			return
		}
		w := httptest.NewRecorder()
		s.toTLS(w, &http.Request{Method: http.MethodGet, Host: host, URL: to, Header: http.Header{}})
		if w.Code != http.StatusMovedPermanently {
			return
		}
		sent, err := url.Parse(w.Header().Get("Location"))
		if err != nil || sent.Scheme != "https" || sent.Host != "web.example.com:8443" ||
			sent.User != nil {
			t.Errorf("%q %q is sent to %q", host, target, w.Header().Get("Location"))
		}
	})
}
