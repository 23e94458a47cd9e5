package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	flags "flag"
	"fmt"
	"net/http"
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
	"unink/internal/limit"
)

var shots = flags.String("shots", "", "folder that TestPageLooks leaves pictures of the page in")

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
	p := openFront(t, chromium, serveTo(t, s.Handler()))
	p.pick(p.file("exam 1.jpeg", picture(t, 40, 30)))
	p.until(`states() == 'done'`)
	p.until(`document.querySelector('.after').naturalWidth == 640 && document.querySelector('.before').naturalWidth == 40`)
	if name, data := p.download("#actions .download"); name != "exam 1.clean.png" || !bytes.Equal(data, cleaned) {
		t.Errorf("downloaded %q with %d bytes", name, len(data))
	}

	p.do(chromedp.Focus(chromedp.CSS("#split")), chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowLeft))
	p.is(`[split.value, split.getAttribute('aria-valuetext'), document.querySelector('.compare').style.getPropertyValue('--split')].join()`, "48,48 % before,48%")
	p.do(chromedp.KeyEvent(kb.Home))
	p.is(`split.value`, "0")
	p.eval(`document.querySelector('.compare').scrollIntoView({ behavior: 'instant', block: 'center' })`)
	var x, y float64
	if _, err := fmt.Sscan(p.eval(`(({ x, y, width, height }) => (x + width / 4) + ' ' + (y + height / 4))(document.querySelector('.compare').getBoundingClientRect())`), &x, &y); err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.MouseClickXY(x, y)) // a quarter of the way
	p.is(`split.value > 22 && split.value < 28`, "true")

	p.do(chromedp.Focus(chromedp.CSS("[name=preserveColor][value=true]")), chromedp.KeyEvent(" "))
	p.pick(p.file("b.png", picture(t, 40, 30)))
	p.until(`states() == 'done,done'`)
	if first, second := <-asked, <-asked; first != unink.Scan || second != unink.Colour {
		t.Errorf("finishes %v and %v", first, second)
	}
	p.is(`document.querySelector('#count').textContent`, "2 files, 2 done")
	p.press("Remove: exam 1.jpeg")
	p.until(`states() == 'done' && document.querySelector('#result-title').textContent == 'b.png'`)
	p.press("Remove: b.png")
	p.until(`document.querySelector('#queue').hidden && document.activeElement.id == 'files' && document.querySelector('.after').src.includes('/after-')`)
}

// Of several files one is sent at a time; a waiting one is cancelled and tried again.
func testQueue(t *testing.T, chromium context.Context) {
	c, started, release := blocking()
	s := start(t, c)
	p := openFront(t, chromium, s.url)
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
	p := openFront(t, chromium, serveTo(t, s.Handler()))
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
	p := openFront(t, chromium, serveTo(t, withAccounts(t).Handler()))
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
		if strings.Contains(url, "/api/process-image") || strings.Contains(url, "/api/bot-challenge") {
			t.Errorf("asked for %s", url)
		}
	}
}

func testMadeSmaller(t *testing.T, chromium context.Context) {
	large := append(picture(t, 400, 300), make([]byte, maxImageBytes)...) // what follows a PNG's end counts for nothing
	p := openFront(t, chromium, start(t, &fakeCleaner{}).url)
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
	p := openFront(t, chromium, serveTo(t, s.Handler()))
	p.pick(p.file("a.png", picture(t, 40, 30)), p.file("b.png", picture(t, 41, 30)), p.file("c.png", picture(t, 42, 30)))
	p.until(`!notice.hidden && states() == 'done,waiting,waiting'`)
	p.is(`notice.innerText.includes('free pages of today are used up') && notice.querySelector('a').pathname`, "/pricing")
	s.door.(*accountDoor).cfg.GuestDaily = 2 // a day's allowance is given once
	p.pressed("#notice button")
	p.until(`!notice.hidden`)
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
	p := openFront(t, chromium, s.url)
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
	p := openFront(t, chromium, serveTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	p := openFront(t, chromium, start(t, &fakeCleaner{}).url)
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
	p := openFront(t, chromium, start(t, &fakeCleaner{}).url)
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
		for scheme, language := range map[string]string{"light": "en", "dark": "zh-CN"} {
			s := withAccounts(t)
			s.cfg.Windows = []limit.Window{{Name: "minute", Limit: 2, Every: time.Minute}}
			s.cleaner = &fakeCleaner{clean: func(_ context.Context, _ []byte, o unink.Options) (*unink.Result, error) { return echo(after, o) }}
			p := openFront(t, chromium, serveTo(t, s.Handler())+"/?lang="+language)
			p.look(size.width, size.height, scheme)
			p.shoot(size.name, scheme, "empty")
			p.pick(p.file("worksheet-5b.jpg", before))
			p.until(`states() == 'done' && document.querySelector('.after').naturalWidth > 800 && document.querySelector('.before').complete`)
			p.shoot(size.name, scheme, "page")
			p.pick(p.file("IMG_20270301_164455_a_long_name_of_a_photo.jpg", before),
				p.file("notes.pdf", pdfOf(pageOf{width: 200, height: 300, grey: 95}, pageOf{width: 200, height: 300, grey: 95})), p.file("broken.pdf", []byte("%PDF-1.7")))
			p.until(`/^done,done,pausing,refused$/.test(states())`)
			p.shoot(size.name, scheme, "queue")
			p.pressed("#options summary")
			p.pressed("#touch-up")
			p.until(`!document.querySelector('#touch').hidden`)
			p.do(chromedp.Focus(chromedp.CSS("#touch")), chromedp.KeyEvent(" "))
			p.shoot(size.name, scheme, "touch-up")
			p.eval(`document.querySelector('li:nth-child(3) [data-do=cancel]').click(), ''`) // with it the wait ends that would keep the page
		}
	}
}

// openFront opens the front page of a service.
func openFront(t testing.TB, chromium context.Context, url string) *pageInBrowser {
	t.Helper()
	p := openPage(t, chromium, url)
	p.frontReady()
	return p
}
