package contract

import (
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
	written := s.log.wait(t, "mail written", func(l line) bool { return l["msg"] == "mail written" && l["kind"] == kind })
	name, _ := written["file"].(string)
	if !strings.HasPrefix(name, s.data) {
		t.Fatalf("the mail is in %q", name)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	message, err := netmail.ReadMessage(file)
	if err != nil {
		t.Fatal(err)
	}
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
