package mail_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"unink/internal/mail"
	"unink/internal/mail/mailtest"
)

func TestTLSAndLogin(t *testing.T) {
	secure, roots := certificate(t)
	login := func(mode mail.TLSMode, password string) func(*mail.Config) {
		return func(c *mail.Config) { c.TLS, c.User, c.Password = mode, "unink", password }
	}
	for _, mode := range []mail.TLSMode{mail.StartTLS, mail.TLS} {
		t.Run(string(mode), func(t *testing.T) {
			smtpd := mailtest.Serve(t)
			smtpd.Stop()
			smtpd.Secure, smtpd.Login = secure, [2]string{"unink", "pa55word"}
			smtpd.Start(mode == mail.TLS)

			right := sender(t, smtpd.Address, login(mode, "pa55word"))
			if err := right.Send(t.Context(), message(1), "mail_1"); err == nil {
				t.Error("a certificate of nobody was trusted")
			}
			right.Trust(roots)
			if err := right.Send(t.Context(), message(1), "mail_1"); err != nil {
				t.Error(err)
			}
			wrong := sender(t, smtpd.Address, login(mode, "wr0ngword"))
			wrong.Trust(roots)
			err := wrong.Send(t.Context(), message(2), "mail_2")
			if err == nil || errors.Is(err, mail.ErrPermanent) ||
				strings.Contains(err.Error(), "wr0ngword") {
				t.Errorf("with a wrong password: %v", err)
			}
			if mails, _ := smtpd.Taken(); len(mails) != 1 {
				t.Errorf("%d mails arrived", len(mails))
			}
		})
	}
}

// TLS is not given up because a server, or somebody in between, does not offer it.
func TestStartTLSIsMandatory(t *testing.T) {
	smtpd := mailtest.Serve(t)
	sender := sender(t, smtpd.Address, func(c *mail.Config) { c.TLS = mail.StartTLS })
	if err := sender.Send(t.Context(), message(1), "mail_1"); err == nil {
		t.Error("the mail went without TLS")
	}
	if mails, _ := smtpd.Taken(); len(mails) != 0 {
		t.Errorf("%d mails arrived", len(mails))
	}
}

// script is a mail server that speaks by the word: it greets, and answers each command by its verb;
// with no answer it is silent, and to "hang up" it closes. It returns what sends to it.
func script(t *testing.T, answers map[string]string) *mail.SMTP {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go converse(conn, answers)
		}
	}()
	return sender(t, listener.Addr().String(), nil)
}

func converse(conn net.Conn, answers map[string]string) {
	defer func() { _ = conn.Close() }()
	if answers["greeting"] != "" {
		_, _ = fmt.Fprint(conn, answers["greeting"], "\r\n")
	}
	for lines, data := bufio.NewScanner(conn), false; lines.Scan(); {
		verb, _, _ := strings.Cut(lines.Text(), " ")
		if data && verb != "." {
			continue
		}
		answer := answers[verb]
		if answer == "hang up" {
			return
		}
		data = strings.HasPrefix(answer, "354")
		if answer != "" {
			_, _ = fmt.Fprint(conn, answer, "\r\n")
		}
	}
}

func polite() map[string]string {
	return map[string]string{
		"greeting": "220 hello", "EHLO": "250 hello", "NOOP": "250 ok", "MAIL": "250 ok",
		"RCPT": "250 ok",
		"DATA": "354 go on", ".": "250 taken", "RSET": "250 ok", "QUIT": "221 bye",
	}
}

// Once the server has taken the mail, nothing it does afterwards makes us send it again.
func TestFailureAfterDeliveryIsNone(t *testing.T) {
	for _, verb := range []string{"RSET", "QUIT"} {
		for _, answer := range []string{"hang up", "421 closing", "500 what"} {
			answers := polite()
			answers[verb] = answer
			if err := script(t, answers).Send(t.Context(), message(1), "mail_1"); err != nil {
				t.Errorf("%s after the delivery: %s: %v", verb, answer, err)
			}
		}
	}
	for verb, answer := range map[string]string{
		"DATA": "hang up", ".": "hang up", "MAIL": "550 not you", "RCPT": "450 later",
	} {
		answers := polite()
		answers[verb] = answer
		if err := script(t, answers).Send(t.Context(), message(1), "mail_1"); err == nil ||
			errors.Is(err, mail.ErrPermanent) {
			t.Errorf("%s: %s: %v", verb, answer, err)
		}
	}
}

// An attempt ends with its context, wherever the server falls silent.
func TestSilentServer(t *testing.T) {
	for _, verb := range []string{"greeting", "EHLO", "MAIL", "."} {
		answers := polite()
		answers[verb] = ""
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if err := script(t, answers).Send(ctx, message(1), "mail_1"); err == nil {
			t.Errorf("silent at %s: sent", verb)
		}
		cancel()
	}
}

func TestConfig(t *testing.T) {
	if err := mail.DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*mail.Config){
		"port":            func(c *mail.Config) { c.Port = 0 },
		"starttls":        func(c *mail.Config) { c.TLS = "maybe" },
		"user":            func(c *mail.Config) { c.User = "x" },
		"in clear":        func(c *mail.Config) { c.User, c.Password, c.TLS = "x", "y", mail.NoTLS },
		"not an address":  func(c *mail.Config) { c.From = "nobody" },
		`not an address:`: func(c *mail.Config) { c.From = "x <a@example.com>\r\nBcc: b@example.com" },
	} {
		c := mail.DefaultConfig()
		c.Host = "mail.example.com"
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one with %q", err, want)
		}
	}
}
