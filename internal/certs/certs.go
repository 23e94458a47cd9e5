// Package certs gets certificates for the service's hosts by ACME (RFC 8555), each when its host is
// first asked for, and renews them when a caller comes within the last third of their time.
package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/mail"
	"net/url"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/mholt/acmez/v3"
	"go.uber.org/zap"
)

// LetsEncrypt is the directory of an authority that everybody trusts.
const LetsEncrypt = certmagic.LetsEncryptProductionCA

const (
	// orderTime bounds one order, its challenge included.
	orderTime = 90 * time.Second
	// mostInMemory is how many certificates are kept at hand; others are read again from the storage.
	mostInMemory = 10_000
)

// Config configures a [Manager].
type Config struct {
	Directory string         // URL of the authority's ACME directory
	Email     string         // whom the authority writes to; may be empty
	Roots     *x509.CertPool // what the directory's own certificate is checked with; nil: the system's
	// Serves reports whether a host is one of the service's. No order is made for others.
	Serves func(ctx context.Context, host string) (bool, error)
	// Storage is shared by all processes that answer for the same hosts.
	Storage certmagic.Storage
	// Ports that this process listens on for HTTP and TLS, which those 80 and 443 of the hosts lead
	// to.
	HTTPPort, TLSPort int
}

// Validate says which field makes no sense.
func (c Config) Validate() error {
	if u, err := url.Parse(c.Directory); err != nil || u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("the ACME directory must be such as %s, not %q", LetsEncrypt, c.Directory)
	}
	if a, err := mail.ParseAddress(c.Email); c.Email != "" && (err != nil || a.Address != c.Email) {
		return fmt.Errorf("the e-mail address for ACME must be such as you@example.com, not %q", c.Email)
	}
	return nil
}

// Manager has the certificates of one process.
type Manager struct {
	cache  *certmagic.Cache
	config *certmagic.Config
	issuer *certmagic.ACMEIssuer
	log    *zap.Logger
}

// New makes a manager. It asks the authority for nothing until [Manager.TLS] or
// [Manager.Challenges] is used.
func New(c Config, log *slog.Logger) (*Manager, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	m := &Manager{log: zap.New(bridge{handler: log.Handler()})}
	m.cache = certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return m.config, nil },
		Capacity:         mostInMemory,
		Logger:           m.log,
	})
	m.config = certmagic.New(m.cache, certmagic.Config{
		OnDemand: &certmagic.OnDemandConfig{DecisionFunc: func(ctx context.Context, host string) error {
			return decide(ctx, c.Serves, host)
		}},
		Storage: c.Storage,
		OnEvent: func(_ context.Context, event string, about map[string]any) error {
			if event == "cert_obtained" {
				log.Info("certificate", "host", about["identifier"], "renewal", about["renewal"])
			}
			return nil
		},
		// nobody is asked at an address that a certificate names
		OCSP:   certmagic.OCSPConfig{DisableStapling: true},
		Logger: m.log,
	})
	m.issuer = certmagic.NewACMEIssuer(m.config, certmagic.ACMEIssuer{
		CA: c.Directory, Email: c.Email, Agreed: true, TrustedRoots: c.Roots,
		AltHTTPPort: c.HTTPPort, AltTLSALPNPort: c.TLSPort, CertObtainTimeout: orderTime, Logger: m.log,
	})
	m.config.Issuers = []certmagic.Issuer{m.issuer}
	return m, nil
}

// errForeign is for hosts that are not the service's.
var errForeign = errors.New("certs: not a host of this service")

func decide(ctx context.Context, serves func(context.Context, string) (bool, error),
	host string) error {
	ours, err := serves(ctx, host)
	if err == nil && !ours {
		err = errForeign
	}
	return err
}

// TLS is how to listen: TLS 1.2 or later, HTTP/1.1, and the TLS-ALPN challenge. A handshake for a
// host of the service that has no certificate yet waits for one; one for another host fails.
func (m *Manager) TLS() *tls.Config {
	return &tls.Config{
		GetCertificate: m.config.GetCertificate,
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"http/1.1", acmez.ACMETLS1Protocol},
	}
}

// Challenges answers the HTTP challenges of orders, of other processes too, and leaves all else to
// next.
func (m *Manager) Challenges(next http.Handler) http.Handler {
	return m.issuer.HTTPChallengeHandler(next)
}

// Close ends what runs beside the handshakes and gives locks back.
func (m *Manager) Close() {
	m.cache.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	certmagic.CleanUpOwnLocks(ctx, m.log)
}
