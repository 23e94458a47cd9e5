package httpapi

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// developersPage is the page as it is served, and its headers.
func developersPage(t *testing.T) (string, http.Header) {
	t.Helper()
	s := start(t, &fakeCleaner{})
	a := s.get("/developers")
	if a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
		t.Fatalf("GET /developers: %d %s", a.status, a.header.Get("Content-Type"))
	}
	return string(a.body), a.header
}

func TestReferenceLoadsNothing(t *testing.T) {
	page, headers := developersPage(t)
	if policy := headers.Get("Content-Security-Policy"); !strings.Contains(
		policy, "default-src 'none'",
	) || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
	if found := regexp.MustCompile(
		`(?i)<(img|iframe|object|embed|form|base|style)\b| (on[a-z]+|style|srcset)=|@import|url\(`,
	).FindString(page); found != "" {
		t.Errorf("the page has %q", found)
	}
	for _, to := range regexp.MustCompile(`href="?([^" >]*)`).FindAllStringSubmatch(page, -1) {
		if !regexp.MustCompile(`^(#|/($|[^/])|\?lang=)`).MatchString(to[1]) {
			t.Errorf("a link to %q", to[1])
		}
		if id, here := strings.CutPrefix(to[1], "#"); here &&
			strings.Count(page, fmt.Sprintf(`id="%s"`, id)) != 1 {
			t.Errorf("a link to %q, which is not there once", to[1])
		}
	}
	for _, address := range regexp.MustCompile(`https?://[^/\s<]*`).FindAllString(page, -1) {
		if !slices.Contains([]string{"http://localhost:8080", "http://acme.localhost:8080)",
			"https://{slug}.{base"}, address) {
			t.Errorf("the page names %q", address)
		}
	}
}
