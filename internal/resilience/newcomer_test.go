package resilience

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"unink/internal/botcheck"
	"unink/internal/mail/mailtest"
)

// newcomer is somebody who uses the web entry point from an address of their own.
type newcomer struct {
	t       *testing.T
	system  *System
	address string
	session string
	asked   int
}

// arrives has somebody sign up, confirm by the link in the mail, have a page cleaned with the first
// credits, and log out.
func arrives(t *testing.T, s *System, mails *mailtest.Server) {
	t.Helper()
	known := len(mails.Recipients())
	c := newcomer{t: t, system: s, address: fmt.Sprintf("10.1.%d.%d", known/250, known%250+1)}
	const password = "correct horse battery"
	email := strings.ToLower(rand.Text()) + "@example.com"
	var challenge botcheck.Challenge
	c.ask(http.MethodGet, "/api/bot-challenge", nil, &challenge)
	solved := must(botcheck.Solve(context.Background(), challenge))(t)
	c.ask(http.MethodPost, "/api/sign-up", map[string]string{"email": email, "password": password,
		"cfTurnstileToken": solved}, nil)
	c.ask(http.MethodPost, "/api/verify", map[string]string{"token": c.linkIn(mails, email)}, nil)
	var in struct{ Session, UserID string }
	c.ask(http.MethodPost, "/api/log-in", map[string]string{"email": email, "password": password}, &in)
	c.session = in.Session
	user := &Caller{Owner: "user:" + in.UserID, system: s, token: in.Session}
	if a := user.Clean(Page); !a.Cleaned() {
		t.Errorf("a newcomer's page: %v %s %v", a, a.Text, a.Err)
	}
	if used := must(user.Used())(t); used != 1 {
		t.Errorf("a newcomer paid %d credits for a page", used)
	}
	c.ask(http.MethodPost, "/api/log-out", nil, nil)
}

// linkIn waits for the mail to somebody, and returns the token in its link.
func (c *newcomer) linkIn(mails *mailtest.Server, email string) (token string) {
	c.t.Helper()
	err := until(c.t.Context(), func() error {
		text, err := mails.Text(email)
		if err != nil {
			return err
		}
		_, rest, found := strings.Cut(text, c.system.url("/verify?token="))
		if !found {
			return fmt.Errorf("no link in %s", text)
		}
		token = strings.Fields(rest)[0]
		return nil
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return token
}

// ask wants an answer of one service after the other, and reads it unless answer is nil.
func (c *newcomer) ask(method, path string, body, answer any) {
	c.t.Helper()
	content := must(json.Marshal(body))(c.t)
	req := must(http.NewRequestWithContext(c.t.Context(), method, c.system.url(path),
		bytes.NewReader(content)))(c.t)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Forwarded-For", c.address)
	if c.session != "" {
		req.Header.Set("Authorization", "Bearer "+c.session)
	}
	c.asked++
	service := c.system.Services[c.asked%len(c.system.Services)]
	res, err := service.client.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode >= http.StatusBadRequest {
		var text bytes.Buffer
		_, _ = text.ReadFrom(res.Body)
		c.t.Fatalf("%s: %s %s", path, res.Status, text.Bytes())
	}
	if answer != nil {
		if err := json.NewDecoder(res.Body).Decode(answer); err != nil {
			c.t.Fatal(err)
		}
	}
}
