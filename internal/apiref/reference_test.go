package apiref

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"unink/internal/webui"
)

// rendered is the page for developers with something in it.
func rendered(t *testing.T, shown any) string {
	t.Helper()
	pages, err := webui.New(webui.Config{})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	page := pages.Page("developers", func(*http.Request) any { return shown })
	page.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/developers", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("the page: %d", w.Code)
	}
	return w.Body.String()
}

func TestReferenceIsComplete(t *testing.T) {
	page := rendered(t, Page())
	doc, err := openapi3.NewLoader().LoadFromData(Description)
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			isShown(t, page, method+" "+path, operation)
		}
	}
}

// isShown wants all of an operation on the page.
func isShown(t *testing.T, page, name string, operation *openapi3.Operation) {
	t.Helper()
	_, part, found := strings.Cut(page, fmt.Sprintf(`id="%s"`, operation.OperationID))
	part, _, closed := strings.Cut(part, "</article>")
	if !found || !closed {
		t.Fatalf("the page has no part %q", operation.OperationID)
	}
	part = html.UnescapeString(part)
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

func TestReferenceShowsExamples(t *testing.T) {
	page := rendered(t, Page())
	programs, err := examplePrograms()
	if err != nil || len(programs) != 5 {
		t.Fatal(len(programs), err)
	}
	for _, p := range programs {
		if !strings.Contains(html.UnescapeString(page),
			"<summary>"+p.Language+"</summary>\n<pre tabindex=\"0\"><code>"+p.Text+"</code></pre>") {
			t.Errorf("the %s example is not on the page as it is", p.Language)
		}
	}
}

// TestReferenceEscapes puts markup into every text of the description.
func TestReferenceEscapes(t *testing.T) {
	const attack = `"'></code></style><script>alert(1)</script>`
	hostile := regexp.MustCompile(
		`("(?:name|title|summary|description|operationId|pattern|format|default)": "|"tags": \[\s*")[^"]*"`,
	).
		ReplaceAll(Description, []byte("${1}"+strings.ReplaceAll(attack, `"`, `\"`)+`"`))
	if !json.Valid(hostile) {
		t.Fatal("the attack broke the description")
	}
	shown, err := reference(hostile)
	if err != nil {
		t.Fatal(err)
	}
	page := rendered(t, shown)
	if strings.Contains(page, "<script>") || strings.Contains(page, "</style>") {
		t.Error("markup of the description came through")
	}
	if n := strings.Count(page, "&lt;script&gt;"); n < 100 {
		t.Errorf("the attack stands on the page %d times only", n)
	}
}
