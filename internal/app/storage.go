package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"unink/internal/account"
	"unink/internal/credit"
	"unink/internal/mail"
	"unink/internal/misuse"
	"unink/internal/store"
)

// Storage says where the service keeps its data.
type Storage struct {
	// folder of the embedded database, of the secret and of mails that no SMTP server takes
	Data     string
	Database string // postgres:// URL; empty is SQLite in Data
	Secret   string // file of the server's secret; empty is one made in Data
}

// DatabaseURL is what [store.Open] opens.
func (s Storage) DatabaseURL() string {
	if s.Database != "" {
		return s.Database
	}
	return "sqlite:" + s.file()
}

func (s Storage) file() string { return filepath.Join(s.Data, "unink.db") }

func (s Storage) mails() string { return filepath.Join(s.Data, "mail") }

// Check says what is missing of a service's data. Only a service makes it: commands that administer
// one, told of another place, would otherwise work on an empty database there.
func (s Storage) Check() error {
	if _, err := os.Stat(s.Secret); s.Secret != "" && errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("there is no secret %s; give --secret the file that the service has", s.Secret)
	}
	if _, err := os.Stat(s.file()); s.Database == "" && errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("there is no database in %s; start unink serve first, and give --data the "+
			"folder that it has", s.Data)
	}
	return nil
}

// Lock makes sure that one service alone works on the embedded database: its windows and its
// holds are in one process.
func (s Storage) Lock() (unlock func(), err error) {
	if s.Database != "" {
		return func() {}, nil
	}
	if err := os.MkdirAll(s.Data, 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(s.Data, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf(
			"a service runs on %s already; stop it, or use --data or --database for another one: %w", s.Data,
			err,
		)
	}
	return func() { _ = file.Close() }, nil
}

// secret is the server's secret: from a file that was named, else one made in the data folder.
func (s Storage) secret() ([]byte, error) {
	switch {
	case s.Secret != "":
		return account.LoadSecret(s.Secret)
	case s.Database != "":
		return nil, misuse.Errorf("--database needs --secret (UNINK_SECRET_FILE): a file that all " +
			"services on this database share; it is made when it is not there")
	}
	return account.LoadSecret(filepath.Join(s.Data, "secret"))
}

// Backup copies the database to a new file, also while the service runs.
func (s Storage) Backup(ctx context.Context, to string) error {
	if err := s.Check(); err != nil {
		return err
	}
	db, err := store.Open(ctx, s.DatabaseURL())
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	return db.Backup(ctx, to)
}

// Restore puts a copy in the embedded database's place, while no service runs on it, and keeps what
// was there beside it.
func (s Storage) Restore(ctx context.Context, from string) error {
	unlock, err := s.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	if s.Database != "" {
		return misuse.Errorf(
			"only the embedded database is restored like this; use pg_restore for PostgreSQL",
		)
	}
	fresh := s.file() + ".restored"
	if err := store.Copy(ctx, from, fresh); err != nil {
		return err
	}
	kept := fmt.Sprintf("%s.%s", s.file(), time.Now().UTC().Format("20060102T150405"))
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(s.file()+suffix, kept+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return os.Rename(fresh, s.file())
}

// LoadCatalogue reads what is sold from a file; no name is the built-in catalogue.
func LoadCatalogue(file string) (credit.Catalogue, error) {
	if file == "" {
		return credit.DefaultCatalogue(), nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return credit.Catalogue{}, fmt.Errorf("--catalogue: %w", err)
	}
	return credit.LoadCatalogue(text)
}

// sender is what takes mails: an SMTP server, or a folder.
func (c Config) sender(log *slog.Logger) (mail.Sender, error) {
	m := mail.DefaultConfig()
	m.From = c.MailFrom
	if c.SMTP == "" {
		return mail.NewFolder(c.mails(), m.From, log)
	}
	modes := map[string]mail.TLSMode{"smtp": mail.StartTLS, "smtps": mail.TLS,
		"smtp+plain": mail.NoTLS}
	u, err := url.Parse(c.SMTP)
	if err != nil || u.Hostname() == "" || modes[u.Scheme] == "" {
		return nil, misuse.Errorf("--smtp must be such as smtp://user:password@mail.example.com:587 " +
			"(STARTTLS), smtps://… (TLS) or smtp+plain://…")
	}
	m.Host, m.TLS = u.Hostname(), modes[u.Scheme]
	m.User = u.User.Username()
	m.Password, _ = u.User.Password()
	if u.Scheme == "smtps" {
		m.Port = 465
	}
	if u.Port() != "" {
		if m.Port, err = strconv.Atoi(u.Port()); err != nil {
			return nil, misuse.Errorf("--smtp: the port is not a number")
		}
	}
	return mail.NewSMTP(m)
}
