// Package mailtest has a mail server for tests.
package mailtest

import (
	"crypto/tls"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net"
	netmail "net/mail"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// Server is a mail server that keeps what it takes.
type Server struct {
	Address string
	Secure  *tls.Config           // for STARTTLS; nil: none
	Login   [2]string             // user and password it asks for
	Reject  func(to string) error // whom it refuses

	t       *testing.T
	running *smtp.Server
	door    net.Listener

	mu    sync.Mutex
	mails []*netmail.Message
	texts []string
}

// Serve starts one, which takes everything until the test ends.
func Serve(t *testing.T) *Server {
	s := &Server{t: t, Address: "127.0.0.1:0", Reject: func(string) error { return nil }}
	s.Start(false)
	t.Cleanup(s.Stop)
	return s
}

// Start listens, on the same port each time.
func (s *Server) Start(implicitTLS bool) {
	s.t.Helper()
	listener, err := net.Listen("tcp", s.Address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.Address, s.door = listener.Addr().String(), listener
	if implicitTLS {
		listener = tls.NewListener(listener, s.Secure)
	}
	s.running = smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) {
		return &session{server: s}, nil
	}))
	s.running.Domain = "localhost"
	s.running.TLSConfig = s.Secure
	s.running.ErrorLog = silent{}
	go func(running *smtp.Server) { _ = running.Serve(listener) }(s.running)
}

// Stop ends the server and closes its port.
func (s *Server) Stop() {
	_ = s.running.Close()
	_ = s.door.Close() // the server may not have begun with it yet
}

// Taken returns the mails that arrived so far.
func (s *Server) Taken() ([]*netmail.Message, []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mails, s.texts
}

// Recipients counts the mails for each address.
func (s *Server) Recipients() map[string]int {
	mails, _ := s.Taken()
	count := map[string]int{}
	for _, m := range mails {
		count[m.Header.Get("To")]++
	}
	return count
}

// Text is the plain text of the first mail to an address.
func (s *Server) Text(to string) (string, error) {
	mails, texts := s.Taken()
	for i, m := range mails {
		if m.Header.Get("To") != "<"+to+">" {
			continue
		}
		_, parameters, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
		if err != nil {
			return "", err
		}
		part, err := multipart.NewReader(strings.NewReader(texts[i]), parameters["boundary"]).NextPart()
		if err != nil {
			return "", err
		}
		text, err := io.ReadAll(part)
		return string(text), err
	}
	return "", fmt.Errorf("no mail came for %s", to)
}

type session struct {
	server *Server
	user   string
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if [2]string{user, password} != s.server.Login {
			return smtp.ErrAuthFailed
		}
		s.user = user
		return nil
	}), nil
}

func (s *session) Mail(string, *smtp.MailOptions) error {
	if s.user != s.server.Login[0] {
		return smtp.ErrAuthRequired
	}
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error { return s.server.Reject(to) }

func (s *session) Data(r io.Reader) error {
	m, err := netmail.ReadMessage(r)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(m.Body)
	if err != nil {
		return err
	}
	m.Body = strings.NewReader(string(body))
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.server.mails = append(s.server.mails, m)
	s.server.texts = append(s.server.texts, string(body))
	return nil
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

type silent struct{}

func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}
