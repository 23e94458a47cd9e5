package developer

import (
	"net/http"
	"testing"

	"unink/internal/httpapi/setup"
)

// FuzzHeaders reads the headers that are taken apart by hand.
func FuzzHeaders(f *testing.F) {
	f.Add("Bearer abcdefghijklmnop", "application/json; charset=utf-8")
	f.Add("bearer  x", ";;=")
	f.Add("Bearer", "application/json; charset=\"")
	f.Fuzz(func(t *testing.T, authorization, content string) {
		r := &http.Request{Header: http.Header{"Authorization": {authorization}}}
		if token, err := bearer(r); err == nil && !setup.IsToken(token) {
			t.Errorf("token %q", token)
		}
		_ = checkJSON(content)
	})
}
