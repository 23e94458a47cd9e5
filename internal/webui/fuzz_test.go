package webui

import (
	"net/http"
	"slices"
	"testing"
)

// FuzzLanguage reads a browser's wishes: whatever they are, a language is found that there is.
func FuzzLanguage(f *testing.F) {
	f.Add("de-DE,de;q=0.9,en;q=0.8", "")
	f.Add("*;q=NaN, zh-TW;q=1e999,;;q=", "language=xx")
	f.Add("", "language=de; language=en")
	u, err := New(Config{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, accept, cookie string) {
		r := &http.Request{Header: http.Header{"Accept-Language": {accept}, "Cookie": {cookie},
			"Accept-Encoding": {accept}}}
		if l := u.languageOf(r); !slices.Contains(u.languages, l) {
			t.Errorf("%q, %q: %v", accept, cookie, l)
		}
		_ = accepts(r, "gzip")
	})
}
