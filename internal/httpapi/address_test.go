package httpapi

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

// Who a request is from is what the first peer that is not a trusted proxy is, whatever that peer
// claims.
func TestClientAddress(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for name, c := range map[string]struct {
		peer      string
		forwarded []string
		other     map[string]string
		trusted   []netip.Prefix
		want      string
	}{
		"no proxy":                         {peer: "192.0.2.1:5000", want: "192.0.2.1"},
		"a stranger's claim":               {peer: "192.0.2.1:5000", forwarded: []string{"198.51.100.7"}, want: "192.0.2.1"},
		"a stranger's claim to be trusted": {peer: "192.0.2.1:5000", forwarded: []string{"198.51.100.7, 10.0.0.1"}, want: "192.0.2.1"},
		"nobody is trusted":                {peer: "10.0.0.1:5000", forwarded: []string{"198.51.100.7"}, trusted: []netip.Prefix{}, want: "10.0.0.1"},
		"one proxy":                        {peer: "10.0.0.1:5000", forwarded: []string{"198.51.100.7"}, want: "198.51.100.7"},
		"a client's claim before a proxy":  {peer: "10.0.0.1:5000", forwarded: []string{"203.0.113.9, 198.51.100.7"}, want: "198.51.100.7"},
		"in a header of its own":           {peer: "10.0.0.1:5000", forwarded: []string{"203.0.113.9", "198.51.100.7"}, want: "198.51.100.7"},
		"a claim to be a proxy":            {peer: "10.0.0.1:5000", forwarded: []string{"203.0.113.9, 10.0.0.9, 198.51.100.7"}, want: "198.51.100.7"},
		"two proxies":                      {peer: "10.0.0.1:5000", forwarded: []string{"203.0.113.9, 198.51.100.7, 10.0.0.2"}, want: "198.51.100.7"},
		"proxies of both kinds":            {peer: "[fd00::1]:5000", forwarded: []string{"2001:db8::7, 10.0.0.2"}, want: "2001:db8::7"},
		"nothing but proxies":              {peer: "10.0.0.1:5000", forwarded: []string{"10.0.0.3, 10.0.0.2"}, want: "10.0.0.3"},
		"a proxy that says nothing":        {peer: "10.0.0.1:5000", want: "10.0.0.1"},
		"nonsense":                         {peer: "10.0.0.1:5000", forwarded: []string{"198.51.100.7, unknown"}, want: "10.0.0.1"},
		"nonsense before":                  {peer: "10.0.0.1:5000", forwarded: []string{"_hidden, 198.51.100.7"}, want: "198.51.100.7"},
		"empty":                            {peer: "10.0.0.1:5000", forwarded: []string{""}, want: "10.0.0.1"},
		"IPv6":                             {peer: "[2001:db8::1]:5000", want: "2001:db8::1"},
		"IPv4 on an IPv6 socket":           {peer: "[::ffff:192.0.2.1]:5000", want: "192.0.2.1"},
		"a proxy on an IPv6 socket":        {peer: "[::ffff:10.0.0.1]:5000", forwarded: []string{"::ffff:198.51.100.7"}, want: "198.51.100.7"},
		"a zone is not an identity":        {peer: "[fe80::1%eth0]:5000", want: "fe80::1"},
		"a forwarded zone":                 {peer: "10.0.0.1:5000", forwarded: []string{"fe80::1%a"}, want: "fe80::1"},
		"with a port":                      {peer: "10.0.0.1:5000", forwarded: []string{"198.51.100.7:49152"}, want: "198.51.100.7"},
		"IPv6 with a port":                 {peer: "10.0.0.1:5000", forwarded: []string{"[2001:db8::7]:49152"}, want: "2001:db8::7"},
		"IPv6 in brackets":                 {peer: "10.0.0.1:5000", forwarded: []string{"[2001:db8::7]"}, want: "2001:db8::7"},
		"not a socket":                     {peer: "@", forwarded: []string{"198.51.100.7"}, want: "::"},
		"other headers": {peer: "10.0.0.1:5000", other: map[string]string{
			"Forwarded": "for=198.51.100.7", "X-Real-Ip": "198.51.100.7", "Cf-Connecting-Ip": "198.51.100.7",
			"True-Client-Ip": "198.51.100.7",
		}, want: "10.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &http.Request{RemoteAddr: c.peer, Header: http.Header{"X-Forwarded-For": c.forwarded}}
			for name, value := range c.other {
				r.Header.Set(name, value)
			}
			if c.trusted == nil {
				c.trusted = trusted
			}
			if got := clientAddress(r, c.trusted).String(); got != c.want {
				t.Errorf("it is from %s, want %s", got, c.want)
			}
		})
	}
}

// A customer's program that errs in the path hears so in its own envelope, and is sent nowhere.
func TestOtherPathsOfACustomersDomain(t *testing.T) {
	s := withAccounts(t)
	for _, path := range []string{"/cleanup/", "/v1/cleanup", "//cleanup", "/x/../cleanup",
		"/account/"} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Host, r.URL.Path = "dev-shop."+s.cfg.Domain, path
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
