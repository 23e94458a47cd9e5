package httpapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"unink"
	"unink/internal/gate"
	"unink/internal/httpapi/developer"
)

// seeing returns a cleaner that keeps the options of the last page.
func seeing(seen *unink.Options) *fakeCleaner {
	return &fakeCleaner{clean: func(_ context.Context, data []byte, o unink.Options) (
		*unink.Result, error,
	) {
		*seen = o
		return echo(data, o)
	}}
}

func refusing(code unink.Code) *fakeCleaner {
	return &fakeCleaner{clean: func(context.Context, []byte, unink.Options) (*unink.Result, error) {
		return nil, &unink.Error{Code: code, Op: "clean", Message: "no"}
	}}
}

func TestWebSuccess(t *testing.T) {
	page := picture(t, 40, 30)
	image := field{name: "image", data: page}
	for name, c := range map[string]struct {
		query  string
		fields []field
		want   unink.Options
	}{
		"plain":           {"", []field{image}, unink.Options{}},
		"query":           {"?preserveColor=TRUE", []field{image}, unink.Options{Finish: unink.Colour}},
		"form":            {"", []field{image, {name: "preserveColor", value: "True"}}, unink.Options{Finish: unink.Colour}},
		"either":          {"?preserveColor=true", []field{{name: "preserveColor", value: "false"}, image}, unink.Options{Finish: unink.Colour}},
		"both false":      {"?preserveColor=false", []field{{name: "preserveColor", value: "false"}, image}, unink.Options{}},
		"finish":          {"", []field{image, {name: "finish", value: "Colour"}}, unink.Options{Finish: unink.Colour}},
		"finish by both":  {"?preserveColor=true", []field{image, {name: "finish", value: "scan"}}, unink.Options{Finish: unink.Colour}},
		"finish by name":  {"?preserveColor=false", []field{{name: "preserveColor", value: "false"}, {name: "finish", value: "color"}, image}, unink.Options{Finish: unink.Colour}},
		"format":          {"", []field{image, {name: "output_format", value: "webp"}}, unink.Options{Format: unink.WebP}},
		"kept as it lies": {"", []field{{name: "keepOrientation", value: "true"}, {name: "keepDistortion", value: "TRUE"}, image}, unink.Options{KeepOrientation: true, KeepDistortion: true}},
		"some inks":       {"", []field{{name: "remove", value: "blue, red"}, image}, unink.Options{Remove: unink.Blue | unink.Red}},
		"all inks":        {"", []field{{name: "remove", value: ""}, image}, unink.Options{}},
		"unknown fields":  {"?x=1", []field{{name: "y", value: strings.Repeat("z", 10_000)}, image, {name: "y", value: ""}}, unink.Options{}},
		"every field": {"", []field{
			{name: "userId", value: "u"}, {name: "deviceId", value: "d"}, {name: "cfTurnstileToken", value: "t"},
			{name: "preserveColor", value: "false"}, {name: "isBulkProcessing", value: "true"},
			{name: "isPdfProcessing", value: "false"}, {name: "pageSlug", value: "a/b-1"}, image,
		}, unink.Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			var seen unink.Options
			s := start(t, seeing(&seen))
			a := s.do(s.webRequest(c.query, c.fields...))
			v := a.decode(t)
			if a.status != 200 || v.Code == nil || *v.Code != 0 || v.IsTrial == nil || !*v.IsTrial ||
				!bytes.Equal(v.Data.Data.MediaID, page) {
				t.Errorf("got %d %.200s", a.status, a.body)
			}
			if got := a.header.Get("Content-Type"); got != "application/json" {
				t.Errorf("Content-Type %q", got)
			}
			if seen != c.want {
				t.Errorf("cleaned with %+v, want %+v", seen, c.want)
			}
		})
	}
}

func TestWebLayers(t *testing.T) {
	page := picture(t, 40, 30)
	s := start(t, &fakeCleaner{})
	a := s.do(s.webRequest("", field{name: "image", data: page},
		field{name: "returnLayers", value: "true"}))
	v := a.decode(t)
	if l := v.Data.Data.Layers; a.status != 200 || l == nil || string(l.Handwriting) != "ink" ||
		string(l.Mask) != "mask" {
		t.Errorf("got %d %.200s", a.status, a.body)
	}
	if v := s.do(
		s.webRequest("", field{name: "image", data: page}),
	).decode(t); v.Data.Data.Layers != nil {
		t.Error("layers that nobody asked for")
	}
}

func TestWebBefore(t *testing.T) {
	image := field{name: "image", data: picture(t, 40, 30)}
	s := start(t, &fakeCleaner{})
	asked := s.do(s.webRequest("", image, field{name: "returnBefore", value: "true"}))
	if v := asked.decode(t); asked.status != 200 || string(v.Data.Data.Before) != "before" {
		t.Errorf("got %d %.200s", asked.status, asked.body)
	}
	if plain := s.do(s.webRequest("", image)); bytes.Contains(plain.body, []byte("before")) {
		t.Errorf("a page before that nobody asked for: %.200s", plain.body)
	}
}

// TestWebIdempotencyKey sends pages of one account with keys.
func TestWebIdempotencyKey(t *testing.T) {
	s := withAccounts(t)
	owner := s.userWith(4)
	session := s.logIn(pia, passwordOfAll)
	send := func(key string, fields ...field) answer {
		t.Helper()
		body, contentType := formOf(t, fields...)
		r := httptest.NewRequest(http.MethodPost, "/api/process-image", body)
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Authorization", "Bearer "+session)
		r.Header.Set("Idempotency-Key", key)
		return s.send(r)
	}
	image, other := field{name: "image", data: picture(t, 40, 30)},
		field{name: "image", data: picture(t, 41, 30)}
	colour := field{name: "preserveColor", value: "true"}
	for _, c := range []struct {
		key    string
		fields []field
		status int
		left   int
	}{
		{"a", []field{image}, 200, 3},
		{"a", []field{image}, 200, 3},
		{"a", []field{other}, 400, 3},
		{"a", []field{image, colour}, 200, 3}, // the same page with other options is free
		{"b", []field{image, colour}, 200, 2},
		{strings.Repeat("k", maxKeyBytes+1), []field{image}, 400, 2},
	} {
		if a := send(c.key, c.fields...); a.status != c.status {
			t.Errorf("key %.10q: %d %s", c.key, a.status, a.body)
		}
		s.left(owner, c.left)
	}
}

func TestWebRefusals(t *testing.T) {
	page := picture(t, 40, 30)
	image := field{name: "image", data: page}
	for name, c := range map[string]struct {
		query   string
		headers map[string]string
		fields  []field
		want    string
	}{
		"no image":             {"", nil, []field{{name: "userId", value: "u"}}, "MISSING_IMAGE"},
		"no fields":            {"", nil, nil, "MISSING_IMAGE"},
		"empty image":          {"", nil, []field{{name: "image", data: []byte{}}}, "MISSING_IMAGE"},
		"two images":           {"", nil, []field{image, image}, "INVALID_PARAMETER"},
		"text":                 {"", nil, []field{{name: "image", data: []byte("this is not a picture at all")}}, "INVALID_FILE_TYPE"},
		"cut short":            {"", nil, []field{{name: "image", data: page[:20]}}, "INVALID_IMAGE"},
		"too small":            {"", nil, []field{{name: "image", data: picture(t, 15, 40)}}, "INVALID_IMAGE"},
		"too many pixels":      {"", nil, []field{{name: "image", data: hugeHeader(t, 10_000, 5_001)}}, "IMAGE_TOO_LARGE"},
		"too many bytes":       {"", nil, []field{{name: "image", data: make([]byte, 5<<20+1)}}, "FILE_TOO_LARGE"},
		"far too many bytes":   {"", nil, []field{{name: "image", data: make([]byte, 9<<20)}}, "FILE_TOO_LARGE"},
		"bad flag":             {"", nil, []field{image, {name: "isBulkProcessing", value: "yes"}}, "INVALID_PARAMETER"},
		"empty flag":           {"", nil, []field{image, {name: "preserveColor", value: ""}}, "INVALID_PARAMETER"},
		"bad query":            {"?preserveColor=1", nil, []field{image}, "INVALID_PARAMETER"},
		"query twice":          {"?preserveColor=true&preserveColor=true", nil, []field{image}, "INVALID_PARAMETER"},
		"field twice":          {"", nil, []field{image, {name: "preserveColor", value: "true"}, {name: "preserveColor", value: "true"}}, "INVALID_PARAMETER"},
		"bad slug":             {"", nil, []field{image, {name: "pageSlug", value: "A B"}}, "INVALID_PARAMETER"},
		"long slug":            {"", nil, []field{image, {name: "pageSlug", value: strings.Repeat("a", 65)}}, "INVALID_PARAMETER"},
		"long field":           {"", nil, []field{image, {name: "userId", value: strings.Repeat("a", 8<<10+1)}}, "INVALID_PARAMETER"},
		"bad format":           {"", nil, []field{image, {name: "output_format", value: "tiff"}}, "INVALID_PARAMETER"},
		"bad ink":              {"", nil, []field{image, {name: "remove", value: "violet"}}, "INVALID_PARAMETER"},
		"bad layers":           {"", nil, []field{image, {name: "returnLayers", value: "1"}}, "INVALID_PARAMETER"},
		"bad user type":        {"", map[string]string{"X-User-Type": "robot"}, []field{image}, "INVALID_PARAMETER"},
		"anonymous, no device": {"", map[string]string{"X-User-Type": "anonymous"}, []field{image, {name: "userId", value: "u"}}, "VERIFICATION_FAILED"},
		"anonymous, no user":   {"", map[string]string{"X-User-Type": "anonymous", "X-Device-Id": "d"}, []field{image}, "VERIFICATION_FAILED"},
		"not a form":           {"", map[string]string{"Content-Type": "application/json"}, []field{image}, "INVALID_REQUEST"},
		"another boundary":     {"", map[string]string{"Content-Type": "multipart/form-data; boundary=other"}, []field{image}, "INVALID_REQUEST"},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, &fakeCleaner{})
			r := s.webRequest(c.query, c.fields...)
			for k, v := range c.headers {
				r.Header.Set(k, v)
			}
			a := s.do(r)
			if a.status != 400 || a.errorName(t) != c.want {
				t.Errorf("got %d %s, want 400 %s", a.status, a.body, c.want)
			}
			if a.decode(t).Message == "" {
				t.Error("no message")
			}
		})
	}
}

func TestWebTakesTheLargestImage(t *testing.T) {
	page := append(picture(t, 40, 30), make([]byte, 5<<20)...)[:5<<20]
	s := start(t, &fakeCleaner{})
	if a := s.do(s.webRequest("", field{name: "image", data: page})); a.status != 200 {
		t.Errorf("got %d %s", a.status, a.body)
	}
}

func TestEngineRefusals(t *testing.T) {
	page := picture(t, 40, 30)
	for code, want := range map[unink.Code]struct {
		name         string
		web          int
		code, status int
	}{
		unink.ErrTooLarge:   {"FILE_TOO_LARGE", 400, 1004, 400},
		unink.ErrDimensions: {"IMAGE_TOO_LARGE", 400, 1004, 400},
		unink.ErrFormat:     {"INVALID_FILE_TYPE", 400, 1005, 400},
		unink.ErrBroken:     {"INVALID_IMAGE", 400, 1005, 400},
		unink.ErrNoContent:  {"INVALID_IMAGE", 400, 2003, 422},
		unink.ErrOption:     {"INVALID_PARAMETER", 400, 1001, 400},
		unink.ErrDevice:     {"INTERNAL_ERROR", 500, 2000, 500},
		unink.ErrInternal:   {"INTERNAL_ERROR", 500, 2000, 500},
	} {
		t.Run(string(code), func(t *testing.T) {
			s := start(t, refusing(code))
			if a := s.do(s.webRequest("", field{name: "image", data: page})); !is(
				t, a, want.web, want.name, 0,
			) {
				t.Errorf("web: got %d %s", a.status, a.body)
			}
			if a := s.do(s.developerRequest(mediaJSON(page, ""))); !is(t, a, want.status, "", want.code) {
				t.Errorf("developer: got %d %s", a.status, a.body)
			}
		})
	}
}

// A worker on another machine that fails is a failure of the inside to the web entry point.
func TestRemoteWorkerFails(t *testing.T) {
	bothEntryPoints(t, func(t *testing.T, send func(*service) *http.Request) {
		s := start(t, &fakeCleaner{clean: func(context.Context, []byte, unink.Options) (
			*unink.Result, error,
		) {
			return nil, fmt.Errorf("10.0.0.7 does not answer: %w", gate.ErrWorker)
		}})
		a := s.do(send(s))
		status := map[string]int{"web": 500, "developer": 502}[path.Base(t.Name())]
		if !is(t, a, status, "INTERNAL_ERROR", 3000) || bytes.Contains(a.body, []byte("10.0.0.7")) {
			t.Errorf("got %d %s", a.status, a.body)
		}
		s.stop()
		if log := s.logs.String(); !strings.Contains(log, "level=ERROR") ||
			!strings.Contains(log, "10.0.0.7") {
			t.Errorf("the log does not say what happened: %s", log)
		}
	})
}

func TestDeveloperSuccess(t *testing.T) {
	page := picture(t, 40, 30)
	for name, c := range map[string]struct {
		more string
		want unink.Options
	}{
		"plain":        {"", unink.Options{}},
		"keep":         {`,"keep_distortion":true,"keep_ori":true`, unink.Options{KeepDistortion: true, KeepOrientation: true}},
		"keep not":     {`,"keep_distortion":false,"keep_ori":false`, unink.Options{}},
		"colour":       {`,"preserve_color":true`, unink.Options{Finish: unink.Colour}},
		"colour not":   {`,"preserve_color":false`, unink.Options{}},
		"finish":       {`,"finish":"colour"`, unink.Options{Finish: unink.Colour}},
		"finish, both": {`,"preserve_color":true,"finish":"scan"`, unink.Options{Finish: unink.Colour}},
		"finish, name": {`,"preserve_color":false,"finish":"colour"`, unink.Options{Finish: unink.Colour}},
		"format":       {`,"output_format":"jpeg"`, unink.Options{Format: unink.JPEG}},
		"inks":         {`,"remove":["red","pencil"]`, unink.Options{Remove: unink.Red | unink.Pencil}},
		"no inks":      {`,"remove":[]`, unink.Options{}},
		"layers":       {`,"return_layers":true`, unink.Options{Layers: true}},
		"before":       {`,"return_before":true`, unink.Options{Before: true}},
		"white space":  {" \n", unink.Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			var seen unink.Options
			s := start(t, seeing(&seen))
			a := s.do(s.developerRequest(mediaJSON(page, c.more)))
			v := a.decode(t)
			if a.status != 200 || v.Code == nil || *v.Code != 0 || v.Message != "success" ||
				!bytes.Equal(v.Data.Data.MediaID, page) {
				t.Errorf("got %d %.200s", a.status, a.body)
			}
			if got := a.header.Get("Content-Type"); got != "application/json; charset=UTF-8" {
				t.Errorf("Content-Type %q", got)
			}
			if seen != c.want {
				t.Errorf("cleaned with %+v, want %+v", seen, c.want)
			}
			if layers := v.Data.Data.Layers; (layers != nil) != c.want.Layers {
				t.Errorf("layers: %v", layers)
			}
			if before := v.Data.Data.Before; (before != nil) != c.want.Before {
				t.Errorf("before: %q", before)
			}
		})
	}
}

// A caller that says it takes no picture gets JSON, and one that says it takes no JSON a picture.
func TestAcceptIsWeighed(t *testing.T) {
	page := picture(t, 40, 30)
	for accept, want := range map[string]string{
		"image/*":                           "image/png",
		"image/*;q=0":                       "application/json; charset=UTF-8",
		"image/*;q=0.0, */*":                "application/json; charset=UTF-8",
		"application/json;q=0, image/*":     "image/png",
		"application/json;q=0.1, image/png": "application/json; charset=UTF-8",
	} {
		s := start(t, seeing(new(unink.Options)))
		r := s.developerRequest(mediaJSON(page, ""))
		r.Header.Set("Accept", accept)
		a, err := s.try(r)
		if got := a.header.Get("Content-Type"); err != nil || a.status != 200 || got != want {
			t.Errorf("Accept: %s: %d, %s, want %s (%v)", accept, a.status, got, want, err)
		}
	}
}

// Keys mean what they are called: another case is another key.
func TestKeysAreTakenAsTheyAreWritten(t *testing.T) {
	page := picture(t, 40, 30)
	s := start(t, seeing(new(unink.Options)))
	for _, more := range []string{`,"Keep_ori":true`, `,"Media_id":""`, `,"REMOVE":[]`} {
		is(t, s.do(s.developerRequest(mediaJSON(page, more))), 400, "API_ERROR", 1001)
	}
}

// A form's remove without a value is all inks, as is the list without entries.
func TestRemoveWithoutInksIsAll(t *testing.T) {
	page := picture(t, 40, 30)
	seen := unink.Options{Remove: unink.Red}
	s := start(t, seeing(&seen))
	a := s.do(s.webRequest("", field{name: "image", data: page}, field{name: "remove"}))
	if a.status != 200 || seen.Remove != 0 {
		t.Errorf("%d %.200s: %v are removed", a.status, a.body, seen.Remove)
	}
}

func TestDeveloperRefusals(t *testing.T) {
	page := picture(t, 40, 30)
	whole := mediaJSON(page, "")
	key := func(more string) string { return mediaJSON(page, ","+more) }
	media := func(s string) string { return `{"media_id":"` + s + `"}` }
	b64 := base64.StdEncoding.EncodeToString(page)
	for name, c := range map[string]struct {
		header, value string // a header to set, or to remove when the value is empty
		body          string
		status, code  int
	}{
		"no token":            {"Authorization", "", whole, 401, 1008},
		"another token":       {"Authorization", "Bearer another-token-of-16", whole, 401, 1008},
		"malformed token":     {"Authorization", "Bearer short", whole, 401, 1006},
		"token with spaces":   {"Authorization", "Bearer " + testToken + " x", whole, 401, 1006},
		"no token in it":      {"Authorization", "Bearer", whole, 401, 1006},
		"another scheme":      {"Authorization", "Basic " + testToken, whole, 401, 1006},
		"no type":             {"Content-Type", "", whole, 415, 1002},
		"another type":        {"Content-Type", "text/plain", whole, 415, 1002},
		"another charset":     {"Content-Type", "application/json; charset=latin1", whole, 415, 1002},
		"broken type":         {"Content-Type", "application/json; charset", whole, 415, 1002},
		"empty body":          {"", "", "", 400, 1000},
		"blank body":          {"", "", " \n", 400, 1000},
		"not JSON":            {"", "", "media_id=1", 400, 1000},
		"cut short":           {"", "", whole[:30], 400, 1000},
		"trailing data":       {"", "", whole + "{}", 400, 1000},
		"a list":              {"", "", "[]", 400, 1001},
		"null":                {"", "", "null", 400, 1001},
		"unknown key":         {"", "", key(`"keep":true`), 400, 1001},
		"key in another case": {"", "", key(`"Keep_Ori":true`), 400, 1001},
		"key twice":           {"", "", key(`"keep_ori":true,"keep_ori":true`), 400, 1001},
		"flag as text":        {"", "", key(`"keep_ori":"true"`), 400, 1001},
		"flag as null":        {"", "", key(`"keep_ori":null`), 400, 1001},
		"flag as number":      {"", "", key(`"keep_distortion":1`), 400, 1001},
		"image as number":     {"", "", `{"media_id":7}`, 400, 1001},
		"image as null":       {"", "", `{"media_id":null}`, 400, 1001},
		"bad format":          {"", "", key(`"output_format":"gif"`), 400, 1001},
		"bad finish":          {"", "", key(`"finish":"shiny"`), 400, 1001},
		"empty ink":           {"", "", key(`"remove":[""]`), 400, 1001},
		"bad ink":             {"", "", key(`"remove":["purple"]`), 400, 1001},
		"ink as text":         {"", "", key(`"remove":"red"`), 400, 1001},
		"data prefix":         {"", "", media("data:image/png;base64," + b64), 400, 1001},
		"DATA prefix":         {"", "", media("DATA:image/png;base64," + b64), 400, 1001},
		"no image":            {"", "", "{}", 400, 1003},
		"empty image":         {"", "", media(""), 400, 1003},
		"parameter first":     {"", "", `{"keep_ori":1}`, 400, 1001},
		"too large":           {"", "", mediaJSON(make([]byte, 5<<20+1), ""), 400, 1004},
		"side too long":       {"", "", mediaJSON(picture(t, 4001, 20), ""), 400, 1004},
		"side too short":      {"", "", mediaJSON(picture(t, 20, 15), ""), 400, 1004},
		"not Base64":          {"", "", media("%%%%"), 400, 1005},
		"Base64 for URLs":     {"", "", media("-_-_"), 400, 1005},
		"white space":         {"", "", media(b64[:8] + `\n` + b64[8:]), 400, 1005},
		"not an image":        {"", "", mediaJSON([]byte("this is not a picture at all"), ""), 400, 1005},
		"broken image":        {"", "", mediaJSON(page[:20], ""), 400, 1005},
		"token before type":   {"Authorization", "", "not JSON", 401, 1008},
		"type before body":    {"Content-Type", "text/plain", "not JSON", 415, 1002},
		"body size first":     {"", "", strings.Repeat("x", developer.MaxBody+1), 413, 1007},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, &fakeCleaner{})
			r := s.developerRequest(c.body)
			if c.value == "" {
				r.Header.Del(c.header)
			} else {
				r.Header.Set(c.header, c.value)
			}
			a := s.do(r)
			if !is(t, a, c.status, "", c.code) {
				t.Errorf("got %d %s, want %d %d", a.status, a.body, c.status, c.code)
			}
			if got := a.header.Get("Content-Type"); got != "application/json; charset=UTF-8" {
				t.Errorf("Content-Type %q", got)
			}
			message := a.decode(t).Message
			if c.code == 1004 && (!strings.Contains(message, "under 5 MB") ||
				!strings.Contains(message, "under 4000 px")) {
				t.Errorf("the message lacks the limits: %s", message)
			}
		})
	}
}

func TestDeveloperTakesWhatItPromises(t *testing.T) {
	s := start(t, &fakeCleaner{})
	page := picture(t, 40, 30)
	largest := append(picture(t, 40, 30), make([]byte, 5<<20)...)[:5<<20]
	for name, body := range map[string]string{
		"longest side":    mediaJSON(picture(t, 4000, 16), ""),
		"most bytes":      mediaJSON(largest, ""),
		"no padding":      `{"media_id":"` + base64.RawStdEncoding.EncodeToString(page) + `"}`,
		"escaped slashes": strings.ReplaceAll(mediaJSON(page, ""), "/", `\/`),
	} {
		if a := s.do(s.developerRequest(body)); a.status != 200 {
			t.Errorf("%s: got %d %.200s", name, a.status, a.body)
		}
	}
	for _, contentType := range []string{"application/json", "application/json; charset=utf-8",
		"Application/JSON;charset=\"UTF-8\""} {
		r := s.developerRequest(mediaJSON(page, ""))
		r.Header.Set("Content-Type", contentType)
		if a := s.do(r); a.status != 200 {
			t.Errorf("%s: got %d %.200s", contentType, a.status, a.body)
		}
	}
}

// A body whose length is not told is cut off when it is too long, and answered.
func TestEndlessBody(t *testing.T) {
	s := start(t, &fakeCleaner{})
	r := s.developerRequest("")
	r.Body, r.ContentLength, r.GetBody = io.NopCloser(endless{}), -1, nil
	if a := s.do(r); !is(t, a, 413, "", 1007) {
		t.Errorf("got %d %s", a.status, a.body)
	}
	r = s.webRequest("")
	start := "--b\r\nContent-Disposition: form-data; name=\"other\"\r\n\r\n"
	r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
	r.Body, r.ContentLength, r.GetBody = io.NopCloser(
		io.MultiReader(strings.NewReader(start), endless{}),
	), -1, nil
	if a := s.do(r); !is(t, a, 400, "FILE_TOO_LARGE", 0) {
		t.Errorf("got %d %s", a.status, a.body)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// hugeHeader is a small PNG whose header promises w×h pixels.
func hugeHeader(t testing.TB, w, h int) []byte {
	t.Helper()
	data := picture(t, 16, 16)
	const chunk = 12 // where the header's chunk type stands, its 13 bytes and a checksum behind it
	binary.BigEndian.PutUint32(data[chunk+4:], uint32(w))
	binary.BigEndian.PutUint32(data[chunk+8:], uint32(h))
	binary.BigEndian.PutUint32(data[chunk+17:], crc32.ChecksumIEEE(data[chunk:chunk+17]))
	return data
}

// Sides that no decoder counts are too long, on both entry points; what a decoder says is told by
// the log alone.
func TestDecodersWordsAreForTheLog(t *testing.T) {
	s := start(t, &fakeCleaner{})
	for _, w := range []int{1 << 31, 1<<32 - 1} {
		page := hugeHeader(t, w, w)
		if a := s.do(s.webRequest("", field{name: "image", data: page})); !is(
			t, a, 400, "IMAGE_TOO_LARGE", 0,
		) {
			t.Errorf("%d: got %d %s", w, a.status, a.body)
		}
		if a := s.do(s.developerRequest(mediaJSON(page, ""))); !is(t, a, 400, "", 1004) {
			t.Errorf("%d: got %d %s", w, a.status, a.body)
		}
	}
	a := s.do(s.developerRequest(mediaJSON(picture(t, 32, 32)[:20], "")))
	if !is(t, a, 400, "", 1005) || bytes.Contains(a.body, []byte("EOF")) {
		t.Errorf("got %d %s", a.status, a.body)
	}
	s.stop()
	if !strings.Contains(s.logs.String(), "unexpected EOF") {
		t.Errorf("the log lacks the decoder's words: %s", s.logs)
	}
}
