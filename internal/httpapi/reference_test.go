package httpapi

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"unink/internal/webui"
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

func TestReferenceIsComplete(t *testing.T) {
	page, _ := developersPage(t)
	_, described := operations(t)
	for name, operation := range described {
		part := html.UnescapeString(partOf(t, page, operation.OperationID, "</article>"))
		shows := func(what string) {
			t.Helper()
			if !strings.Contains(part, what) {
				t.Errorf("%s does not show %q", name, what)
			}
		}
		shows("<code>" + name + "</code>")
		shows(operation.Summary)
		for _, p := range operation.Parameters {
			shows("<dt><code>" + p.Value.Name + "</code></dt>\n<dd class=\"kind\">" + p.Value.In)
			shows(p.Value.Description)
		}
		if operation.RequestBody != nil {
			for _, content := range operation.RequestBody.Value.Content {
				for property, schema := range content.Schema.Value.Properties {
					shows("<dt><code>" + property + "</code>")
					shows(schema.Value.Description)
					if most := schema.Value.MaxLength; most != nil {
						shows(strconv.FormatUint(*most, 10) + " characters")
					}
					if schema.Value.Default != nil {
						shows(fmt.Sprintf("%v when absent", schema.Value.Default))
					}
				}
			}
		}
		for status, response := range operation.Responses.Map() {
			shows("<b>" + status + "</b> " + *response.Value.Description)
			for header := range response.Value.Headers {
				shows(header)
			}
			for _, one := range errorNames(response.Value) {
				shows("<code>" + one + "</code>")
			}
		}
	}
}

// errorNames are the codes or names that a response's schema allows.
func errorNames(r *openapi3.Response) (found []string) {
	for _, content := range r.Content {
		schema := content.Schema.Value
		for _, name := range []string{"code", "error"} {
			if p := schema.Properties[name]; p != nil {
				for _, v := range p.Value.Enum {
					found = append(found, fmt.Sprint(v))
				}
			}
		}
	}
	return found
}

// TestBusinessCodes holds the page and the description against what the developer entry point answers.
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
		if !slices.Contains(strings.Split(statuses, ", "), strconv.Itoa(row.status)) || !strings.HasPrefix(text, row.text+"<td>") {
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
	if policy := headers.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
	if found := regexp.MustCompile(`(?i)<(img|iframe|object|embed|form|base|style)\b| (on[a-z]+|style|srcset)=|@import|url\(`).FindString(page); found != "" {
		t.Errorf("the page has %q", found)
	}
	for _, to := range regexp.MustCompile(`href="?([^" >]*)`).FindAllStringSubmatch(page, -1) {
		if !regexp.MustCompile(`^(#|/($|[^/])|\?lang=)`).MatchString(to[1]) {
			t.Errorf("a link to %q", to[1])
		}
		if id, here := strings.CutPrefix(to[1], "#"); here && strings.Count(page, fmt.Sprintf(`id="%s"`, id)) != 1 {
			t.Errorf("a link to %q, which is not there once", to[1])
		}
	}
	for _, address := range regexp.MustCompile(`https?://[^/\s<]*`).FindAllString(page, -1) {
		if !slices.Contains([]string{"http://acme.localhost:8080)", "https://{slug}.{base"}, address) {
			t.Errorf("the page names %q", address)
		}
	}
}

func TestReferenceShowsExamples(t *testing.T) {
	page, _ := developersPage(t)
	programs, err := examplePrograms()
	if err != nil || len(programs) != 4 {
		t.Fatal(len(programs), err)
	}
	for _, p := range programs {
		if !strings.Contains(html.UnescapeString(page), "<summary>"+p.Language+"</summary>\n<pre tabindex=\"0\"><code>"+p.Text+"</code></pre>") {
			t.Errorf("the %s example is not on the page as it is", p.Language)
		}
	}
}

// TestReferenceEscapes puts markup into every text of the description.
func TestReferenceEscapes(t *testing.T) {
	const attack = `"'></code></style><script>alert(1)</script>`
	text, err := files.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	hostile := regexp.MustCompile(`("(?:name|title|summary|description|operationId|pattern|format|default)": "|"tags": \[\s*")[^"]*"`).
		ReplaceAll(text, []byte("${1}"+strings.ReplaceAll(attack, `"`, `\"`)+`"`))
	if !json.Valid(hostile) {
		t.Fatal("the attack broke the description")
	}
	shown, err := reference(hostile)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := webui.New(webui.Config{})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	pages.Page("developers", func(*http.Request) any { return shown }).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/developers", nil))
	page := w.Body.String()
	if strings.Contains(page, "<script>") || strings.Contains(page, "</style>") {
		t.Error("markup of the description came through")
	}
	if n := strings.Count(page, "&lt;script&gt;"); n < 100 {
		t.Errorf("the attack stands on the page %d times only", n)
	}
}
