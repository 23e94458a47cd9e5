package address

import (
	"net/http"
	"net/netip"
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
			if got := Client(r, c.trusted).String(); got != c.want {
				t.Errorf("it is from %s, want %s", got, c.want)
			}
		})
	}
}

func TestAddressesAreLoggedAsNetworks(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.17:4000":          "192.0.2.0/24",
		"[2001:db8:1:2::7]:4000":   "2001:db8:1::/48",
		"[::ffff:192.0.2.17]:4000": "192.0.2.0/24",
		"[fe80::1%eth0]:4000":      "fe80::/48",
		"@":                        "::/48", // a socket without addresses
	} {
		if got := Network(Client(&http.Request{RemoteAddr: remote}, nil)); got != want {
			t.Errorf("%s: got %q, want %q", remote, got, want)
		}
	}
}

func TestAPI(t *testing.T) {
	for public, want := range map[string]string{
		"http://localhost:8080":    "http://acme.example.com:8080",
		"http://localhost":         "http://acme.example.com",
		"https://example.com":      "https://acme.example.com",
		"https://example.com:8443": "https://acme.example.com",
	} {
		if got := API(public, "example.com", "acme"); got != want {
			t.Errorf("%s: %s, want %s", public, got, want)
		}
	}
}
