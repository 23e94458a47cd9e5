package mail_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	netmail "net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"unink/internal/mail"
)

// server is a mail server that keeps what it takes. Whom it refuses says reject.
type server struct {
	t       *testing.T
	address string
	secure  *tls.Config // for STARTTLS; nil: none
	login   [2]string   // user and password it asks for
	reject  func(to string) error
	running *smtp.Server
	door    net.Listener

	mu    sync.Mutex
	mails []*netmail.Message
	texts []string
}

func serve(t *testing.T) *server {
	s := &server{t: t, address: "127.0.0.1:0", reject: func(string) error { return nil }}
	s.start(false)
	t.Cleanup(s.stop)
	return s
}

// start listens, on the same port each time.
func (s *server) start(implicitTLS bool) {
	s.t.Helper()
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.address, s.door = listener.Addr().String(), listener
	if implicitTLS {
		listener = tls.NewListener(listener, s.secure)
	}
	s.running = smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) {
		return &session{server: s}, nil
	}))
	s.running.Domain = "localhost"
	s.running.TLSConfig = s.secure
	s.running.ErrorLog = silent{}
	go func(running *smtp.Server) { _ = running.Serve(listener) }(s.running)
}

func (s *server) stop() {
	_ = s.running.Close()
	_ = s.door.Close() // the server may not have begun with it yet
}

// taken returns the mails that arrived so far.
func (s *server) taken() ([]*netmail.Message, []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mails, s.texts
}

// recipients counts the mails for each address.
func (s *server) recipients() map[string]int {
	mails, _ := s.taken()
	count := map[string]int{}
	for _, m := range mails {
		count[m.Header.Get("To")]++
	}
	return count
}

func (s *server) sender(change func(*mail.Config)) *mail.SMTP {
	s.t.Helper()
	c := mail.DefaultConfig()
	tcp, err := net.ResolveTCPAddr("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	c.Host, c.Port, c.TLS = "127.0.0.1", tcp.Port, mail.NoTLS
	c.From = "unink <no-reply@example.com>"
	if change != nil {
		change(&c)
	}
	sender, err := mail.NewSMTP(c)
	if err != nil {
		s.t.Fatal(err)
	}
	return sender
}

type session struct {
	server *server
	user   string
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if [2]string{user, password} != s.server.login {
			return smtp.ErrAuthFailed
		}
		s.user = user
		return nil
	}), nil
}

func (s *session) Mail(string, *smtp.MailOptions) error {
	if s.user != s.server.login[0] {
		return smtp.ErrAuthRequired
	}
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error { return s.server.reject(to) }

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

// parts returns the text and the HTML of a mail.
func parts(t *testing.T, m *netmail.Message) (text, html string) {
	t.Helper()
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("Content-Type is %q: %v", m.Header.Get("Content-Type"), err)
	}
	found := map[string]string{}
	reader := multipart.NewReader(m.Body, params["boundary"])
	for {
		part, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if part.Header.Get("Content-Transfer-Encoding") != "quoted-printable" {
			t.Fatalf("part is %v", part.Header)
		}
		content, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
		found[kind] = strings.ReplaceAll(string(content), "\r\n", "\n")
	}
	return found["text/plain"], found["text/html"]
}

// certificate makes one for 127.0.0.1, and what trusts it.
func certificate(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}},
		pool
}

// clock is a time that only the test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// senderFunc is a Sender for faults that no server makes.
type senderFunc func(ctx context.Context, m mail.Message, id string) error

func (f senderFunc) Send(ctx context.Context, m mail.Message, id string) error {
	return f(ctx, m, id)
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }
