package contract

import (
	database "database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"unink/internal/browsertest"
)

// Every state of the front page, in both languages, light and dark, holds against axe-core, and is
// not wider than its window.
func seesEveryState(t *testing.T, s *service, p *browsertest.Page) {
	for _, look := range []struct {
		language, scheme string
		width            int64
	}{{"en", "light", 1280}, {"zh-CN", "dark", 390}} {
		p = p.Window(s.origin() + "/healthz")
		arrive(p, "/?lang="+look.language)
		p.Look(look.width, 844, look.scheme)
		p.Is(`document.documentElement.lang`, look.language)
		p.Accessible()
		logIn(p, s.newUser(t, 10))
		p.Pressed("#options summary")
		files := []string{p.File("b.txt", []byte("no"))}
		for i := range 5 { // of which four are sent in a minute
			files = append(files, p.File(fmt.Sprintf("%d.png", i), []byte(page)))
		}
		p.Pick(files...)
		p.UntilLong(`states() == 'refused,done,done,done,done,pausing'`)
		p.Accessible()
		p.Pressed("#touch-up")
		p.Until(`!document.querySelector('#touch').hidden`)
		p.Accessible()
		p.Is(`document.documentElement.scrollWidth <= innerWidth`, "true")
	}
}

// pagePaths are the pages besides the front page, and who looks at them: those before the account
// as a guest.
var pagePaths = []struct{ name, path, ready string }{
	{"sign-up", "/sign-up", ""}, {"log-in", "/log-in", ""}, {"verify", "/verify?token=1", ""}, {"reset", "/reset", ""}, {"new-password", "/reset?token=1", ""},
	{"pricing", "/pricing", ""}, {"developers", "/developers", ""}, {"console", "/developers/console", ""}, {"lost", "/nothing", ""},
	{"account", "/account", "#sessions li"}, {"developer", "/developers/account", "#chart svg"}, {"operator", "/operator", "#tiles li"},
}

// world is somebody who has all that there is to see.
type world struct {
	user     user
	customer customer
}

// newWorld makes somebody with credits, uses of the last weeks, a developer's packages and the
// operator's role.
func (s *service) newWorld(t *testing.T, slug string) world {
	t.Helper()
	u, c := s.developer(t, slug)
	s.admin(t, nil, "user", "role", u.id, "operator")
	s.admin(t, nil, "grant", c.id, "--plan", "popular")
	s.admin(t, nil, "grant", c.id, "--credits", "20", "--months", "0")
	if a := s.tell(t, paidEvent(t, "evt_"+slug, u, "web-200", 1490),
		webhookSecret); a.status/100 != 2 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for i := range 14 {
		s.send(t, c.cleanup(media(smallPage))).code(t, 200, 0)
		if i%4 == 0 {
			s.send(t, c.cleanup(media("no picture"))).code(t, 400, 1005)
			s.upload(t, request{header: u.bearer()}, "image", "no picture").is(t, 400, "INVALID_FILE_TYPE")
		}
		s.upload(t, request{header: u.bearer()}, "image", page).cleaned(t, false)
	}
	s.used(t, u, 18)
	s.moveUses(t, "user:"+u.id, "customer:"+c.id)
	return world{u, c}
}

// moveUses makes uses ones of the weeks before: a service lives longer than a test.
func (s *service) moveUses(t *testing.T, owners ...string) {
	t.Helper()
	db := s.sqlite(t)
	for _, owner := range owners {
		const hour = 3_600_000_000 // microseconds
		if _, err := db.Exec(`UPDATE usage SET at = at - (rowid * rowid % 600) * $1 WHERE owner = $2`,
			hour, owner); err != nil {
			t.Fatal(err)
		}
	}
}

// sqlite is the service's database, beside it.
func (s *service) sqlite(t *testing.T) *database.DB {
	t.Helper()
	db, err := database.Open("sqlite",
		filepath.Join(s.data, "unink.db")+"?_pragma=busy_timeout(20000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// see opens one of pagePaths in a window, logging in before the first that needs it, and waits
// until it is complete.
func (w world) see(p *browsertest.Page, i int) {
	page := pagePaths[i]
	if page.name == "account" {
		p.LogIn(w.user.email, password)
	}
	p.GoTo(page.path)
	if page.ready != "" {
		p.Shown(page.ready)
	}
}

// seesEveryPage holds each page in a language, on a phone and on a desktop, light and dark, against
// the rules of accessibility, and nothing may be wider than a small phone.
func seesEveryPage(language string) flow {
	return func(t *testing.T, s *service, p *browsertest.Page) {
		w := s.newWorld(t, "every-page-"+strings.ToLower(language))
		schemes := []string{"light", "dark"}
		if language != "en" {
			slices.Reverse(schemes)
		}
		p.GoTo("/?lang=" + language)
		for i, page := range pagePaths {
			p.Look(360, 740, schemes[0])
			w.see(p, i)
			p.Is(`document.documentElement.lang`, language)
			p.Is(`document.documentElement.scrollWidth <= 360`, "true")
			if wide := p.Eval(
				`[...document.querySelectorAll('main *')].filter((e) => e.getBoundingClientRect().right > 361 && !e.closest('.wide, pre, svg, .unseen')).map((e) => e.outerHTML.slice(0, 80)).join()`,
			); wide != "" {
				t.Errorf("%s in %s is wider than the phone: %s", page.name, language, wide)
			}
			p.Is(
				`[...document.querySelectorAll('main button, main .button, main select, main input:not([type=checkbox], .unseen), summary')].filter((e) => e.offsetHeight && e.offsetHeight < 24).length`, "0",
			)
			p.Accessible()
			p.Look(1280, 800, schemes[1])
			p.Accessible()
		}
	}
}

// looks are the ways in which pictures of the pages are taken.
var looks = []struct {
	language, scheme, size string
	width, height          int64
}{
	{"en", "light", "desktop", 1280, 800}, {"zh-CN", "dark", "desktop", 1280, 800},
	{"en", "dark", "phone", 390, 844}, {"zh-CN", "light", "phone", 390, 844},
}

// TestPageLooks leaves pictures of the pages in the folder -shots.
func TestPageLooks(t *testing.T) {
	if *shots == "" {
		t.Skip("no folder -shots")
	}
	chromium := browsertest.Start(t)
	photo, err := os.ReadFile("../../docs/before.jpg")
	if err != nil {
		t.Fatal(err)
	}
	shoot := func(p *browsertest.Page, names ...string) {
		p.Shoot(filepath.Join(*shots, strings.Join(names, "-")+".png"))
	}
	serve := func(flags ...string) *service {
		s := prepare(t, "sqlite:"+filepath.Join(t.TempDir(), "unink.db"), flags...)
		s.start(t)
		return s
	}
	t.Run("front", func(t *testing.T) {
		s := serve("--per-minute", "2", "--guest-credits", "1000", "--guest-address", "1000")
		for _, look := range looks {
			p := s.window(t, chromium)
			p.Look(look.width, look.height, look.scheme)
			p.GoTo("/?lang=" + look.language)
			p.FrontReady()
			shoot(p, "front", look.size, look.scheme, look.language, "empty")
			p.Pick(p.File("worksheet-5b.jpg", photo))
			p.UntilLong(
				`states() == 'done' && document.querySelector('.after').naturalWidth > 800 && document.querySelector('.before').complete`,
			)
			shoot(p, "front", look.size, look.scheme, look.language, "page")
			p.Pick(p.File("IMG_20270301_164455_a_long_name_of_a_photo.jpg", photo),
				p.File("notes.pdf", browsertest.PDF(browsertest.PDFPage{Width: 200, Height: 300, Grey: 95},
					browsertest.PDFPage{Width: 200, Height: 300, Grey: 95})), p.File(
					"broken.pdf", []byte("%PDF-1.7"),
				))
			p.UntilLong(`states() == 'done,done,pausing,refused'`)
			shoot(p, "front", look.size, look.scheme, look.language, "queue")
			p.Pressed("#options summary")
			p.Pressed("#touch-up")
			p.Until(`!document.querySelector('#touch').hidden`)
			p.Do(chromedp.Focus(chromedp.CSS("#touch")), chromedp.KeyEvent(" "))
			shoot(p, "front", look.size, look.scheme, look.language, "touch-up")
		}
	})
	t.Run("pages", func(t *testing.T) {
		s := serve(openHanded...)
		var sheets []browsertest.PDFPage
		for i := range 12 {
			sheets = append(sheets, browsertest.PDFPage{
				Width: 420, Height: 595, Grey: 100 - i, Written: i%3 != 2,
			})
		}
		for _, look := range looks {
			p := s.window(t, chromium)
			p.Look(look.width, look.height, look.scheme)
			p.GoTo("/?lang=" + look.language)
			p.FrontReady()
			p.Toggle("[name=preserveColor][value=true]")
			p.Pick(p.File("exam.pdf", browsertest.PDF(sheets...)))
			p.Until(`document.querySelectorAll('.faces canvas[height="160"]').length == 12`)
			shoot(p, "pages", look.size, look.scheme, look.language, "pick")
			p.Typed(".choose [name=pages]", "2-4")
			p.Pressed(".choose .button")
			p.UntilLong(`states() == 'done'`)
			p.Toggle("#tint")
			p.Until(
				`document.querySelectorAll('#strip canvas:not([width="1"])').length > 3 && document.querySelector('.before').naturalWidth > 800`,
			)
			shoot(p, "pages", look.size, look.scheme, look.language, "review")
		}
	})
	t.Run("wanting", func(t *testing.T) {
		s := serve("--guest-credits", "2", "--guest-address", "1000", "--pdf-guest-credits", "2",
			"--pdf-guest-address", "1000")
		for _, look := range looks {
			p := s.window(t, chromium)
			p.Look(look.width, look.height, look.scheme)
			p.GoTo("/?lang=" + look.language)
			p.FrontReady()
			sheet := browsertest.PDFPage{Width: 200, Height: 300, Grey: 95}
			large := append(picture(400, 300), make([]byte, 5<<20)...)
			p.Pick(p.File("large-photo.png", large), p.File("worksheet.png", picture(320, 240)),
				p.File("third.png", picture(300, 200)), p.File("fourth.png", picture(300, 220)),
				p.File("exam.pdf", browsertest.PDF(sheet, sheet, sheet)))
			p.UntilLong(`states() == 'done,done,out,out,choosing'`)
			p.Pressed("[data-state=out] [data-do=cancel]")
			p.Pressed("[data-state=cancelled] [data-do=remove]")
			p.Toggle("[name=preserveColor][value=true]")
			shoot(p, "front", look.size, look.scheme, look.language, "wanting")
		}
	})
	t.Run("others", func(t *testing.T) {
		s := serve(slices.Concat(openHanded, sellingFlags)...)
		w := s.newWorld(t, "sunrise-primary-school")
		for _, look := range looks {
			p := s.window(t, chromium)
			p.GoTo("/?lang=" + look.language)
			for i, page := range pagePaths {
				w.see(p, i)
				p.Look(look.width, look.height, look.scheme)
				shoot(p, page.name, look.size, look.scheme, look.language)
			}
			p = p.Window(strings.Replace(s.origin(), "localhost", w.customer.host, 1) +
				"/developers/console?lang=" + look.language)
			p.Look(look.width, look.height, look.scheme)
			p.Do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{p.File("page.jpg", photo)}))
			p.Entered("#token", w.customer.token)
			p.UntilLong(`!document.querySelector('#about').hidden`)
			shoot(p, "console-used", look.size, look.scheme, look.language)
		}
	})
}
