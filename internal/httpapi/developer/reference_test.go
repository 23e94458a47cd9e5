package developer

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"unink/internal/apiref"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/setup"
	"unink/internal/webui"
)

func description(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(apiref.Description)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// developersPage is the page as an open service shows it.
func developersPage(t *testing.T) string {
	t.Helper()
	pages, err := webui.New(webui.Config{Browser: webui.BrowserOff})
	if err != nil {
		t.Fatal(err)
	}
	api := New(&setup.Setup{Config: setup.Default()}, &call.Entry{}, nil, pages)
	mux := http.NewServeMux()
	api.Mount(mux)
	rec := httptest.NewRecorder()
	mux.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/developers", nil))
	return rec.Body.String()
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
	page := developersPage(t)
	rows := map[string]string{}
	for row := range strings.SplitSeq(partOf(t, page, "codes", "</table>"), "<tr>") {
		code, rest, _ := strings.Cut(strings.TrimPrefix(row, "<td>"), "<td>")
		rows[code] = rest
	}
	for _, row := range table {
		shown := rows[strconv.Itoa(row.code)]
		statuses, text, _ := strings.Cut(shown, "<td>")
		if !slices.Contains(strings.Split(statuses, ", "), strconv.Itoa(row.status)) ||
			!strings.HasPrefix(text, row.text+"<td>") {
			t.Errorf("code %d, HTTP %d, %q is shown as %q", row.code, row.status, row.text, shown)
		}
	}
	schema := description(t).Components.Schemas["DeveloperError"]
	described := schema.Value.Properties["code"].Value.OneOf
	if len(described) != 15 {
		t.Errorf("%d codes are described, want 15", len(described))
	}
	for _, code := range described {
		if rows[fmt.Sprint(code.Value.Enum[0])] == "" {
			t.Errorf("code %v is described and not shown", code.Value.Enum)
		}
	}
}
