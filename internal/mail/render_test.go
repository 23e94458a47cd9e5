package mail_test

import (
	"strings"
	"testing"
	"time"

	"unink/internal/mail"
)

func TestRender(t *testing.T) {
	const link = "https://unink.example/verify?token=abc&x=1"
	credentials := mail.CredentialsData{
		URL: "https://acme.api.unink.example", AppCode: "app123", Token: "tok.en", Plan: "Popular",
		Credits: 5000, Expires: time.Date(2027, 5, 20, 12, 0, 0, 0, time.UTC),
	}
	for _, test := range []struct {
		kind string
		data any
		want []string // in the text and in the HTML
	}{
		{mail.KindVerify, mail.VerifyData{Link: link}, []string{link}},
		{mail.KindAlreadyRegistered, mail.AlreadyRegisteredData{Link: link}, []string{link}},
		{mail.KindReset, mail.ResetData{Link: link}, []string{link}},
		{mail.KindCredentials, credentials, []string{
			"https://acme.api.unink.example", "app123", "tok.en", "Popular", "5000",
			"20 May 2027, 12:00 UTC",
			"clean.jpg https://acme.api.unink.example/cleanup", "'Authorization: Bearer tok.en'", "secret"}},
	} {
		m, err := mail.Render(test.kind, "user@example.com", test.data)
		if err != nil {
			t.Errorf("%s: %v", test.kind, err)
			continue
		}
		m.Key = "k"
		if err := m.Validate(); err != nil {
			t.Errorf("%s: %v", test.kind, err)
		}
		if !strings.Contains(m.Subject, "unink") || !strings.Contains(m.Text, "unink") ||
			!strings.Contains(m.Text, "请") {
			t.Errorf("%s does not say in both languages what it is of: %s\n%s", test.kind, m.Subject, m.Text)
		}
		html := strings.ReplaceAll(m.HTML, "&amp;", "&")
		for _, want := range test.want {
			if !strings.Contains(m.Text, want) || !strings.Contains(html, want) {
				t.Errorf("%s lacks %q:\n%s\n%s", test.kind, want, m.Text, m.HTML)
			}
		}
	}
}

func TestRenderRefusesGaps(t *testing.T) {
	full := mail.CredentialsData{URL: "u", AppCode: "a", Token: "t", Plan: "p", Credits: 1,
		Expires: time.Unix(1, 0)}
	gap := func(change func(*mail.CredentialsData)) any {
		c := full
		change(&c)
		return c
	}
	for _, test := range []struct {
		kind string
		data any
	}{
		{"nothing", mail.VerifyData{Link: "x"}},
		{mail.KindVerify, mail.ResetData{Link: "x"}},
		{mail.KindVerify, mail.VerifyData{}},
		{mail.KindReset, mail.ResetData{}},
		{mail.KindAlreadyRegistered, mail.AlreadyRegisteredData{}},
		{mail.KindCredentials, nil},
		{mail.KindCredentials, gap(func(c *mail.CredentialsData) { c.URL = "" })},
		{mail.KindCredentials, gap(func(c *mail.CredentialsData) { c.AppCode = "" })},
		{mail.KindCredentials, gap(func(c *mail.CredentialsData) { c.Token = "" })},
		{mail.KindCredentials, gap(func(c *mail.CredentialsData) { c.Plan = "" })},
		{mail.KindCredentials, gap(func(c *mail.CredentialsData) { c.Expires = time.Time{} })},
	} {
		if m, err := mail.Render(test.kind, "user@example.com", test.data); err == nil {
			t.Errorf("%s of %+v made %+v", test.kind, test.data, m)
		}
	}
}

// What came from outside cannot become markup, nor a link that runs.
func TestRenderEscapes(t *testing.T) {
	m, err := mail.Render(mail.KindReset, "user@example.com", mail.ResetData{Link: `javascript:"><script>alert(1)</script>`})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(m.HTML, "<script>") || strings.Contains(m.HTML, `href="javascript:`) {
		t.Error(m.HTML)
	}
}
