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
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"unink"
	"unink/internal/browsertest"
	"unink/internal/limit"
)

var shots = flags.String("shots", "", "folder that TestPageLooks leaves pictures of the page in")

// TestPage uses the page in Chromium.
func TestPage(t *testing.T) {
	chromium := browsertest.Start(t)
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
	p := openFront(t, chromium, serveTo(t, s.Handler()))
	p.Pick(p.File("exam 1.jpeg", picture(t, 40, 30)))
	p.Until(`states() == 'done'`)
	p.Until(`document.querySelector('.after').naturalWidth == 640 && document.querySelector('.before').naturalWidth == 40`)
	if name, data := p.Download("#actions .download"); name != "exam 1.clean.png" || !bytes.Equal(data, cleaned) {
		t.Errorf("downloaded %q with %d bytes", name, len(data))
	}

	p.Do(chromedp.Focus(chromedp.CSS("#split")), chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowLeft))
	p.Is(`[split.value, split.getAttribute('aria-valuetext'), document.querySelector('.compare').style.getPropertyValue('--split')].join()`, "48,48 % before,48%")
	p.Do(chromedp.KeyEvent(kb.Home))
	p.Is(`split.value`, "0")
	p.Eval(`document.querySelector('.compare').scrollIntoView({ behavior: 'instant', block: 'center' })`)
	var x, y float64
	if _, err := fmt.Sscan(p.Eval(`(({ x, y, width, height }) => (x + width / 4) + ' ' + (y + height / 4))(document.querySelector('.compare').getBoundingClientRect())`), &x, &y); err != nil {
		t.Fatal(err)
	}
	p.Do(chromedp.MouseClickXY(x, y)) // a quarter of the way
	p.Is(`split.value > 22 && split.value < 28`, "true")

	p.Do(chromedp.Focus(chromedp.CSS("[name=preserveColor][value=true]")), chromedp.KeyEvent(" "))
	p.Pick(p.File("b.png", picture(t, 40, 30)))
	p.Until(`states() == 'done,done'`)
	if first, second := <-asked, <-asked; first != unink.Scan || second != unink.Colour {
		t.Errorf("finishes %v and %v", first, second)
	}
	p.Is(`document.querySelector('#count').textContent`, "2 files, 2 done")
	p.Press("Remove: exam 1.jpeg")
	p.Until(`states() == 'done' && document.querySelector('#result-title').textContent == 'b.png'`)
	p.Press("Remove: b.png")
	p.Until(`document.querySelector('#queue').hidden && document.activeElement.id == 'files' && document.querySelector('.after').src.includes('/after-')`)
}

// Of several files one is sent at a time; a waiting one is cancelled and tried again.
func testQueue(t *testing.T, chromium context.Context) {
	c, started, release := blocking()
	s := start(t, c)
	p := openFront(t, chromium, s.url)
	p.Pick(p.File("a.png", picture(t, 40, 30)), p.File("b.png", picture(t, 41, 30)), p.File("c.png", picture(t, 42, 30)))
	<-started
	p.Until(`states() == 'working,waiting,waiting' && document.querySelector('.state').textContent == 'Cleaning…'`)
	p.Press("Cancel: b.png")
	p.Until(`states() == 'working,cancelled,waiting'`)
	p.Press("Cancel: a.png") // under way
	p.Until(`states().startsWith('cancelled,cancelled,')`)
	<-started // c
	if len(started) > 0 {
		t.Error("two pages were sent at once")
	}
	close(release)
	p.Until(`states() == 'cancelled,cancelled,done'`)
	p.Press("Try again: b.png")
	p.Until(`states() == 'cancelled,done,done'`)
	p.Press("Compare: b.png")
	p.Until(`document.querySelector('#result-title').textContent == 'b.png' && document.querySelector('.after').naturalWidth == 41`)
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
	p := openFront(t, chromium, serveTo(t, s.Handler()))
	p.Pick(p.File("a.png", picture(t, 40, 30)), p.File("b.png", picture(t, 41, 30)))
	p.Until(`states() == 'done,pausing' && /Too many pages in a minute. Goes on in [12] s./.test(document.querySelector('li:last-child .state').textContent)`)
	p.Until(`states() == 'done,done'`)
	limits.mu.Lock()
	defer limits.mu.Unlock()
	if n := len(limits.times); n != 3 || limits.times[2].Sub(limits.times[1]) < 2*time.Second { // seconds are rounded up
		t.Errorf("%d requests, at %v", n, limits.times)
	}
}

// What cannot be cleaned is told before anything is sent.
func testRefusedAtOnce(t *testing.T, chromium context.Context) {
	p := openFront(t, chromium, serveTo(t, withAccounts(t).Handler()))
	large := append(picture(t, 40, 30), make([]byte, maxImageBytes)...)
	p.Pick(p.File("large.png", large), p.File("wide.png", hugeHeader(t, 10_000, 5_001)), p.File("small.png", picture(t, 15, 40)),
		p.File("text.jpg", []byte("not a picture at all")), p.File("a.pdf", []byte("%PDF-1.7 and so on")), p.File("empty.png", nil))
	p.Until(`states() == 'tooLarge,tooLarge,refused,refused,refused,refused'`)
	for i, want := range []string{"5 MB", "megapixels", "16 pixels", "JPEG, PNG", "PDF", "empty"} {
		if got := p.Eval(fmt.Sprintf(`document.querySelectorAll('.state')[%d].textContent`, i)); !strings.Contains(got, want) {
			t.Errorf("file %d: %q", i, got)
		}
	}
	for _, url := range p.Asked() {
		if strings.Contains(url, "/api/process-image") || strings.Contains(url, "/api/bot-challenge") {
			t.Errorf("asked for %s", url)
		}
	}
}

func testMadeSmaller(t *testing.T, chromium context.Context) {
	large := append(picture(t, 400, 300), make([]byte, maxImageBytes)...) // what follows a PNG's end counts for nothing
	p := openFront(t, chromium, start(t, &fakeCleaner{}).url)
	p.Pick(p.File("large.png", large))
	p.Until(`states() == 'tooLarge'`)
	p.Press("Make it smaller: large.png")
	p.Until(`states() == 'done'`)
	if name, data := p.Download("li .download"); name != "large.clean.jpg" || !bytes.HasPrefix(data, []byte("\xff\xd8\xff")) || len(data) > 100_000 {
		t.Errorf("downloaded %q with %d bytes", name, len(data))
	}
}

// A page beyond a guest's allowance stops the queue, with the way to more where there is one.
func testNoCredits(t *testing.T, chromium context.Context) {
	s := withAccounts(t)
	s.door.(*accountDoor).cfg.GuestDaily = 1
	p := openFront(t, chromium, serveTo(t, s.Handler()))
	p.Pick(p.File("a.png", picture(t, 40, 30)), p.File("b.png", picture(t, 41, 30)), p.File("c.png", picture(t, 42, 30)))
	p.Until(`!notice.hidden && states() == 'done,waiting,waiting'`)
	p.Is(`notice.innerText.includes('free pages of today are used up') && notice.querySelector('a').pathname`, "/pricing")
	s.door.(*accountDoor).cfg.GuestDaily = 2 // a day's allowance is given once
	p.Pressed("#notice button")
	p.Until(`!notice.hidden`)
	p.Is(`states()`, "done,waiting,waiting")
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
	p := openFront(t, chromium, s.url)
	p.Pick(p.File("a.png", picture(t, 40, 30)))
	p.Until(`states() == 'failed'`)
	told := p.Eval(`document.querySelector('.state').innerText`)
	id := regexp.MustCompile(`Request ([A-Z2-7]+)`).FindStringSubmatch(told)
	if !strings.Contains(told, "Something went wrong in the service") || strings.Contains(told, "secret") || id == nil || !strings.Contains(s.logs.String(), id[1]) {
		t.Errorf("told %q", told)
	}
	p.Is(`document.querySelector('#status').textContent.includes('Something went wrong')`, "true")
	p.Press("Try again: a.png")
	p.Until(`states() == 'done'`)
}

func testLostConnection(t *testing.T, chromium context.Context) {
	s := start(t, &fakeCleaner{})
	var back atomic.Bool
	p := openFront(t, chromium, serveTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && !back.Load() {
			panic(http.ErrAbortHandler)
		}
		s.Handler().ServeHTTP(w, r)
	})))
	p.Pick(p.File("a.png", picture(t, 40, 30)))
	p.Until(`states() == 'pausing' && document.querySelector('.state').textContent.includes('connection was lost')`)
	back.Store(true)
	p.Press("Try now: a.png")
	p.Until(`states() == 'done'`)
}

func testDropAndPaste(t *testing.T, chromium context.Context) {
	p := openFront(t, chromium, start(t, &fakeCleaner{}).url)
	data, err := json.Marshal(picture(t, 40, 30)) // Base64
	if err != nil {
		t.Fatal(err)
	}
	p.Eval(`window.held = (name) => {
		const transfer = new DataTransfer();
		transfer.items.add(new File([Uint8Array.from(atob(` + string(data) + `), (c) => c.charCodeAt(0))], name, { type: 'image/png' }));
		return transfer;
	}; ''`)
	p.Is(`!document.body.dispatchEvent(new DragEvent('dragover', { dataTransfer: held('x'), bubbles: true, cancelable: true })) && document.body.classList.contains('dropping')`, "true")
	p.Eval(`document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: held('dropped.png'), bubbles: true, cancelable: true })); ''`)
	p.Until(`states() == 'done' && !document.body.classList.contains('dropping')`)
	p.Eval(`document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData: held('image.png'), bubbles: true })); ''`)
	p.Until(`states() == 'done,done'`)
}

// Nothing is wider than a small phone, and what is touched is large enough.
func testNarrow(t *testing.T, chromium context.Context) {
	p := openFront(t, chromium, start(t, &fakeCleaner{}).url)
	p.Do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile, chromedp.EmulateTouch))
	p.Pick(p.File(strings.Repeat("a long name ", 12)+".png", picture(t, 1200, 1700)))
	p.Until(`states() == 'done'`)
	p.Is(`document.documentElement.scrollWidth <= 360`, "true")
	p.Is(`[...document.querySelectorAll('button, a, label')].filter((e) => e.offsetHeight && e.offsetHeight < 24).length`, "0")
	p.Is(`document.querySelector('.camera').offsetHeight > 0 && camera.getAttribute('capture') == 'environment'`, "true")
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
	chromium := browsertest.Start(t)
	for _, size := range []struct {
		name          string
		width, height int64
	}{{"phone", 390, 844}, {"desktop", 1280, 800}} {
		for scheme, language := range map[string]string{"light": "en", "dark": "zh-CN"} {
			s := withAccounts(t)
			s.cfg.Windows = []limit.Window{{Name: "minute", Limit: 2, Every: time.Minute}}
			s.cleaner = &fakeCleaner{clean: func(_ context.Context, _ []byte, o unink.Options) (*unink.Result, error) { return echo(after, o) }}
			p := openFront(t, chromium, serveTo(t, s.Handler())+"/?lang="+language)
			p.Look(size.width, size.height, scheme)
			shoot(p, size.name, scheme, "empty")
			p.Pick(p.File("worksheet-5b.jpg", before))
			p.Until(`states() == 'done' && document.querySelector('.after').naturalWidth > 800 && document.querySelector('.before').complete`)
			shoot(p, size.name, scheme, "page")
			p.Pick(p.File("IMG_20270301_164455_a_long_name_of_a_photo.jpg", before),
				p.File("notes.pdf", browsertest.PDF(browsertest.PDFPage{Width: 200, Height: 300, Grey: 95}, browsertest.PDFPage{Width: 200, Height: 300, Grey: 95})), p.File("broken.pdf", []byte("%PDF-1.7")))
			p.Until(`/^done,done,pausing,refused$/.test(states())`)
			shoot(p, size.name, scheme, "queue")
			p.Pressed("#options summary")
			p.Pressed("#touch-up")
			p.Until(`!document.querySelector('#touch').hidden`)
			p.Do(chromedp.Focus(chromedp.CSS("#touch")), chromedp.KeyEvent(" "))
			shoot(p, size.name, scheme, "touch-up")
			p.Eval(`document.querySelector('li:nth-child(3) [data-do=cancel]').click(), ''`) // with it the wait ends that would keep the page
		}
	}
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

// shoot leaves a picture of the page in the folder -shots.
func shoot(p *browsertest.Page, names ...string) {
	p.Shoot(filepath.Join(*shots, strings.Join(names, "-")+".png"))
}
