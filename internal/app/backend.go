// Package app assembles the service: the database and the rules on it, the entry points, what runs
// beside them, and their addresses.
package app

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"unink/internal/account"
	"unink/internal/billing"
	"unink/internal/credit"
	"unink/internal/mail"
	"unink/internal/misuse"
	"unink/internal/operator"
	"unink/internal/store"
	"unink/internal/usage"
)

// Backend is what stands behind the entry points: the database and the rules of what is in it.
type Backend struct {
	Accounts  *account.Service
	Credits   *credit.Service
	Catalogue credit.Catalogue
	Outbox    *mail.Outbox
	Selling   *billing.Deliverer
	Uses      *usage.Service
	Operator  *operator.Service

	config   Config
	db       *store.DB
	stripe   *billing.Stripe // nil without its keys
	recorder *usage.Recorder
	nonces   store.Nonces
	secret   []byte
}

// Config says what a backend is made of. What only a running service knows may be left out by
// commands that administer one.
type Config struct {
	Storage
	Catalogue string // file of plans and packs; empty is the built-in catalogue
	SMTP      string // smtp://, smtps:// or smtp+plain:// URL; empty writes mails to a folder of Data
	MailFrom  string
	Stripe    billing.Config // without keys nothing is sold online
	// TestCredits are what a new customer begins with beside its package; 0 is nothing.
	TestCredits int

	PublicURL string // of the web pages, which mails link to
	Domain    string // a customer's API domain is one label and this
	OIDC      account.OIDC
	Throttle  account.Throttle // of attempts to log in; nil for none
	Keep      Keep
}

// Keep says how long old data is kept.
type Keep struct {
	Guests      time.Duration // what guests left, and apps' accounts
	Unconfirmed time.Duration // accounts
	DeadMail    time.Duration // and the files of mails
}

// Open opens the database and sets the rules up on it.
func Open(ctx context.Context, c Config, log *slog.Logger) (b *Backend, err error) {
	secret, err := c.secret()
	if err != nil {
		return nil, err
	}
	catalogue, err := LoadCatalogue(c.Catalogue)
	if err != nil {
		return nil, err
	}
	sender, err := c.sender(log)
	if err != nil {
		return nil, err
	}
	if err := c.Stripe.Validate(); err != nil {
		return nil, misuse.Errorf("%v", err)
	}
	if c.TestCredits < 0 || c.TestCredits > mostTestCredits {
		return nil, misuse.Errorf("--test-credits must be from 0 to %d, not %d", mostTestCredits,
			c.TestCredits)
	}
	db, err := store.Open(ctx, c.DatabaseURL())
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = db.Close()
		}
	}()
	b = &Backend{Catalogue: catalogue, config: c, db: db, nonces: store.NewNonces(db), secret: secret}
	b.Outbox = mail.New(store.NewMails(db), addressed{sender, b.apiURL}, time.Now, log)
	b.Uses = usage.New(store.NewUsage(db))
	if b.recorder, err = usage.NewRecorder(store.NewUsage(db), usage.DefaultConfig(),
		log); err != nil {
		return nil, err
	}
	if b.Credits, err = credit.New(store.NewCredits(db), credit.DefaultConfig(),
		time.Now); err != nil {
		return nil, err
	}
	accounts := account.DefaultConfig()
	accounts.Secret, accounts.OIDC, accounts.NewCustomer = secret, c.OIDC, b.welcome
	b.Accounts, err = account.New(accounts, store.NewAccounts(db), notices{b.Outbox, c.PublicURL},
		c.Throttle, time.Now, log)
	if err != nil {
		return nil, err
	}
	b.Operator = operator.New(store.NewActs(db), b.Accounts, b.Credits, b.Uses, time.Now)
	return b, b.sell(log)
}

// sell sets up what is sold, and Stripe where there are its keys.
func (b *Backend) sell(log *slog.Logger) (err error) {
	purchases := store.NewPurchases(b.db)
	b.Selling = billing.NewDeliverer(purchases, plans{b.Catalogue}, customers{b.Accounts}, packages{b},
		credentialsMail{b}, buyers{b.Accounts}, time.Now, log)
	if b.config.Stripe.Enabled() {
		b.stripe, err = billing.NewStripe(b.config.Stripe, plans{b.Catalogue}, b.Selling, purchases,
			time.Now, log)
	}
	return err
}

// Parked lists payments that could not be delivered, newest first.
func (b *Backend) Parked(ctx context.Context, limit int) ([]billing.Parked, error) {
	return store.NewPurchases(b.db).Parked(ctx, limit)
}

// Close closes the database.
func (b *Backend) Close() error { return b.db.Close() }

// Owner finds whose movements of credits are meant. A guest, or an account that was deleted, is
// named as the ledger names it.
func (b *Backend) Owner(ctx context.Context, name string) (string, error) {
	if kind, _, found := strings.Cut(name, ":"); found && kind != "" {
		return name, nil
	}
	owner, _, err := b.Operator.Buyer(ctx, name)
	return owner, err
}

const (
	sweepEvery = 10 * time.Second
	pruneEvery = time.Hour
)

// background starts what runs beside the requests, until ctx ends.
func (b *Backend) background(ctx context.Context, running *sync.WaitGroup, log *slog.Logger) {
	running.Go(func() { b.Credits.Run(ctx, sweepEvery, log) })
	running.Go(func() { b.Outbox.Run(ctx) })
	running.Go(func() { b.recorder.Run(ctx) })
	running.Go(func() {
		repeat(ctx, time.Minute, log, "purchases could not be resumed", b.Selling.Resume)
	})
	running.Go(func() { repeat(ctx, pruneEvery, log, "old data could not be deleted", b.Prune) })
}

// repeat does something at once and then every so often, until ctx ends.
func repeat(ctx context.Context, every time.Duration, log *slog.Logger, complaint string,
	do func(context.Context) error) {
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

// Prune deletes what has had its time.
func (b *Backend) Prune(ctx context.Context) error {
	now := time.Now()
	// What was used by accounts that are deleted belongs to nobody then.
	accounts := b.Accounts.Prune(
		ctx, account.Keep{Unconfirmed: b.config.Keep.Unconfirmed, Anonymous: b.config.Keep.Guests},
	)
	_, mails := b.Outbox.Prune(ctx, b.config.Keep.DeadMail)
	_, files := mail.PruneFolder(b.config.mails(), now.Add(-b.config.Keep.DeadMail))
	_, allowances := b.Credits.Prune(ctx, now.Add(-b.config.Keep.Guests))
	_, uses := b.Uses.Prune(ctx, now.Add(-b.config.Keep.Guests))
	var events error
	if b.stripe != nil {
		_, events = b.stripe.Prune(ctx)
	}
	return errors.Join(accounts, b.nonces.Prune(ctx, now), mails, files, allowances, uses, events)
}
