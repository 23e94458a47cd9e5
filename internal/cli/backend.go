package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"unink/internal/account"
	"unink/internal/billing"
	"unink/internal/credit"
	"unink/internal/mail"
	"unink/internal/store"
	"unink/internal/usage"
)

// backend is what stands behind the entry points: the database and the rules of what is in it.
type backend struct {
	db        *store.DB
	accounts  *account.Service
	credits   *credit.Service
	catalogue credit.Catalogue
	outbox    *mail.Outbox
	selling   *billing.Deliverer
	stripe    *billing.Stripe // nil without its keys
	uses      *usage.Service
	recorder  *usage.Recorder
	nonces    store.Nonces
	secret    []byte
	config    backendConfig
	mails     string // the folder of mails that no SMTP server takes, or took
}

// backendConfig is what only a running service knows.
type backendConfig struct {
	publicURL, domain string
	oidc              account.OIDC
	throttle          account.Throttle

	keepGuests      time.Duration // what guests left, and apps' accounts
	keepUnconfirmed time.Duration // accounts
	keepDeadMail    time.Duration // and the files of mails
}

func (f storeFlags) databaseURL() string {
	if f.Database != "" {
		return f.Database
	}
	return "sqlite:" + f.file()
}

func (f storeFlags) file() string { return filepath.Join(f.Data, "unink.db") }

func (f storeFlags) mails() string { return filepath.Join(f.Data, "mail") }

func (f storeFlags) openDatabase(ctx context.Context) (*store.DB, error) {
	return store.Open(ctx, f.databaseURL())
}

// lock makes sure that one service alone works on the embedded database: its windows and its
// holds are in one process.
func (f storeFlags) lock() (unlock func(), err error) {
	if f.Database != "" {
		return func() {}, nil
	}
	if err := os.MkdirAll(f.Data, 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(f.Data, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("a service runs on %s already; stop it, or use --data or --database for another one: %w", f.Data, err)
	}
	return func() { _ = file.Close() }, nil
}

// secret is the server's secret: from a file that was named, else one made in the data folder.
func (f storeFlags) secret() ([]byte, error) {
	switch {
	case f.Secret != "":
		return account.LoadSecret(f.Secret)
	case f.Database != "":
		return nil, wrongUse("--database needs --secret (UNINK_SECRET_FILE): a file that all services on this database share; it is made when it is not there")
	}
	return account.LoadSecret(filepath.Join(f.Data, "secret"))
}

// restore puts a copy in the database's place, keeping what was there beside it.
func (f storeFlags) restore(ctx context.Context, from string) error {
	if f.Database != "" {
		return wrongUse("only the embedded database is restored like this; use pg_restore for PostgreSQL")
	}
	fresh := f.file() + ".restored"
	if err := store.Copy(ctx, from, fresh); err != nil {
		return err
	}
	kept := fmt.Sprintf("%s.%s", f.file(), time.Now().UTC().Format("20060102T150405"))
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(f.file()+suffix, kept+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return os.Rename(fresh, f.file())
}

func (f catalogueFlags) load() (credit.Catalogue, error) {
	if f.Catalogue == "" {
		return credit.DefaultCatalogue(), nil
	}
	text, err := os.ReadFile(f.Catalogue)
	if err != nil {
		return credit.Catalogue{}, fmt.Errorf("--catalogue: %w", err)
	}
	return credit.LoadCatalogue(text)
}

// openBackend opens the database and sets the rules up on it.
func (f storeFlags) openBackend(ctx context.Context, sell sellingFlags, c backendConfig, log *slog.Logger) (b *backend, err error) {
	secret, err := f.secret()
	if err != nil {
		return nil, err
	}
	catalogue, err := sell.load()
	if err != nil {
		return nil, err
	}
	sender, err := f.sender(sell, log)
	if err != nil {
		return nil, err
	}
	db, err := f.openDatabase(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = db.Close()
		}
	}()
	b = &backend{db: db, catalogue: catalogue, nonces: store.NewNonces(db), config: c, secret: secret, mails: f.mails()}
	b.uses = usage.New(store.NewUsage(db))
	if b.recorder, err = usage.NewRecorder(store.NewUsage(db), usage.DefaultConfig(), log); err != nil {
		return nil, err
	}
	if b.credits, err = credit.New(store.NewCredits(db), credit.DefaultConfig(), time.Now); err != nil {
		return nil, err
	}
	b.outbox = mail.New(store.NewMails(db), sender, time.Now, log)
	accounts := account.DefaultConfig()
	accounts.Secret, accounts.OIDC = secret, c.oidc
	b.accounts, err = account.New(accounts, store.NewAccounts(db), notices{b.outbox, c.publicURL}, c.throttle, time.Now, log)
	if err != nil {
		return nil, err
	}
	purchases := store.NewPurchases(db)
	b.selling = billing.NewDeliverer(purchases, plans{catalogue}, customers{b.accounts}, packages{b}, credentialsMail{b}, buyers{b.accounts}, time.Now, log)
	stripe := billing.Config{SecretKey: sell.StripeKey, WebhookSecret: sell.StripeWebhookSecret}
	if err := stripe.Validate(); err != nil {
		return nil, wrongUse("%v", err)
	}
	if stripe.Enabled() {
		b.stripe, err = billing.NewStripe(stripe, plans{catalogue}, b.selling, purchases, time.Now, log)
	}
	return b, err
}

func (b *backend) close() { _ = b.db.Close() }

// sender is what takes mails: an SMTP server, or a folder.
func (f storeFlags) sender(sell sellingFlags, log *slog.Logger) (mail.Sender, error) {
	c := mail.DefaultConfig()
	c.From = sell.MailFrom
	if sell.SMTP == "" {
		return mail.NewFolder(f.mails(), c.From, log)
	}
	modes := map[string]mail.TLSMode{"smtp": mail.StartTLS, "smtps": mail.TLS, "smtp+plain": mail.NoTLS}
	u, err := url.Parse(sell.SMTP)
	if err != nil || u.Hostname() == "" || modes[u.Scheme] == "" {
		return nil, wrongUse("--smtp must be such as smtp://user:password@mail.example.com:587 (STARTTLS), smtps://… (TLS) or smtp+plain://…")
	}
	c.Host, c.TLS = u.Hostname(), modes[u.Scheme]
	c.User = u.User.Username()
	c.Password, _ = u.User.Password()
	if u.Scheme == "smtps" {
		c.Port = 465
	}
	if u.Port() != "" {
		if c.Port, err = strconv.Atoi(u.Port()); err != nil {
			return nil, wrongUse("--smtp: the port is not a number")
		}
	}
	return mail.NewSMTP(c)
}

// buyer finds who is meant, a user or a customer who is there: the owner of its credits, and the
// entry point whose plans are for it.
func (b *backend) buyer(ctx context.Context, name string) (owner, entry string, err error) {
	kind, id, named := strings.Cut(name, ":")
	if !named {
		id = name
	}
	if !named || kind == "user" {
		u, err := b.accounts.FindUser(ctx, id)
		if !errors.Is(err, account.ErrNotFound) {
			return account.OwnerPrefix + u.ID, credit.Web, err
		}
	}
	if !named || kind == "customer" {
		c, err := b.accounts.FindCustomer(ctx, id)
		if !errors.Is(err, account.ErrNotFound) {
			return "customer:" + c.ID, credit.Developer, err
		}
	}
	return "", "", fmt.Errorf("there is no user and no customer %q", name)
}

// owner finds whose movements of credits are meant. A guest, or an account that was deleted, is
// named as the ledger names it.
func (b *backend) owner(ctx context.Context, name string) (string, error) {
	if kind, _, found := strings.Cut(name, ":"); found && kind != "" {
		return name, nil
	}
	owner, _, err := b.buyer(ctx, name)
	return owner, err
}

const (
	sweepEvery = 10 * time.Second
	pruneEvery = time.Hour
)

// background starts what runs beside the requests, until ctx ends.
func (b *backend) background(ctx context.Context, running *sync.WaitGroup, log *slog.Logger) {
	running.Go(func() { b.credits.Run(ctx, sweepEvery, log) })
	running.Go(func() { b.outbox.Run(ctx) })
	running.Go(func() { b.recorder.Run(ctx) })
	running.Go(func() { repeat(ctx, time.Minute, log, "purchases could not be resumed", b.selling.Resume) })
	running.Go(func() { repeat(ctx, pruneEvery, log, "old data could not be deleted", b.prune) })
}

// repeat does something at once and then every so often, until ctx ends.
func repeat(ctx context.Context, every time.Duration, log *slog.Logger, complaint string, do func(context.Context) error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			log.Error(complaint, "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// prune deletes what has had its time.
func (b *backend) prune(ctx context.Context) error {
	now := time.Now()
	// What was used by accounts that are deleted belongs to nobody then.
	accounts := b.accounts.Prune(ctx, account.Keep{Unconfirmed: b.config.keepUnconfirmed, Anonymous: b.config.keepGuests})
	_, mails := b.outbox.Prune(ctx, b.config.keepDeadMail)
	_, files := mail.PruneFolder(b.mails, now.Add(-b.config.keepDeadMail))
	_, allowances := b.credits.Prune(ctx, now.Add(-b.config.keepGuests))
	_, uses := b.uses.Prune(ctx, now.Add(-b.config.keepGuests))
	var events error
	if b.stripe != nil {
		_, events = b.stripe.Prune(ctx)
	}
	return errors.Join(accounts, b.nonces.Prune(ctx, now), mails, files, allowances, uses, events)
}
