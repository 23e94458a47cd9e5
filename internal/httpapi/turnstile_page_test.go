package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"unink/internal/account"
	"unink/internal/botcheck"
	"unink/internal/browsertest"
	"unink/internal/httpapi/setup"
)

const turnstileScript = "https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit"

// standInWidget is a widget with two buttons: one makes a token, the other fails.
const standInWidget = `
let n = 0;
const button = (id, text, press) => Object.assign(document.createElement('button'), { id, type: 'button', textContent: text, onclick: press });
window.turnstile = {
	render(box, { sitekey, language, size, callback, 'error-callback': failed }) {
		box.append(button('pass', [sitekey, language, size].join(' '), () => callback('token ' + ++n)), button('fail', 'fail', () => failed('300010')));
		return 'widget';
	},
	remove(widget) { if (widget == 'widget') for (const one of document.querySelectorAll('#pass, #fail')) one.remove(); },
};`

// tokens is a bot check that takes the tokens of standInWidget, and notes what it is given.
type tokens struct {
	mu   sync.Mutex
	seen []string
}

func (k *tokens) Check(_ context.Context, token, _ string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.seen = append(k.seen, token)
	if !strings.HasPrefix(token, "token ") {
		return fmt.Errorf("%w: no token of the widget", botcheck.ErrInvalid)
	}
	return nil
}

func (k *tokens) given() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return strings.Join(k.seen, ", ")
}

// withTurnstile is a service whose bot check is Cloudflare's, behind an address.
func withTurnstile(t *testing.T) (s *accountServer, checked *tokens, url string) {
	checked = &tokens{}
	s = withAccounts(t, func(services *setup.Services) {
		services.Bots, services.TurnstileKey, services.Challenge = checked, "site-key", nil
	})
	return s, checked, serveTo(t, s.Handler())
}

// Where the operator has chosen Turnstile, pages show its widget to guests, and to them only.
func TestTurnstile(t *testing.T) {
	chromium := browsertest.Start(t)
	t.Run("guest", func(t *testing.T) {
		s, checked, url := withTurnstile(t)
		p := openFront(t, chromium, url)
		p.Is(`!!window.turnstile || document.querySelector('#human').checkVisibility()`, "false")
		p.StandIn(turnstileScript, "") // it cannot be loaded
		p.Pick(p.File("a.png", picture(t, 40, 30)))
		p.Until(
			`states() == 'failed' && document.querySelector('.state').textContent.includes('challenges.cloudflare.com')`,
		)
		p.StandIn(turnstileScript, standInWidget)
		p.Press("Try again: a.png")
		p.Shown("#human #pass")
		p.Is(
			`document.querySelector('#pass').textContent + ', ' + document.querySelector('#status').textContent`, "site-key en flexible, Please confirm that you are human. Cloudflare runs this check.",
		)
		p.Accessible()
		p.Pressed("#fail")
		p.Until(
			`states() == 'failed' && document.querySelector('.state').textContent.includes('could not confirm that you are human (300010)')`,
		)
		p.Is(`document.querySelector('#human').hidden && !document.querySelector('#human button')`,
			"true")
		p.Press("Try again: a.png")
		p.Shown("#pass")
		p.Press("Cancel: a.png")
		p.Until(`states() == 'cancelled' && document.querySelector('#human').hidden`)
		p.Press("Try again: a.png")
		p.Shown("#pass")
		p.Pressed("#pass")
		p.Until(`states() == 'done' && document.querySelector('#human').hidden`)
		p.Pick(p.File("b.png", picture(t, 41, 30)))
		p.Shown("#pass")
		p.Pressed("#pass")
		p.Until(`states() == 'done,done'`)
		if got := checked.given(); got != "token 1, token 2" {
			t.Errorf("the service was given %s", got)
		}

		s.userWith(5)
		logIn(p)
		p.Pick(p.File("c.png", picture(t, 42, 30)))
		p.Until(`states() == 'done,done,done' && !window.turnstile`)
	})
	t.Run("sign-up", func(t *testing.T) {
		s, checked, url := withTurnstile(t)
		p := browsertest.Open(t, chromium, url+"/sign-up?lang=zh-CN")
		p.Look(360, 740, "dark")
		p.StandIn(turnstileScript, standInWidget)
		p.Typed("#email", "ann@example.com")
		p.Entered("#password", passwordOfAll)
		p.Shown("#pass")
		p.Is(`document.querySelector('#pass').textContent`, "site-key zh-CN compact")
		p.Pressed("#fail")
		p.Until(`document.querySelector('#form > [role=alert]')?.textContent.includes('300010')`)
		p.Entered("#password", passwordOfAll)
		p.Shown("#pass")
		p.Pressed("#pass")
		p.Until(`document.activeElement?.matches('#sent h2')`)
		if n := s.mailed(account.NoticeVerify); n.Token == "" || checked.given() != "token 1" {
			t.Errorf("mailed %v, given %s", n.Token != "", checked.given())
		}
	})
}

// The policy of the pages that need a token lets Cloudflare's script and frame in, and nothing of
// the others changes.
func TestTurnstilePolicy(t *testing.T) {
	_, _, with := withTurnstile(t)
	without := serveTo(t, withAccounts(t).Handler())
	policy := func(url string) string {
		t.Helper()
		answer, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		return answer.Header.Get("Content-Security-Policy")
	}
	const host = "https://challenges.cloudflare.com"
	for path, widget := range map[string]bool{"/": true, "/sign-up": true, "/log-in": false,
		"/pricing": false, "/developers/console": false} {
		plain, got := policy(without+path), policy(with+path)
		want := plain
		if widget {
			want = strings.Replace(plain, "script-src 'self'",
				"script-src 'self' "+host+"; frame-src "+host, 1)
		}
		if got != want || strings.Contains(plain, "cloudflare") || plain == "" {
			t.Errorf("%s: the policy is %q, without Turnstile %q", path, got, plain)
		}
	}
}
