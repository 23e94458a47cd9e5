package contract

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"unink/internal/browsertest"
)

// The service is killed in the middle of a page and started again: the queue goes on, and each page
// is charged once.
func killedMeanwhile(t *testing.T, s *service, p *browsertest.Page) {
	u := s.newUser(t, 5)
	logIn(p, u)
	p.Pick(p.File("large.png", spacious(2500, 2500)), p.File("small.png", []byte(page)))
	s.working(t)
	s.kill()
	p.Until(
		`states() == 'pausing,waiting' && document.querySelector('.state').textContent.includes('connection was lost')`,
	)
	s.start(t)
	p.Do(chromedp.Reload())
	p.FrontReady()
	p.UntilLong(`states() == 'done,done'`)
	p.Until(`document.querySelector('#who .credits').textContent == '3 credits'`)
	s.stop(t)
	if l := s.ledger(t, u.id); l.count("settle") != 2 || l.count("reserve") != 3 ||
		l.count("release") != 1 || l.sum() != 3 {
		t.Errorf("two pages, the first of them sent twice: %+v", l.Entries)
	}
}

// The service is gone for a while: the page opens from what is kept, waits, and goes on when it is
// back.
func findsItGone(t *testing.T, s *service, p *browsertest.Page) {
	p.Until(`!!navigator.serviceWorker.controller`)
	s.stop(t)
	p.Pick(p.File("a.png", []byte(page)))
	p.Until(`states() == 'pausing'`)
	p.GoTo("/") // from what is kept
	p.FrontReady()
	p.Until(`states() == 'pausing'`)
	p.Accessible()
	s.start(t)
	// unless the page tries by itself just then
	p.Eval(`document.querySelector('[aria-label="Try now: a.png"]')?.click(), ''`)
	p.UntilLong(`states() == 'done'`)
	s.stop(t)
}

// After a reload the queue goes on: what is done is not sent again, and what was under way is
// charged once.
func reloads(t *testing.T, s *service, p *browsertest.Page) {
	u := s.newUser(t, 10)
	logIn(p, u)
	small, large := browsertest.PDFPage{Width: 100, Height: 100, Grey: 90},
		browsertest.PDFPage{Width: 900, Height: 900, Grey: 90}
	p.Pick(p.File("a.pdf", browsertest.PDF(small, large, small)), p.File("b.png", []byte(page)))
	p.UntilLong(`/Page 2 of 3: Cleaning/.test(document.querySelector('.state').textContent)`)
	p.GoTo("/")
	p.FrontReady()
	p.UntilLong(`states() == 'done,done'`)
	p.Until(`document.querySelector('#who .credits').textContent == '6 credits'`)
	if l := s.ledger(t, u.id); l.count("settle") != 4 || l.sum() != 6 {
		t.Errorf("four pages: %+v", l.Entries)
	}
	// the second page twice, and once more where its first sending still ran
	if sent := len(asksFor(p, "/api/process-image")); sent < 5 {
		t.Errorf("%d pages were sent", sent)
	}
	p.Is(`document.querySelector('#result-title').textContent`, "a.pdf")
	p.Press("Remove: a.pdf")
	p.Eval(
		`window.stored = undefined, indexedDB.open('unink').onsuccess = ({ target }) => { target.result.transaction('jobs').objectStore('jobs').count().onsuccess = ({ target }) => { window.stored = target.result; }; }, ''`,
	)
	p.Until(`window.stored == 1`)
	p.GoTo("/")
	p.FrontReady()
	p.Is(`states() + document.querySelector('#result-title').textContent`, "doneb.png")
}

// An upload is cut in its middle, and an answer is lost after its page was charged: sent again, it
// is not charged again.
func isCutOff(t *testing.T, s *service, p *browsertest.Page) {
	u := s.newUser(t, 10)
	cut := &cutter{t: t, to: s.url}
	proxy := httptest.NewServer(cut)
	t.Cleanup(proxy.Close)
	_, port, err := net.SplitHostPort(proxy.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	p = p.Window("http://localhost:" + port + "/healthz")
	arrive(p, "/")
	logIn(p, u)
	cut.left.Store(2)
	p.Pick(p.File("a.png", append([]byte(page), make([]byte, 4<<20)...)))
	for range 2 { // the browser itself sends again what is cut on a connection that it has used before
		p.UntilLong(`states() == 'done' || states() == 'pausing'`)
		if p.Eval(`states()`) == "pausing" {
			p.Press("Try now: a.png")
			p.Until(`states() != 'pausing'`)
		}
	}
	p.UntilLong(`states() == 'done'`)
	p.Until(`document.querySelector('#who .credits').textContent == '9 credits'`)
	if l := s.ledger(t, u.id); l.count("settle") != 1 || l.sum() != 9 {
		t.Errorf("one page, sent three times: %+v", l.Entries)
	}
	if left := cut.left.Load(); left != 0 {
		t.Errorf("%d were not cut", left)
	}
}

// cutter is a proxy before a service that breaks off what is sent to the web entry point: the last
// time when all is done, before that in the middle of the upload.
type cutter struct {
	t    *testing.T
	to   string
	left atomic.Int32 // times
}

func (c *cutter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	target, err := url.Parse(c.to)
	if err != nil {
		c.t.Error(err)
		return
	}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host
		r.Out.Header["X-Forwarded-For"] = r.In.Header["X-Forwarded-For"]
	}}
	if !strings.HasSuffix(r.URL.Path, "/process-image") || c.left.Load() == 0 {
		forward.ServeHTTP(w, r)
		return
	}
	if c.left.Add(-1) > 0 {
		_, _ = io.ReadFull(r.Body, make([]byte, 1<<20))
	} else {
		forward.ServeHTTP(httptest.NewRecorder(), r)
	}
	panic(http.ErrAbortHandler)
}
