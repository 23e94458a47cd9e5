package contract

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"unink/internal/browsertest"
)

// siteFolder is where a plain web server has the site.
const siteFolder = "/school/unink/"

// TestSite uses the pages that `unink site` writes, from a folder of a server that has only files.
func TestSite(t *testing.T) {
	t.Parallel()
	dir := writeSite(t)
	// As a school's intranet without HTTPS: browsers allow more to localhost than to other hosts.
	known := chromedp.Flag("host-resolver-rules", "MAP intranet.example 127.0.0.1")
	chromium := browsertest.Start(t, known)
	t.Run("localhost", func(t *testing.T) {
		t.Parallel()
		server := serveSite(t, dir)
		url := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
		usesSite(t, server, browsertest.Open(t, chromium, url+siteFolder))
	})
	t.Run("without HTTPS", func(t *testing.T) {
		t.Parallel()
		url := strings.Replace(serveSite(t, dir).URL, "127.0.0.1", "intranet.example", 1)
		p := browsertest.Open(t, chromium, url+siteFolder)
		p.FrontReady()
		p.Is(`isSecureContext || 'serviceWorker' in navigator`, "false")
		p.Pick(p.File("a.png", picture(220, 120)))
		p.UntilLong(`states() == 'done'`)
	})
}

// usesSite cleans a picture at once, with threads after a reload, and a PDF without the server.
func usesSite(t *testing.T, server *httptest.Server, p *browsertest.Page) {
	p.FrontReady()
	p.Accessible()
	p.Pick(p.File("a.png", picture(220, 120)))
	p.UntilLong(`states() == 'done'`)
	p.Is(`crossOriginIsolated`, "false")

	document := p.File("a.pdf", browsertest.PDF(
		browsertest.PDFPage{Width: 100, Height: 100, Grey: 90},
	))
	p.GoTo(siteFolder)
	p.FrontReady()
	p.Is(`crossOriginIsolated`, "true")
	p.Pick(document)
	p.UntilLong(`states() == 'done,done'`)
	_, _ = p.Download("li:last-child .download") // loads what puts a PDF together

	server.Close()
	p.GoTo(siteFolder + "zh-CN.html")
	p.FrontReady()
	p.Is(`document.documentElement.lang + crossOriginIsolated`, "zh-CNtrue")
	p.Pick(document)
	p.UntilLong(`states() == 'done,done,done'`)
	if name, data := p.Download("li:last-child .download"); name != "a.clean.pdf" || len(data) == 0 {
		t.Errorf("downloaded %q of %d bytes", name, len(data))
	}
}

func writeSite(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "new", "folder")
	if out, err := new(service).command("site", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// serveSite serves a folder. Whatever it cannot answer fails the test.
func serveSite(t *testing.T, dir string) *httptest.Server {
	t.Helper()
	files := http.StripPrefix(siteFolder, http.FileServer(http.Dir(dir)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		files.ServeHTTP(&successes{ResponseWriter: w, t: t, what: r.Method + " " + r.URL.Path}, r)
	}))
	t.Cleanup(server.Close)
	return server
}

// successes fails the test of an answer that is none.
type successes struct {
	http.ResponseWriter
	t    *testing.T
	what string
}

func (s *successes) WriteHeader(status int) {
	if status >= http.StatusBadRequest {
		s.t.Errorf("%s: %d", s.what, status)
	}
	s.ResponseWriter.WriteHeader(status)
}
