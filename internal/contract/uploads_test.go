package contract

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestUploads sends what no honest client does, and wants the right status, in bounded time and
// with bounded memory. Nothing of it is charged.
func TestUploads(t *testing.T) {
	flags := []string{"--per-minute", "1000", "--per-hour", "1000", "--per-customer", "100",
		"--max-requests", "16", "--workers", "1", "--queue", "1", "--upload-timeout", "3s"}
	each(t, flags, func(t *testing.T, s *service) {
		u, c := s.newUser(t, 3), s.newCustomer(t)
		s.upload(t, request{header: u.bearer()}, "image", page).cleaned(t, true)
		before := s.memory(t)
		header := s.dial(t) // sends a header that never ends, meanwhile
		fmt.Fprint(header, "POST /cleanup HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
		trickled := make(chan error, 1)
		began := time.Now()
		go func() { trickled <- trickle(header, "x", make(chan struct{})) }()

		t.Run("oversize", func(t *testing.T) { oversize(t, s, u, c) })
		t.Run("forms", func(t *testing.T) { hostileForms(t, s, u) })
		t.Run("Base64", func(t *testing.T) { lyingBase64(t, s, c) })
		t.Run("JSON", func(t *testing.T) { hostileJSON(t, s, c) })
		t.Run("headers", func(t *testing.T) { hostileHeaders(t, s) })
		t.Run("lengths", func(t *testing.T) { lyingLengths(t, s, u, c) })
		t.Run("slow body", func(t *testing.T) { slowBody(t, s, u, c) })
		t.Run("all at once", func(t *testing.T) { flood(t, s, u, c) })

		const most = 256 // MiB; what the flood sends is three times as much
		after := s.memory(t)
		t.Logf("memory of the service: %d MiB before the attacks, %d MiB at most after them",
			before, after)
		if after > before+most {
			t.Errorf("that is more than %d MiB for the attacks", most)
		}
		if err := <-trickled; err == nil || time.Since(began) > soon {
			t.Errorf("a header that never ends was read for %v: %v", time.Since(began), err)
		}
		s.upload(t, request{header: u.bearer()}, "image", page).cleaned(t, true)
		if got := s.credits(t, u); got != 1 {
			t.Errorf("%d credits left of 3 after two pages and attacks", got)
		}
		if l := s.ledger(t, c.id); l.sum() != 500 || l.count("settle") != 0 {
			t.Errorf("%d credits left of 500 after attacks only", l.sum())
		}
		s.audit(t)
	})
}

// memory is the most that the service's process has needed so far, in MiB.
func (s *service) memory(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(status), "VmHWM:")
	if !found {
		t.Fatalf("no VmHWM in %s", status)
	}
	kib, err := strconv.Atoi(strings.Fields(after)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kib >> 10
}

func (s *service) dial(t *testing.T) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", "127.0.0.1:"+s.port)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(2 * patience)); err != nil {
		t.Fatal(err)
	}
	return conn.(*net.TCPConn)
}

// raw sends a request as it stands, all of it before it reads, as simple clients do.
func (s *service) raw(t *testing.T, path, host string, headers []string,
	body io.Reader) (answer, error) {
	t.Helper()
	conn := s.dial(t)
	defer func() { _ = conn.Close() }()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nX-Forwarded-For: %s\r\n%s\r\n\r\n", path, host,
		newAddress(), strings.Join(headers, "\r\n"))
	if _, err := io.Copy(conn, body); err != nil {
		return answer{}, fmt.Errorf("while sending: %w", err)
	}
	return receive(conn)
}

func receive(conn net.Conn) (answer, error) {
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	return answer{status: res.StatusCode, header: res.Header, body: body}, err
}

// zeros is a body without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// filled is a text followed by so many bytes of filling that both together have a size.
func filled(text string, size int) io.Reader {
	return io.MultiReader(strings.NewReader(text), io.LimitReader(zeros{}, int64(size-len(text))))
}

// hostile is one request of the attacks, as a client sends it that knows where it may send.
func hostile(u user, c customer, web bool, size int,
	chunked bool) (path, host string, headers []string, body io.Reader) {
	text := `{"media_id":"`
	path, host, headers = "/cleanup", c.host,
		[]string{"Authorization: Bearer " + c.token, "Content-Type: application/json"}
	if web {
		text = part("image")
		path, host, headers = "/api/process-image", "localhost",
			[]string{"Authorization: Bearer " + u.session, "Content-Type: multipart/form-data; boundary=b"}
	}
	body = filled(text, size)
	if chunked {
		return path, host, append(headers, "Transfer-Encoding: chunked"),
			io.MultiReader(strings.NewReader(fmt.Sprintf("%x\r\n", size)), body,
				strings.NewReader("\r\n0\r\n\r\n"))
	}
	return path, host, append(headers, fmt.Sprintf("Content-Length: %d", size)), body
}

func part(name string) string {
	return "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n"
}

// oversize sends 16 MiB to where 5 are allowed.
func oversize(t *testing.T, s *service, u user, c customer) {
	for _, chunked := range []bool{false, true} {
		for _, web := range []bool{false, true} {
			path, host, headers, body := hostile(u, c, web, 16<<20, chunked)
			a, err := s.raw(t, path, host, headers, body)
			if err != nil {
				t.Fatalf("web %v, chunked %v: the answer could not be read: %v", web, chunked, err)
			}
			s.concluded(t, a)
			if web {
				a.is(t, 400, "FILE_TOO_LARGE")
			} else {
				a.code(t, 413, 1007)
				a.cost(t, 0, 500)
			}
		}
	}
}

func hostileForms(t *testing.T, s *service, u user) {
	repeated := func(name string, n int) string { return strings.Repeat(part(name)+"x\r\n", n) }
	for name, k := range map[string]struct{ form, want string }{
		"10,000 fields":          {repeated("x", 10_000), "MISSING_IMAGE"},
		"10,000 images":          {repeated("image", 10_000), "INVALID_PARAMETER"},
		"10,000 flags":           {repeated("isPdfProcessing", 10_000), "INVALID_PARAMETER"},
		"as many parts as fit":   {strings.Repeat("--b\r\n\r\n\r\n", 500_000), "MISSING_IMAGE"},
		"gigantic field":         {part("userId") + strings.Repeat("x", 5<<20) + "\r\n", "INVALID_PARAMETER"},
		"gigantic unknown field": {part("x") + strings.Repeat("x", 5<<20) + "\r\n", "MISSING_IMAGE"},
		"gigantic name":          {part(strings.Repeat("x", 5<<20)) + "\r\n", "MISSING_IMAGE"},
		"gigantic part's header": {"--b\r\nX: " + strings.Repeat("x", 5<<20) + "\r\n\r\n\r\n", "MISSING_IMAGE"},
		"100,000 part's headers": {"--b\r\n" + strings.Repeat("X: x\r\n", 100_000) + "\r\n\r\n", "INVALID_REQUEST"},
	} {
		t.Run(name, func(t *testing.T) {
			body := k.form + "--b--\r\n"
			a := s.send(t, request{path: "/api/process-image", header: u.bearer(),
				content: "multipart/form-data; boundary=b", body: []byte(body)})
			a.is(t, 400, k.want)
		})
	}
	t.Run("gigantic field, sent whole", func(t *testing.T) {
		const size = 16 << 20
		headers := []string{"Authorization: Bearer " + u.session,
			"Content-Type: multipart/form-data; boundary=b", "Transfer-Encoding: chunked"}
		body := io.MultiReader(strings.NewReader(fmt.Sprintf("%x\r\n", size)),
			filled(part("userId"), size), strings.NewReader("\r\n0\r\n\r\n"))
		a, err := s.raw(t, "/api/process-image", "localhost", headers, body)
		if err != nil {
			t.Fatal(err)
		}
		a.is(t, 400, "INVALID_PARAMETER")
	})
}

// lyingBase64 sends what begins as Base64 or as a picture, and is none.
func lyingBase64(t *testing.T, s *service, c customer) {
	good := base64.StdEncoding.EncodeToString([]byte(page))
	for name, k := range map[string]struct {
		media string
		code  int
	}{
		"padding alone":           {"====", 1005},
		"padding in the middle":   {good[:40] + "==" + good[40:], 1005},
		"too much padding":        {strings.TrimRight(good, "=") + "=====", 1005},
		"one digit too many":      {good[:40] + "A", 1005},
		"wrong at its end":        {strings.Repeat("A", 6<<20) + "!", 1005},
		"another alphabet":        {strings.Repeat("-_", 1000), 1005},
		"NUL":                     {good[:40] + `\u0000` + good[40:], 1005},
		"not UTF-8":               {good[:40] + "\xff\xfe" + good[40:], 1005},
		"tab":                     {good[:40] + `\t` + good[40:], 1005},
		"letters":                 {strings.Repeat("A", 6<<20), 1005},
		"a promise of pixels":     {base64.StdEncoding.EncodeToString([]byte(hollow(65_535, 65_535))), 1004},
		"more pixels than exist":  {base64.StdEncoding.EncodeToString([]byte(hollow(1<<31-1, 1<<31-1))), 1004},
		"sides that no int holds": {base64.StdEncoding.EncodeToString([]byte(hollow(1<<31, 1<<32-1))), 1004},
		"hollow":                  {base64.StdEncoding.EncodeToString([]byte(hollow(4000, 4000))), 1005},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.send(t, c.cleanup(`{"media_id":"`+k.media+`"}`))
			a.code(t, 400, k.code)
			a.cost(t, 0, 500)
		})
	}
}

func hostileJSON(t *testing.T, s *service, c customer) {
	for name, k := range map[string]struct {
		body string
		code int
	}{
		"deep":          {strings.Repeat("[", 6<<20), 1000},
		"deep in a key": {`{"remove":` + strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000) + "}", 1000},
		"gigantic key":  {`{"` + strings.Repeat("x", 6<<20) + `":1}`, 1001},
		"many keys":     {`{"x":1` + strings.Repeat(`,"x":1`, 1_000_000) + "}", 1001},
		"many inks":     {`{"remove":["red"` + strings.Repeat(`,"red"`, 1_000_000) + "]}", 1003},
		"long number":   {`{"keep_ori":` + strings.Repeat("9", 6<<20) + "}", 1001},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.send(t, c.cleanup(k.body))
			a.code(t, 400, k.code)
			if len(a.body) > 1000 {
				t.Errorf("an answer of %d bytes", len(a.body))
			}
		})
	}
}

// hostileHeaders sends headers that the HTTP server itself refuses, before the entry points see
// them.
func hostileHeaders(t *testing.T, s *service) {
	for name, header := range map[string]string{
		"gigantic":        "X: " + strings.Repeat("x", 1<<20),
		"many":            strings.Repeat("X: x\r\n", 100_000) + "X: x",
		"gigantic cookie": "Cookie: unink=" + strings.Repeat("x", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			if a, err := s.raw(t, "/api/process-image", "localhost", []string{header},
				strings.NewReader("")); err != nil || a.status != http.StatusRequestHeaderFieldsTooLarge {
				t.Errorf("got %d, %v", a.status, err)
			}
		})
	}
	t.Run("two lengths", func(t *testing.T) {
		headers := []string{"Content-Length: 5", "Content-Length: 6"}
		// The body is never read, so the connection may be reset once the answer is there.
		if a, err := s.raw(t, "/cleanup", "localhost", headers,
			strings.NewReader("hello")); a.status != 400 {
			t.Errorf("got %d, %v", a.status, err)
		}
	})
}

// lyingLengths ends bodies before what was announced.
func lyingLengths(t *testing.T, s *service, u user, c customer) {
	for _, web := range []bool{false, true} {
		for _, chunked := range []bool{false, true} {
			path, host, headers, body := hostile(u, c, web, 1<<20, chunked)
			conn := s.dial(t)
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\n%s\r\n\r\n", path, host,
				strings.Join(headers, "\r\n"))
			if _, err := io.CopyN(conn, body, 1000); err != nil {
				t.Fatal(err)
			}
			if err := conn.CloseWrite(); err != nil {
				t.Fatal(err)
			}
			a, err := receive(conn)
			if err != nil {
				t.Fatalf("web %v, chunked %v: %v", web, chunked, err)
			}
			if web {
				a.is(t, 400, "INVALID_REQUEST")
			} else {
				a.code(t, 400, 1000)
			}
		}
	}
}

// slowBody sends a byte from time to time, for longer than an upload may take.
func slowBody(t *testing.T, s *service, u user, c customer) {
	for _, web := range []bool{false, true} {
		path, host, headers, body := hostile(u, c, web, 1<<20, false)
		conn := s.dial(t)
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\n%s\r\n\r\n", path, host,
			strings.Join(headers, "\r\n"))
		if _, err := io.CopyN(conn, body, 100); err != nil {
			t.Fatal(err)
		}
		stop := make(chan struct{})
		go func() { _ = trickle(conn, "0", stop) }()
		began := time.Now()
		a, err := receive(conn)
		close(stop)
		if err != nil {
			t.Fatalf("web %v: %v", web, err)
		}
		if web {
			a.is(t, 408, "REQUEST_TIMEOUT")
		} else {
			a.code(t, 504, 2001)
		}
		if took := time.Since(began); took > soon/2 {
			t.Errorf("web %v: answered after %v, with three seconds for an upload", web, took)
		}
	}
}

// trickle writes the same byte again and again, until the connection ends or it is stopped.
func trickle(conn net.Conn, b string, stop <-chan struct{}) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := io.WriteString(conn, b); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-stop:
			return nil
		}
	}
}

// flood sends 768 MiB over 48 connections at once.
func flood(t *testing.T, s *service, u user, c customer) {
	var sent sync.WaitGroup
	for i := range 48 {
		sent.Go(func() {
			path, host, headers, body := hostile(u, c, i%2 == 0, 16<<20, i%4 < 2)
			a, err := s.raw(t, path, host, headers, body)
			switch {
			case err != nil:
				t.Errorf("the answer could not be read: %v", err)
			case a.status != 400 && a.status != 413 && a.status != 503:
				t.Errorf("got %d %.200s", a.status, a.body)
			}
		})
	}
	sent.Wait()
}
