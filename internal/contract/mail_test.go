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

// mailFile is the file of the first mail of a kind to somebody; an empty address is anybody's.
func (s *service) mailFile(t *testing.T, kind, email string) (file []byte) {
	t.Helper()
	s.log.wait(t, "mail written", func(l line) bool {
		if l["msg"] != "mail written" || l["kind"] != kind {
			return false
		}
		name, _ := l["file"].(string)
		if !strings.HasPrefix(name, s.data) {
			t.Fatalf("the mail is in %q", name)
		}
		var err error
		if file, err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(readMail(t, file).Header.Get("To"), email)
	})
	return file
}

func readMail(t *testing.T, file []byte) *netmail.Message {
	t.Helper()
	message, err := netmail.ReadMessage(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return message
}

// mailTo is mail for one of several people.
func (s *service) mailTo(t *testing.T, kind, email string) string {
	t.Helper()
	message := readMail(t, s.mailFile(t, kind, email))
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
