package mail

import (
	"embed"
	"errors"
	"fmt"
	htmltemplate "html/template"
	"strings"
	texttemplate "text/template"
	"time"
)

// The kinds of mail that there are templates for.
const (
	KindVerify            = "verify"             // of VerifyData
	KindAlreadyRegistered = "already-registered" // of AlreadyRegisteredData
	KindReset             = "reset"              // of ResetData
	KindCredentials       = "credentials"        // of CredentialsData
)

// VerifyData is for the mail that asks a new user to confirm the address.
type VerifyData struct {
	Link string
}

// AlreadyRegisteredData is for the mail to a user with whose address somebody signs up again.
type AlreadyRegisteredData struct {
	Link string // to the page for logging in
}

// ResetData is for the mail with which a user chooses a new password.
type ResetData struct {
	Link string
}

// CredentialsData is for the mail that delivers a developer package. All fields are needed.
type CredentialsData struct {
	URL     string // of the customer's API domain, with https:// and without a slash at the end
	AppCode string
	Token   string
	Plan    string // its name
	Credits int64
	Expires time.Time
}

//go:embed templates
var files embed.FS

var functions = map[string]any{"need": need, "date": date}

var (
	texts = texttemplate.Must(texttemplate.New("").Option("missingkey=error").Funcs(functions).ParseFS(
		files, "templates/*.txt",
	))
	htmls = htmltemplate.Must(htmltemplate.New("").Option("missingkey=error").Funcs(functions).ParseFS(
		files, "templates/*.html",
	))
)

// need is a template's way to say that a value must be there.
func need(s string) (string, error) {
	if s == "" {
		return "", errors.New("a field is empty")
	}
	return s, nil
}

func date(t time.Time) (string, error) {
	if t.IsZero() {
		return "", errors.New("a time is missing")
	}
	return t.UTC().Format("2 January 2006, 15:04 UTC"), nil
}

// subject returns the subject of a kind of mail, and whether data is of the type that it takes.
func subject(kind string, data any) (text string, fits bool) {
	switch kind {
	case KindVerify:
		_, fits = data.(VerifyData)
		return "Confirm your e-mail address for unink · 确认您的 unink 邮箱", fits
	case KindAlreadyRegistered:
		_, fits = data.(AlreadyRegisteredData)
		return "You already have an unink account · 您已有 unink 账户", fits
	case KindReset:
		_, fits = data.(ResetData)
		return "Choose a new password for unink · 重设您的 unink 密码", fits
	case KindCredentials:
		_, fits = data.(CredentialsData)
		return "Your unink API access · 您的 unink API 访问信息", fits
	}
	return "", false
}

// Render writes a mail of a kind from that kind's data, as text and as HTML. A missing field is an
// error. The message has no Key yet: that is for the caller to choose.
func Render(kind, to string, data any) (Message, error) {
	title, fits := subject(kind, data)
	if !fits {
		return Message{}, fmt.Errorf("mail: there is no mail %q of a %T", kind, data)
	}
	var text, html strings.Builder
	if err := texts.ExecuteTemplate(&text, kind+".txt", data); err != nil {
		return Message{}, fmt.Errorf("mail: %w", err)
	}
	html.WriteString("<!doctype html>\n<html lang=\"en\"><body>\n")
	if err := htmls.ExecuteTemplate(&html, kind+".html", data); err != nil {
		return Message{}, fmt.Errorf("mail: %w", err)
	}
	html.WriteString("</body></html>\n")
	return Message{Kind: kind, To: to, Subject: title, Text: text.String(), HTML: html.String()}, nil
}
