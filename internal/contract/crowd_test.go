package contract

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestSlowSockets has strangers who send a request's header and 5 bytes of 5,000, and stop, again
// and again: 200 sockets from one address, and 2,000 from fifty. Who is known does not notice.
func TestSlowSockets(t *testing.T) {
	each(t, []string{"--per-minute", "1000", "--per-hour", "1000"}, func(t *testing.T, s *service) {
		u, c := s.newUser(t, 10), s.newCustomer(t)
		usual := s.calls(t, c, "")
		before := s.resident(t)
		attack := s.attack(t, 200, 1, slowUpload)
		s.mustRefuse(t, attack.address(0))
		times := s.calls(t, c, attack.address(0))
		s.memberCalls(t, u, attack.address(0))
		attack.end()

		attack = s.attack(t, 2000, 50, slowUpload)
		s.mustRefuse(t, attack.address(0))
		many := s.calls(t, c, attack.address(0))
		s.memberCalls(t, u, attack.address(0))
		after := s.resident(t)
		attack.end()
		ended := time.Now()
		// there is room for strangers
		s.upload(t, request{from: attack.address(0)}, "image", page).is(t, 400, "VERIFICATION_FAILED")
		recovered := time.Since(ended)

		t.Logf("a customer's call: %v, %v beside 200 slow sockets, %v beside 2,000; memory %d and %d "+
			"MiB; a stranger is answered %v after the end",
			usual, times, many, before, after, recovered)
		if slowest := max(times, many); slowest > 2*usual+100*time.Millisecond {
			t.Errorf("a call takes %v beside the attacks, and %v without", slowest, usual)
		}
		// 128 KiB a socket, the connection's own buffers and what is not collected yet included
		if after > before+256 {
			t.Errorf("memory is %d MiB beside 2,000 slow sockets, and was %d", after, before)
		}
	})
}

// TestUnreadAnswers has strangers, and accounts, who ask and ask on one connection and never read
// what they are answered. Nobody else notices.
func TestUnreadAnswers(t *testing.T) {
	each(t, []string{"--per-minute", "1000", "--per-hour", "1000"}, func(t *testing.T, s *service) {
		u, c := s.newUser(t, 10), s.newCustomer(t)
		before := s.resident(t)
		attacks := []*crowd{
			s.attack(t, 70, 2, unread("/api/catalogue", "")),
			s.attack(t, 65, 1, unread("/api/me", s.newUser(t, 1).session)),
			s.attack(t, 65, 1, unread("/api/me", s.newUser(t, 1).session)),
		}
		s.memberCalls(t, u, "")
		for range 10 {
			s.must(t, c.cleanup(media(smallPage))).code(t, 200, 0)
			// strangers at other addresses
			s.must(t, request{method: http.MethodGet, path: "/api/catalogue"}).is(t, 200, "")
		}
		if after := s.resident(t); after > before+256 {
			t.Errorf("memory is %d MiB beside answers that nobody reads, and was %d", after, before)
		}
		for _, a := range attacks {
			a.end()
		}
	})
}

// calls sends 50 pages one after another, each of which has to come back, and returns what one
// takes: the median.
func (s *service) calls(t *testing.T, c customer, from string) time.Duration {
	t.Helper()
	var took []time.Duration
	for range 50 {
		r := c.cleanup(media(smallPage))
		r.from = from
		began := time.Now()
		s.must(t, r).code(t, 200, 0)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// memberCalls are those of somebody who is logged in.
func (s *service) memberCalls(t *testing.T, u user, from string) {
	t.Helper()
	s.send(t, request{method: http.MethodGet, path: "/api/me", header: u.bearer(),
		from: from}).is(t, 200, "")
	s.upload(t, request{header: u.bearer(), from: from}, "image", smallPage).is(t, 200, "")
}

// mustRefuse waits until an address has all that one may have.
func (s *service) mustRefuse(t *testing.T, from string) {
	t.Helper()
	for late := time.Now().Add(patience); time.Now().Before(late); {
		a := s.must(t, request{method: http.MethodGet, path: "/api/me", from: from})
		if a.status == http.StatusServiceUnavailable {
			if !strings.Contains(string(a.body), "your network address") ||
				a.header.Get("Retry-After") == "" {
				t.Errorf("the refusal is %s", a.body)
			}
			return
		}
	}
	t.Fatal("an address may have more than its slow sockets take")
}

// crowd is an attack: sockets that wait for the end of the world.
type crowd struct {
	prefix string
	hold   hold
	mu     sync.Mutex
	ended  bool
	conns  map[net.Conn]bool
	run    sync.WaitGroup
}

// hold keeps a connection busy until the service closes it.
type hold func(conn net.Conn, from string)

// slowUpload begins an upload that does not come.
func slowUpload(conn net.Conn, from string) {
	fmt.Fprintf(conn, "POST /api/process-image HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+
		"multipart/form-data; boundary=b\r\n"+
		"X-Forwarded-For: %s\r\nContent-Length: 5000\r\n\r\n--b\r\n", from)
	_, _ = io.Copy(io.Discard, bufio.NewReader(conn)) // to the connection's end
}

// unread asks again and again, and reads no answer. The session may be empty.
func unread(path, session string) hold {
	return func(conn net.Conn, from string) {
		_ = conn.(*net.TCPConn).SetReadBuffer(4096)
		ask := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: %s\r\n", path, from)
		if session != "" {
			ask += "Authorization: Bearer " + session + "\r\n"
		}
		for err := error(nil); err == nil; {
			_, err = io.WriteString(conn, ask+"\r\n")
		}
	}
}

var crowds atomic.Int32

// attack opens so many sockets from so many addresses, and each anew that the service closes.
func (s *service) attack(t *testing.T, sockets, addresses int, hold hold) *crowd {
	a := &crowd{prefix: fmt.Sprintf("192.%d", crowds.Add(1)), hold: hold, conns: map[net.Conn]bool{}}
	for i := range sockets {
		a.run.Go(func() {
			for a.once(t, s, a.address(i%addresses)) {
			}
		})
	}
	t.Cleanup(a.end)
	return a
}

func (a *crowd) address(n int) string { return fmt.Sprintf("%s.%d.1", a.prefix, n) }

// once holds a socket until the service closes it, and reports whether the attack goes on.
func (a *crowd) once(t *testing.T, s *service, from string) bool {
	conn, err := net.Dial("tcp", "127.0.0.1:"+s.port)
	if err != nil {
		t.Errorf("no connection: %v", err)
		return false
	}
	defer func() { _ = conn.Close() }()
	if !a.keep(conn) {
		return false
	}
	a.hold(conn, from)
	return true
}

func (a *crowd) keep(conn net.Conn) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.conns[conn] = true
	return !a.ended
}

func (a *crowd) end() {
	a.mu.Lock()
	a.ended = true
	for conn := range a.conns {
		_ = conn.Close()
	}
	a.mu.Unlock()
	a.run.Wait()
}

// resident is the memory that the service's process has now, in MiB.
func (s *service) resident(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(after)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kib >> 10
}
