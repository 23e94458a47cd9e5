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

	"unink/internal/mail"
)

// sender sends to an address.
func sender(t *testing.T, address string, change func(*mail.Config)) *mail.SMTP {
	t.Helper()
	c := mail.DefaultConfig()
	tcp, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	c.Host, c.Port, c.TLS = "127.0.0.1", tcp.Port, mail.NoTLS
	c.From = "unink <no-reply@example.com>"
	if change != nil {
		change(&c)
	}
	sender, err := mail.NewSMTP(c)
	if err != nil {
		t.Fatal(err)
	}
	return sender
}

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
		var body io.Reader = part
		switch part.Header.Get("Content-Transfer-Encoding") {
		case "quoted-printable":
			body = quotedprintable.NewReader(part)
		case "8bit":
		default:
			t.Fatalf("part is %v", part.Header)
		}
		content, err := io.ReadAll(body)
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
