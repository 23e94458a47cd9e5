package address

import (
	"net/http"
	"net/netip"
	"testing"
)

// FuzzHeaders reads the headers that tell addresses.
func FuzzHeaders(f *testing.F) {
	f.Add("198.51.100.7, 10.0.0.2", "acme.localhost:8080")
	f.Add("[::1%25eth0]:80,,fe80::1%a", "[::1]:80")
	f.Add("0x7f.1", "..")
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	f.Fuzz(func(t *testing.T, forwarded, host string) {
		r := &http.Request{RemoteAddr: "192.0.2.1:1",
			Header: http.Header{"X-Forwarded-For": {forwarded}}}
		if got := Client(r, trusted); got != netip.MustParseAddr("192.0.2.1") {
			t.Errorf("a stranger is %s", got)
		}
		r.RemoteAddr = "10.0.0.1:1"
		if got := Client(r, trusted); !got.IsValid() || got.Zone() != "" || got.Is4In6() ||
			Network(got) == "" {
			t.Errorf("%q is from %s", forwarded, got)
		}
		_ = Host(host)
	})
}
