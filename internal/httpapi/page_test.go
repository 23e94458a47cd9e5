package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	flags "flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	wire "github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"unink"
	"unink/internal/limit"
)

var shots = flags.String("shots", "", "folder that TestPageLooks leaves pictures of the page in")

func TestPageIsSmallAndKept(t *testing.T) {
	s := start(t, &fakeCleaner{})
	total := 0
	for _, name := range append([]string{""}, pageFiles...) {
		a := s.get("/" + name)
		total += len(a.body)
		policy := a.header.Get("Content-Security-Policy")
		if a.status != http.StatusOK || !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("/%s: status %d, policy %q", name, a.status, policy)
		}
		r := request(t, http.MethodGet, s.url+"/"+name, nil)
		r.Header.Set("If-None-Match", a.header.Get("ETag"))
		if again := s.do(r); again.status != http.StatusNotModified || len(again.body) > 0 {
			t.Errorf("/%s: asked again, status %d", name, again.status)
		}
	}
	if total > 60_000 {
		t.Errorf("the page has %d bytes", total)
	}
	inline := regexp.MustCompile(`(?i)<style|<script>| (style|on[a-z]+)=|https?:`)
	if found := inline.Find(s.get("/").body); found != nil {
		t.Errorf("the page has %q in it", found)
	}
}

// TestPage uses the page in Chromium.
func TestPage(t *testing.T) {
	chromium := startChromium(t)
	for name, test := range map[string]func(*testing.T, context.Context){
		"one page":        testOnePage,
		"queue":           testQueue,
		"rate limit":      testRateLimit,
		"refused at once": testRefusedAtOnce,
		"made smaller":    testMadeSmaller,
		"no credits":      testNoCredits,
		"errors":          testErrors,
		"lost connection": testLostConnection,
		"drop and paste":  testDropAndPaste,
		"narrow":          testNarrow,
	} {
		t.Run(name, func(t *testing.T) { test(t, chromium) })
	}
}

// A guest picks a page, compares, downloads it, and asks for the next one as a photo.
func testOnePage(t *testing.T, chromium context.Context) {
	s := withAccounts(t)
	cleaned := picture(t, 640, 480)
	asked := make(chan unink.Finish, 2)
	s.cleaner = &fakeCleaner{clean: func(_ context.Context, _ []byte, o unink.Options) (*unink.Result, error) {
		asked <- o.Finish
		return echo(cleaned, o)
	}}
	p := openPage(t, chromium, serveTo(t, s.Handler()))
	p.pick(p.file("exam 1.jpeg", picture(t, 40, 30)))
	p.until(`states() == 'done'`)
	p.until(`document.querySelector('.after').naturalWidth == 640 && document.querySelector('.before').naturalWidth == 40`)
	if name, data := p.download("#result .download"); name != "exam 1.clean.png" || !bytes.Equal(data, cleaned) {
		t.Errorf("downloaded %q with %d bytes", name, len(data))
	}

	p.do(chromedp.Focus(chromedp.CSS("#split")), chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowLeft))
	p.is(`[slider.value, slider.getAttribute('aria-valuetext'), document.querySelector('.compare').style.getPropertyValue('--split')].join()`, "48,48 % before,48%")
	p.do(chromedp.KeyEvent(kb.Home))
	p.is(`slider.value`, "0")
	p.eval(`document.querySelector('.compare').scrollIntoView({ behavior: 'instant', block: 'center' })`)
	var x, y float64
	if _, err := fmt.Sscan(p.eval(`(({ x, y, width, height }) => (x + width / 4) + ' ' + (y + height / 4))(document.querySelector('.compare').getBoundingClientRect())`), &x, &y); err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.MouseClickXY(x, y)) // a quarter of the way
	p.is(`slider.value > 22 && slider.value < 28`, "true")

	p.do(chromedp.Focus(chromedp.CSS("[name=preserveColor][value=true]")), chromedp.KeyEvent(" "))
	p.pick(p.file("b.png", picture(t, 40, 30)))
	p.until(`states() == 'done,done'`)
	if first, second := <-asked, <-asked; first != unink.Scan || second != unink.Colour {
		t.Errorf("finishes %v and %v", first, second)
	}
	p.is(`document.querySelector('#count').textContent`, "2 pages, 2 done")
	p.press("Remove: exam 1.jpeg")
	p.until(`states() == 'done' && document.querySelector('#result-title').textContent == 'b.png'`)
	p.press("Remove: b.png")
	p.until(`document.querySelector('#queue').hidden && document.activeElement.id == 'files' && document.querySelector('.after').src.endsWith('/after.webp')`)
}

// Of several files one is sent at a time; a waiting one is cancelled and tried again.
func testQueue(t *testing.T, chromium context.Context) {
	c, started, release := blocking()
	s := start(t, c)
	p := openPage(t, chromium, s.url)
	p.pick(p.file("a.png", picture(t, 40, 30)), p.file("b.png", picture(t, 41, 30)), p.file("c.png", picture(t, 42, 30)))
	<-started
	p.until(`states() == 'working,waiting,waiting' && document.querySelector('.state').textContent == 'Cleaning…'`)
	p.press("Cancel: b.png")
	p.until(`states() == 'working,cancelled,waiting'`)
	p.press("Cancel: a.png") // under way
	p.until(`states().startsWith('cancelled,cancelled,')`)
	<-started // c
	if len(started) > 0 {
		t.Error("two pages were sent at once")
	}
	close(release)
	p.until(`states() == 'cancelled,cancelled,done'`)
	p.press("Try again: b.png")
	p.until(`states() == 'cancelled,done,done'`)
	p.press("Compare: b.png")
	p.until(`document.querySelector('#result-title').textContent == 'b.png' && document.querySelector('.after').naturalWidth == 41`)
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
	s.services.Limits = limits
	p := openPage(t, chromium, serveTo(t, s.Handler()))
	p.pick(p.file("a.png", picture(t, 40, 30)), p.file("b.png", picture(t, 41, 30)))
	p.until(`states() == 'done,pausing' && /Too many pages in a minute. Goes on in [12] s./.test(document.querySelector('li:last-child .state').textContent)`)
	p.until(`states() == 'done,done'`)
	limits.mu.Lock()
	defer limits.mu.Unlock()
	if n := len(limits.times); n != 3 || limits.times[2].Sub(limits.times[1]) < 2*time.Second { // seconds are rounded up
		t.Errorf("%d requests, at %v", n, limits.times)
	}
}

// What cannot be cleaned is told before anything is sent.
func testRefusedAtOnce(t *testing.T, chromium context.Context) {
	p := openPage(t, chromium, serveTo(t, withAccounts(t).Handler()))
	large := append(picture(t, 40, 30), make([]byte, maxImageBytes)...)
	p.pick(p.file("large.png", large), p.file("wide.png", hugeHeader(t, 10_000, 5_001)), p.file("small.png", picture(t, 15, 40)),
		p.file("text.jpg", []byte("not a picture at all")), p.file("a.pdf", []byte("%PDF-1.7 and so on")), p.file("empty.png", nil))
	p.until(`states() == 'tooLarge,tooLarge,refused,refused,refused,refused'`)
	for i, want := range []string{"5 MB", "megapixels", "16 pixels", "JPEG, PNG", "PDF", "empty"} {
		if got := p.eval(fmt.Sprintf(`document.querySelectorAll('.state')[%d].textContent`, i)); !strings.Contains(got, want) {
			t.Errorf("file %d: %q", i, got)
		}
	}
	for _, url := range p.asked() {
		if strings.Contains(url, "/api/") {
			t.Errorf("asked for %s", url)
		}
	}
}

func testMadeSmaller(t *testing.T, chromium context.Context) {
	large := append(picture(t, 400, 300), make([]byte, maxImageBytes)...) // what follows a PNG's end counts for nothing
	p := openPage(t, chromium, start(t, &fakeCleaner{}).url)
	p.pick(p.file("large.png", large))
	p.until(`states() == 'tooLarge'`)
	p.press("Make it smaller: large.png")
	p.until(`states() == 'done'`)
	if name, data := p.download("li .download"); name != "large.clean.jpg" || !bytes.HasPrefix(data, []byte("\xff\xd8\xff")) || len(data) > 100_000 {
		t.Errorf("downloaded %q with %d bytes", name, len(data))
	}
}

// A page beyond a guest's allowance stops the queue, with the way to more where there is one.
func testNoCredits(t *testing.T, chromium context.Context) {
	s := withAccounts(t)
	s.door.(*accountDoor).cfg.GuestDaily = 1
	var sold atomic.Bool
	p := openPage(t, chromium, serveTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/pricing" && sold.Load() {
			return
		}
		s.Handler().ServeHTTP(w, r)
	})))
	p.pick(p.file("a.png", picture(t, 40, 30)), p.file("b.png", picture(t, 41, 30)), p.file("c.png", picture(t, 42, 30)))
	p.until(`!notice.hidden && states() == 'done,waiting,waiting'`)
	p.is(`notice.innerText.includes('free pages of today are used up') && notice.innerText.includes('No credits are sold') && notice.querySelector('a').hidden`, "true")
	sold.Store(true)
	p.pressed("#notice button")
	p.until(`!notice.hidden && !notice.querySelector('a').hidden && notice.querySelector('a').pathname == '/pricing' && !notice.innerText.includes('No credits')`)
	p.is(`states()`, "done,waiting,waiting")
}

// Failures are told in plain words with the request's id, and the page can be tried again.
func testErrors(t *testing.T, chromium context.Context) {
	var failed atomic.Bool
	s := start(t, &fakeCleaner{clean: func(_ context.Context, data []byte, o unink.Options) (*unink.Result, error) {
		if failed.CompareAndSwap(false, true) {
			return nil, errors.New("secret cause")
		}
		return echo(data, o)
	}})
	p := openPage(t, chromium, s.url)
	p.pick(p.file("a.png", picture(t, 40, 30)))
	p.until(`states() == 'failed'`)
	told := p.eval(`document.querySelector('.state').innerText`)
	id := regexp.MustCompile(`Request ([A-Z2-7]+)`).FindStringSubmatch(told)
	if !strings.Contains(told, "Something went wrong in the service") || strings.Contains(told, "secret") || id == nil || !strings.Contains(s.logs.String(), id[1]) {
		t.Errorf("told %q", told)
	}
	p.is(`document.querySelector('#status').textContent.includes('Something went wrong')`, "true")
	p.press("Try again: a.png")
	p.until(`states() == 'done'`)
}

func testLostConnection(t *testing.T, chromium context.Context) {
	s := start(t, &fakeCleaner{})
	var back atomic.Bool
	p := openPage(t, chromium, serveTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && !back.Load() {
			panic(http.ErrAbortHandler)
		}
		s.Handler().ServeHTTP(w, r)
	})))
	p.pick(p.file("a.png", picture(t, 40, 30)))
	p.until(`states() == 'pausing' && document.querySelector('.state').textContent.includes('connection was lost')`)
	back.Store(true)
	p.press("Try now: a.png")
	p.until(`states() == 'done'`)
}

func testDropAndPaste(t *testing.T, chromium context.Context) {
	p := openPage(t, chromium, start(t, &fakeCleaner{}).url)
	data, err := json.Marshal(picture(t, 40, 30)) // Base64
	if err != nil {
		t.Fatal(err)
	}
	p.eval(`window.held = (name) => {
		const transfer = new DataTransfer();
		transfer.items.add(new File([Uint8Array.from(atob(` + string(data) + `), (c) => c.charCodeAt(0))], name, { type: 'image/png' }));
		return transfer;
	}; ''`)
	p.is(`!document.body.dispatchEvent(new DragEvent('dragover', { dataTransfer: held('x'), bubbles: true, cancelable: true })) && document.body.classList.contains('dropping')`, "true")
	p.eval(`document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: held('dropped.png'), bubbles: true, cancelable: true })); ''`)
	p.until(`states() == 'done' && !document.body.classList.contains('dropping')`)
	p.eval(`document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData: held('image.png'), bubbles: true })); ''`)
	p.until(`states() == 'done,done'`)
}

// Nothing is wider than a small phone, and what is touched is large enough.
func testNarrow(t *testing.T, chromium context.Context) {
	p := openPage(t, chromium, start(t, &fakeCleaner{}).url)
	p.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile, chromedp.EmulateTouch))
	p.pick(p.file(strings.Repeat("a long name ", 12)+".png", picture(t, 1200, 1700)))
	p.until(`states() == 'done'`)
	p.is(`document.documentElement.scrollWidth <= 360`, "true")
	p.is(`[...document.querySelectorAll('button, a, label')].filter((e) => e.offsetHeight && e.offsetHeight < 24).length`, "0")
	p.is(`document.querySelector('.camera').offsetHeight > 0 && camera.getAttribute('capture') == 'environment'`, "true")
}

// TestPageLooks leaves pictures of the page in the folder -shots.
func TestPageLooks(t *testing.T) {
	if *shots == "" {
		t.Skip("no folder -shots")
	}
	var before, after []byte
	for name, data := range map[string]*[]byte{"before.jpg": &before, "after.jpg": &after} {
		var err error
		if *data, err = os.ReadFile(filepath.Join("../../docs", name)); err != nil {
			t.Fatal(err)
		}
	}
	chromium := startChromium(t)
	for _, size := range []struct {
		name          string
		width, height int64
	}{{"phone", 390, 844}, {"desktop", 1280, 800}} {
		for _, scheme := range []string{"light", "dark"} {
			s := withAccounts(t)
			s.cfg.Windows = []limit.Window{{Name: "minute", Limit: 2, Every: time.Minute}}
			s.cleaner = &fakeCleaner{clean: func(_ context.Context, _ []byte, o unink.Options) (*unink.Result, error) { return echo(after, o) }}
			p := openPage(t, chromium, serveTo(t, s.Handler()))
			view := []chromedp.EmulateViewportOption{chromedp.EmulateScale(1)}
			if size.name == "phone" {
				view = append(view, chromedp.EmulateMobile, chromedp.EmulateTouch)
			}
			p.do(chromedp.EmulateViewport(size.width, size.height, view...))
			if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			}); err != nil {
				t.Fatal(err)
			}
			p.shoot(size.name, scheme, "empty")
			p.pick(p.file("worksheet-5b.jpg", before), p.file("IMG_20270301_164455_a_long_name_of_a_photo.jpg", before),
				p.file("notes.pdf", []byte("%PDF-1.7 and so on")), p.file("third.jpg", before), p.file("fourth.jpg", before))
			p.until(`states() == 'done,done,refused,pausing,waiting'`)
			p.shoot(size.name, scheme, "queue")
			p.press("Cancel: third.jpg") // with it the wait ends that would keep the page
			p.press("Cancel: fourth.jpg")
		}
	}
}

// startChromium starts the browser that deploy/test/services.sh installs. It ends with the test.
func startChromium(t *testing.T) context.Context {
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

// pageInBrowser is the front page in a window of its own, without anything kept from others.
type pageInBrowser struct {
	t   *testing.T
	ctx context.Context
	dir string

	mu       sync.Mutex
	requests []string
	console  []string
}

// openPage opens the page of a service. When the test ends, it must have asked no other host for
// anything, broken no policy and thrown nothing.
func openPage(t *testing.T, chromium context.Context, url string) *pageInBrowser {
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
	p.eval(`window.states = () => [...document.querySelectorAll('#queue li')].map((row) => row.dataset.state).join(); ''`)
	t.Cleanup(func() {
		for _, asked := range p.asked() {
			if !strings.HasPrefix(asked, url+"/") && !strings.HasPrefix(asked, "blob:"+url+"/") {
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
	_, err := chromedp.Run(p.ctx, chromedp.Poll[bool](condition, chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(30*time.Second)))
	if err != nil {
		p.t.Fatalf("%s: %v; states %s, %s", condition, err, p.eval(`states()`), p.eval(`document.querySelector('#queue').innerText`))
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
