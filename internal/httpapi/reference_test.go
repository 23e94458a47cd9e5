package httpapi

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
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

// partOf is the part of a page from an element's id to the end of elements of its kind.
func partOf(t *testing.T, page, id, end string) string {
	t.Helper()
	_, after, found := strings.Cut(page, fmt.Sprintf(`id="%s"`, id))
	part, _, closed := strings.Cut(after, end)
	if !found || !closed {
		t.Fatalf("the page has no part %q", id)
	}
	return part
}

// TestBusinessCodes holds the page and the description against what the developer entry point
// answers.
func TestBusinessCodes(t *testing.T) {
	page, _ := developersPage(t)
	rows := map[string]string{}
	for row := range strings.SplitSeq(partOf(t, page, "codes", "</table>"), "<tr>") {
		code, rest, _ := strings.Cut(strings.TrimPrefix(row, "<td>"), "<td>")
		rows[code] = rest
	}
	for _, row := range developerTable {
		shown := rows[strconv.Itoa(row.code)]
		statuses, text, _ := strings.Cut(shown, "<td>")
		if !slices.Contains(strings.Split(statuses, ", "), strconv.Itoa(row.status)) ||
			!strings.HasPrefix(text, row.text+"<td>") {
			t.Errorf("code %d, HTTP %d, %q is shown as %q", row.code, row.status, row.text, shown)
		}
	}
	doc, _ := operations(t)
	described := doc.Components.Schemas["DeveloperError"].Value.Properties["code"].Value.OneOf
	if len(described) != 15 {
		t.Errorf("%d codes are described, want 15", len(described))
	}
	for _, code := range described {
		if rows[fmt.Sprint(code.Value.Enum[0])] == "" {
			t.Errorf("code %v is described and not shown", code.Value.Enum)
		}
	}
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
