package contract

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestTooSlow has a deadline that no page can meet, and uploads that do not go on.
func TestTooSlow(t *testing.T) {
	each(t, []string{"--deadline", "1ms", "--upload-timeout", "500ms"},
		func(t *testing.T, s *service) {
			u, c := s.newUser(t, 1), s.newCustomer(t)
			s.upload(t, request{header: u.bearer()}, "image", page).is(t, 408, "REQUEST_TIMEOUT")
			if got := s.credits(t, u); got != 1 {
				t.Errorf("%d credits left of 1 after a time-out", got)
			}
			a := s.send(t, c.cleanup(media(page)))
			a.code(t, 504, 2001)
			a.cost(t, 0, 500)

			contentType, _ := form(t, "image", page)
			slow := s.begin(t, "/api/process-image", "localhost", "Content-Type: "+contentType,
				"Authorization: Bearer "+u.session)
			s.finish(t, slow).is(t, 408, "REQUEST_TIMEOUT")
			slow = s.begin(t, "/cleanup", c.host, "Content-Type: application/json",
				"Authorization: Bearer "+c.token)
			s.finish(t, slow).code(t, 504, 2001)
			if l := s.ledger(t, c.id); l.sum() != 500 || l.count("settle") != 0 {
				t.Errorf("the ledger after time-outs: %+v", l.Entries)
			}
			s.audit(t)
		})
}

// TestBusy has one place, which an upload that does not come leaves free, and a page takes.
func TestBusy(t *testing.T) {
	flags := []string{"--workers", "1", "--queue", "0", "--max-requests", "1",
		"--upload-timeout", "3s"}
	each(t, flags, func(t *testing.T, s *service) {
		u, c := s.newUser(t, 2), s.newCustomer(t)
		contentType, _ := form(t, "image", page)
		slow := s.begin(t, "/api/process-image", "localhost", "Content-Type: "+contentType,
			"Authorization: Bearer "+u.session)
		s.send(t, c.cleanup(media(page))).code(t, 200, 0)
		s.finish(t, slow).is(t, 408, "REQUEST_TIMEOUT")

		for !refuses(t, s, c) {
		}
	})
}

// refuses has others refused while a customer's page takes the only place. It is false where the
// page was done before both had their answers.
func refuses(t *testing.T, s *service, c customer) bool {
	t.Helper()
	u, other := s.newUser(t, 1), s.newCustomer(t)
	done := make(chan answer, 1)
	go func() {
		a, err := s.try(c.cleanup(media(string(encoded(drawn(3000, 3000, true))))))
		if err != nil {
			t.Error(err)
		}
		done <- a
	}()
	s.working(t)
	web, developer := s.upload(t, request{header: u.bearer()}, "image", page),
		s.send(t, other.cleanup(media(page)))
	under := len(done) == 0
	if a := <-done; a.status != http.StatusOK {
		t.Errorf("the page that takes the place: %d %.200s", a.status, a.body)
	}
	if !under {
		return false
	}
	web.is(t, 503, "SERVICE_UNAVAILABLE")
	developer.code(t, 503, 4000)
	for _, a := range []answer{web, developer} {
		if a.header.Get("Retry-After") == "" ||
			!strings.Contains(string(a.body), "as many requests under way as it can hold") {
			t.Errorf("%v %s", a.header, a.body)
		}
	}
	if l := s.ledger(t, other.id); l.sum() != 500 {
		t.Errorf("the ledger: %+v", l.Entries)
	}
	return true
}

// begin sends a request's header, and returns when the service waits for its body.
func (s *service) begin(t *testing.T, path, host string, headers ...string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", "127.0.0.1:"+s.port)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 1000\r\nExpect: "+
		"100-continue\r\n", path, host)
	for _, h := range headers {
		fmt.Fprintf(conn, "%s\r\n", h)
	}
	fmt.Fprint(conn, "\r\n")
	const goOn = "HTTP/1.1 100 Continue\r\n\r\n"
	got := make([]byte, len(goOn))
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != goOn {
		t.Fatalf("%q %v", got, err)
	}
	return conn
}

// finish sends a little of the body, and returns what the service says of the rest.
func (s *service) finish(t *testing.T, conn net.Conn) answer {
	t.Helper()
	fmt.Fprint(conn, "{")
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: res.StatusCode, header: res.Header, body: body}
	s.concluded(t, a)
	return a
}
