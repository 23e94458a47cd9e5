package contract

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"unink/internal/store/storetest"
)

// TestTooSlow has a deadline that no page can meet, and uploads that do not go on.
func TestTooSlow(t *testing.T) {
	each(t, []string{"--deadline", "1ms", "--upload-timeout", "500ms"}, func(t *testing.T, s *service) {
		u, c := s.newUser(t, 1), s.newCustomer(t)
		s.upload(t, request{header: u.bearer()}, "image", page).is(t, 408, "REQUEST_TIMEOUT")
		if got := s.credits(t, u); got != 1 {
			t.Errorf("%d credits left of 1 after a time-out", got)
		}
		a := s.send(t, c.cleanup(media(page)))
		a.code(t, 504, 2001)
		a.cost(t, 0, 500)

		contentType, _ := form(t, "image", page)
		slow := s.begin(t, "/api/process-image", "localhost", "Content-Type: "+contentType, "Authorization: Bearer "+u.session)
		s.finish(t, slow).is(t, 408, "REQUEST_TIMEOUT")
		slow = s.begin(t, "/cleanup", c.host, "Content-Type: application/json", "Authorization: Bearer "+c.token)
		s.finish(t, slow).code(t, 504, 2001)
		if l := s.ledger(t, c.id); l.sum() != 500 || l.count("settle") != 0 {
			t.Errorf("the ledger after time-outs: %+v", l.Entries)
		}
		s.audit(t)
	})
}

// TestBusy has room for one request, which a slow upload takes.
func TestBusy(t *testing.T) {
	flags := []string{"--workers", "1", "--queue", "0", "--max-requests", "1", "--upload-timeout", "3s"}
	each(t, flags, func(t *testing.T, s *service) {
		u, c := s.newUser(t, 1), s.newCustomer(t)
		contentType, _ := form(t, "image", page)
		slow := s.begin(t, "/api/process-image", "localhost", "Content-Type: "+contentType, "Authorization: Bearer "+u.session)
		a := s.upload(t, request{header: u.bearer()}, "image", page)
		a.is(t, 503, "SERVICE_UNAVAILABLE")
		if a.header.Get("Retry-After") == "" {
			t.Error("503 without Retry-After")
		}
		a = s.send(t, c.cleanup(media(page)))
		a.code(t, 503, 4000)
		if a.header.Get("Retry-After") == "" {
			t.Error("4000 without Retry-After")
		}
		s.finish(t, slow).is(t, 408, "REQUEST_TIMEOUT")
		if l := s.ledger(t, c.id); l.sum() != 500 {
			t.Errorf("the ledger: %+v", l.Entries)
		}
	})
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
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n", path, host)
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

// TestKilled ends the service while it works: nothing is charged without an answer.
func TestKilled(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, address string) {
		t.Parallel()
		s := prepare(t, address, "--per-customer", "100", "--queue", "100", "--max-requests", "200")
		s.start(t)
		const requests, credits = 30, 40
		c := s.customerWith(t, credits)
		r := c.cleanup(media(page))
		r.from = newAddress()
		cleaned := make(chan bool, requests)
		var sent sync.WaitGroup
		for range requests {
			sent.Go(func() {
				a, err := s.try(r)
				cleaned <- err == nil && a.status == http.StatusOK
			})
		}
		answers := 0
		for range 3 { // the others are under way
			if <-cleaned {
				answers++
			}
		}
		s.kill()
		sent.Wait()
		close(cleaned)
		for ok := range cleaned {
			if ok {
				answers++
			}
		}
		if answers == 0 || answers == requests {
			t.Fatalf("%d of %d were answered before the end", answers, requests)
		}
		s.start(t)
		l := s.ledger(t, c.id)
		settled, open := l.count("settle"), l.count("reserve")-l.count("settle")-l.count("release")
		if settled > answers {
			t.Errorf("%d settled, %d answered", settled, answers)
		}
		// On PostgreSQL other services may be at work: holds end with their lease.
		if embedded := len(s.storage) == 2; embedded && open != 0 {
			t.Errorf("%d holds are open after the start", open)
		}
		if l.sum() != credits-settled-open {
			t.Errorf("%d credits left of %d, with %d settled and %d held", l.sum(), credits, settled, open)
		}
		s.audit(t)
		developerCleaned(t, s.send(t, r))
		s.stop(t)
	})
}
