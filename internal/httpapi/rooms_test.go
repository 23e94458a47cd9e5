package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"unink/internal/credit"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/setup"
)

// slowly sends a request's header and a little of its body from an address, and stops.
func slowly(t *testing.T, url, from string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "POST /api/process-image HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+
		"multipart/form-data; boundary=b\r\n"+
		"X-Forwarded-For: %s\r\nContent-Length: 5000\r\n\r\n--b\r\n", from)
}

func answerOf(t *testing.T, conn net.Conn) (status int, body string) {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// One address that sends nothing more takes its own share, and nobody else's: not that of its
// neighbours, nor of customers and people who are logged in behind the same address.
func TestSlowSocketsOfOneAddress(t *testing.T) {
	s := withAccounts(t)
	s.Config.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	url := serveTo(t, s.Handler())
	session := s.member("ann@example.com", "")
	c, token := s.bought("dev@example.com", "dev-shop")
	if _, _, err := s.Services.Credits.Grant(
		t.Context(), credit.Grant{Owner: call.CustomerOwner(c.ID), Credits: 50, Expires: credit.Never,
			Source: "test"},
	); err != nil {
		t.Fatal(err)
	}
	const attacker = "192.0.2.66"
	for range s.Config.MaxRequests / 4 {
		slowly(t, url, attacker)
	}
	for n := 0; ; n++ { // until the last of them has arrived
		if status, body := s.attempt(t, url, attacker, "", ""); status == http.StatusServiceUnavailable {
			if !strings.Contains(body, "your network address") ||
				!strings.Contains(body, "SERVICE_UNAVAILABLE") {
				t.Errorf("the refusal says %s", body)
			}
			break
		} else if n == 1000 {
			t.Fatalf("an address that holds its share gets %d %s", status, body)
		}
	}
	if status, body := s.attempt(t, url, "192.0.2.67", "", ""); status != http.StatusUnauthorized {
		t.Errorf("a neighbour got %d %s", status, body)
	}
	for range 5 {
		if status, body := s.attempt(t, url, attacker, "Bearer "+session, ""); status != http.StatusOK {
			t.Errorf("somebody who is logged in behind the address got %d %s", status, body)
		}
		if status, body := s.attempt(t, url, attacker, "Bearer "+token, c.Slug); status != http.StatusOK {
			t.Errorf("a customer behind the address got %d %s", status, body)
		}
	}
}

// attempt asks from an address for the account of whoever has a token.
func (s *accountServer) attempt(t *testing.T, url, from, authorization,
	slug string) (status int, body string) {
	t.Helper()
	r := request(t, http.MethodGet, url+"/api/me", nil)
	if slug != "" {
		r = request(t, http.MethodPost, url+"/cleanup",
			strings.NewReader(mediaJSON(picture(t, 32, 32), "")))
		r.Host = slug + "." + s.Config.Domain
		r.Header.Set("Content-Type", contentType)
	}
	r.Header.Set("X-Forwarded-For", from)
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	r.Close = true
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// A request whose body does not come holds no place: with a single one, others are answered
// meanwhile.
func TestBodiesAreAwaitedOutside(t *testing.T) {
	s := start(t, &fakeCleaner{}, func(c *setup.Config) {
		c.MaxRequests, c.UploadTimeout = 1, 2*time.Second
	})
	conn := s.dial()
	fmt.Fprintf(conn, "POST /cleanup HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+
		"%s\r\nContent-Type: application/json\r\n"+
		"Content-Length: 5000\r\nExpect: 100-continue\r\n\r\n", testToken)
	if _, err := io.ReadFull(conn, make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n"))); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if a := s.do(
			s.webRequest("", field{name: "image", data: picture(t, 32, 32)}),
		); a.status != http.StatusOK {
			t.Fatalf("got %d %s", a.status, a.body)
		}
	}
	if status, body := answerOf(t, conn); status != http.StatusGatewayTimeout {
		t.Errorf("the slow one got %d %s", status, body)
	}
}

// A body that breaks the rules of its chunks is its sender's fault, on every kind of route.
func TestBrokenChunksAreTheSendersFault(t *testing.T) {
	s := newShop(t, 1)
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	for _, route := range []string{
		"POST /cleanup HTTP/1.1\r\nHost: " + s.Slug + "." + s.Config.Domain + "\r\nAuthorization: Bearer " +
			s.token + "\r\nContent-Type: application/json",
		"POST /api/process-image HTTP/1.1\r\nHost: localhost\r\n" +
			"Content-Type: multipart/form-data; boundary=b",
		"POST /api/log-in HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json",
	} {
		for _, chunks := range []string{"0x2\r\n{}\r\n0\r\n\r\n", "zz\r\n", "2\r\n{}}\r\n0\r\n\r\n",
			strings.Repeat("1", 5000)} {
			conn, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(conn, "%s\r\nTransfer-Encoding: chunked\r\n\r\n%s", route, chunks)
			if status, body := answerOf(t, conn); status != http.StatusBadRequest {
				t.Errorf("%.30s with %.20q: %d %s", route, chunks, status, body)
			}
		}
	}
}
