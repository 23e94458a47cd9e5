package contract

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/jpeg" // as which photos come
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"unink/internal/browsertest"
	"unink/internal/ident"
)

// TestPages uses the web pages in Chromium, with the embedded default: SQLite, the built-in bot check, the engine.
func TestPages(t *testing.T) {
	t.Parallel()
	chromium := browsertest.Start(t)
	for name, flow := range map[string]struct {
		test  func(*testing.T, *service, *browsertest.Page)
		flags []string
	}{
		"guest":   {guestCleans, []string{"--guest-credits", "2"}},
		"account": {accountCleans, nil},
		"killed":  {killedMeanwhile, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := prepare(t, "sqlite:"+filepath.Join(t.TempDir(), "unink.db"), flow.flags...)
			s.start(t)
			flow.test(t, s, s.open(t, chromium))
		})
	}
}

// open opens the front page.
func (s *service) open(t *testing.T, chromium context.Context) *browsertest.Page {
	t.Helper()
	p := browsertest.Open(t, chromium, "http://localhost:"+s.port)
	p.FrontReady()
	return p
}

// A guest drops a photo, watches, compares and downloads it; the third page of the day is one too many.
func guestCleans(t *testing.T, s *service, p *browsertest.Page) {
	photo, err := os.ReadFile("../../docs/before.jpg")
	if err != nil {
		t.Fatal(err)
	}
	p.Do(chromedp.Focus(chromedp.CSS("[name=preserveColor][value=true]")), chromedp.KeyEvent(" ")) // where blue that is left would be seen
	p.Eval(`window.told = new Set(), new MutationObserver(() => { for (const { textContent } of document.querySelectorAll('#queue .state')) told.add(textContent); }).observe(document.querySelector('#queue'), { subtree: true, childList: true, characterData: true }), ''`)
	p.Drop("exam.jpg", "image/jpeg", photo)
	p.UntilLong(`states() == 'done'`)
	p.Is(`/^Preparing…(,Uploading [^,]*)*,Cleaning…,Done, /.test([...told].join())`, "true")
	p.Until(`['.before', '.after'].every((s) => document.querySelector(s).naturalWidth == 1240)`)
	p.Do(chromedp.Focus(chromedp.CSS("#split")), chromedp.KeyEvent(kb.Home))
	p.Is(`document.querySelector('#split').getAttribute('aria-valuetext')`, "0 % before")

	name, clean := p.Download("#actions .download")
	before, size := answer4(t, photo)
	after, cleanSize := answer4(t, clean)
	if name != "exam.clean.jpg" || size != cleanSize || before < 5000 || after > before/20 {
		t.Errorf("the last answer has %d blue pixels in the photo of %v, %d in %s of %v", before, size, after, name, cleanSize)
	}

	p.Pick(p.File("second.png", []byte(page)))
	p.UntilLong(`states() == 'done,done'`)
	p.Pick(p.File("third.png", []byte(page)))
	p.UntilLong(`states() == 'done,done,waiting' && !notice.hidden`)
	p.Is(`notice.innerText.includes('free pages of today are used up') && notice.querySelector('a').pathname`, "/pricing")
	s.stop(t)
	s.audit(t)
}

// answer4 counts the blue pixels where the photo's last answer is, in blue ink between black lines.
func answer4(t *testing.T, data []byte) (blue int, size image.Point) {
	t.Helper()
	m, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for y := 1065; y < 1240; y++ {
		for x := 100; x < 1130; x++ {
			if r, _, b, _ := m.At(x, y).RGBA(); b > r+0x2000 {
				blue++
			}
		}
	}
	return blue, m.Bounds().Size()
}

// Somebody signs up, follows the mail's link, logs in, has a PDF cleaned, looks at the account and logs out.
func accountCleans(t *testing.T, s *service, p *browsertest.Page) {
	email := ident.Secret() + "@example.com"
	p.GoTo("/sign-up")
	p.Typed("#email", email)
	p.Entered("#password", password)
	p.UntilLong(`document.activeElement?.matches('#sent h2')`)
	_, token, found := strings.Cut(s.mail(t, "verify"), "http://localhost:"+s.port+"/verify?token=")
	if !found {
		t.Fatal("the mail has no link")
	}
	p.GoTo("/verify?token=" + strings.Fields(token)[0])
	p.Pressed("#form button")
	p.Until(`document.activeElement?.matches('#done h2')`)

	p.LogIn(email, password)
	p.FrontReady()
	p.Until(`document.querySelector('#who .credits').textContent == '5 credits'`)
	p.Pick(p.File("exam.pdf", browsertest.PDF(browsertest.PDFPage{Width: 300, Height: 200, Grey: 100}, browsertest.PDFPage{Width: 200, Height: 240, Grey: 100})))
	p.UntilLong(`states() == 'done'`)
	p.Until(`document.querySelector('#who .credits').textContent == '3 credits'`)
	name, clean := p.Download("#actions .download")
	var sizes []string
	for _, made := range p.ReadPDF(clean) {
		sizes = append(sizes, fmt.Sprintf("%.0f×%.0f", made.Width, made.Height))
	}
	if got := strings.Join(sizes, " "); name != "exam.clean.pdf" || got != "300×200 200×240" {
		t.Errorf("%s has pages of %s", name, got)
	}

	p.GoTo("/account")
	p.Until(`document.querySelector('#credits').textContent == '3' && document.querySelectorAll('#uses tbody tr').length == 2`)
	p.Pressed("#log-out")
	p.At("/")
	p.FrontReady()
	p.Until(`!document.querySelector('#who .guest').hidden && document.querySelector('#who .user').hidden`)
	s.stop(t)
	s.audit(t)
}

// The service is killed in the middle of a page and started again: the queue goes on, and each page is charged once.
func killedMeanwhile(t *testing.T, s *service, p *browsertest.Page) {
	u := s.newUser(t, 5)
	p.LogIn(u.email, password)
	p.FrontReady()
	p.Pick(p.File("large.png", encoded(drawn(2500, 2500, true))), p.File("small.png", []byte(page)))
	s.working(t)
	s.kill()
	p.Until(`states() == 'pausing,waiting'`)
	s.start(t)
	p.Do(chromedp.Reload())
	p.FrontReady()
	p.UntilLong(`states() == 'done,done'`)
	p.Until(`document.querySelector('#who .credits').textContent == '3 credits'`)
	s.stop(t)
	if l := s.ledger(t, u.id); l.count("settle") != 2 || l.count("reserve") != 3 || l.count("release") != 1 || l.sum() != 3 {
		t.Errorf("two pages, the first of them sent twice: %+v", l.Entries)
	}
	s.audit(t)
}
