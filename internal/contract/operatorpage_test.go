package contract

import (
	"net/http"
	"testing"

	"unink/internal/browsertest"
	"unink/internal/ident"
)

// An operator finds accounts, gives credits, replaces a token and closes a customer. The page shows
// what was done.
func actsAsOperator(t *testing.T, s *service, p *browsertest.Page) {
	ann, op := s.newUser(t, 2), user{email: ident.Secret() + "@example.com"}
	s.adminInput(t, password+"\n", nil, "user", "add", op.email, "--operator")
	_, c := s.developer(t, "acting-shop")
	enter(p, op, "/operator")
	p.Until(`document.querySelector('#acts tbody').innerText.includes('command line')`)
	p.Entered("#find", ann.email)
	p.Until(`document.querySelectorAll('#found > li').length == 1`)
	p.Is(`document.querySelector('#found').innerText.includes('2 credits')`, "true")
	p.Pressed("#found button")
	p.Is(`document.querySelector('#act').open && document.querySelector('#grace').disabled`, "true")
	p.Accessible()
	p.Typed("#amount", "7")
	p.Pressed("#do")
	p.Shown("#reason-error") // why is asked for
	p.Entered("#reason", "kept waiting")
	p.Until(`!document.querySelector('#act').open`)
	p.Until(`document.querySelector('#found').innerText.includes('9 credits')`)
	p.Until(`document.querySelector('#acts tbody tr').innerText.includes('kept waiting')`)

	p.Eval(`document.querySelector('#find').value = '', ''`)
	p.Entered("#find", "acting-s")
	p.Until(`document.querySelectorAll('#found .actions > button').length == 3`)
	p.Is(`document.querySelectorAll('#found .rows > li').length`, "1")
	p.Accessible()
	p.Pressed("#found .actions > button:nth-child(2)")
	p.Eval(`document.querySelector('#grace').value = '0', ''`)
	p.Entered("#reason", "lost")
	p.Until(`document.querySelector('#new-token').value.startsWith('unk_')`)
	made := p.Eval(`document.querySelector('#new-token').value`)
	p.Accessible()
	p.Pressed("#close")
	p.Until(`document.querySelector('#new-token').value == ''`)
	if s.status(t, c, c.token) != http.StatusUnauthorized || s.status(t, c, made) != http.StatusOK {
		t.Error("the token was not replaced")
	}
	p.Pressed("#found .actions > button:nth-child(3)")
	p.Entered("#reason", "gone")
	p.Until(`!document.querySelector('#act').open`)
	p.Until(`document.querySelectorAll('#found button').length == 0`)
	if s.status(t, c, made) != http.StatusUnauthorized {
		t.Error("the customer is not closed")
	}
	p.Until(`document.querySelector('#acts tbody').innerText.includes('gone')`)
}
