package developer

import (
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"unink/internal/httpapi/failure"
)

func FuzzCleanupBody(f *testing.F) {
	f.Add([]byte(`{"media_id":"iVBORw0KGgo=","keep_ori":true,"remove":["red"]}`))
	f.Add([]byte(`{"media_id":"AAAA","output_format":"png"}`))
	f.Add([]byte(`{"media_id":null}`))
	f.Add([]byte(`[{}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		in, err := parseCleanup(body)
		if err == nil && len(in.Image) == 0 {
			t.Error("accepted without an image")
		}
		if err != nil && table[failure.Of(err).Kind].status != http.StatusBadRequest {
			t.Errorf("%v", err)
		}
	})
}

func FuzzMedia(f *testing.F) {
	for _, s := range []string{"AAAA", "AAA=", "AA", "A\nAA", "data:image/png;base64,AAAA", "-_"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		data, err := decodeMedia(s)
		if err != nil {
			return
		}
		got := base64.RawStdEncoding.EncodeToString(data)
		if want := strings.TrimRight(s, "="); len(got) != len(want) ||
			got[:len(got)-1] != want[:len(want)-1] {
			t.Errorf("%q stands for %q", s, got)
		}
	})
}

// What may be sent with a page is what is described, and nothing else.
func TestFieldsAreDescribed(t *testing.T) {
	for content, read := range map[string][]string{
		"multipart/form-data": slices.Sorted(maps.Keys(cleanupFields)),
		"application/json":    slices.Sorted(maps.Keys(cleanupKeys)),
	} {
		body := description(t).Paths.Find("/cleanup").Post.RequestBody.Value.Content[content]
		told := slices.Sorted(maps.Keys(body.Schema.Value.Properties))
		if !slices.Equal(read, told) {
			t.Errorf("as %s it reads %v; described are %v", content, read, told)
		}
	}
}
