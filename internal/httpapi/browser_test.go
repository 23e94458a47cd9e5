package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	wire "github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// startChromium starts the browser that deploy/test/services.sh installs. It ends with the test.
func startChromium(t testing.TB) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.NoSandbox, chromedp.DisableGPU)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("%v (make services installs Chromium)", err)
	}
	return ctx
}

func serveTo(t *testing.T, h http.Handler) (url string) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

// pageInBrowser is a page in a window of its own, without anything kept from others.
type pageInBrowser struct {
	t   testing.TB
	ctx context.Context
	dir string

	mu       sync.Mutex
	requests []string
	console  []string
}

// openPage opens a page, url with or without a path. When the test ends, it must have asked no other host for
// anything, broken no policy and thrown nothing.
func openPage(t testing.TB, chromium context.Context, url string) *pageInBrowser {
	t.Helper()
	ctx, cancel := chromedp.NewContext(chromium, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	t.Cleanup(stop)
	p := &pageInBrowser{t: t, ctx: ctx, dir: t.TempDir()}
	p.do()
	if err := chromedp.Listen(ctx, p.hear); err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.Navigate(url))
	origin := strings.Join(strings.SplitN(url, "/", 4)[:3], "/")
	t.Cleanup(func() {
		for _, asked := range p.asked() {
			if !strings.HasPrefix(asked, origin+"/") && !strings.HasPrefix(asked, "blob:"+origin+"/") {
				t.Errorf("the page asked for %s", asked)
			}
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, message := range p.console {
			if !strings.HasPrefix(message, "Failed to load resource") { // which is how an error's answer is noted
				t.Errorf("in the console: %s", message)
			}
		}
	})
	return p
}

func (p *pageInBrowser) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *wire.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	case *log.EventEntryAdded:
		p.console = append(p.console, e.Entry.Text)
	case *runtime.EventExceptionThrown:
		p.console = append(p.console, e.ExceptionDetails.Text)
	}
}

// asked are the addresses that were asked for.
func (p *pageInBrowser) asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

func (p *pageInBrowser) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// eval is what a JavaScript expression gives, as text.
func (p *pageInBrowser) eval(expression string) string {
	p.t.Helper()
	got, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](`String(`+strings.TrimSuffix(expression, "; ''")+`)`))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return got
}

func (p *pageInBrowser) is(expression, want string) {
	p.t.Helper()
	if got := p.eval(expression); got != want {
		p.t.Errorf("%s is %q, not %q", expression, got, want)
	}
}

// until waits for a condition.
func (p *pageInBrowser) until(condition string) {
	p.t.Helper()
	_, err := chromedp.Run(p.ctx, chromedp.Poll[bool](condition, chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(20*time.Second)))
	if err != nil {
		p.t.Fatalf("%s: %v; the page says %s", condition, err, p.eval(`document.querySelector('main').innerText`))
	}
}

// press presses the button that has a label.
func (p *pageInBrowser) press(label string) {
	p.t.Helper()
	p.pressed(fmt.Sprintf("[aria-label=%q]", label))
}

// pressed presses a button or a link from the keyboard, which finds it wherever the page has moved it to meanwhile; a mouse may miss it.
func (p *pageInBrowser) pressed(selector string) {
	p.t.Helper()
	p.do(chromedp.Focus(chromedp.CSS(selector)), chromedp.KeyEvent(kb.Enter))
}

func (p *pageInBrowser) file(name string, data []byte) (path string) {
	p.t.Helper()
	path = filepath.Join(p.dir, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

func (p *pageInBrowser) pick(paths ...string) {
	p.t.Helper()
	p.do(chromedp.SetUploadFiles(chromedp.CSS("#files"), paths))
}

// download clicks a link, and returns what it saves.
func (p *pageInBrowser) download(selector string) (name string, data []byte) {
	p.t.Helper()
	dir, events := p.t.TempDir(), true
	if _, err := chromedp.CallBrowser(p.ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir, EventsEnabled: &events,
		BrowserContextID: chromedp.FromContext(p.ctx).BrowserContextID,
	}); err != nil {
		p.t.Fatal(err)
	}
	progress := chromedp.BrowserEvents(p.ctx, browser.DownloadProgress)
	p.pressed(selector)
	for e, err := range progress {
		if err != nil {
			p.t.Fatal(err)
		}
		if e.State == browser.DownloadProgressStateCompleted {
			break
		}
	}
	saved, err := os.ReadDir(dir)
	if err != nil || len(saved) != 1 {
		p.t.Fatal(saved, err)
	}
	data, err = os.ReadFile(filepath.Join(dir, saved[0].Name()))
	if err != nil {
		p.t.Fatal(err)
	}
	return saved[0].Name(), data
}

func (p *pageInBrowser) shoot(names ...string) {
	p.t.Helper()
	shot, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(*shots, strings.Join(names, "-")+".png"), shot, 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// look sets the window's size and the colour scheme, light or dark. A phone is narrower than 600.
func (p *pageInBrowser) look(width, height int64, scheme string) {
	p.t.Helper()
	view := []chromedp.EmulateViewportOption{chromedp.EmulateScale(1)}
	if width < 600 {
		view = append(view, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	p.do(chromedp.EmulateViewport(width, height, view...))
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	}); err != nil {
		p.t.Fatal(err)
	}
}

// accessible holds the page, as it is now, against the rules of axe-core.
func (p *pageInBrowser) accessible() {
	p.t.Helper()
	axe, err := os.ReadFile("../webui/node_modules/axe-core/axe.min.js")
	if err != nil {
		p.t.Fatalf("%v (make deps installs it)", err)
	}
	if p.eval(`typeof axe`) == "undefined" {
		p.eval(`(() => {` + string(axe) + `})()`)
	}
	p.eval(`window.axeFound = undefined, axe.run(document).then(({ violations }) => { window.axeFound = JSON.stringify(violations.map(({ id, help, nodes }) => [id, help, ...nodes.map(({ html, failureSummary }) => html + ' ' + failureSummary)])); }), ''`)
	p.until(`Boolean(window.axeFound)`)
	var found [][]string
	if err := json.Unmarshal([]byte(p.eval(`axeFound`)), &found); err != nil {
		p.t.Fatal(err)
	}
	for _, violation := range found {
		p.t.Errorf("axe: %s", strings.Join(violation, "\n\t"))
	}
}
