package contract

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"unink/internal/browsertest"
	"unink/internal/ident"
)

// Somebody signs up, follows the mail's link, logs in, has a PDF cleaned, looks at the account,
// changes the password, logs out, forgets the password and chooses another.
func livesWithAnAccount(t *testing.T, s *service, p *browsertest.Page) {
	const second, third = "staple battery horse", "a third one of these"
	email := ident.Secret() + "@example.com"
	p.GoTo("/sign-up")
	p.Typed("#email", email)
	p.Entered("#password", password)
	p.UntilLong(
		fmt.Sprintf(
			`document.activeElement?.matches('#sent h2') && document.querySelector('#to').textContent == '%s'`, email,
		),
	)
	p.GoTo("/verify?token=" + s.linkIn(t, "verify", email, "/verify"))
	p.Is(`location.search`, "")
	p.Pressed("#form button")
	p.Until(`document.activeElement?.matches('#done h2')`)

	p.LogIn(email, password)
	p.FrontReady()
	p.Until(
		`[...document.querySelectorAll('#who a:not([hidden])')].map((a) => a.innerText).join() == 'Account 5 credits'`,
	)
	pickAll(p, p.File("exam.pdf", browsertest.PDF(
		browsertest.PDFPage{Width: 300, Height: 200, Grey: 100},
		browsertest.PDFPage{Width: 200, Height: 240, Grey: 100})))
	p.UntilLong(`states() == 'done'`)
	p.Until(`document.querySelector('#who .credits').textContent == '3 credits'`)
	name, clean := p.Download("#actions .download")
	if got := sizesOf(p.ReadPDF(clean).Pages); name != "exam.clean.pdf" || got != "300×200 200×240" {
		t.Errorf("%s has pages of %s", name, got)
	}

	poll(t, "the uses on the account page", func() bool { // written down some time after the answers
		p.GoTo("/account")
		p.Until(`document.querySelector('#credits').textContent == '3'`)
		return p.Eval(`document.querySelectorAll('#uses tbody tr').length`) == "2"
	})
	p.Is(`document.querySelector('#email').textContent`, email)
	p.Is(`document.querySelector('#packages tbody').innerText.trim().split(/\s+/).join(' ')`,
		"Welcome 3 5 no expiry")
	p.Typed("#old", "not this one")
	p.Entered("#new", second)
	p.Until(
		`document.activeElement?.id == 'old' && document.querySelector('#old-error')?.textContent == 'This is not your password.'`,
	)
	p.Typed("#old", password)
	p.Entered("#new", email)
	p.Until(
		`document.activeElement?.id == 'new' && document.querySelector('#new-error')?.textContent.includes('not accepted')`,
	)
	p.Entered("#new", second)
	p.Until(`document.activeElement?.matches('#changed h3')`)

	p.GoTo("/log-in?next=/account")
	p.Typed("#email", email)
	p.Entered("#password", second)
	p.At("/account")
	p.Shown("#log-out")
	p.Pressed("#log-out")
	p.At("/")
	p.Until(
		`!document.querySelector('#who .guest').hidden && document.querySelector('#who .user').hidden`,
	)

	p.GoTo("/reset")
	p.Entered("#email", email)
	p.Until(`document.activeElement?.matches('#asked h2')`)
	p.GoTo("/reset?token=" + s.linkIn(t, "reset", email, "/reset"))
	p.Is(`location.search`, "")
	p.Entered("#password", third)
	p.Until(`document.activeElement?.matches('#changed h2')`)
	p.LogIn(email, third)
}

// Whoever logs out or deletes the account leaves no page in the browser, in no tab, and is told so.
func leavesNothingBehind(t *testing.T, s *service, p *browsertest.Page) {
	const kept = `(async () => { const { promise, resolve } = Promise.withResolvers(), opening = indexedDB.open('unink'); opening.onsuccess = () => resolve(opening.result);
		const db = await promise, found = []; for (const name of ['jobs', 'pages']) { const all = db.transaction(name).objectStore(name).count(); await new Promise((then) => { all.onsuccess = then; }); found.push(all.result); }
		db.close(); window.kept = found.join(); })(), ''`
	u := s.newUser(t, 5)
	logIn(p, u)
	tab := p.Tab()
	for _, one := range []*browsertest.Page{p, tab} {
		one.Do(chromedp.Navigate(s.origin()))
		one.FrontReady()
		one.Pick(one.File("a.png", []byte(page)))
		one.UntilLong(`states() == 'done'`)
	}
	leave := func(way, farewell string) {
		t.Helper()
		p.GoTo("/account")
		p.Shown("#sessions li")
		p.Pressed(way)
		if way == "#delete" {
			p.Pressed("#gone")
		}
		p.At("/")
		p.FrontReady()
		p.Until(
			fmt.Sprintf(
				`document.querySelector('#farewell').checkVisibility() && document.querySelector('#farewell').textContent == '%s'`, farewell,
			),
		)
		p.Is(`states()`, "")
		p.Eval(kept)
		p.Until(`window.kept == '0,0'`)
	}
	leave("#log-out", "You are logged out. Your pages were removed from this browser.")
	tab.Arrives(
		`document.body.classList.contains('ready') && document.querySelectorAll('#queue li').length == 0`,
	)
	p.GoTo("/")
	p.FrontReady()
	p.Is(`document.querySelector('#farewell').hidden`, "true")

	logIn(p, u)
	p.Pick(p.File("b.png", []byte(page)))
	p.UntilLong(`states() == 'done'`)
	leave("#delete", "Your account is deleted. Your pages were removed from this browser.")
}

// A session elsewhere is ended alone, then all of them.
func endsSessions(t *testing.T, s *service, p *browsertest.Page) {
	other := s.newUser(t, 0)
	enter(p, other, "/account")
	p.Until(`document.querySelectorAll('#sessions li').length == 2`)
	p.Is(
		`[...document.querySelectorAll('#sessions b')].map((b) => b.textContent).includes('Chrome · Linux') || document.querySelector('#sessions').innerText`, "true",
	)
	p.Is(`document.querySelectorAll('#sessions button').length`, "1")
	p.Pressed("#sessions button")
	p.Until(
		`document.querySelectorAll('#sessions li').length == 1 && document.activeElement?.id == 'everywhere' && document.querySelector('#status').textContent == 'The session has ended.'`,
	)
	if s.loggedIn(t, other) {
		t.Error("the session elsewhere is good still")
	}
	again := s.logInAgain(t, other)
	p.Pressed("#everywhere")
	p.At("/")
	if s.loggedIn(t, again) {
		t.Error("a session has survived the end of all")
	}
	p.Until(`!document.querySelector('#who .guest').hidden`)
}

// An account is deleted only after a second yes.
func deletesTheAccount(t *testing.T, s *service, p *browsertest.Page) {
	u := s.newUser(t, 1)
	enter(p, u, "/account")
	p.Shown("#sessions li")
	p.Pressed("#delete")
	p.Until(`document.querySelector('#sure').open && document.activeElement?.value == 'no'`)
	p.Do(chromedp.KeyEvent(kb.Escape))
	p.Until(`!document.querySelector('#sure').open && document.activeElement?.id == 'delete'`)
	if !s.loggedIn(t, u) {
		t.Error("the account is gone without a yes")
	}
	p.Pressed("#delete")
	p.Accessible()
	p.Pressed("#gone")
	p.At("/")
	if s.loggedIn(t, u) {
		t.Error("the session is good still")
	}
	s.post(t, "/api/log-in", map[string]string{"email": u.email, "password": password}).is(
		t, http.StatusBadRequest, "VERIFICATION_FAILED",
	)
}

// What is wrong is said beside its field, which has the focus; too many attempts are told with how
// long to wait.
func fillsInWrongly(_ *testing.T, _ *service, p *browsertest.Page) {
	p.GoTo("/sign-up")
	p.Pressed("#form button.primary")
	p.Until(
		`document.activeElement?.id == 'email' && document.querySelector('#email-error')?.textContent == 'This field is required.' && document.querySelector('#password').ariaInvalid == 'true'`,
	)
	p.Is(`document.querySelector('#email').getAttribute('aria-describedby')`, "email-error")
	p.Is(`document.querySelector('#password').getAttribute('aria-describedby')`,
		"password-hint password-error")
	p.Accessible()
	p.Typed("#email", "ann")
	p.Is(`document.querySelector('#email-error')?.textContent`, "")
	p.Entered("#password", "short")
	p.Until(
		`document.querySelector('#email-error')?.textContent.includes('name@example.com') && document.querySelector('#password-error')?.textContent == 'Use at least 10 characters.'`,
	)
	p.Typed("#email", "ann@example.com")
	p.Entered("#password", "ann@example.com")
	p.UntilLong(
		`document.activeElement?.id == 'password' && document.querySelector('#password-error')?.textContent.includes('must not be your e-mail address')`,
	)
	p.Pressed(".reveal")
	p.Is(`document.querySelector('#password').type + document.querySelector('.reveal').ariaPressed`,
		"texttrue")

	p.GoTo("/log-in")
	p.Typed("#email", "nobody@example.com")
	p.Entered("#password", password)
	p.Until(`document.querySelector('[role=alert]')?.textContent.includes('is wrong')`)
	const answered = `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/api/log-in')).length`
	for n := 2; !strings.Contains(p.Eval(`document.querySelector('[role=alert]').textContent`),
		"Too many attempts. Try again in "); n++ {
		p.Do(chromedp.Focus(chromedp.CSS("#password")), chromedp.KeyEvent(kb.Enter))
		p.Until(fmt.Sprintf(`%s >= %d && document.querySelector('[role=alert]')?.textContent`,
			answered, n))
	}
	p.GoTo("/log-in?lang=zh-CN")
	p.Typed("#email", "nobody@example.com")
	p.Entered("#password", password)
	p.Until(`/^尝试次数过多。 请在 \d+ 秒后重试。$/.test(document.querySelector('[role=alert]')?.textContent)`)
}

// Links of mails that are old, or lack their token, say so.
func followsOldLinks(_ *testing.T, _ *service, p *browsertest.Page) {
	p.GoTo("/verify")
	p.Shown("#missing")
	p.Is(`document.querySelector('#form').hidden`, "true")
	p.GoTo("/verify?token=used")
	p.Pressed("#form button")
	p.Until(
		`document.querySelector('[role=alert]')?.textContent.includes('has expired or was already used')`,
	)
	p.GoTo("/reset?token=used")
	p.Entered("#password", password)
	p.Until(
		`document.querySelector('#set [role=alert]')?.textContent.includes('has expired or was already used')`,
	)
}

// Pages of members lead through the log-in and back, and to no other site.
func isLedBack(t *testing.T, s *service, p *browsertest.Page) {
	u := s.newUser(t, 0)
	p.GoTo("/account")
	p.At("/log-in?next=%2Faccount")
	p.Typed("#email", u.email)
	p.Entered("#password", password)
	p.At("/account")
	p.GoTo("/log-in?next=" + "/developers/account")
	p.At("/developers/account")
	for _, evil := range []string{"//evil.example/x", "https://evil.example", `/\evil.example`,
		"javascript:alert(1)", "/.//evil.example/", "/a/..//evil.example/"} {
		p.GoTo("/log-in?next=" + strings.ReplaceAll(evil, `\`, "%5C"))
		p.Arrives(`location.pathname != '/log-in'`)
		if host := p.Eval(`location.host`); strings.Contains(host, "evil") {
			t.Errorf("%s leads to %s", evil, host)
		}
	}
}

// The language that is chosen at a page's foot is that of all pages, and of what their scripts say.
func choosesLanguage(_ *testing.T, _ *service, p *browsertest.Page) {
	p.Is(`document.documentElement.lang`, "en")
	p.Pressed("footer [hreflang=zh-CN]")
	p.Arrives(
		`document.documentElement.lang == 'zh-CN' && location.search == '' && document.body.classList.contains('ready')`,
	)
	p.FrontReady()
	p.Pick(p.File("a.txt", []byte("no picture")))
	p.Until(`document.querySelector('#queue .state')?.textContent.startsWith('不支持这种文件')`)
	p.GoTo("/pricing")
	p.Is(`document.documentElement.lang`, "zh-CN")
	p.Pressed("footer [hreflang=en]")
	p.Arrives(`document.documentElement.lang == 'en' && location.pathname == '/pricing'`)
}

// Where nothing is sold online, the prices say whom to ask.
func buysNothing(_ *testing.T, _ *service, p *browsertest.Page) {
	p.GoTo("/pricing")
	p.Is(
		`document.querySelectorAll('.offers li').length + ' ' + document.querySelectorAll('.offers button').length`, "7 0",
	)
	p.Is(`document.querySelector('main .card a').href`, "mailto:sales@example.com")
	p.Is(`document.querySelector('.offers li').innerText.replaceAll('\n', ' ').replace(/ +/g, ' ')`,
		"50 credits $4.90 50 pages $0.098 each · valid for 12 months")
}

// A guest who buys logs in first; a user goes to the payment and comes back, and has the credits
// once it is confirmed; a developer says where the credentials go.
func buys(t *testing.T, s *service, p *browsertest.Page) {
	u := s.newUser(t, 0)
	p.GoTo("/pricing")
	p.Press("Buy: 50 credits")
	p.At("/log-in?next=%2Fpricing")
	p.Typed("#email", u.email)
	p.Entered("#password", password)
	p.At("/pricing")
	p.Press("Buy: 50 credits")
	form := s.payment(t)
	if form.Get("metadata[plan]") != "web-50" || form.Get("metadata[user]") != u.id ||
		form.Get("success_url") != s.origin()+"/account?bought=web-50" ||
		form.Get("line_items[0][price_data][unit_amount]") != "490" {
		t.Errorf("asked for %v", form)
	}
	p.Arrives(`location.pathname == '/account' && document.readyState == 'complete'`)
	p.Shown("#thanks")
	p.Is(`location.search`, "")
	if a := s.tell(t, paidEvent(t, "evt_pages", u, "web-50", 490), webhookSecret); a.status/100 != 2 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	p.Until(
		`document.querySelector('#credits').textContent == '50' && document.querySelector('#packages tbody td').textContent == '50 credits'`,
	)

	p.GoTo("/pricing?lang=zh-CN")
	p.Is(`[...document.querySelectorAll('.offers h3')].map((name) => name.textContent).join()`,
		"50 点,200 点,1000 点,入门版,热门版,商务版,企业版")
	p.GoTo("/account")
	p.Until(`document.querySelector('#packages tbody td')?.textContent == '50 点'`)
	p.GoTo("/pricing?lang=en")
	p.Press("Buy: Starter")
	p.Until(
		fmt.Sprintf(
			`document.querySelector('#order').open && document.querySelector('#email').value == '%s'`,
			u.email,
		),
	)
	p.Accessible()
	p.Entered("#slug", "-no-")
	p.Until(
		`document.activeElement?.id == 'slug' && document.querySelector('#slug-error')?.textContent.startsWith('3 to 40')`,
	)
	p.Typed("#slug", "Ann-Labs")
	p.Entered("#email", "dev@example.com")
	form = s.payment(t)
	if form.Get("metadata[plan]") != "starter" || form.Get("metadata[slug]") != "ann-labs" ||
		form.Get("customer_email") != "dev@example.com" ||
		form.Get("success_url") != s.origin()+"/pricing?bought=starter" {
		t.Errorf("asked for %v", form)
	}
	p.Arrives(
		`location.pathname == '/pricing' && Boolean(document.querySelector('#thanks')?.checkVisibility())`,
	)
}

// Somebody with more uses than are listed at first goes through the older ones to the last; a
// developer does so with calls.
func looksBack(t *testing.T, s *service, p *browsertest.Page) {
	const uses = 205
	u, c := s.developer(t, "many-uses")
	s.addUses(t, uses, "user:"+u.id, "customer:"+c.id)
	p.LogIn(u.email, password)
	const rows = `document.querySelectorAll('#uses tbody tr').length + ' ' + document.querySelector('#more').hidden`
	p.GoTo("/account")
	for _, want := range []string{"10 false", "100 false", "200 false", "205 true"} {
		p.Until(rows + ` == '` + want + `'`)
		if strings.HasSuffix(want, "false") {
			p.Pressed("#more")
		}
	}
	p.Until(
		`document.querySelector('#status').textContent == '205 shown.' && document.activeElement == document.querySelector('#uses').parentElement`,
	)
	p.GoTo("/developers/account")
	for _, want := range []string{"100 false", "200 false", "205 true"} {
		p.Until(rows + ` == '` + want + `'`)
		if strings.HasSuffix(want, "false") {
			p.Pressed("#more")
		}
	}
}

// addUses writes uses down that owners had in the minutes before.
func (s *service) addUses(t *testing.T, uses int, owners ...string) {
	t.Helper()
	db := s.sqlite(t)
	for _, owner := range owners {
		for n := range uses {
			if _, err := db.Exec(`INSERT INTO usage (id, at, entry, caller, owner, page_slug, bulk, pdf, outcome, charged, millis)
				VALUES ($1, $2, 'web', 'user', $3, '', 0, 0, 'ok', 1, 100)`, ident.New("use"),
				time.Now().Add(-time.Duration(n)*time.Minute).UnixMicro(), owner); err != nil {
				t.Fatal(err)
			}
		}
	}
}
