package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"unink/internal/account"
	"unink/internal/billing"
	"unink/internal/browsertest"
	"unink/internal/credit"
	"unink/internal/limit"
	"unink/internal/mail"
	"unink/internal/store"
	"unink/internal/store/storetest"
	"unink/internal/usage"
)

// enter logs somebody in who has the password of all, and opens a page.
func enter(p *browsertest.Page, email, path string) {
	p.LogIn(email, passwordOfAll)
	p.GoTo(path)
}

// served is a server with accounts behind an address that it knows to be its own.
func served(t *testing.T) (s *accountServer, url string) {
	t.Helper()
	s = withAccounts(t)
	url = serveTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.Handler().ServeHTTP(w, r) }))
	s.cfg.PublicURL = strings.Replace(url, "127.0.0.1", "localhost", 1)
	return s, s.cfg.PublicURL
}

// TestMemberPages uses the pages of people with accounts in Chromium.
func TestMemberPages(t *testing.T) {
	chromium := browsertest.Start(t)
	for name, test := range map[string]func(*testing.T, context.Context){
		"life of an account": testLifeOfAnAccount,
		"sessions":           testSessions,
		"deleting":           testDeleting,
		"wrong in forms":     testWrongInForms,
		"links of mails":     testLinksOfMails,
		"leads back":         testLeadsBack,
		"provider":           testProvider,
		"nothing sold":       testNothingSold,
		"pricing":            testPricing,
		"developer":          testDeveloper,
		"no developer":       testNoDeveloper,
		"console":            testConsole,
		"console elsewhere":  testConsoleElsewhere,
		"operator":           testOperator,
	} {
		t.Run(name, func(t *testing.T) { test(t, chromium) })
	}
}

// Somebody signs up, confirms, logs in, looks at the account, changes the password, logs out, forgets
// the password and chooses another.
func testLifeOfAnAccount(t *testing.T, chromium context.Context) {
	s, url := served(t)
	const email, second, third = "ann@example.com", "staple battery horse", "a third one of these"
	p := browsertest.Open(t, chromium, url+"/sign-up")
	p.Typed("#email", email)
	p.Entered("#password", passwordOfAll)
	p.Until(`document.activeElement?.matches('#sent h2') && document.querySelector('#to').textContent == 'ann@example.com'`)

	p.GoTo("/verify?token=" + s.mailed(account.NoticeVerify).Token)
	p.Is(`location.search`, "")
	p.Pressed("#form button")
	p.Until(`document.activeElement?.matches('#done h2')`)

	p.GoTo("/log-in")
	p.Typed("#email", email)
	p.Entered("#password", passwordOfAll)
	p.At("/")
	p.Until(`document.querySelector('#who .credits').textContent == '5 credits'`)

	p.GoTo("/account")
	p.Until(`document.querySelector('#credits').textContent == '5' && document.querySelector('#email').textContent == 'ann@example.com'`)
	p.Is(`document.querySelector('#packages tbody').innerText.trim().split(/\s+/).join(' ')`, "Welcome 5 5 no end")
	p.Shown("#no-uses")
	p.Typed("#old", "not this one")
	p.Entered("#new", second)
	p.Until(`document.activeElement?.id == 'old' && document.querySelector('#old-error')?.textContent == 'This is not your password.'`)
	p.Typed("#old", passwordOfAll)
	p.Entered("#new", email)
	p.Until(`document.activeElement?.id == 'new' && document.querySelector('#new-error')?.textContent.includes('not accepted')`)
	p.Entered("#new", second)
	p.Until(`document.activeElement?.matches('#changed h3')`)

	p.GoTo("/log-in?next=/account")
	p.Typed("#email", email)
	p.Entered("#password", second)
	p.At("/account")
	p.Shown("#log-out")
	p.Pressed("#log-out")
	p.At("/")
	p.Until(`!document.querySelector('#who .guest').hidden`)

	p.GoTo("/reset")
	p.Entered("#email", email)
	p.Until(`document.activeElement?.matches('#asked h2')`)
	p.GoTo("/reset?token=" + s.mailed(account.NoticeReset).Token)
	p.Is(`location.search`, "")
	p.Entered("#password", third)
	p.Until(`document.activeElement?.matches('#changed h2')`)
	if s.logIn(email, third) == "" {
		t.Error("the third password is not good")
	}
}

func testSessions(t *testing.T, chromium context.Context) {
	s, url := served(t)
	other := s.member("ann@example.com", "")
	p := browsertest.Open(t, chromium, url+"/log-in")
	enter(p, "ann@example.com", "/account")
	p.Until(`document.querySelectorAll('#sessions li').length == 2`)
	p.Is(`[...document.querySelectorAll('#sessions b')].map((b) => b.textContent).includes('Chrome · Linux') || document.querySelector('#sessions').innerText`, "true")
	p.Is(`document.querySelectorAll('#sessions button').length`, "1")
	p.Pressed("#sessions button")
	p.Until(`document.querySelectorAll('#sessions li').length == 1 && document.activeElement?.id == 'everywhere' && document.querySelector('#status').textContent == 'The log-in has ended.'`)
	s.is(http.StatusUnauthorized, "GET", "/api/me", other, nil)
	again := s.logIn("ann@example.com", passwordOfAll)
	p.Pressed("#everywhere")
	p.At("/")
	s.is(http.StatusUnauthorized, "GET", "/api/me", again, nil)
	p.Until(`!document.querySelector('#who .guest').hidden`)
}

// An account is deleted only after a second yes.
func testDeleting(t *testing.T, chromium context.Context) {
	s, url := served(t)
	session := s.member("ann@example.com", "")
	p := browsertest.Open(t, chromium, url+"/log-in")
	enter(p, "ann@example.com", "/account")
	p.Shown("#sessions li")
	p.Pressed("#delete")
	p.Until(`document.querySelector('#sure').open && document.activeElement?.value == 'no'`)
	p.Do(chromedp.KeyEvent(kb.Escape))
	p.Until(`!document.querySelector('#sure').open && document.activeElement?.id == 'delete'`)
	s.is(http.StatusOK, "GET", "/api/me", session, nil)
	p.Pressed("#delete")
	p.Accessible()
	p.Pressed("#gone")
	p.At("/")
	s.is(http.StatusUnauthorized, "GET", "/api/me", session, nil)
	if a := s.call("POST", "/api/log-in", "", map[string]string{"email": "ann@example.com", "password": passwordOfAll}); a.status != http.StatusBadRequest {
		t.Errorf("the account is there still: %d", a.status)
	}
}

// What is wrong is said beside its field, which has the focus.
func testWrongInForms(t *testing.T, chromium context.Context) {
	s, url := served(t)
	p := browsertest.Open(t, chromium, url+"/sign-up")
	p.Pressed("#form button.primary")
	p.Until(`document.activeElement?.id == 'email' && document.querySelector('#email-error')?.textContent == 'This is needed.' && document.querySelector('#password').ariaInvalid == 'true'`)
	p.Is(`document.querySelector('#email').getAttribute('aria-describedby')`, "email-error")
	p.Is(`document.querySelector('#password').getAttribute('aria-describedby')`, "password-hint password-error")
	p.Accessible()
	p.Typed("#email", "ann")
	p.Is(`document.querySelector('#email-error')?.textContent`, "")
	p.Entered("#password", "short")
	p.Until(`document.querySelector('#email-error')?.textContent.includes('name@example.com') && document.querySelector('#password-error')?.textContent == 'At least 10 characters are needed.'`)
	p.Typed("#email", "ann@example.com")
	p.Entered("#password", "ann@example.com")
	p.Until(`document.activeElement?.id == 'password' && document.querySelector('#password-error')?.textContent.includes('must not be your e-mail address')`)
	p.Pressed(".reveal")
	p.Is(`document.querySelector('#password').type + document.querySelector('.reveal').ariaPressed`, "texttrue")

	p.GoTo("/log-in")
	p.Typed("#email", "ann@example.com")
	p.Entered("#password", passwordOfAll)
	p.Until(`document.querySelector('[role=alert]')?.textContent.includes('is wrong')`)
	s.mu.Lock()
	s.refuseAttempts = true
	s.mu.Unlock()
	p.Do(chromedp.KeyEvent(kb.Enter))
	p.Until(`document.querySelector('[role=alert]')?.textContent == 'Too many attempts. Try again in 2 seconds.'`)
	p.GoTo("/log-in?lang=zh-CN")
	p.Typed("#email", "ann@example.com")
	p.Entered("#password", passwordOfAll)
	p.Until(`document.querySelector('[role=alert]')?.textContent == '尝试次数过多。 请在 2 秒后重试。'`)
}

func testLinksOfMails(t *testing.T, chromium context.Context) {
	_, url := served(t)
	p := browsertest.Open(t, chromium, url+"/verify")
	p.Shown("#missing")
	p.Is(`document.querySelector('#form').hidden`, "true")
	p.GoTo("/verify?token=used")
	p.Pressed("#form button")
	p.Until(`document.querySelector('[role=alert]')?.textContent.includes('used already or is too old')`)
	p.GoTo("/reset?token=used")
	p.Entered("#password", passwordOfAll)
	p.Until(`document.querySelector('#set [role=alert]')?.textContent.includes('used already or is too old')`)
}

// Pages of members lead through the log-in and back, and to no other site.
func testLeadsBack(t *testing.T, chromium context.Context) {
	s, url := served(t)
	s.member("ann@example.com", "")
	p := browsertest.Open(t, chromium, url+"/account")
	p.At("/log-in?next=%2Faccount")
	p.Typed("#email", "ann@example.com")
	p.Entered("#password", passwordOfAll)
	p.At("/account")
	p.GoTo("/log-in?next=" + "/developers/account")
	p.At("/developers/account")
	for _, evil := range []string{"//evil.example/x", "https://evil.example", `/\evil.example`, "javascript:alert(1)"} {
		p.GoTo("/log-in?next=" + strings.ReplaceAll(evil, `\`, "%5C"))
		p.Arrives(`location.pathname != '/log-in'`)
		if host := p.Eval(`location.host`); strings.Contains(host, "evil") {
			t.Errorf("%s leads to %s", evil, host)
		}
	}
}

func testProvider(t *testing.T, chromium context.Context) {
	s := withProvider(t, never)
	p := browsertest.Open(t, chromium, serveTo(t, s.Handler())+"/log-in")
	p.Is(`document.querySelector('a[href="/api/sign-in"]').textContent`, "Go on with 127.0.0.1")
	p.Accessible()
	_, url := served(t)
	p = browsertest.Open(t, chromium, url+"/log-in")
	p.Is(`document.querySelector('a[href="/api/sign-in"]')`, "null")
}

func testNothingSold(t *testing.T, chromium context.Context) {
	s, url := served(t)
	s.cfg.Contact = "sales@example.com"
	p := browsertest.Open(t, chromium, url+"/pricing")
	p.Is(`document.querySelectorAll('.offers li').length + ' ' + document.querySelectorAll('.offers button').length`, "7 0")
	p.Is(`document.querySelector('main .card a').href`, "mailto:sales@example.com")
	p.Is(`document.querySelector('.offers li').innerText.replaceAll('\n', ' ').replace(/ +/g, ' ')`, "50 credits $4.90 50 pages $0.098 each · good for 12 months")
	_, url = served(t)
	p = browsertest.Open(t, chromium, url+"/pricing")
	p.Until(`document.querySelector('main .card').textContent.includes('ask whoever runs')`)
}

// plansOf are the catalogue's plans as billing has them.
type plansOf struct{ credit.Catalogue }

func (c plansOf) Plan(id string) (billing.Plan, bool) {
	plan, known := c.Catalogue.Plan(id)
	return billing.Plan{ID: id, Name: plan.Name, Developer: plan.Entry == credit.Developer, Cents: int64(plan.Cents), Currency: plan.Currency}, known
}

// sells lets a server sell through a Stripe of the test, whose page of payment is payAt. What is asked
// of it comes on the channel.
func (s *accountServer) sells(payAt string) <-chan url.Values {
	s.t.Helper()
	asked := make(chan url.Values, 8)
	stripe := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil || r.URL.Path != "/v1/checkout/sessions" {
			s.t.Errorf("%s %v", r.URL, err)
		}
		asked <- r.PostForm
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"cs_1","object":"checkout.session","url":%q}`, payAt)
	}))
	s.t.Cleanup(stripe.Close)
	db := storetest.Open(s.t, storetest.SQLite(s.t))
	selling, err := billing.NewStripe(billing.Config{SecretKey: "sk_test", WebhookSecret: "whsec", URL: stripe.URL},
		plansOf{s.services.Catalogue}, nil, store.NewPurchases(db), time.Now, s.Server.log)
	if err != nil {
		s.t.Fatal(err)
	}
	s.services.Selling = selling
	return asked
}

// A guest who buys logs in first; a user goes to the payment and comes back; a developer says where the
// credentials go.
func testPricing(t *testing.T, chromium context.Context) {
	s, url := served(t)
	asked := s.sells(url + "/healthz")
	s.member("ann@example.com", "")
	p := browsertest.Open(t, chromium, url+"/pricing")
	p.Press("Buy: 50 credits")
	p.At("/log-in?next=%2Fpricing")
	p.Typed("#email", "ann@example.com")
	p.Entered("#password", passwordOfAll)
	p.At("/pricing")
	p.Press("Buy: 50 credits")
	p.At("/healthz")
	form := <-asked
	if form.Get("metadata[plan]") != "web-50" || form.Get("metadata[user]") == "" || form.Get("success_url") != url+"/account?bought=web-50" || form.Get("line_items[0][price_data][unit_amount]") != "490" {
		t.Errorf("asked for %v", form)
	}
	p.GoTo("/account?bought=web-50")
	p.Shown("#thanks")
	p.Is(`location.search`, "")

	p.GoTo("/pricing")
	p.Press("Buy: Starter")
	p.Until(`document.querySelector('#order').open && document.querySelector('#email').value == 'ann@example.com'`)
	p.Accessible()
	p.Entered("#slug", "-no-")
	p.Until(`document.activeElement?.id == 'slug' && document.querySelector('#slug-error')?.textContent.startsWith('3 to 40')`)
	p.Typed("#slug", "Ann-Labs")
	p.Entered("#email", "dev@example.com")
	p.At("/healthz")
	form = <-asked
	if form.Get("metadata[plan]") != "starter" || form.Get("metadata[slug]") != "ann-labs" || form.Get("customer_email") != "dev@example.com" || form.Get("success_url") != url+"/pricing?bought=starter" {
		t.Errorf("asked for %v", form)
	}
	p.GoTo("/pricing?bought=starter")
	p.Shown("#thanks")
}

// A developer looks at packages and uses, and replaces the token, which is shown once.
func testDeveloper(t *testing.T, chromium context.Context) {
	s, url := served(t)
	s.member("dev@example.com", "")
	c, old := s.bought("dev@example.com", "dev-shop")
	if _, _, err := s.services.Credits.Grant(t.Context(), credit.Grant{
		Owner: customerOwner(c.ID), Plan: "starter", Credits: 500, Expires: time.Now().AddDate(0, 3, 0), Source: "test",
	}); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	s.used(
		usage.Use{At: now, Owner: customerOwner(c.ID), Outcome: "ok", Charged: 1},
		usage.Use{At: now, Owner: customerOwner(c.ID), Outcome: "1005"},
		usage.Use{At: now.AddDate(0, 0, -3), Owner: customerOwner(c.ID), Outcome: "ok", Charged: 1},
	)
	p := browsertest.Open(t, chromium, url+"/log-in")
	enter(p, "dev@example.com", "/developers/account")
	p.Until(`document.querySelector('#chart svg')?.getAttribute('aria-label') == '3 calls in the last 30 days, 1 of them failed'`)
	p.Is(`document.querySelectorAll('#chart rect.ok').length + ' ' + document.querySelectorAll('#chart rect.bad').length`, "2 1")
	p.Is(`document.querySelector('#credits').textContent + document.querySelector('#packages tbody td').textContent`, "500Starter")
	p.Is(`document.querySelector('#uses tbody').textContent.includes('Error 1005')`, "true")
	p.Is(`document.querySelector('#console').href`, strings.Replace(url, "localhost", "dev-shop.localhost", 1)+"/developers/console")
	p.Accessible()
	p.Pressed("#rotate button")
	p.Until(`document.activeElement?.matches('#made h3')`)
	made := p.Eval(`document.querySelector('#new-token').value`)
	if s.authorized("dev-shop", made) != http.StatusOK || s.authorized("dev-shop", old) != http.StatusOK {
		t.Error("the new token or, in its grace, the old one is not good")
	}
	p.Until(`document.querySelectorAll('#tokens li').length == 2`)
	p.Accessible()
	p.GoTo("/developers/account")
	p.Until(`document.querySelectorAll('#tokens li').length == 2`)
	p.Is(`document.documentElement.outerHTML.includes('unk_') || document.querySelector('#new-token').value != ''`, "false")
	p.Eval(`document.querySelector('#grace').value = '0', ''`)
	p.Pressed("#rotate button")
	p.Until(`document.querySelectorAll('#tokens li').length == 1 && document.querySelector('#others').textContent == 'The earlier ones have ended.'`)
	if s.authorized("dev-shop", made) != http.StatusUnauthorized {
		t.Error("the earlier token is good still")
	}
}

func testNoDeveloper(t *testing.T, chromium context.Context) {
	s, url := served(t)
	s.member("ann@example.com", "")
	s.bought("dev@example.com", "dev-shop")
	p := browsertest.Open(t, chromium, url+"/log-in")
	enter(p, "ann@example.com", "/developers/account")
	p.Until(`document.querySelector('#none').innerText.includes('ann@example.com')`)
	p.Is(`document.querySelector('#customer').hidden`, "true")
}

// The console calls the service where the customer's domain is, with what was chosen.
func testConsole(t *testing.T, chromium context.Context) {
	s, url := served(t)
	c, token := s.bought("dev@example.com", "dev-shop")
	if _, _, err := s.services.Credits.Grant(t.Context(), credit.Grant{
		Owner: customerOwner(c.ID), Plan: "starter", Credits: 2, Expires: credit.Never, Source: "test",
	}); err != nil {
		t.Fatal(err)
	}
	p := browsertest.Open(t, chromium, strings.Replace(url, "localhost", "dev-shop.localhost", 1)+"/developers/console")
	p.Do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{p.File("page.png", picture(t, 40, 30))}))
	p.Do(chromedp.Focus(chromedp.CSS("#preserve_color")), chromedp.KeyEvent(" "))
	p.Until(`document.querySelector('#curl').textContent.includes('"preserve_color":true') && document.querySelector('#curl').textContent.includes('dev-shop.localhost')`)
	p.Entered("#token", token)
	p.Until(`document.activeElement?.id == 'answer-title' && document.querySelector('#picture img').naturalWidth == 40`)
	p.Is(`document.querySelector('#charged').textContent + ' ' + document.querySelector('#remaining').textContent + ' ' + document.querySelector('#status-line').textContent`, "1 1 200, code 0")
	p.Accessible()
	p.Entered("#token", token[:len(token)-1]+"x")
	p.Until(`document.querySelector('#status-line').textContent == '401, code 1006' && document.querySelector('#picture').hidden`)
	p.Is(`localStorage.length + sessionStorage.length + document.cookie.length`, "0")
	if strings.Contains(s.log.String(), token) {
		t.Error("the log has the token")
	}
	for _, address := range p.Asked() {
		if strings.Contains(address, token) {
			t.Errorf("the token is in the address %s", address)
		}
	}
}

func testConsoleElsewhere(t *testing.T, chromium context.Context) {
	_, url := served(t)
	p := browsertest.Open(t, chromium, url+"/developers/console")
	p.Is(`document.querySelector('#console').hidden + document.querySelector('#domain').textContent`, "true.localhost")
	p.Entered("#slug", "no spaces")
	p.Until(`document.querySelector('#slug-error')?.textContent.includes('acme-labs')`)
	p.Is(`JSON.parse(document.querySelector('#page-data').textContent).data.there`, strings.Replace(url, "localhost", "{slug}.localhost", 1)+"/developers/console")

	open := start(t, &fakeCleaner{}) // where there are no accounts every address is everybody's
	p = browsertest.Open(t, chromium, open.url+"/developers/console")
	p.Do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{p.File("page.png", picture(t, 40, 30))}))
	p.Entered("#token", testToken)
	p.Until(`document.querySelector('#status-line').textContent == '200, code 0'`)
}

func testOperator(t *testing.T, chromium context.Context) {
	s, url := served(t)
	s.member("ann@example.com", "")
	s.member("op@example.com", account.Operator)
	s.services.Mail = func(context.Context) (mail.Status, error) {
		return mail.Status{Waiting: 1, Dead: 2, OldestUnsent: time.Hour}, nil
	}
	s.fillStatistics()
	p := browsertest.Open(t, chromium, url+"/operator")
	p.At("/log-in?next=%2Foperator")
	p.Typed("#email", "ann@example.com")
	p.Entered("#password", passwordOfAll)
	p.Arrives(`location.pathname == '/operator' && performance.getEntriesByType('navigation')[0].responseStatus == 404`)
	p.Is(`document.querySelector('#tiles')`, "null")
	p.GoTo("/account")
	p.Shown("#sessions li")
	p.Is(`document.querySelector('#operator').hidden`, "true")
	p.Pressed("#log-out")
	p.At("/")
	enter(p, "op@example.com", "/account")
	p.Shown("#operator")
	p.Pressed("#operator")
	p.At("/operator")
	p.Until(`document.querySelectorAll('#tiles li').length == 8 && document.querySelectorAll('.tile.warn').length == 1`)
	p.Is(`document.querySelectorAll('#latency tbody tr').length + ' ' + document.querySelectorAll('#callers tbody tr').length`, "2 4")
	p.Is(`document.querySelector('#revenue tbody').innerText.includes('$4.90')`, "true")
	before := p.Eval(`document.querySelector('#tiles b').textContent`)
	p.Eval(`days.value = '7', days.dispatchEvent(new Event('change')), ''`)
	p.Until(fmt.Sprintf(`document.querySelector('#tiles b').textContent != %q && document.querySelector('#status').textContent != ''`, before))
	p.Accessible()
}

// fillStatistics makes up what happened in the last weeks.
func (s *accountServer) fillStatistics() {
	now := time.Now().UTC()
	var uses []usage.Use
	var paid []billing.Revenue
	add := func(n int, u usage.Use) {
		for i := range n {
			u.Millis = int64(900 + 37*i%2400)
			uses = append(uses, u)
		}
	}
	for ago := range 28 {
		at := now.AddDate(0, 0, -ago)
		n := 6 + 5*ago%11
		add(n, usage.Use{At: at, Entry: "web", Caller: "user", Owner: fmt.Sprint("user:", ago%5), Outcome: "ok", Charged: 1})
		add(n/2, usage.Use{At: at, Entry: "web", Caller: "guest", Outcome: "ok", Charged: 1})
		add(n+ago%3, usage.Use{At: at, Entry: "developer", Caller: "customer", Owner: "customer:1", Outcome: "ok", Charged: 1})
		add(ago%4, usage.Use{At: at, Entry: "web", Caller: "pdf-guest", Outcome: "INSUFFICIENT_CREDITS"})
		add(ago%2, usage.Use{At: at, Entry: "developer", Caller: "customer", Owner: "customer:1", Outcome: "1005"})
		if ago%6 == 0 {
			paid = append([]billing.Revenue{{Day: at.Format(time.DateOnly), Currency: "usd", Purchases: 1, Cents: 490}}, paid...)
		}
	}
	s.used(uses...)
	s.services.Revenue = func(context.Context, time.Time, time.Time) ([]billing.Revenue, error) { return paid, nil }
}

// memberPagePaths are the pages, and who looks at them.
var memberPagePaths = []struct{ name, path, ready string }{
	{"sign-up", "/sign-up", ""}, {"log-in", "/log-in", ""}, {"verify", "/verify?token=1", ""}, {"reset", "/reset", ""}, {"new-password", "/reset?token=1", ""},
	{"pricing", "/pricing", ""}, {"console", "/developers/console", ""},
	{"account", "/account", "#sessions li"}, {"developer", "/developers/account", "#chart svg"}, {"operator", "/operator", "#tiles li"},
}

// visit goes through the pages in a language: as a guest, then, in another window, as a member.
type visit struct {
	t             *testing.T
	chromium      context.Context
	url, language string
	window        *browsertest.Page
}

// see opens one of memberPagePaths and waits until it is complete.
func (v *visit) see(i int) *browsertest.Page {
	v.t.Helper()
	page := memberPagePaths[i]
	if i == 0 || page.name == "account" {
		v.window = browsertest.Open(v.t, v.chromium, v.url+"/?lang="+v.language)
	}
	if page.name == "account" {
		enter(v.window, everybody, page.path)
	} else {
		v.window.GoTo(page.path)
	}
	if page.ready != "" {
		v.window.Shown(page.ready)
	}
	return v.window
}

// TestMemberPagesForAll holds each page, in every language, light and dark, against the rules of
// accessibility, and nothing may be wider than a small phone.
func TestMemberPagesForAll(t *testing.T) {
	chromium := browsertest.Start(t)
	_, url := memberWorld(t)
	for _, language := range []string{"en", "zh-CN"} {
		v := &visit{t, chromium, url, language, nil}
		for i, page := range memberPagePaths {
			p := v.see(i)
			p.Look(360, 740, map[bool]string{true: "dark", false: "light"}[(i+len(language))%2 == 0])
			p.Is(`document.documentElement.lang`, language)
			p.Is(`document.documentElement.scrollWidth <= 360`, "true")
			if wide := p.Eval(`[...document.querySelectorAll('main *')].filter((e) => e.getBoundingClientRect().right > 361 && !e.closest('.wide, pre, svg, .unseen')).map((e) => e.outerHTML.slice(0, 80)).join()`); wide != "" {
				t.Errorf("%s in %s is wider than the phone: %s", page.name, language, wide)
			}
			p.Is(`[...document.querySelectorAll('main button, main .button, main select, main input:not([type=checkbox], .unseen), summary')].filter((e) => e.offsetHeight && e.offsetHeight < 24).length`, "0")
			p.Accessible()
			p.Look(1280, 800, map[bool]string{true: "light", false: "dark"}[(i+len(language))%2 == 0])
			p.Accessible()
		}
	}
}

const everybody = "maria.fernandez-oliveira@school.example.com"

// memberWorld is a server with somebody who has all that there is to see.
func memberWorld(t *testing.T) (s *accountServer, url string) {
	t.Helper()
	s, url = served(t)
	s.cfg.Windows = []limit.Window{{Name: "minute", Limit: 500, Every: time.Minute}}
	s.sells(url + "/healthz")
	s.member(everybody, account.Operator)
	u, err := s.services.Accounts.FindUser(t.Context(), everybody)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := s.bought(everybody, "sunrise-primary-school")
	for i, g := range []credit.Grant{
		{Owner: userOwner(u.ID), Plan: "welcome", Credits: 5, Expires: credit.Never},
		{Owner: userOwner(u.ID), Plan: "web-200", Credits: 200, Expires: time.Now().AddDate(1, 0, 0)},
		{Owner: customerOwner(c.ID), Plan: "popular", Credits: 5000, Expires: time.Now().AddDate(0, 6, 0)},
		{Owner: customerOwner(c.ID), Plan: "starter", Credits: 500, Expires: time.Now().AddDate(0, -1, 0)},
	} {
		g.Source = fmt.Sprint("test:", i)
		if _, _, err := s.services.Credits.Grant(t.Context(), g); err != nil {
			t.Fatal(err)
		}
	}
	s.fillStatistics()
	var uses []usage.Use
	for i := range 160 {
		at := time.Now().Add(-time.Duration(i*i) * 61 * time.Second)
		uses = append(uses, ended(usage.Use{At: at, Entry: "developer", Caller: "customer", Owner: customerOwner(c.ID)}, i%17 == 5, "1005"))
		if i < 14 {
			uses = append(uses, ended(usage.Use{At: at, Entry: "web", Caller: "user", Owner: userOwner(u.ID)}, i == 3, "INVALID_IMAGE"))
		}
	}
	s.used(uses...)
	return s, url
}

// ended is a use that ended well, or otherwise.
func ended(u usage.Use, failed bool, as string) usage.Use {
	u.Outcome, u.Charged, u.Millis = usage.OK, 1, 1400
	if failed {
		u.Outcome, u.Charged = as, 0
	}
	return u
}

// TestMemberPagesLook leaves pictures of the pages in the folder -shots.
func TestMemberPagesLook(t *testing.T) {
	if *shots == "" {
		t.Skip("no folder -shots")
	}
	chromium := browsertest.Start(t)
	page, err := os.ReadFile("../../docs/before.jpg")
	if err != nil {
		t.Fatal(err)
	}
	s, url := memberWorld(t)
	token, _, err := s.services.Accounts.Rotate(t.Context(), account.User{Email: everybody, Verified: true}, "sunrise-primary-school", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, look := range []struct {
		language, scheme, size string
		width, height          int64
	}{
		{"en", "light", "desktop", 1280, 800}, {"zh-CN", "dark", "desktop", 1280, 800},
		{"en", "dark", "phone", 390, 844}, {"zh-CN", "light", "phone", 390, 844},
	} {
		v := &visit{t, chromium, url, look.language, nil}
		for i, page := range memberPagePaths {
			p := v.see(i)
			p.Look(look.width, look.height, look.scheme)
			shoot(p, page.name, look.size, look.scheme, look.language)
		}
		p := browsertest.Open(t, chromium, strings.Replace(url, "localhost", "sunrise-primary-school.localhost", 1)+"/developers/console?lang="+look.language)
		p.Look(look.width, look.height, look.scheme)
		p.Do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{p.File("page.jpg", page)}))
		p.Entered("#token", token)
		p.Until(`!document.querySelector('#about').hidden`)
		shoot(p, "console-used", look.size, look.scheme, look.language)
	}
}
