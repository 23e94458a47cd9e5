package contract

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	netmail "net/mail"
	"os"
	"strings"
	"testing"
)

// mail returns the plain text of the first mail of a kind that the service has written.
func (s *service) mail(t *testing.T, kind string) string {
	t.Helper()
	return s.mailTo(t, kind, "")
}

// mailTo is mail for one of several people; an empty address is anybody's.
func (s *service) mailTo(t *testing.T, kind, email string) string {
	t.Helper()
	var message *netmail.Message
	s.log.wait(t, "mail written", func(l line) bool {
		if l["msg"] != "mail written" || l["kind"] != kind {
			return false
		}
		name, _ := l["file"].(string)
		if !strings.HasPrefix(name, s.data) {
			t.Fatalf("the mail is in %q", name)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if message, err = netmail.ReadMessage(bytes.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(message.Header.Get("To"), email)
	})
	_, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	part, err := multipart.NewReader(message.Body, parameters["boundary"]).NextPart()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(part)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// linkIn is the token of the link that a mail to somebody has, to a page of the service.
func (s *service) linkIn(t *testing.T, kind, email, path string) (token string) {
	t.Helper()
	_, rest, found := strings.Cut(s.mailTo(t, kind, email), "http://localhost:"+s.port+path+"?token=")
	if !found {
		t.Fatal("the mail has no link")
	}
	return strings.Fields(rest)[0]
}
