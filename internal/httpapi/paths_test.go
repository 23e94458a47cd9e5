package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A customer's program that errs in the path hears so in its own envelope, and is sent nowhere.
func TestOtherPathsOfACustomersDomain(t *testing.T) {
	s := withAccounts(t)
	for _, path := range []string{"/cleanup/", "/v1/cleanup", "//cleanup", "/x/../cleanup",
		"/account/"} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Host, r.URL.Path = "dev-shop."+s.Config.Domain, path
		rec := &deadlineRecorder{httptest.NewRecorder()}
		s.Handler().ServeHTTP(rec, r)
		a := answer{rec.Code, rec.Header(), rec.Body.Bytes()}
		if !is(t, a, http.StatusNotFound, "", 1000) || a.header.Get("X-Credits-Charged") != "0" ||
			a.header.Get("X-Credits-Remaining") != "0" {
			t.Errorf("%s: got %d %v %s", path, a.status, a.header, a.body)
		}
	}
}

func TestWrongMethodsSayWhichAreRight(t *testing.T) {
	s := withAccounts(t)
	for name, want := range map[string]string{
		"GET /api/log-in": "POST", "POST /api/me": "GET, HEAD, DELETE",
		"PUT /api/me/sessions/x": "DELETE", "POST /openapi.json": "GET, HEAD",
		"POST /healthz": "GET, HEAD", "DELETE /": "GET, HEAD", "GET /cleanup": "POST",
		"DELETE /api/process-image": "POST",
	} {
		method, path, _ := strings.Cut(name, " ")
		rec := &deadlineRecorder{httptest.NewRecorder()}
		s.Handler().ServeHTTP(rec, httptest.NewRequest(method, path, nil))
		if rec.Code != http.StatusMethodNotAllowed || rec.Header().Get("Allow") != want {
			t.Errorf("%s: %d, Allow %q, want %q", name, rec.Code, rec.Header().Get("Allow"), want)
		}
	}
}
