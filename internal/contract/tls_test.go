package contract

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"unink/internal/certs/certstest"
	"unink/internal/store/storetest"
)

const (
	webHost   = "web.unink.test"
	apiDomain = "api.unink.test"
)

// authority is an ACME authority for the services of a test.
type authority struct{ *certstest.Authority }

func newAuthority(t *testing.T, validity time.Duration) authority {
	t.Helper()
	return authority{certstest.New(t, validity)}
}

// service prepares a service with TLS, on ports of its own unless they are given.
func (a authority) service(t *testing.T, address, tlsPort, httpPort string) *service {
	t.Helper()
	s := prepare(t, address, "--tls", "--public-url", "https://"+webHost, "--domain", apiDomain,
		"--http-listen", "127.0.0.1:"+httpPort, "--acme-directory", a.Directory, "--acme-roots", a.Trust,
		"--acme-email", "operator@example.com")
	s.port = tlsPort
	return s
}

// handshake greets a service as a client that looks for a host, and checks its certificate.
func (a authority) handshake(s *service, host string) (*x509.Certificate, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	dialer := tls.Dialer{Config: &tls.Config{ServerName: host, RootCAs: a.Roots}}
	if host == "" {
		dialer.Config = &tls.Config{InsecureSkipVerify: true}
	}
	c, err := dialer.DialContext(ctx, "tcp", "127.0.0.1:"+s.port)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	return c.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}

func (a authority) must(t *testing.T, s *service, host string) *x509.Certificate {
	t.Helper()
	c, err := a.handshake(s, host)
	if err != nil {
		t.Fatalf("%s: %v\n%s\n%s", host, err, s.log.text(), a.Log())
	}
	return c
}

func (a authority) ordered(t *testing.T, want int64) {
	t.Helper()
	if n := a.Orders(); n != want {
		t.Errorf("%d orders were made, want %d", n, want)
	}
}

// got is an answer and how it came.
type got struct {
	answer
	protocol string
	tls      *tls.ConnectionState
}

// get asks a service for a URL, whose host is found at 127.0.0.1 and the port.
func (a authority) get(t *testing.T, method, url, port string) got {
	t.Helper()
	client := &http.Client{
		Timeout:       patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: a.Roots}, ForceAttemptHTTP2: true,
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+port)
			},
		},
	}
	r, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got{answer{res.StatusCode, res.Header, body}, res.Proto, res.TLS}
}

// hostOf makes a customer, who is not the same each time, and returns its API domain.
func (s *service) hostOf(t *testing.T, name string) (host, id string) {
	t.Helper()
	var made struct {
		Customer struct{ ID, Slug string }
	}
	s.admin(t, &made, "customer", "add", name+"@example.com", "--name", name, "--slug", name,
		"--domain", apiDomain, "--public-url", "https://"+webHost)
	return made.Customer.Slug + "." + apiDomain, made.Customer.ID
}

// The service's own host and the domains of customers get a certificate by their first handshake
// and are served; nobody else causes an order; and what was ordered is kept over a restart.
func TestCertificatesOnDemand(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, address string) {
		a := newAuthority(t, 90*24*time.Hour)
		s := a.service(t, address, a.TLS, a.HTTP)
		s.start(t)
		acme, _ := s.hostOf(t, "acme-labs")
		closed, id := s.hostOf(t, "closed-labs")
		s.admin(t, nil, "customer", "revoke", id)

		t.Run("strangers", func(t *testing.T) {
			for _, host := range []string{
				"", "nobody." + apiDomain, closed, apiDomain, "x." + acme, "www." + apiDomain, "evil.example",
				strings.ToLower(id) + "." + apiDomain, "unink.test", "127.0.0.1", acme + ".evil.example",
			} {
				if _, err := a.handshake(s, host); err == nil {
					t.Errorf("%q got a certificate", host)
				}
			}
			a.ordered(t, 0)
		})
		own, customer := a.must(t, s, webHost), a.must(t, s, acme)
		a.ordered(t, 2)
		s.log.wait(t, "certificate", func(l line) bool {
			return l["msg"] == "certificate" && l["host"] == acme && l["renewal"] == false
		})
		if len(customer.DNSNames) != 1 || customer.DNSNames[0] != acme {
			t.Errorf("the certificate is for %q", customer.DNSNames)
		}
		t.Run("served", func(t *testing.T) { a.served(t, s, acme) })
		t.Run("plain", func(t *testing.T) { a.plain(t, acme) })
		s.stop(t)
		s.start(t)
		if again := a.must(t, s, acme); !again.Equal(customer) {
			t.Error("another certificate after a restart")
		}
		if again := a.must(t, s, webHost); !again.Equal(own) {
			t.Error("another certificate of the own host after a restart")
		}
		a.ordered(t, 2)
		s.stop(t)
		if text := s.log.text(); strings.Contains(text, "PRIVATE KEY") ||
			strings.Contains(text, "remote") {
			t.Errorf("the log tells a key or an address:\n%s", text)
		}
	})
}

// served asks by TLS for what both entry points have.
func (a authority) served(t *testing.T, s *service, customer string) {
	for url, status := range map[string]int{
		"https://" + webHost + "/": http.StatusOK, "https://" + webHost + "/healthz": http.StatusOK,
		"https://" + customer + "/account": http.StatusUnauthorized,
	} {
		answer := a.get(t, http.MethodGet, url, s.port)
		if answer.status != status || answer.protocol != "HTTP/1.1" ||
			answer.tls.Version < tls.VersionTLS12 {
			t.Errorf("%s: %s %d %.200s", url, answer.protocol, answer.status, answer.body)
		}
		if answer.header.Get("Strict-Transport-Security") == "" {
			t.Errorf("%s: no Strict-Transport-Security", url)
		}
	}
	old := tls.Dialer{Config: &tls.Config{ServerName: webHost, RootCAs: a.Roots,
		MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}}
	if c, err := old.DialContext(t.Context(), "tcp", "127.0.0.1:"+s.port); err == nil {
		_ = c.Close()
		t.Error("TLS 1.1 is spoken")
	}
}

// plain asks without TLS.
func (a authority) plain(t *testing.T, customer string) {
	for _, c := range []struct {
		method, url string
		status      int
		location    string
	}{
		{http.MethodGet, "http://" + webHost + "/pricing?a=b%20c", http.StatusMovedPermanently, "https://" + webHost + "/pricing?a=b%20c"},
		{http.MethodHead, "http://" + customer + ":80/", http.StatusMovedPermanently, "https://" + customer + "/"},
		{http.MethodGet, "http://" + webHost + "//evil.example/", http.StatusMovedPermanently, "https://" + webHost + "//evil.example/"},
		{http.MethodPost, "http://" + customer + "/cleanup", http.StatusForbidden, ""},
		{http.MethodGet, "http://evil.example/", http.StatusNotFound, ""},
		{http.MethodGet, "http://" + webHost + "/.well-known/acme-challenge/abc", http.StatusMovedPermanently, "https://" + webHost + "/.well-known/acme-challenge/abc"},
	} {
		answer := a.get(t, c.method, c.url, a.HTTP)
		if answer.status != c.status || answer.header.Get("Location") != c.location {
			t.Errorf("%s %s: %d %q %.100s", c.method, c.url, answer.status, answer.header.Get("Location"),
				answer.body)
		}
		if answer.header.Get("X-Content-Type-Options") != "nosniff" ||
			answer.header.Get("Strict-Transport-Security") != "" {
			t.Errorf("%s %s: %v", c.method, c.url, answer.header)
		}
	}
}

// Two services on one database: of handshakes with both at once one makes an order, each answers
// the other's challenges, and both have the same certificate.
func TestServicesShareCertificates(t *testing.T) {
	a := newAuthority(t, 90*24*time.Hour)
	address := storetest.Postgres(t)
	first := a.service(t, address, a.TLS, a.HTTP)
	second := a.service(t, address, freePort(t), freePort(t)) // where the authority does not look
	second.storage = first.storage
	first.start(t)
	second.start(t)
	var hosts []string
	for n := range 3 {
		host, _ := first.hostOf(t, fmt.Sprintf("labs-%d", n))
		hosts = append(hosts, host)
	}
	for n, host := range hosts {
		var got [4]*x509.Certificate
		var group sync.WaitGroup
		for i := range got {
			group.Go(func() {
				var err error
				if got[i], err = a.handshake([]*service{second, first}[i%2], host); err != nil {
					t.Errorf("%s: %v", host, err)
				}
			})
		}
		group.Wait()
		if t.Failed() {
			t.Fatalf("%s\n%s\n%s", first.log.text(), second.log.text(), a.Log())
		}
		for _, c := range got {
			if !c.Equal(got[0]) {
				t.Errorf("%s has two certificates", host)
			}
		}
		a.ordered(t, int64(n+1))
	}
	alone, _ := first.hostOf(t, "labs-alone")
	ordered := a.must(t, second, alone) // whose challenge the first answers
	if !a.must(t, first, alone).Equal(ordered) {
		t.Error("the first service has another certificate than the second, which ordered it")
	}
	a.ordered(t, int64(len(hosts)+1))
	first.stop(t)
	second.stop(t)
}

// A certificate near its end is renewed while callers come, who always find a good one.
func TestCertificateIsRenewed(t *testing.T) {
	a := newAuthority(t, 20*time.Second)
	s := a.service(t, storetest.SQLite(t), a.TLS, a.HTTP)
	s.start(t)
	first := a.must(t, s, webHost)
	late := time.NewTimer(2 * patience)
	defer late.Stop()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for a.must(t, s, webHost).Equal(first) {
		select {
		case <-again.C:
		case <-late.C:
			t.Fatalf("it was not renewed\n%s", s.log.text())
		}
	}
	s.stop(t)
}
