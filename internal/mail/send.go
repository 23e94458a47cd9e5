package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// TLSMode says how the way to the mail server is kept private.
type TLSMode string

// The modes of TLS.
const (
	StartTLS TLSMode = "starttls" // plain at first, then TLS or nothing; the default
	TLS      TLSMode = "tls"      // TLS from the first byte
	NoTLS    TLSMode = "none"     // for a relay on this machine
)

const smtpTime = 30 * time.Second

// Config says which server takes the mails, and who they are from.
type Config struct {
	Host     string // empty: mails go to a folder
	Port     int    // 587 by default
	User     string // empty: the server needs no login
	Password string
	TLS      TLSMode // starttls by default
	From     string  // an address, with a name if wished: unink <no-reply@example.com>
}

// DefaultConfig is a configuration without a server.
func DefaultConfig() Config {
	return Config{Port: 587, TLS: StartTLS, From: "unink <no-reply@localhost>"}
}

// Validate says which field is wrong.
func (c Config) Validate() error {
	if _, err := parseFrom(c.From); err != nil {
		return err
	}
	switch {
	case c.Host == "":
		return nil
	case c.Port < 1 || c.Port > 65535:
		return fmt.Errorf("mail port must be from 1 to 65535, not %d", c.Port)
	case c.TLS != StartTLS && c.TLS != TLS && c.TLS != NoTLS:
		return fmt.Errorf("mail TLS must be starttls, tls or none, not %q", c.TLS)
	case (c.User == "") != (c.Password == ""):
		return errors.New("mail user and password must both be set, or neither")
	case c.User != "" && c.TLS == NoTLS:
		return errors.New("mail TLS is none, which would send the password in clear: use starttls or " +
			"tls, or no user")
	}
	return nil
}

func parseFrom(from string) (*netmail.Address, error) {
	a, err := netmail.ParseAddress(from)
	if err != nil || hasControl(from) || !isAddress(a.Address) {
		return nil, fmt.Errorf(
			"mail sender %q is not an address: write it as unink <no-reply@example.com>", from,
		)
	}
	return a, nil
}

// SMTP sends through a mail server.
type SMTP struct {
	config Config
	from   *netmail.Address
	roots  *x509.CertPool // nil: the system's
}

// NewSMTP makes a sender for a server. It does not connect yet.
func NewSMTP(c Config) (*SMTP, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Host == "" {
		return nil, errors.New("mail host is missing: name the server that takes mails")
	}
	from, err := parseFrom(c.From)
	return &SMTP{config: c, from: from}, err
}

// Send hands a message to the server, within 30 seconds. It returns an [ErrPermanent] when the
// server refuses the recipient for good.
func (s *SMTP) Send(ctx context.Context, m Message, id string) error {
	ctx, cancel := context.WithTimeout(ctx, smtpTime)
	defer cancel()
	msg, err := compose(s.from, m, id, gomail.EncodingQP)
	if err != nil {
		return err
	}
	client, err := gomail.NewClient(s.config.Host, s.options(ctx)...)
	if err != nil {
		return err
	}
	err = client.DialAndSendWithContext(ctx, msg)
	if msg.IsDelivered() {
		return nil // what failed afterwards was the farewell
	}
	var refused *gomail.SendError
	if errors.As(err, &refused) && refused.Reason == gomail.ErrSMTPRcptTo &&
		refused.ErrorCode() >= 500 {
		return fmt.Errorf("%w: %w", ErrPermanent, err)
	}
	return err
}

func (s *SMTP) options(ctx context.Context) []gomail.Option {
	secure := &tls.Config{ServerName: s.config.Host, MinVersion: tls.VersionTLS12, RootCAs: s.roots}
	options := []gomail.Option{
		gomail.WithPort(s.config.Port), gomail.WithTimeout(smtpTime), gomail.WithTLSConfig(secure),
		gomail.WithDialContextFunc(s.dialer(ctx, secure)),
	}
	switch s.config.TLS {
	case TLS:
		options = append(options, gomail.WithSSL())
	case NoTLS:
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if s.config.User != "" {
		options = append(options, gomail.WithUsername(s.config.User),
			gomail.WithPassword(s.config.Password),
			gomail.WithOpportunisticSMTPAuth(gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthPlain,
				gomail.SMTPAuthLogin))
	}
	return options
}

// dialer closes the connection when the attempt's context ends: the library heeds a context only
// while it dials, and leaves a connection open whose greeting or login fails.
func (s *SMTP) dialer(attempt context.Context, secure *tls.Config) gomail.DialContextFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		var dialer interface {
			DialContext(ctx context.Context, network, address string) (net.Conn, error)
		} = &net.Dialer{}
		if s.config.TLS == TLS {
			dialer = &tls.Dialer{Config: secure}
		}
		conn, err := dialer.DialContext(ctx, network, address)
		if err == nil {
			context.AfterFunc(attempt, func() { _ = conn.Close() })
		}
		return conn, err
	}
}

// compose writes a message. Its Message-ID is made of the mail's id alone, so that who receives it
// twice can tell. Every mail server takes quoted-printable; people who read the file itself can
// copy from it only what is not encoded.
func compose(from *netmail.Address, m Message, id string,
	encoding gomail.Encoding) (*gomail.Msg, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	_, domain, _ := strings.Cut(from.Address, "@")
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent(), gomail.WithEncoding(encoding))
	msg.FromMailAddress(from)
	msg.ToMailAddress(&netmail.Address{Address: m.To})
	msg.Subject(m.Subject)
	msg.SetMessageIDWithValue(id + "@" + domain)
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	if m.HTML != "" {
		msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	}
	return msg, nil
}

// Folder writes mails to files instead of sending them.
type Folder struct {
	path string
	from *netmail.Address
	log  *slog.Logger
}

// NewFolder makes a sender that writes to a folder, which the first mail makes when it is not
// there.
func NewFolder(path, from string, log *slog.Logger) (*Folder, error) {
	sender, err := parseFrom(from)
	if err != nil {
		return nil, err
	}
	return &Folder{path: path, from: sender, log: log}, nil
}

// Send writes one .eml file, named after the mail's id, that only its owner can read.
func (f *Folder) Send(_ context.Context, m Message, id string) error {
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return fmt.Errorf("mail folder: %w", err)
	}
	lines := strings.NewReplacer("\n", "\r\n") // which an encoding would make of them
	m.Text, m.HTML = lines.Replace(m.Text), lines.Replace(m.HTML)
	msg, err := compose(f.from, m, id, gomail.NoEncoding)
	if err != nil {
		return err
	}
	name := filepath.Join(f.path, filepath.Base(id)+mailEnding)
	if err := writeFile(name, msg); err != nil {
		return err
	}
	f.log.Info("mail written", "kind", m.Kind, "file", name)
	return nil
}

// PruneFolder deletes the mails that a [Folder] wrote until a time, and what is left of those that
// it could not finish. It returns how many files; where there is no folder there are none.
func PruneFolder(path string, before time.Time) (pruned int, err error) {
	folder, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("mail folder: %w", err)
	}
	defer func() { _ = folder.Close() }()
	for {
		files, err := folder.ReadDir(200)
		for _, file := range files {
			gone, err := pruneFile(path, file, before)
			if err != nil {
				return pruned, fmt.Errorf("mail folder: %w", err)
			}
			if gone {
				pruned++
			}
		}
		if errors.Is(err, io.EOF) {
			return pruned, nil
		}
		if err != nil {
			return pruned, fmt.Errorf("mail folder: %w", err)
		}
	}
}

// pruneFile deletes a file if it is an old one of a [Folder]. Another process may be quicker.
func pruneFile(folder string, file fs.DirEntry, before time.Time) (gone bool, err error) {
	ours := filepath.Ext(file.Name()) == mailEnding || strings.HasPrefix(file.Name(), partPrefix)
	if !ours || !file.Type().IsRegular() {
		return false, nil
	}
	info, err := file.Info()
	if err == nil && info.ModTime().After(before) {
		return false, nil
	}
	if err == nil {
		err = os.Remove(filepath.Join(folder, file.Name()))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// The names of files in a folder of mails.
const (
	mailEnding = ".eml"
	partPrefix = ".part-"
)

// writeFile puts a whole file in place, or none.
func writeFile(name string, content io.WriterTo) error {
	part, err := os.CreateTemp(filepath.Dir(name), partPrefix+"*") // mode 0600
	if err != nil {
		return err
	}
	_, err = content.WriteTo(part)
	if err = errors.Join(err, part.Sync(), part.Close()); err == nil {
		err = os.Rename(part.Name(), name)
	}
	if err != nil {
		_ = os.Remove(part.Name())
	}
	return err
}
