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
		attack := s.attack(t, 200, 1)
		s.mustRefuse(t, attack.address(0))
		times := s.calls(t, c, attack.address(0))
		s.memberCalls(t, u, attack.address(0))
		attack.end()

		attack = s.attack(t, 2000, 50)
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
	mu     sync.Mutex
	ended  bool
	conns  map[net.Conn]bool
	run    sync.WaitGroup
}

var crowds int

// attack opens so many sockets from so many addresses, and each anew that the service closes.
func (s *service) attack(t *testing.T, sockets, addresses int) *crowd {
	crowds++
	a := &crowd{prefix: fmt.Sprintf("192.%d", crowds), conns: map[net.Conn]bool{}}
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
	fmt.Fprintf(conn, "POST /api/process-image HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+
		"multipart/form-data; boundary=b\r\n"+
		"X-Forwarded-For: %s\r\nContent-Length: 5000\r\n\r\n--b\r\n", from)
	_, _ = io.Copy(io.Discard, bufio.NewReader(conn)) // to the connection's end
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
