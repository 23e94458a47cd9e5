package httpapi

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"unink"
	"unink/internal/account"
	"unink/internal/browsertest"
	"unink/internal/credit"
	"unink/internal/httpapi/call"
	"unink/internal/limit"
	"unink/internal/mail"
)

// TestPages uses the pages in Chromium where something must happen that a working service does not
// let happen at will. All other flows are those of internal/contract, with the built program.
func TestPages(t *testing.T) {
	chromium := browsertest.Start(t)
	for name, test := range map[string]func(*testing.T, context.Context){
		"rate limit":   testRateLimit,
		"errors":       testErrors,
		"provider":     testProvider,
		"open service": testOpenService,
		"late mail":    testLateMail,
	} {
		t.Run(name, func(t *testing.T) { test(t, chromium) })
	}
}

// refusingOnce is a limiter that refuses its second request, and keeps the times of all.
type refusingOnce struct {
	mu    sync.Mutex
	times []time.Time
}

func (l *refusingOnce) Allow(context.Context, []string, []limit.Window) (limit.Verdict, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.times = append(l.times, time.Now())
	if len(l.times) == 2 {
		return limit.Verdict{Window: "minute", RetryAfter: 1500 * time.Millisecond}, nil
	}
	return limit.Verdict{OK: true}, nil
}

// A rate limit is waited out, with a countdown, and the page is sent with a fresh proof of work.
func testRateLimit(t *testing.T, chromium context.Context) {
	s := withAccounts(t)
	limits := &refusingOnce{}
	s.Services.Limits = limits
	p := openFront(t, chromium, serveTo(t, s.Handler()))
	p.Pick(p.File("a.png", picture(t, 40, 30)), p.File("b.png", picture(t, 41, 30)))
	p.Until(
		`states() == 'done,pausing' && /Too many pages in a minute. Continues in [12] s./.test(document.querySelector('li:last-child .state').textContent)`,
	)
	p.Until(`states() == 'done,done'`)
	limits.mu.Lock()
	defer limits.mu.Unlock()
	// seconds are rounded up
	if n := len(limits.times); n != 3 || limits.times[2].Sub(limits.times[1]) < 2*time.Second {
		t.Errorf("%d requests, at %v", n, limits.times)
	}
}

// Failures are told in plain words with the request's id, and the page can be tried again.
func testErrors(t *testing.T, chromium context.Context) {
	var failed atomic.Bool
	s := start(t, &fakeCleaner{clean: func(_ context.Context, data []byte, o unink.Options) (
		*unink.Result, error,
	) {
		if failed.CompareAndSwap(false, true) {
			return nil, errors.New("secret cause")
		}
		return echo(data, o)
	}})
	p := openFront(t, chromium, s.url)
	p.Pick(p.File("a.png", picture(t, 40, 30)))
	p.Until(`states() == 'failed'`)
	told := p.Eval(`document.querySelector('.state').innerText`)
	id := regexp.MustCompile(`Request ([A-Z2-7]+)`).FindStringSubmatch(told)
	if !strings.Contains(told, "Something went wrong on our side") ||
		strings.Contains(told, "secret") || id == nil || !strings.Contains(s.logs.String(), id[1]) {
		t.Errorf("told %q", told)
	}
	p.Is(`document.querySelector('#status').textContent.includes('Something went wrong')`, "true")
	p.Press("Try again: a.png")
	p.Until(`states() == 'done'`)
}

// Who can sign in with a provider is offered that, and nobody else.
func testProvider(t *testing.T, chromium context.Context) {
	s := withProvider(t, never)
	p := browsertest.Open(t, chromium, serveTo(t, s.Handler())+"/log-in")
	p.Is(`document.querySelector('a[href="/api/sign-in"]').textContent`, "Continue with 127.0.0.1")
	p.Accessible()
	_, url := served(t)
	p = browsertest.Open(t, chromium, url+"/log-in")
	p.Is(`document.querySelector('a[href="/api/sign-in"]')`, "null")
}

// An open service has no accounts to show, and its console is everybody's.
func testOpenService(t *testing.T, chromium context.Context) {
	open := start(t, &fakeCleaner{})
	p := openFront(t, chromium, open.url)
	p.Is(`document.querySelector('#who')`, "null")
	p.GoTo("/developers/console")
	p.Do(chromedp.SetUploadFiles(chromedp.CSS("#file"),
		[]string{p.File("page.png", picture(t, 40, 30))}))
	p.Entered("#token", testToken)
	p.Until(`document.querySelector('#status-line').textContent == '200, code 0'`)
}

// The operator's page warns of mails that were given up.
func testLateMail(t *testing.T, chromium context.Context) {
	s, url := served(t)
	s.member("op@example.com", account.Operator)
	s.Services.Mail = func(context.Context) (mail.Status, error) {
		return mail.Status{Waiting: 1, Dead: 2, OldestUnsent: time.Hour}, nil
	}
	p := browsertest.Open(t, chromium, url+"/log-in")
	p.LogIn("op@example.com", passwordOfAll)
	p.GoTo("/operator")
	p.Until(
		`document.querySelectorAll('#tiles li').length == 8 && document.querySelectorAll('.tile.warn').length == 1`,
	)
	p.Accessible()
}

// A mistyped address shows a page to people, and an error to programs.
func TestNothingHere(t *testing.T) {
	s := start(t, &fakeCleaner{})
	r := request(t, http.MethodGet, s.url+"/nothing", nil)
	r.Header.Set("Accept", "text/html,*/*;q=0.8")
	r.Header.Set("Accept-Language", "zh")
	if a := s.do(r); a.status != http.StatusNotFound || !strings.Contains(string(a.body), "页面不存在") {
		t.Errorf("to people: %d %.200s", a.status, a.body)
	}
	if a := s.get("/nothing"); a.status != http.StatusNotFound ||
		!strings.Contains(string(a.body), "NOT_FOUND") {
		t.Errorf("to programs: %d %.200s", a.status, a.body)
	}
}

// served is a server with accounts behind an address that it knows to be its own.
func served(t *testing.T) (s *accountServer, url string) {
	t.Helper()
	s = withAccounts(t)
	url = serveTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Handler().ServeHTTP(w, r)
	}))
	s.Config.PublicURL = strings.Replace(url, "127.0.0.1", "localhost", 1)
	return s, s.Config.PublicURL
}

// openFront opens the front page of a service.
func openFront(t testing.TB, chromium context.Context, url string) *browsertest.Page {
	t.Helper()
	p := browsertest.Open(t, chromium, url)
	p.FrontReady()
	return p
}

func serveTo(t *testing.T, h http.Handler) (url string) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

func encodePNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const pia = "pia@example.com"

// userWith makes the account of [pia] with credits, and returns who owns them.
func (s *accountServer) userWith(credits int) (owner string) {
	s.t.Helper()
	session := s.member(pia, "")
	var me struct{ UserID string }
	s.read(s.is(http.StatusOK, "GET", "/api/me", session, nil), &me)
	owner = call.UserOwner(me.UserID)
	has, err := s.Services.Credits.Balance(s.t.Context(), owner)
	if err == nil {
		_, _, err = s.Services.Credits.Grant(s.t.Context(),
			credit.Grant{Owner: owner, Plan: "test", Credits: credits - has,
				Expires: time.Now().Add(time.Hour), Source: "test"})
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return owner
}

// left holds what an owner has left against what it should be; the last page is settled after its
// answer.
func (s *accountServer) left(owner string, want int) {
	s.t.Helper()
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		got, err := s.Services.Credits.Balance(s.t.Context(), owner)
		if err != nil {
			s.t.Fatal(err)
		}
		if got == want {
			return
		}
		if time.Now().After(deadline) {
			s.t.Errorf("%d credits are left, want %d", got, want)
			return
		}
	}
}

// logIn logs [pia] in, who comes to the front page.
func logIn(p *browsertest.Page) {
	p.LogIn(pia, passwordOfAll)
	p.FrontReady()
}
