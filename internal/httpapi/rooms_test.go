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
	"testing/synctest"
	"time"

	"unink/internal/credit"
)

func TestStrangersAreTheirNetworks(t *testing.T) {
	for a, b := range map[string]string{
		"192.0.2.1": "192.0.2.1/32", "2001:db8:1:2::1": "2001:db8:1:2::/64",
		"2001:db8:1:2:ffff::": "2001:db8:1:2::/64", "2001:db8:1:3::1": "2001:db8:1:3::/64",
	} {
		if got := stranger(netip.MustParseAddr(a)); got != (holder{name: b}) {
			t.Errorf("%s is %+v, want %s", a, got, b)
		}
	}
}

// Strangers have no more than half of anything, and one of them a quarter of it; what they leave is
// anybody's who is known.
func TestRoomsAreShared(t *testing.T) { synctest.Test(t, roomsAreShared) }

func roomsAreShared(t *testing.T) {
	const requests = 8
	r := newRooms(requests)
	enter := func(name string, known bool) *stay {
		s, err := r.admit(holder{name, known})
		if err != nil {
			return nil
		}
		return s
	}
	one := []*stay{enter("a", false), enter("a", false)}
	if enter("a", false) != nil {
		t.Error("a third request of one address, where a quarter is two, got in")
	}
	other := []*stay{enter("b", false), enter("b", false)}
	late := enter("c", false)
	for _, s := range append(one, other...) {
		if err := s.sit(t.Context()); err != nil {
			t.Errorf("a stranger within half of the places: %v", err)
		}
	}
	if late.sit(t.Context()) == nil {
		t.Error("strangers have more than half of the places")
	}
	if err := late.hold(maxDeveloperBody * requests / 2); err != nil || one[0].hold(1) == nil {
		t.Errorf("half of the bytes: %v; and one more got in", err)
	}
	for i := range requests / 2 {
		s := enter("ann", true)
		if err := s.sit(t.Context()); err != nil {
			t.Errorf("a place of her own: %v", err)
		}
		if err := s.hold(maxDeveloperBody); err != nil {
			t.Errorf("bytes of her own: %v", err)
		}
		if i == 0 {
			defer s.leave()
		}
	}
	if enter("ann", true) != nil {
		t.Error("one account has more than half of the requests")
	}
	if bob := enter("bob", true); bob == nil || bob.sit(t.Context()) == nil || bob.hold(1) == nil {
		t.Error("all was taken, and somebody got in")
	}
	late.leave()
	one[0].leave()
	if again := enter("a", false); again == nil || again.sit(t.Context()) != nil ||
		again.hold(maxDeveloperBody) != nil {
		t.Error("what was given back is not there")
	}
}

// An answer that is not read takes no place, and no holder has more than a quarter of what may
// wait.
func TestAnswersTakeNoPlaces(t *testing.T) {
	r := newRooms(2)
	stays := map[string]*stay{}
	for _, name := range []string{"ann", "bob"} {
		s, err := r.admit(holder{name, true})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.sit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.answer(answerRoom / 2); err != nil {
			t.Fatal(err)
		}
		stays[name] = s
	}
	for range 2 {
		if err := r.places.take(t.Context(), holder{"cas", true}); err != nil {
			t.Errorf("answers that wait hold places: %v", err)
		}
	}
	if stays["ann"].answer(1) == nil {
		t.Error("a holder has more than a quarter of what may wait")
	}
	stays["ann"].leave()
	if len(r.answers.of) != 1 || r.answers.whole.taken != answerRoom/2 {
		t.Errorf("what was read still counts: %v, %d bytes", r.answers.of, r.answers.whole.taken)
	}
}

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
	s.cfg.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	url := serveTo(t, s.Handler())
	session := s.member("ann@example.com", "")
	c, token := s.bought("dev@example.com", "dev-shop")
	if _, _, err := s.services.Credits.Grant(
		t.Context(), credit.Grant{Owner: customerOwner(c.ID), Credits: 50, Expires: credit.Never,
			Source: "test"},
	); err != nil {
		t.Fatal(err)
	}
	const attacker = "192.0.2.66"
	for range s.cfg.MaxRequests / 4 {
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
		r.Host = slug + "." + s.cfg.Domain
		r.Header.Set("Content-Type", developerContentType)
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
	s := start(t, &fakeCleaner{}, func(c *Config) {
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

// A body has to come at some rate: bytes that trickle in do not buy the whole time of an upload.
func TestUploadsHaveAMinimumRate(t *testing.T) {
	u := &upload{most: time.Minute, began: time.Now()}
	for n, want := range map[int64]time.Duration{
		0: patienceForBody, 5: patienceForBody, minUploadRate: patienceForBody + time.Second,
		10 * minUploadRate: patienceForBody + 10*time.Second, 1000 * minUploadRate: time.Minute,
	} {
		u.bytes = n
		if got := u.deadline().Sub(u.began).Round(10 * time.Millisecond); got != want {
			t.Errorf("%d bytes may take %v, want %v", n, got, want)
		}
	}
	u.most = time.Second
	if got := u.deadline().Sub(u.began); got != time.Second {
		t.Errorf("beyond the time of an upload: %v", got)
	}
}

// A body that breaks the rules of its chunks is its sender's fault, on every kind of route.
func TestBrokenChunksAreTheSendersFault(t *testing.T) {
	s := newShop(t, 1)
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	for _, route := range []string{
		"POST /cleanup HTTP/1.1\r\nHost: " + s.Slug + "." + s.cfg.Domain + "\r\nAuthorization: Bearer " +
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
