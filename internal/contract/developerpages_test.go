package contract

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"unink/internal/browsertest"
	"unink/internal/ident"
)

// developer makes somebody with an account and the starter package of a developer.
func (s *service) developer(t *testing.T, slug string) (user, customer) {
	t.Helper()
	u := s.newUser(t, 0)
	var made struct {
		Customer struct{ ID, Slug, AppCode string }
	}
	s.admin(t, &made, "customer", "add", u.email, "--name", "Acme", "--slug", slug, "--domain",
		"localhost", "--public-url", s.origin())
	c := customer{id: made.Customer.ID, appCode: made.Customer.AppCode,
		host: made.Customer.Slug + ".localhost"}
	c.token = s.rotate(t, c, "0s")
	return u, c
}

// status is that of a customer's request with a token.
func (s *service) status(t *testing.T, c customer, token string) int {
	t.Helper()
	c.token = token
	return s.send(t, request{method: http.MethodGet, path: "/account", host: c.host,
		header: c.cleanup("").header}).status
}

// A developer looks at packages and uses, and replaces the token, which is shown once.
func develops(t *testing.T, s *service, p *browsertest.Page) {
	u, c := s.developer(t, "dev-shop")
	s.send(t, c.cleanup(media(page))).code(t, 200, 0)
	s.send(t, c.cleanup(media(page))).code(t, 200, 0)
	s.send(t, c.cleanup(media("no picture"))).code(t, 400, 1005)
	p.LogIn(u.email, password)
	poll(t, "the uses on the developer's page", func() bool {
		p.GoTo("/developers/account")
		p.Until(`document.querySelector('#chart svg')`)
		return p.Eval(
			`document.querySelector('#chart svg').getAttribute('aria-label')`,
		) == "3 calls in the last 30 days, 1 of them failed"
	})
	p.Is(
		`document.querySelectorAll('#chart rect.ok').length + ' ' + document.querySelectorAll('#chart rect.bad').length`, "1 1",
	)
	p.Is(
		`document.querySelector('#credits').textContent + document.querySelector('#packages tbody td').textContent`, "498Starter",
	)
	p.Is(`document.querySelector('#refusals tbody').textContent.includes('Error 1005')`, "true")
	p.Is(`document.querySelector('#console').href`,
		strings.Replace(s.origin(), "localhost", "dev-shop.localhost", 1)+"/developers/console")
	p.Accessible()
	p.Pressed("#rotate button")
	p.Until(`document.activeElement?.matches('#made h3')`)
	made := p.Eval(`document.querySelector('#new-token').value`)
	if s.status(t, c, made) != http.StatusOK || s.status(t, c, c.token) != http.StatusOK {
		t.Error("the new token or, in its grace, the old one is not good")
	}
	p.Until(`document.querySelectorAll('#tokens li').length == 2`)
	p.Accessible()
	p.GoTo("/developers/account")
	p.Until(`document.querySelectorAll('#tokens li').length == 2`)
	p.Is(
		`document.documentElement.outerHTML.includes('unk_') || document.querySelector('#new-token').value != ''`, "false",
	)
	p.Eval(`document.querySelector('#grace').value = '0', ''`)
	p.Pressed("#rotate button")
	p.Until(
		`document.querySelectorAll('#tokens li').length == 1 && document.querySelector('#others').textContent == 'Earlier tokens have expired.'`,
	)
	if s.status(t, c, made) != http.StatusUnauthorized {
		t.Error("the earlier token is good still")
	}
}

func developsNothing(t *testing.T, s *service, p *browsertest.Page) {
	u := s.newUser(t, 0)
	enter(p, u, "/developers/account")
	p.Until(`document.querySelector('#none').innerText.includes('` + u.email + `')`)
	p.Is(`document.querySelector('#customer').hidden`, "true")
}

// Who has an account begins without a purchase: a token is shown once, with the call that tries it
// filled in; the credits are given once to a person, whatever follows a + in the address.
func beginsForFree(t *testing.T, s *service, p *browsertest.Page) {
	name := "dev" + ident.Secret()[:8]
	add := func(email string) user {
		s.adminInput(t, password+"\n", nil, "user", "add", email)
		return user{email: email}
	}
	u := add(name + "@example.com")
	enter(p, u, "/developers")
	p.Is(`document.querySelector('#quickstart').innerText.includes('Your first 10 calls are free')`,
		"true")
	p.Pressed("#quickstart p a")
	p.At("/developers/account")
	p.Shown("#begin button")
	p.Accessible()
	p.Pressed("#begin button")
	p.Until(`document.activeElement?.matches('#made h3')`)
	p.Is(`document.querySelector('#credits').textContent`, "10")
	p.Accessible()
	call := p.Eval(`document.querySelector('#call').textContent`)
	host := p.Eval(`new URL(document.querySelector('#url').textContent).hostname`)
	if !strings.Contains(call, host) ||
		!strings.Contains(call, p.Eval(`document.querySelector('#new-token').value`)) {
		t.Errorf("the call is %s", call)
	}
	runsAsPasted(t, call)
	p.GoTo("/developers")
	p.Is(`document.querySelector('#quickstart pre').textContent.includes('`+host+
		`') && document.querySelector('#quickstart p a').pathname == '/developers/account'`, "true")
	p.GoTo("/developers/account")
	p.Until(`document.querySelector('#credits').textContent == '9'`)

	p.GoTo("/account")
	p.Shown("#sessions li")
	p.Pressed("#log-out")
	p.At("/")
	enter(p, add(name+"+two@example.com"), "/developers/account")
	p.Shown("#begin button")
	p.Pressed("#begin button")
	p.Until(
		`document.querySelector('#none').innerText.includes('Free calls are given once to each person')`,
	)
}

// runsAsPasted runs a call of the quickstart with a page.
func runsAsPasted(t *testing.T, call string) {
	t.Helper()
	shell := exec.Command("sh", "-euc", call)
	shell.Dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(shell.Dir, "page.jpg"), []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	clean, err := os.ReadFile(filepath.Join(shell.Dir, "clean.jpg"))
	if err != nil {
		t.Fatal(err)
	}
	decoded(t, clean)
}

// The console calls the service where the customer's domain is, with what was chosen.
func triesTheConsole(t *testing.T, s *service, p *browsertest.Page) {
	_, c := s.developer(t, "console-shop")
	p = p.Window(strings.Replace(s.origin(), "localhost", c.host, 1) + "/developers/console")
	p.Do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{p.File("page.png", []byte(page))}))
	p.Toggle("#preserve_color")
	p.Until(
		`document.querySelector('#curl').textContent.includes('"preserve_color":true') && document.querySelector('#curl').textContent.includes('console-shop.localhost')`,
	)
	p.Entered("#token", c.token)
	p.UntilLong(
		`document.activeElement?.id == 'answer-title' && document.querySelector('#picture img').naturalWidth == 200`,
	)
	p.Is(
		`document.querySelector('#charged').textContent + ' ' + document.querySelector('#remaining').textContent + ' ' + document.querySelector('#status-line').textContent`, "1 499 200, code 0",
	)
	p.Accessible()
	p.Entered("#token", c.token[:len(c.token)-1]+"x")
	p.Until(
		`document.querySelector('#status-line').textContent == '401, code 1006' && document.querySelector('#picture').hidden`,
	)
	keepsTheToken(t, s, p, c.token)
}

// The console sends a whole PDF, waits for it, hands over the file, and deletes it there. For one
// that was deleted amid work it asks no more.
func triesPDFInTheConsole(t *testing.T, s *service, front *browsertest.Page) {
	_, c := s.developer(t, "console-pdf")
	p := front.Window(strings.Replace(s.origin(), "localhost", c.host, 1) + "/developers/console")
	p.Choose("#output_format", "webp") // which a PDF cannot hold
	p.Do(chromedp.SetUploadFiles(chromedp.CSS("#file"),
		[]string{p.File("long.pdf", []byte(examOf(60)))}))
	p.Entered("#token", c.token)
	p.Until(`document.querySelector('#progress').textContent.includes(' of 60 pages')`)
	job := deletesInTheConsole(t, s, c, p)
	asked := len(asksFor(p, job))

	p.Do(chromedp.SetUploadFiles(chromedp.CSS("#file"),
		[]string{p.File("exam.pdf", []byte(examOf(2)))}))
	p.Shown("#keep_marks")
	p.Toggle("#keep_marks")
	p.Typed("#pages", "1-")
	p.Until(
		`['curl -F pdf=@exam.pdf -F \'keep_marks=true\' -F \'pages=1-\' ', '/pdf/$ID', '/pdf/$ID/file', '-X DELETE'].every((part) => document.querySelector('#curl').textContent.includes(part))`,
	)
	p.Is(
		`document.querySelector('#return_layers').checkVisibility() + document.querySelector('#output_format').value`, "false",
	)
	p.Accessible()
	p.Entered("#token", c.token)
	p.Until(`document.activeElement?.id == 'answer-title'`)
	p.UntilLong(`document.querySelector('#save').checkVisibility()`)
	if n := len(asksFor(p, job)); n != asked {
		t.Errorf("%d times the page asked for what was deleted", n-asked)
	}
	const done = "Done · 2 of 2 pages · 2 credits charged"
	p.Is(`document.querySelector('#progress').textContent`, done)
	p.Is(`document.querySelector('#status').textContent`, done)
	p.Is(`document.querySelector('#status-line').textContent`, "200, code 0")
	p.Accessible()
	name, data := p.Download("#save")
	front.Pick(front.File(name, data))
	front.UntilLong(`states() == 'choosing'`)
	if pages := front.ReadPDF(data).Pages; name != "exam.clean.pdf" || len(pages) != 2 {
		t.Errorf("%s has the pages %+v", name, pages)
	}

	deletesInTheConsole(t, s, c, p)
	p.Accessible()

	p.Do(chromedp.SetUploadFiles(chromedp.CSS("#file"),
		[]string{p.File("broken.pdf", []byte("%PDF-1.7 and so on"))}))
	p.Entered("#token", c.token)
	p.Until(
		`document.querySelector('#progress').textContent == 'Failed' && document.querySelector('#body').textContent.includes('1005')`,
	)
	p.Is(`document.querySelector('#save').checkVisibility()`, "false")
	p.Entered("#token", c.token[:len(c.token)-1]+"x")
	p.Until(
		`document.querySelector('#status-line').textContent == '401, code 1006' && !document.querySelector('#pdf').checkVisibility()`,
	)
	keepsTheToken(t, s, p, c.token)
}

// deletesInTheConsole deletes the PDF that is shown, done or not, and returns its path.
func deletesInTheConsole(t *testing.T, s *service, c customer, p *browsertest.Page) (job string) {
	t.Helper()
	job = "/pdf/" + p.Eval(`JSON.parse(document.querySelector('#body').textContent).data.id`)
	s.send(t, c.ask(http.MethodGet, job)).pdf(t, http.StatusOK)
	p.Pressed("#delete")
	p.Until(
		`document.querySelector('#progress').textContent == 'Deleted' && document.querySelector('#status-line').textContent == '204'`,
	)
	s.send(t, c.ask(http.MethodGet, job)).code(t, http.StatusNotFound, 1000)
	return job
}

// keepsTheToken looks for a token where it must not be.
func keepsTheToken(t *testing.T, s *service, p *browsertest.Page, token string) {
	t.Helper()
	p.Is(`localStorage.length + sessionStorage.length + document.cookie.length`, "0")
	if strings.Contains(s.log.text(), token) {
		t.Error("the log has the token")
	}
	if asked := asksFor(p, token); len(asked) > 0 {
		t.Errorf("the token is in the addresses %v", asked)
	}
}

// On the pages' own address the console asks for the customer's.
func looksForTheConsole(_ *testing.T, s *service, p *browsertest.Page) {
	p.GoTo("/developers/console")
	p.Is(`document.querySelector('#console').hidden + document.querySelector('#domain').textContent`,
		"true.localhost")
	p.Entered("#slug", "no spaces")
	p.Until(`document.querySelector('#slug-error')?.textContent.includes('acme-labs')`)
	p.Is(`JSON.parse(document.querySelector('#page-data').textContent).data.there`,
		strings.Replace(s.origin(), "localhost", "{slug}.localhost", 1)+"/developers/console")
}

// The quickstart atop the documentation works as it is pasted, with an API domain and a token.
func startsQuickly(t *testing.T, s *service, p *browsertest.Page) {
	_, c := s.developer(t, "quick-start")
	p.GoTo("/developers")
	p.Is(
		`document.querySelector('#quickstart').getBoundingClientRect().top < document.querySelector('nav.contents').getBoundingClientRect().top && document.querySelector('#quickstart pre').textContent.trim().split('\n').length <= 3`, "true",
	)
	p.Is(
		`[...document.querySelectorAll('article details[open] h3 code')].map((code) => code.textContent).join()`, "POST /cleanup",
	)
	call := strings.NewReplacer("YOUR-NAME.localhost", c.host, "YOUR-TOKEN", c.token).Replace(p.Eval(`document.querySelector('#quickstart pre').textContent`))
	runsAsPasted(t, call)
}

// The documentation has both entry points and an example in each language of programs.
func readsTheDocumentation(_ *testing.T, _ *service, p *browsertest.Page) {
	p.GoTo("/developers?lang=zh-CN")
	p.Is(`document.querySelector('h1').innerText + document.querySelector('#quickstart h2').innerText`,
		"unink 开发者文档快速开始")
	p.Is(`[...document.querySelectorAll('article')].every((a) => a.closest('[lang]').lang == 'en')`,
		"true")
	p.GoTo("/developers?lang=en")
	p.Is(
		`['/cleanup', '/api/process-image', 'media_id', 'X-Credits-Remaining'].filter((text) => !document.querySelector('main').textContent.includes(text)).join()`, "",
	)
	p.Is(
		`['curl', 'urllib', 'net/http', 'fetch('].filter((text) => !document.querySelector('main').textContent.includes(text)).join()`, "",
	)
	p.Is(
		`[...document.querySelectorAll('main a[href^="#"]')].filter((link) => !document.getElementById(link.hash.slice(1))).map((link) => link.hash).join()`, "",
	)
}

// The operator's page tells what has happened, and there is nothing at its address for others.
func operates(t *testing.T, s *service, p *browsertest.Page) {
	ann, op := s.newUser(t, 2), user{email: ident.Secret() + "@example.com"}
	s.adminInput(t, password+"\n", nil, "user", "add", op.email, "--operator")
	s.upload(t, request{header: ann.bearer()}, "image", page).cleaned(t, true)
	s.upload(t, request{header: ann.bearer()}, "image", "no picture").is(t, 400, "INVALID_FILE_TYPE")
	s.used(t, ann, 2)
	if a := s.tell(t, paidEvent(t, "evt_operator", ann, "web-200", 1490),
		webhookSecret); a.status/100 != 2 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	p.GoTo("/operator")
	p.At("/log-in?next=%2Foperator")
	p.Typed("#email", ann.email)
	p.Entered("#password", password)
	p.Arrives(
		`location.pathname == '/operator' && performance.getEntriesByType('navigation')[0].responseStatus == 404`,
	)
	p.Is(`document.querySelector('#tiles')`, "null")
	p.GoTo("/account")
	p.Shown("#sessions li")
	p.Is(`document.querySelector('#operator').hidden`, "true")
	p.Pressed("#log-out")
	p.At("/")
	enter(p, op, "/account")
	p.Shown("#operator")
	p.Pressed("#operator")
	p.At("/operator")
	p.Until(
		`document.querySelectorAll('#tiles li').length == 8 && document.querySelectorAll('#uses-chart rect.ok').length > 0`,
	)
	p.Is(`document.querySelectorAll('.tile.warn').length`, "0")
	p.Is(
		`['#latency', '#callers', '#outcomes', '#revenue'].filter((table) => !document.querySelector(table + ' tbody tr')).join()`, "",
	)
	p.Is(
		`document.querySelector('#revenue tbody').innerText.includes('$') && document.querySelector('#outcomes').innerText.includes('INVALID_FILE_TYPE')`, "true",
	)
	p.Eval(`document.querySelector('#status').textContent = '', ''`)
	p.Choose("#days", "7")
	p.Until(
		`document.querySelector('#status').textContent != '' && document.querySelectorAll('#uses-chart .over').length == 7`,
	)
	p.Accessible()
}
