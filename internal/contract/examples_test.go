package contract

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"unink/internal/store/storetest"
)

// TestExamples runs the programs of examples/ as a customer does. They cannot see which database is
// behind the service.
func TestExamples(t *testing.T) {
	t.Parallel()
	s := prepare(t, storetest.SQLite(t))
	s.start(t)
	for name, command := range exampleClients(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			example{s, s.newCustomer(t), command}.test(t)
		})
	}
}

// TestExampleOfPDF runs the program for whole PDFs, again with the same PDF, and with what is none.
func TestExampleOfPDF(t *testing.T) {
	t.Parallel()
	s := prepare(t, storetest.SQLite(t))
	s.start(t)
	c := s.newCustomer(t)
	result := filepath.Join(t.TempDir(), "clean.pdf")
	run := func(document string) (stderr string, err error) {
		exam := filepath.Join(t.TempDir(), "exam.pdf")
		if err := os.WriteFile(exam, []byte(document), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		program := exec.CommandContext(ctx, "sh", filepath.Join("..", "..", "examples", "pdf.sh"), exam,
			result)
		program.Env = append(os.Environ(), "UNINK_URL=http://"+c.host+":"+s.port,
			"UNINK_TOKEN="+c.token, "http_proxy=", "HTTP_PROXY=")
		program.WaitDelay = time.Second
		var b strings.Builder
		program.Stderr = &b
		err = program.Run()
		return b.String(), err
	}
	for range 2 {
		if stderr, err := run(examOf(2)); err != nil || stderr != "" {
			t.Fatalf("%v: %s", err, stderr)
		}
		if data, err := os.ReadFile(result); err != nil || !bytes.HasPrefix(data, []byte("%PDF-")) {
			t.Errorf("%.20q (%v) is no PDF", data, err)
		}
	}
	if l := s.ledger(t, c.id); l.sum() != 498 {
		t.Errorf("the ledger of two pages that were sent twice: %+v", l.Entries)
	}
	if stderr, err := run("no PDF"); err == nil || !strings.Contains(stderr, "HTTP 4") {
		t.Errorf("of no PDF it says %q (%v)", stderr, err)
	}
}

// exampleClients are the commands that start the examples, before their arguments.
func exampleClients(t *testing.T) map[string][]string {
	t.Helper()
	compiled := filepath.Join(t.TempDir(), "clean")
	build := exec.Command("go", "build", "-o", compiled, "./examples/go")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	folder := filepath.Join("..", "..", "examples")
	clients := map[string][]string{
		"curl":       {"sh", filepath.Join(folder, "clean.sh")},
		"Go":         {compiled},
		"Python":     {"python3", filepath.Join(folder, "clean.py")},
		"JavaScript": {"node", filepath.Join(folder, "clean.mjs")},
	}
	for _, program := range []string{"sh", "curl", "jq", "python3", "node"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%v; deploy/test/services.sh installs it", err)
		}
	}
	return clients
}

// example is one of the programs, and who calls it.
type example struct {
	s       *service
	c       customer
	command []string
}

func (e example) test(t *testing.T) {
	result := filepath.Join(t.TempDir(), "clean.png")
	cleaned := func(f *front) {
		t.Helper()
		if stderr, status := e.run(t, f, e.c.token, result); status != 0 || stderr != "" {
			t.Fatalf("exit %d: %s", status, stderr)
		}
		data, err := os.ReadFile(result)
		if err != nil {
			t.Fatal(err)
		}
		isPage(t, data)
		if err := os.Remove(result); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(f *front, token, says string) {
		t.Helper()
		stderr, status := e.run(t, f, token, result)
		if status != 1 || !strings.Contains(stderr, says) || strings.Contains(stderr, token) {
			t.Errorf("exit %d, want 1 and %q: %s", status, says, stderr)
		}
		if _, err := os.Stat(result); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a result in spite of the error: %v", err)
		}
	}

	direct := e.s.front(t)
	cleaned(direct)
	refused(direct, forged(e.c.token), "HTTP 401, code 1006: invalid signature")
	for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		began, busy := time.Now(), e.s.front(t, status)
		cleaned(busy)
		if waited := time.Since(began); busy.requests.Load() != 2 || waited < time.Second {
			t.Errorf("after %d: %d requests in %v, want 2 and the time in Retry-After between them", status,
				busy.requests.Load(), waited)
		}
	}
	closed := e.s.front(t, slices.Repeat([]int{http.StatusServiceUnavailable}, 9)...)
	refused(closed, e.c.token, "HTTP 503, code 4000: base server error")
	if n := closed.requests.Load(); n != 4 {
		t.Errorf("%d requests to a service that stays busy, want 4", n)
	}
	if l := e.s.ledger(t, e.c.id); l.count("settle") != 1 || l.sum() != 499 {
		t.Errorf("the ledger of one page that was sent three times: %+v", l.Entries)
	}
}

// run cleans a page at the customer's host name, as far as the client can tell.
func (e example) run(t *testing.T, f *front, token, result string) (stderr string, status int) {
	t.Helper()
	picture := filepath.Join(t.TempDir(), "page.png")
	if err := os.WriteFile(picture, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, e.command[0],
		append(e.command[1:len(e.command):len(e.command)], picture, result)...)
	c.Env = append(os.Environ(), "UNINK_URL=http://"+e.c.host+":"+f.port, "UNINK_TOKEN="+token,
		"http_proxy=", "HTTP_PROXY=")
	c.WaitDelay = time.Second // for what the shell has started, should it be killed
	var b bytes.Buffer
	c.Stderr = &b
	out, err := c.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if len(out) > 0 {
		t.Errorf("prints %q", out)
	}
	f.concluded(t, e.s)
	return b.String(), c.ProcessState.ExitCode()
}

// front stands before the service on a port of its own, at the customer's host name.
type front struct {
	*httptest.Server
	port     string
	requests atomic.Int32
	answers  chan answer // the service's
}

// front answers the first requests itself, with these statuses, and hands on the rest.
func (s *service) front(t *testing.T, busy ...int) *front {
	t.Helper()
	to, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	f := &front{answers: make(chan answer, 8)}
	proxy := &httputil.ReverseProxy{
		Transport: s.client.Transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host
		},
		ModifyResponse: func(r *http.Response) error {
			f.answers <- answer{header: r.Header}
			return nil
		},
	}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(f.requests.Add(1))
		if n > len(busy) {
			proxy.ServeHTTP(w, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(busy[n-1])
		_, _ = io.WriteString(
			w, `{"error":"API_ERROR","code":4000,"message":"base server error: a test"}`,
		)
	}))
	t.Cleanup(f.Close)
	_, f.port, _ = strings.Cut(f.Listener.Addr().String(), ":")
	return f
}

// concluded waits until the service has written down what it answered.
func (f *front) concluded(t *testing.T, s *service) {
	t.Helper()
	select {
	case a := <-f.answers:
		s.concluded(t, a)
	default: // nothing came through
	}
}
