package web

import (
	"bytes"
	"maps"
	"mime/multipart"
	"net/http"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"unink"
	"unink/internal/apiref"
	"unink/internal/httpapi/failure"
)

func FuzzUploadForm(f *testing.F) {
	page := "\x89PNG\r\n\x1a\n" // more of it is not looked at here
	f.Add([]byte("--b\r\nContent-Disposition: form-data; name=\"image\"; filename=\"p\"\r\n\r\n" +
		page + "\r\n--b--\r\n"))
	f.Add([]byte("--b\r\nContent-Disposition: form-data; name=\"preserveColor\"\r\n\r\ntrue\r\n--b--"))
	f.Add([]byte("--b\r\nContent-Disposition: form-data; name=\"pageSlug\"\r\n\r\na/b\r\n--b--"))
	f.Fuzz(func(t *testing.T, body []byte) {
		form, err := parseUpload(multipart.NewReader(bytes.NewReader(body), "b"))
		if err != nil {
			status := table[failure.Of(err).Kind].status
			if status != http.StatusBadRequest {
				t.Errorf("status %d for %v", status, err)
			}
			return
		}
		if len(form.image) == 0 || len(form.image) > unink.DefaultMaxBytes ||
			!slugForm.MatchString(form.pageSlug) {
			t.Errorf("accepted %d bytes, slug %q", len(form.image), form.pageSlug)
		}
	})
}

// What may be sent with a page is what is described, and nothing else.
func TestFieldsAreDescribed(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(apiref.Description)
	if err != nil {
		t.Fatal(err)
	}
	body := doc.Paths.Find("/api/process-image").Post.RequestBody.Value.Content["multipart/form-data"]
	told := slices.Sorted(maps.Keys(body.Schema.Value.Properties))
	if read := slices.Sorted(maps.Keys(formFields)); !slices.Equal(read, told) {
		t.Errorf("it reads %v; described are %v", read, told)
	}
}
