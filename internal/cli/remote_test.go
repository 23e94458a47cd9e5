package cli

import (
	"bytes"
	"encoding/json"
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
	"sync/atomic"
	"testing"
	"time"

	"unink/internal/pdf/pdftest"
)

// here runs the program in this process.
func here(t *testing.T, arguments ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, complaints bytes.Buffer
	env := &environment{ctx: t.Context(), stdin: strings.NewReader(""), stdout: &out,
		stderr: &complaints, open: openDrawing}
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

	put(t, filepath.Join(in, "two.pdf"),
		pdftest.Make(pdftest.Page{Text: "one"}, pdftest.Page{Text: "two"}))
	if code, out, complaints := here(t, "clean", filepath.Join(in, "two.pdf"), "-o",
		filepath.Join(remote, "two.pdf"), "--server", service); code != exitDone ||
		!strings.Contains(out, "2 pages") {
		t.Errorf("a PDF: exit code %d\n%s%s", code, out, complaints)
	}
	t.Setenv("UNINK_TOKEN", "another-token-of-nobody")
	code, _, complaints = here(t, "clean", in, "-o", remote, "--server", service)
	if code != exitFailed || !strings.Contains(complaints, "does not take the token") ||
		strings.Contains(complaints, "another-token") || strings.Count(complaints, "\n") > 4 {
		t.Errorf("a wrong token: exit code %d, %s", code, complaints)
	}
}

// The service's own address is enough: it tells where the token's customer is, which is under it.
func TestServerIsFoundByItsOwnAddress(t *testing.T) {
	storage := []string{"--data", t.TempDir()}
	service, stop := serve(t, openDrawing, storage...)
	defer stop()
	acme := newBuyer(t, storage, "acme")
	port := service[strings.LastIndexByte(service, ':'):]
	t.Setenv("UNINK_TOKEN", acme.token)
	in, out := filepath.Join(t.TempDir(), "page.png"), filepath.Join(t.TempDir(), "out")
	put(t, in, numbered(t, 1))
	for _, address := range []string{"http://localhost" + port, "http://127.0.0.1" + port,
		"http://" + acme.host + port} {
		if code, report, complaints := here(t, "clean", in, "-o", out, "--server",
			address); code != exitDone {
			t.Errorf("%s: exit code %d\n%s%s", address, code, report, complaints)
		}
	}
	code, _, complaints := here(t, "clean", in, "-o", out, "--server", "http://globex.localhost"+port)
	if code != exitFailed || !strings.Contains(complaints, "http://"+acme.host+port) {
		t.Errorf("another's domain: exit code %d, %s", code, complaints)
	}
	elsewhere := httptest.NewServer(http.RedirectHandler("https://acme.example.com:8443/cleanup",
		http.StatusMovedPermanently))
	defer elsewhere.Close()
	code, _, complaints = here(t, "clean", in, "-o", out, "--server", elsewhere.URL)
	if code != exitFailed || !strings.Contains(complaints, "https://acme.example.com:8443") {
		t.Errorf("another scheme and port: exit code %d, %s", code, complaints)
	}
}

// Answers are lost after the page was charged, connections are cut and turns have to be waited for:
// each page comes back and is charged once.
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
	if code, report, complaints := here(t, "clean", in, "-o", out, "--server", front.URL, "-j",
		"4"); code != exitDone {
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

func fails(status, code int, after string) func(w http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":"API_ERROR","code":%d,"message":"it says %d"}`, code, code)
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
		_ = json.NewEncoder(w).Encode(
			map[string]any{"code": 0, "data": map[string]any{
				"data": map[string]any{"mediaId": numbered(t, 3)},
			}},
		)
	}))
	defer server.Close()
	in, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	for i := range 20 {
		put(t, filepath.Join(in, fmt.Sprintf("%d.png", i)), numbered(t, i))
	}
	t.Setenv("UNINK_TOKEN", "token")
	code, _, complaints := here(t, "clean", in, "-o", out, "--server", server.URL, "-j", "1")
	if code != exitSomeFailed || !strings.Contains(complaints, "stopped: the credits are used up") ||
		n.Load() != 3 || len(visible(t, out)) != 2 {
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
		if code, _, complaints := here(
			t, append([]string{"clean", in}, arguments...)...,
		); code != exitUsage || strings.Contains(complaints, "hunter2") {
			t.Errorf("%s: exit code %d, %s", name, code, complaints)
		}
	}
}
