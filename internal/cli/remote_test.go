package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"unink"
	"unink/internal/pdf/pdftest"
)

// here runs the program in this process.
func here(t *testing.T, arguments ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, complaints bytes.Buffer
	env := &environment{ctx: t.Context(), stdin: strings.NewReader(""), stdout: &out, stderr: &complaints, open: openDrawing}
	return run(env, arguments), out.String(), complaints.String()
}

// A service makes what this program makes here: the same files, report and exit code.
func TestCleanByServer(t *testing.T) {
	const token = "a-token-of-the-tests"
	service, stop := serve(t, openDrawing, "--open", "--dev-token", token)
	defer stop()
	t.Setenv("UNINK_TOKEN", token)
	in := t.TempDir()
	for i := range 5 {
		put(t, filepath.Join(in, fmt.Sprintf("box/%d.png", i)), numbered(t, i+1))
	}
	put(t, filepath.Join(in, "broken.jpg"), []byte("\xff\xd8\xff\xe0 no more"))
	put(t, filepath.Join(in, "notes.txt"), []byte("no page"))
	local, remote := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "out")
	options := []string{"clean", in, "--json", "--mask", "-j", "3"}
	localCode, localReport, _ := here(t, append(options, "-o", local)...)
	code, report, complaints := here(t, append(options, "-o", remote, "--server", service)...)
	if code != localCode || code != exitSomeFailed || complaints != "" {
		t.Errorf("exit code %d, here %d; %s", code, localCode, complaints)
	}
	want, got := visible(t, local), visible(t, remote)
	for name, data := range want {
		if !bytes.Equal(got[name], data) {
			t.Errorf("%s differs", name)
		}
	}
	if len(got) != len(want) || len(got) != 10 {
		t.Errorf("%d files, here %d, want 5 pages and their masks", len(got), len(want))
	}
	varies := regexp.MustCompile(`"ms":\{[^}]*\}|"seconds":[0-9.]+|"error":\{.*?\}`)
	count := func(report, folder string) map[string]int {
		lines := map[string]int{}
		for line := range strings.Lines(strings.ReplaceAll(report, folder, "OUT")) {
			lines[varies.ReplaceAllString(line, "")]++
		}
		return lines
	}
	if a, b := fmt.Sprint(count(report, remote)), fmt.Sprint(count(localReport, local)); a != b {
		t.Errorf("the report is\n%s\nhere it is\n%s", a, b)
	}

	put(t, filepath.Join(in, "two.pdf"), pdftest.Make(pdftest.Page{Text: "one"}, pdftest.Page{Text: "two"}))
	if code, out, complaints := here(t, "clean", filepath.Join(in, "two.pdf"), "-o", filepath.Join(remote, "two.pdf"), "--server", service); code != exitDone || !strings.Contains(out, "2 pages") {
		t.Errorf("a PDF: exit code %d\n%s%s", code, out, complaints)
	}
	t.Setenv("UNINK_TOKEN", "another-token-of-nobody")
	code, _, complaints = here(t, "clean", in, "-o", remote, "--server", service)
	if code != exitFailed || !strings.Contains(complaints, "does not take the token") || strings.Contains(complaints, "another-token") || strings.Count(complaints, "\n") > 4 {
		t.Errorf("a wrong token: exit code %d, %s", code, complaints)
	}
}

// Answers are lost after the page was charged, connections are cut and turns have to be waited for: each page comes back
// and is charged once.
func TestServerChargesOnce(t *testing.T) {
	storage := []string{"--data", t.TempDir()}
	service, stop := serve(t, openDrawing, append(storage, "--per-customer", "2")...)
	defer stop()
	acme := newBuyer(t, storage, "acme")
	behind, err := url.Parse(service)
	if err != nil {
		t.Fatal(err)
	}
	var n, lost, cut atomic.Int32
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(behind); r.Out.Host = acme.host },
		ModifyResponse: func(r *http.Response) error {
			if r.StatusCode == http.StatusOK && n.Add(1)%3 == 0 {
				if _, err := io.Copy(io.Discard, r.Body); err != nil { // so that it is charged
					return err
				}
				lost.Add(1)
				panic(http.ErrAbortHandler)
			}
			return nil
		},
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cut.Add(1)%5 == 0 {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	defer front.Close()
	in, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	const pages = 9
	for i := range pages {
		put(t, filepath.Join(in, fmt.Sprintf("%d.png", i)), numbered(t, i+1))
	}
	t.Setenv("UNINK_TOKEN", acme.token)
	if code, report, complaints := here(t, "clean", in, "-o", out, "--server", front.URL, "-j", "4"); code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, report, complaints)
	}
	if got := visible(t, out); len(got) != pages || lost.Load() == 0 {
		t.Errorf("%d results, %d answers lost", len(got), lost.Load())
	}
	var ledger struct{ Entries []struct{ Kind string } }
	settled := func() (n int) {
		onData(t, storage, &ledger, "ledger", acme.id, "--limit", "10000")
		for _, e := range ledger.Entries {
			if e.Kind == "settle" {
				n++
			}
		}
		return n
	}
	for end := time.Now().Add(late); settled() != pages; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d pages were charged, want %d", settled(), pages)
		}
	}
}

// answers answers requests one after the other, the last answer again and again.
type answers struct {
	mu   sync.Mutex
	list []func(w http.ResponseWriter)
	n    int
	keys map[string]bool
}

func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.keys[r.Header.Get("Idempotency-Key")] = true
	a.list[min(a.n, len(a.list)-1)](w)
	a.n++
}

func fails(status, code int, after string) func(w http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":"API_ERROR","code":%d,"message":"it says %d"}`, code, code)
	}
}

func TestServerIsAskedAgain(t *testing.T) {
	good := func(w http.ResponseWriter) {
		body := map[string]any{"code": 0, "message": "success", "data": map[string]any{"data": map[string]any{"mediaId": numbered(t, 3)}}}
		_ = json.NewEncoder(w).Encode(body)
	}
	many := func(n int, f func(http.ResponseWriter)) (list []func(http.ResponseWriter)) {
		for range n {
			list = append(list, f)
		}
		return list
	}
	for name, c := range map[string]struct {
		list    []func(http.ResponseWriter)
		asked   int // requests
		code    unink.Code
		failure string
		stops   bool
		longest time.Duration // of the pauses, at least
	}{
		"at once":               {list: many(1, good), asked: 1},
		"busy for long":         {list: append(many(20, fails(429, 4000, "7")), good), asked: 21, longest: 7 * time.Second},
		"overloaded":            {list: append(many(4, fails(503, 4000, "2")), good), asked: 5, longest: 2 * time.Second},
		"overloaded for ever":   {list: many(1, fails(503, 4000, "")), asked: mostTries, failure: "given up"},
		"workers fail":          {list: append(many(2, fails(502, 3000, "")), good), asked: 3},
		"too late":              {list: append(many(1, fails(504, 2001, "")), good), asked: 2},
		"used up":               {list: many(1, fails(402, 1008, "")), asked: 1, failure: "credits are used up", stops: true},
		"not authorised":        {list: many(1, fails(401, 1006, "")), asked: 1, failure: "UNINK_TOKEN", stops: true},
		"blank":                 {list: many(1, fails(422, 2003, "")), asked: 1, code: unink.ErrNoContent},
		"too many pixels":       {list: many(1, fails(400, 1004, "")), asked: 1, code: unink.ErrDimensions},
		"a defect":              {list: many(1, fails(500, 2000, "")), asked: 1, failure: "it says 2000"},
		"not a service of ours": {list: many(1, func(w http.ResponseWriter) { fmt.Fprint(w, "<html>") }), asked: 1, failure: "does not answer as", stops: true},
	} {
		t.Run(name, func(t *testing.T) {
			script := &answers{list: c.list, keys: map[string]bool{}}
			server := httptest.NewServer(script)
			defer server.Close()
			var stopped error
			r := newRemote(t.Context(), serverFlags{server.URL, "token"}, 1, func(err error) { stopped = err })
			defer r.http.CloseIdleConnections()
			var longest time.Duration
			r.pause = func(_ context.Context, d time.Duration) error {
				longest = max(longest, d)
				return nil
			}
			_, err := r.Clean(t.Context(), numbered(t, 1), unink.Options{})
			if want := c.failure == "" && c.code == ""; want != (err == nil) {
				t.Fatalf("got %v", err)
			}
			if err != nil && (!strings.Contains(err.Error(), c.failure) || c.code != "" && !errors.Is(err, c.code)) {
				t.Errorf("got %v", err)
			}
			if script.n != c.asked || len(script.keys) != 1 || script.keys[""] || (stopped != nil) != c.stops || longest < c.longest {
				t.Errorf("%d requests with %d keys, pauses up to %v, stopped by %v", script.n, len(script.keys), longest, stopped)
			}
		})
	}
}

// When the credits are used up, pages on their way are finished and no more are sent.
func TestServerStopsWhenCreditsAreUsedUp(t *testing.T) {
	var n atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if n.Add(1) > 2 {
			fails(402, 1008, "")(w)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"code": 0, "data": map[string]any{"data": map[string]any{"mediaId": numbered(t, 3)}}})
	}))
	defer server.Close()
	in, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	for i := range 20 {
		put(t, filepath.Join(in, fmt.Sprintf("%d.png", i)), numbered(t, i))
	}
	t.Setenv("UNINK_TOKEN", "token")
	code, _, complaints := here(t, "clean", in, "-o", out, "--server", server.URL, "-j", "1")
	if code != exitSomeFailed || !strings.Contains(complaints, "stopped: the credits are used up") || n.Load() != 3 || len(visible(t, out)) != 2 {
		t.Errorf("exit code %d, %d requests, %s", code, n.Load(), complaints)
	}
}

func TestServerFlags(t *testing.T) {
	in := filepath.Join(t.TempDir(), "x.png")
	if err := os.WriteFile(in, numbered(t, 1), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, arguments := range map[string][]string{
		"no token":   {"--server", "https://acme.example.com"},
		"no URL":     {"--server", "acme.example.com", "--token", "x"},
		"a password": {"--server", "https://u:hunter2@acme.example.com", "--token", "x"},
		"stages":     {"--server", "https://acme.example.com", "--token", "x", "--stages"},
	} {
		if code, _, complaints := here(t, append([]string{"clean", in}, arguments...)...); code != exitUsage || strings.Contains(complaints, "hunter2") {
			t.Errorf("%s: exit code %d, %s", name, code, complaints)
		}
	}
}
