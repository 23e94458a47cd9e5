package app

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"unink"
	"unink/internal/botcheck"
	"unink/internal/certs"
	"unink/internal/fleet"
	"unink/internal/httpapi"
	"unink/internal/httpapi/cleaning"
	"unink/internal/httpapi/setup"
	"unink/internal/job"
	"unink/internal/limit"
	"unink/internal/misuse"
	"unink/internal/pdfjob"
	"unink/internal/store"
)

// Service says what a running service is made of.
type Service struct {
	HTTP   setup.Config
	Listen Addresses
	TLS    *TLS         // nil speaks HTTP
	Engine unink.Config // of pages that are cleaned here
	Fleet  fleet.Config // of workers that clean them; without a URL they are cleaned here

	Open bool // serve everybody, without accounts, credits and limits

	// With accounts:
	Config             // of the backend; its Throttle is made from Redis
	Redis       string // redis:// URL of shared windows; empty keeps them in memory
	Bots        BotCheck
	PerCustomer int // requests at once of one
	PDFs        pdfjob.Config

	// Opened is called with the accounts once they are there, before anybody is served.
	Opened func(context.Context, *Backend) error
}

// The usual cost of ALTCHA, and the most (see [botcheck.ALTCHAConfig]).
const (
	DefaultBotCost = botcheck.DefaultCost
	MostBotCost    = botcheck.MostCost
)

// BotCheck is ALTCHA at a cost, or with Cloudflare's keys Turnstile.
type BotCheck struct {
	Cost                          int
	TurnstileKey, TurnstileSecret string
}

// Addresses are what the service listens at.
type Addresses struct {
	Public  string
	Metrics string
	Plain   string // with TLS: for the authority's challenges and browsers on their way to https
}

// TLS says how certificates are ordered. The zero value of Roots is the system's.
type TLS struct {
	Directory, Email string // of the ACME authority, and for its notices
	Roots            string // PEM file
}

// Cleaner cleans the service's pages: an engine of this process, or a fleet.
type Cleaner interface {
	cleaning.Cleaner
	cleaning.PixelCleaner
	Close() error
}

// Run serves until ctx ends. An engine of this process is opened by open.
func (s Service) Run(ctx context.Context, open func(unink.Config) (Cleaner, error),
	log *slog.Logger) (err error) {
	engine, err := s.cleaner(open, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	if s.Open {
		return s.serve(ctx, engine, nil, nil, log)
	}
	return s.serveAccounts(ctx, engine, log)
}

func (s Service) cleaner(open func(unink.Config) (Cleaner, error),
	log *slog.Logger) (Cleaner, error) {
	if s.Fleet.URL == "" {
		return open(s.Engine)
	}
	client, err := fleet.Open(s.Fleet, log)
	if err != nil {
		return nil, err
	}
	return workers{client}, nil
}

// workers clean pages of PDFs, which wait for all others, as encoded pictures.
type workers struct{ *fleet.Client }

func (w workers) CleanImage(ctx context.Context, m image.Image,
	o unink.Options) (*unink.Page, error) {
	return job.CleanEncoded(ctx, w.CleanBulk, m, o)
}

// serveAccounts opens what accounts need, serves, and closes it.
func (s Service) serveAccounts(ctx context.Context, engine Cleaner, log *slog.Logger) error {
	unlock, err := s.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	limits, err := s.limits(log)
	if err != nil {
		return err
	}
	s.Throttle = limit.NewThrottle(limits, attempts, attempts[:1])
	b, err := Open(ctx, s.Config, log)
	if err != nil {
		return err
	}
	defer func() { _ = b.Close() }()
	services, err := s.services(b, limits, log)
	if err != nil {
		return err
	}
	if s.Database == "" { // this process is alone on it
		if _, err := b.Credits.ReleaseAll(ctx); err != nil {
			return err
		}
		if err := services.PDFs.Free(ctx); err != nil {
			return err
		}
	}
	if err := s.Opened(ctx, b); err != nil {
		return err
	}
	// What runs beside the requests ends after the last of them.
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	b.background(background, &running, log)
	err = s.serve(ctx, engine, services, b, log)
	stop()
	running.Wait()
	return err
}

func (s Service) serve(ctx context.Context, engine Cleaner, services *setup.Services, b *Backend,
	log *slog.Logger) error {
	server, err := httpapi.New(engine, s.HTTP, services, log)
	if err != nil {
		return err
	}
	if services != nil {
		end, err := workOnPDFs(ctx, server, services.PDFs, log)
		if err != nil {
			return err
		}
		defer end()
	}
	on, end, err := s.listen(server, b, log)
	if err != nil {
		return err
	}
	defer end()
	log.Info("serving", "address", on.Public.Addr().String(), "metrics", on.Metrics.Addr().String(),
		"tls", s.TLS != nil, "accounts", services != nil,
		"workers", s.HTTP.Gate.Workers, "queue", s.HTTP.Gate.Queue, "device", s.Engine.Device, "fleet",
		s.Fleet.URL != "", "version", s.HTTP.Version)
	defer log.Info("stopped")
	return server.Serve(ctx, on)
}

// workOnPDFs has jobs worked on until end is called, which waits for that.
func workOnPDFs(ctx context.Context, server *httpapi.Server, pdfs *pdfjob.Service,
	log *slog.Logger) (end func(), err error) {
	engine, err := server.PDFEngine()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { pdfs.Run(ctx, engine) })
	running.Go(func() {
		repeat(ctx, time.Minute, log, "expired PDFs could not be deleted", pdfs.Prune)
	})
	return func() { stop(); running.Wait() }, nil
}

// listen opens the addresses. What end ends is for after the service.
func (s Service) listen(server *httpapi.Server, b *Backend,
	log *slog.Logger) (on httpapi.Listeners, end func(), err error) {
	addresses := []struct {
		flag, address string
		l             *net.Listener
	}{{"--listen", s.Listen.Public, &on.Public}, {"--metrics-listen", s.Listen.Metrics, &on.Metrics},
		{"--http-listen", s.Listen.Plain, &on.Plain}}
	if s.TLS == nil {
		addresses = addresses[:2]
	}
	for i, a := range addresses {
		if *a.l, err = net.Listen("tcp", a.address); err != nil {
			for _, open := range addresses[:i] {
				_ = (*open.l).Close()
			}
			return httpapi.Listeners{}, nil, fmt.Errorf("%s: %w", a.flag, err)
		}
	}
	if s.TLS == nil {
		return on, func() {}, nil
	}
	manager, err := s.certificates(server, b, on, log)
	if err != nil {
		return httpapi.Listeners{}, nil, errors.Join(
			err, on.Public.Close(), on.Metrics.Close(), on.Plain.Close(),
		)
	}
	on.Public, on.Challenges = tls.NewListener(on.Public, manager.TLS()), manager.Challenges
	return on, manager.Close, nil
}

// certificates are those of the hosts that a server answers for, kept in the database under the
// server's secret.
func (s Service) certificates(server *httpapi.Server, b *Backend, on httpapi.Listeners,
	log *slog.Logger) (*certs.Manager, error) {
	storage, err := store.NewCertificates(b.db, derived(b.secret, "certificates"), store.DefaultLease)
	if err != nil {
		return nil, err
	}
	config := certs.Config{
		Directory: s.TLS.Directory, Email: s.TLS.Email, Serves: server.Serves, Storage: storage,
		HTTPPort: on.Plain.Addr().(*net.TCPAddr).Port, TLSPort: on.Public.Addr().(*net.TCPAddr).Port,
	}
	if s.TLS.Roots != "" {
		text, err := os.ReadFile(s.TLS.Roots)
		if err != nil {
			return nil, fmt.Errorf("--acme-roots: %w", err)
		}
		config.Roots = x509.NewCertPool()
		if !config.Roots.AppendCertsFromPEM(text) {
			return nil, misuse.Errorf("--acme-roots: %s holds no certificate in PEM", s.TLS.Roots)
		}
	}
	if err := config.Validate(); err != nil {
		return nil, misuse.Errorf("%v", err)
	}
	return certs.New(config, log)
}

// attempts are how often somebody may try to log in, by address or, where its owner logged in
// before, by address and account. From elsewhere all together may try an account as often as in
// the first.
var attempts = []limit.Window{{Name: "minute", Limit: 10, Every: time.Minute},
	{Name: "hour", Limit: 60, Every: time.Hour}}

// limits keeps the rolling windows: in memory, or in Redis with memory for when it is away.
func (s Service) limits(log *slog.Logger) (limit.Limiter, error) {
	memory := limit.NewMemory(limit.DefaultKeys, time.Now)
	if s.Redis == "" {
		return memory, nil
	}
	redis, err := limit.NewRedis(s.Redis)
	if err != nil {
		return nil, misuse.Errorf("--redis: %v", err)
	}
	return limit.NewFallback(redis, memory, log), nil
}

// services hands the backend to the entry points.
func (s Service) services(b *Backend, limits limit.Limiter,
	log *slog.Logger) (*setup.Services, error) {
	kept, err := store.NewPDFs(b.db, derived(b.secret, "PDFs"))
	if err != nil {
		return nil, err
	}
	pdfs, err := pdfjob.New(kept, b.Credits, s.PDFs, time.Now, log)
	if err != nil {
		return nil, misuse.Errorf("%v", err)
	}
	services := &setup.Services{
		Accounts: b.Accounts, Credits: b.Credits, Catalogue: b.Catalogue, Limits: limits,
		Slots: limit.NewSlots(s.PerCustomer),
		Uses:  b.recorder, History: b.Uses, Selling: b.stripe, Operator: b.Operator,
		PDFs: pdfs, Revenue: store.NewPurchases(b.db).Revenue, Database: b.db.Ping, Mail: b.Outbox.Status,
	}
	if s.Bots.TurnstileKey != "" {
		checker, err := botcheck.NewTurnstile(
			botcheck.TurnstileConfig{Secret: s.Bots.TurnstileSecret, URL: botcheck.SiteVerify}, b.nonces,
			time.Now,
		)
		services.Bots, services.TurnstileKey = checker, s.Bots.TurnstileKey
		return services, err
	}
	checker, err := botcheck.NewALTCHA(
		botcheck.ALTCHAConfig{Key: derived(b.secret, "bot check"), Cost: s.Bots.Cost}, b.nonces,
		time.Now,
	)
	services.Bots = checker
	services.Challenge = func() (any, error) { return checker.Challenge() }
	return services, err
}

// derived is a key for one purpose, from the server's secret.
func derived(secret []byte, purpose string) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("unink " + purpose))
	return mac.Sum(nil)
}
