package pdfjob

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func TestHooksNeverGoInside(t *testing.T) {
	p := newPoster(nil)
	for _, address := range []string{
		"http://127.0.0.1/", "http://127.8.8.8:8080/", "http://[::1]/", "http://0.0.0.0/", "http://[::]/",
		"http://10.0.0.1/", "http://172.16.0.1/", "http://192.168.1.1/", "http://[fd00::1]/",
		"http://169.254.169.254/latest/meta-data", "http://[fe80::1]/", "http://[fe80::1%25eth0]/",
		"http://100.64.0.1/", "http://198.18.0.1/", "http://192.0.2.1/", "http://224.0.0.1/",
		"http://255.255.255.255/", "http://[ff02::1]/", "http://[::ffff:127.0.0.1]/",
		"http://[::127.0.0.1]/", "http://[64:ff9b::a00:1]/", "http://[2002:a00:1::]/",
		"http://[2001:db8::1]/", "http://localhost/", "http://LOCALHOST./", "http://a.localhost/",
		"ftp://example.com/", "//example.com/", "https://", "example.com", "https://me:it@example.com/",
		"https://example.com/" + strings.Repeat("a", maxURL), "http://exa mple.com/",
	} {
		if p.check(address) == nil {
			t.Errorf("%s was taken", address)
		}
	}
	for _, address := range []string{"https://example.com/told?key=1", "http://93.184.215.14:8080/",
		"https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/"} {
		if err := p.check(address); err != nil {
			t.Errorf("%s was refused: %v", address, err)
		}
	}
}

// post has a poster send to an address, and says how that ended.
func post(t *testing.T, p poster, address string) error {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p.send(r)
}

// TestHooksAreLookedAtAfterTheirNames has a name that is on this machine: only its address tells.
func TestHooksAreLookedAtAfterTheirNames(t *testing.T) {
	reached := false
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		reached = true
	}))
	defer receiver.Close()
	_, port, err := net.SplitHostPort(receiver.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	err = post(t, newPoster(nil), "http://localhost:"+port)
	if err == nil || !strings.Contains(err.Error(), "private, local or reserved") || reached {
		t.Errorf("%v, reached: %v", err, reached)
	}
	allowed := newPoster([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"),
		netip.MustParsePrefix("::1/128")})
	if err := post(t, allowed, receiver.URL); err != nil || !reached {
		t.Errorf("%v, reached: %v", err, reached)
	}
}

func TestHooksFollowNoRedirects(t *testing.T) {
	reached := false
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		reached = true
	}))
	defer inside.Close()
	outside := httptest.NewServer(http.RedirectHandler(inside.URL, http.StatusTemporaryRedirect))
	defer outside.Close()
	err := post(t, newPoster([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}), outside.URL)
	if err == nil || reached {
		t.Errorf("%v, reached: %v", err, reached)
	}
}

func TestHookPausesGrowToABound(t *testing.T) {
	for tries := 1; tries < 100; tries++ {
		p := hookPause(tries)
		most := lastPause
		if tries <= 11 {
			most = min(lastPause, firstPause<<(tries-1))
		}
		if p > most || p < most*4/5 {
			t.Errorf("after %d tries %v, of %v", tries, p, most)
		}
	}
}
