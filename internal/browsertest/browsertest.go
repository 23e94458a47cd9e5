// Package browsertest drives the web pages in Chromium for tests, as somebody with a keyboard does.
package browsertest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/log"
	wire "github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Start starts the browser that deploy/test/services.sh installs, with flags besides. It ends with
// the test.
func Start(t testing.TB, flags ...chromedp.ExecAllocatorOption) (chromium context.Context) {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"),
		chromedp.NoSandbox, chromedp.DisableGPU)
	options = append(options, flags...)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("%v (make services installs Chromium)", err)
	}
	return ctx
}

// Page is a page in a window of its own, without anything kept from others. What goes wrong ends
// the test.
type Page struct {
	Context context.Context // for what chromedp can do besides
	browser context.Context
	t       testing.TB
	dir     string

	mu       sync.Mutex
	requests []string
	console  []string
	standIns map[string]string // bodies of scripts, by their address
}

// patience bounds what a test does with a page: machines may be busy.
const patience = 5 * time.Minute

// Open opens a page, url with or without a path, for five minutes at most. When the test ends, it
// must have asked no other host for anything but what stands in for it, broken no policy and thrown
// nothing.
func Open(t testing.TB, chromium context.Context, url string) *Page {
	t.Helper()
	ctx, cancel := chromedp.NewContext(chromium, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	ctx, stop := context.WithTimeout(ctx, patience)
	t.Cleanup(stop)
	p := &Page{Context: ctx, browser: chromium, t: t, dir: t.TempDir(), standIns: map[string]string{}}
	p.Do()
	if err := chromedp.Listen(ctx, p.hear); err != nil {
		t.Fatal(err)
	}
	p.Do(chromedp.Navigate(url))
	origin := strings.Join(strings.SplitN(url, "/", 4)[:3], "/")
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, asked := range p.requests {
			_, standsIn := p.standIns[asked]
			if !standsIn && !strings.HasPrefix(asked, origin+"/") &&
				!strings.HasPrefix(asked, "blob:"+origin+"/") {
				t.Errorf("the page asked for %s", asked)
			}
		}
		for _, message := range p.console {
			// which is how an error's answer is noted
			if !strings.HasPrefix(message, "Failed to load resource") {
				t.Errorf("in the console: %s", message)
			}
		}
	})
	return p
}

// From lets a service behind a proxy take the page for one at an address of its own.
func (p *Page) From(address string) {
	p.t.Helper()
	headers := wire.Headers{"X-Forwarded-For": address}
	if _, err := chromedp.Call(p.Context, wire.SetExtraHTTPHeaders,
		wire.SetExtraHTTPHeadersParams{Headers: headers}); err != nil {
		p.t.Fatal(err)
	}
}

// Window opens a page as [Open] does, of somebody else at the same browser.
func (p *Page) Window(url string) *Page {
	p.t.Helper()
	return Open(p.t, p.browser, url)
}

// Tab opens another tab of the page's window, which is empty.
func (p *Page) Tab() *Page {
	p.t.Helper()
	ctx, cancel := chromedp.NewContext(p.Context)
	p.t.Cleanup(cancel)
	return &Page{Context: ctx, browser: p.browser, t: p.t, dir: p.t.TempDir(),
		standIns: map[string]string{}}
}

func (p *Page) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *wire.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	case *log.EventEntryAdded:
		p.console = append(p.console, e.Entry.Text)
	case *runtime.EventExceptionThrown:
		p.console = append(p.console, e.ExceptionDetails.Text)
	case *fetch.EventRequestPaused:
		go p.standIn(e.RequestID, p.standIns[e.Request.URL])
	}
}

// StandIn answers requests for a script elsewhere, which do not go out; without a script they fail.
func (p *Page) StandIn(url, script string) {
	p.t.Helper()
	p.mu.Lock()
	p.standIns[url] = script
	p.mu.Unlock()
	if _, err := chromedp.Call(p.Context, fetch.Enable,
		fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: url}}}); err != nil {
		p.t.Fatal(err)
	}
}

func (p *Page) standIn(request fetch.RequestID, script string) {
	var err error
	if script == "" {
		_, err = chromedp.Call(p.Context, fetch.FailRequest,
			fetch.FailRequestParams{RequestID: request, ErrorReason: wire.ErrorReasonConnectionRefused})
	} else {
		_, err = chromedp.Call(p.Context, fetch.FulfillRequest, fetch.FulfillRequestParams{
			RequestID: request, ResponseCode: 200, Body: []byte(script),
			ResponseHeaders: []*fetch.HeaderEntry{{Name: "Content-Type", Value: "text/javascript"}},
		})
	}
	if err != nil && p.Context.Err() == nil {
		p.t.Error(err)
	}
}

// Asked are the addresses that were asked for.
func (p *Page) Asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Do does what chromedp can.
func (p *Page) Do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.Context, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// Eval is what a JavaScript expression gives, as text.
func (p *Page) Eval(expression string) string {
	p.t.Helper()
	got, err := chromedp.Run(p.Context,
		chromedp.Evaluate[string](`String(`+strings.TrimSuffix(expression, "; ''")+`)`))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return got
}

// Is holds an expression's text against what it should be.
func (p *Page) Is(expression, want string) {
	p.t.Helper()
	if got := p.Eval(expression); got != want {
		p.t.Errorf("%s is %q, not %q", expression, got, want)
	}
}

// Until waits for a condition.
func (p *Page) Until(condition string) {
	p.t.Helper()
	p.until(condition, 45*time.Second, 20*time.Millisecond)
}

// UntilLong waits for a condition that takes its time.
func (p *Page) UntilLong(condition string) {
	p.t.Helper()
	p.until(condition, 2*time.Minute, 100*time.Millisecond)
}

func (p *Page) until(condition string, patience, tick time.Duration) {
	p.t.Helper()
	_, err := chromedp.Run(p.Context, chromedp.Poll[bool](
		"Boolean("+condition+")", chromedp.WithPollingInterval(tick),
		chromedp.WithPollingTimeout(patience),
	))
	if err != nil {
		p.t.Fatalf("%s: %v; the page says %s", condition, err,
			p.Eval(`document.querySelector('main').innerText`))
	}
}

// Arrives waits for a condition while pages may come and go.
func (p *Page) Arrives(condition string) {
	p.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(45 * time.Second); time.Now().Before(end); <-tick.C {
		if ok, err := chromedp.Run(p.Context, chromedp.Evaluate[bool](condition)); err == nil && ok {
			return
		}
	}
	p.t.Fatalf("%s: the page is %s: %s", condition, p.Eval(`location.href`),
		p.Eval(`document.body.innerText`))
}

// At waits until the page is at a path.
func (p *Page) At(path string) {
	p.t.Helper()
	p.Arrives(
		fmt.Sprintf(`location.pathname + location.search == %q && document.readyState == 'complete'`,
			path),
	)
}

// Shown waits until an element is to be seen.
func (p *Page) Shown(selector string) {
	p.t.Helper()
	p.Until(fmt.Sprintf(`document.querySelector(%q)?.checkVisibility()`, selector))
}

// GoTo goes to another address of the site.
func (p *Page) GoTo(path string) {
	p.t.Helper()
	p.Do(chromedp.Navigate(p.Eval(`location.origin`) + path))
}

// FrontReady waits for the front page after it was loaded, and gives it states(): the states of the
// files, as a list.
func (p *Page) FrontReady() {
	p.t.Helper()
	p.Until(`document.body.classList.contains('ready')`)
	p.Eval(
		`window.states = () => [...document.querySelectorAll('#queue li')].map((row) => row.dataset.state).join(); ''`,
	)
}

// Press presses the button that has a label.
func (p *Page) Press(label string) {
	p.t.Helper()
	p.Pressed(fmt.Sprintf("[aria-label=%q]", label))
}

// Pressed presses a button or a link from the keyboard, which finds it wherever the page has moved
// it to meanwhile; a mouse may miss it.
func (p *Page) Pressed(selector string) {
	p.t.Helper()
	p.Do(chromedp.Focus(chromedp.CSS(selector)), chromedp.KeyEvent(kb.Enter))
}

// Typed puts a text into a field, from the keyboard, in place of what is there.
func (p *Page) Typed(selector, text string) {
	p.t.Helper()
	p.Do(chromedp.Focus(chromedp.CSS(selector)))
	p.Eval(fmt.Sprintf(`document.querySelector(%q).value = '', ''`, selector))
	p.Do(chromedp.KeyEvent(text))
}

// Toggle presses a switch from the keyboard.
func (p *Page) Toggle(selector string) {
	p.t.Helper()
	p.Do(chromedp.Focus(chromedp.CSS(selector)), chromedp.KeyEvent(" "))
}

// Choose chooses a value of a list.
func (p *Page) Choose(selector, value string) {
	p.t.Helper()
	p.Eval(
		fmt.Sprintf(
			`(() => { const list = document.querySelector(%q); list.value = %q; list.dispatchEvent(new Event('change', { bubbles: true })); })()`, selector, value,
		),
	)
}

// Entered is Typed with Enter after it.
func (p *Page) Entered(selector, text string) {
	p.t.Helper()
	p.Typed(selector, text)
	p.Do(chromedp.KeyEvent(kb.Enter))
}

// LogIn fills in the log-in page, which leads to the front page.
func (p *Page) LogIn(email, password string) {
	p.t.Helper()
	p.GoTo("/log-in")
	p.Typed("#email", email)
	p.Entered("#password", password)
	p.At("/")
}

// File writes a file to be picked.
func (p *Page) File(name string, data []byte) (path string) {
	p.t.Helper()
	path = filepath.Join(p.dir, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// Pick picks files on the front page.
func (p *Page) Pick(paths ...string) {
	p.t.Helper()
	p.Do(chromedp.SetUploadFiles(chromedp.CSS("#files"), paths))
}

// Drop drops a file on the page.
func (p *Page) Drop(name, kind string, data []byte) {
	p.t.Helper()
	p.Eval(fmt.Sprintf(`(() => {
		const transfer = new DataTransfer();
		transfer.items.add(new File([Uint8Array.from(atob(%q), (c) => c.charCodeAt(0))], %q, { type: %q }));
		document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }));
	})()`, base64.StdEncoding.EncodeToString(data), name, kind))
}

// Download presses what saves a file, and returns that.
func (p *Page) Download(selector string) (name string, data []byte) {
	p.t.Helper()
	dir, events := p.t.TempDir(), true
	if _, err := chromedp.CallBrowser(p.Context, browser.SetDownloadBehavior,
		browser.SetDownloadBehaviorParams{
			Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir, EventsEnabled: &events,
			BrowserContextID: chromedp.FromContext(p.Context).BrowserContextID,
		}); err != nil {
		p.t.Fatal(err)
	}
	progress := chromedp.BrowserEvents(p.Context, browser.DownloadProgress)
	p.Pressed(selector)
	for e, err := range progress {
		if err != nil {
			p.t.Fatal(err)
		}
		if e.State != browser.DownloadProgressStateCompleted {
			continue
		}
		saved, err := os.ReadDir(dir)
		if err != nil {
			p.t.Fatal(err)
		}
		if len(saved) == 0 {
			continue // it tells once more of the download before
		}
		data, err = os.ReadFile(filepath.Join(dir, saved[0].Name()))
		if err != nil {
			p.t.Fatal(err)
		}
		return saved[0].Name(), data
	}
	p.t.Fatal("nothing was downloaded")
	return "", nil
}

// Shoot leaves a picture of the whole page in a file.
func (p *Page) Shoot(path string) {
	p.t.Helper()
	shot, err := chromedp.Run(p.Context, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(path, shot, 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// Look sets the window's size and the colour scheme, light or dark. A phone is narrower than 600.
func (p *Page) Look(width, height int64, scheme string) {
	p.t.Helper()
	view := []chromedp.EmulateViewportOption{chromedp.EmulateScale(1)}
	if width < 600 {
		view = append(view, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	p.Do(chromedp.EmulateViewport(width, height, view...))
	if _, err := chromedp.Call(p.Context, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	}); err != nil {
		p.t.Fatal(err)
	}
}

// Accessible holds the page, as it is now, against the rules of axe-core.
func (p *Page) Accessible() {
	p.t.Helper()
	axe, err := os.ReadFile("../webui/node_modules/axe-core/axe.min.js")
	if err != nil {
		p.t.Fatalf("%v (make deps installs it)", err)
	}
	if p.Eval(`typeof axe`) == "undefined" {
		p.Eval(`(() => {` + string(axe) + `})()`)
	}
	p.Eval(
		`window.axeFound = undefined, axe.run(document).then(({ violations }) => { window.axeFound = JSON.stringify(violations.map(({ id, help, nodes }) => [id, help, ...nodes.map(({ html, failureSummary }) => html + ' ' + failureSummary)])); }), ''`,
	)
	p.Until(`Boolean(window.axeFound)`)
	var found [][]string
	if err := json.Unmarshal([]byte(p.Eval(`axeFound`)), &found); err != nil {
		p.t.Fatal(err)
	}
	for _, violation := range found {
		p.t.Errorf("axe: %s", strings.Join(violation, "\n\t"))
	}
}
