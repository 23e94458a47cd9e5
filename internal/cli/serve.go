package cli

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/alecthomas/kong"

	"unink/internal/account"
	"unink/internal/botcheck"
	"unink/internal/httpapi"
	"unink/internal/limit"
	"unink/internal/store"
)

type serveCmd struct {
	Open          bool          `env:"UNINK_OPEN" help:"Without accounts, credits and limits: serve everybody who can reach the address."`
	Listen        string        `default:":8080" env:"UNINK_LISTEN" placeholder:"ADDR" help:"Address of both entry points (${default})."`
	MetricsListen string        `default:"127.0.0.1:9464" env:"UNINK_METRICS_LISTEN" placeholder:"ADDR" help:"Address of /metrics (${default})."`
	DevToken      string        `env:"UNINK_DEV_TOKEN" placeholder:"TOKEN" help:"With --open: token of the developer entry point, 16 characters or more. Default: a new one at each start."`
	Workers       int           `env:"UNINK_WORKERS" placeholder:"N" help:"Pages cleaned at once. Default: half the CPUs."`
	Queue         int           `default:"${queue}" env:"UNINK_QUEUE" help:"Pages that wait for a worker before others are refused (${default})."`
	MaxRequests   int           `default:"${max_requests}" env:"UNINK_MAX_REQUESTS" help:"Requests held at once, those still uploading included (${default})."`
	Deadline      time.Duration `default:"${deadline}" env:"UNINK_DEADLINE" help:"For one page, waiting included (${default})."`
	UploadTimeout time.Duration `default:"${upload_timeout}" env:"UNINK_UPLOAD_TIMEOUT" help:"For one request's body (${default})."`
	DrainTimeout  time.Duration `default:"${drain_timeout}" env:"UNINK_DRAIN_TIMEOUT" help:"For pages under way when the service stops (${default})."`
	domainFlags
	Contact      string   `env:"UNINK_CONTACT" placeholder:"EMAIL" help:"Address of whoever runs the service, which the pages name: whom to ask where nothing is sold online."`
	TrustedProxy []string `env:"UNINK_TRUSTED_PROXIES" placeholder:"CIDR" help:"Networks of proxies whose X-Forwarded-For is believed."`
	storeFlags
	sellingFlags
	KeepGuests      int    `default:"400" env:"UNINK_KEEP_GUESTS" placeholder:"DAYS" help:"Days for which guests' allowances, their movements of credits and their uses are kept, and apps' anonymous accounts that nobody uses and that never bought anything (${default})."`
	KeepUnconfirmed int    `default:"30" env:"UNINK_KEEP_UNCONFIRMED" placeholder:"DAYS" help:"Days after which an account is deleted whose e-mail address was never confirmed (${default})."`
	KeepDeadMail    int    `default:"30" env:"UNINK_KEEP_DEAD_MAIL" placeholder:"DAYS" help:"Days after which a mail that could not be sent is discarded, with the token that may be in it, and the file of a mail that was written instead (${default})."`
	Redis           string `env:"UNINK_REDIS" placeholder:"URL" help:"redis:// of a Redis that several services share their rolling windows in. Default: in memory."`
	TurnstileKey    string `env:"UNINK_TURNSTILE_KEY" placeholder:"KEY" help:"Site key of Cloudflare Turnstile. Default: ALTCHA, built in."`
	TurnstileSecret string `env:"UNINK_TURNSTILE_SECRET" placeholder:"SECRET" help:"Secret key of Cloudflare Turnstile."`
	OidcIssuer      string `env:"UNINK_OIDC_ISSUER" placeholder:"URL" help:"OpenID Connect provider to sign in with."`
	OidcClient      string `env:"UNINK_OIDC_CLIENT" placeholder:"ID" help:"Client id at that provider; it redirects to PUBLIC-URL/api/sign-in/callback."`
	OidcSecret      string `env:"UNINK_OIDC_SECRET" placeholder:"SECRET" help:"Client secret at that provider."`

	PerMinute        int    `default:"5" env:"UNINK_PER_MINUTE" help:"Pages a caller of the web entry point may send in any minute (${default})."`
	PerHour          int    `default:"30" env:"UNINK_PER_HOUR" help:"The same in any hour (${default})."`
	PerCustomer      int    `default:"4" env:"UNINK_PER_CUSTOMER" help:"Requests at once that a customer may have (${default})."`
	GuestCredits     int    `default:"${guest_credits}" env:"UNINK_GUEST_CREDITS" help:"Pages a guest may have cleaned a day, by device (${default}) …"`
	GuestAddress     int    `default:"${guest_address}" env:"UNINK_GUEST_ADDRESS_CREDITS" help:"… and by address (${default})."`
	PdfGuestCredits  int    `default:"${pdf_guest_credits}" env:"UNINK_PDF_GUEST_CREDITS" help:"The same for pages of a PDF, which need no bot check, by device (${default}) …"`
	PdfGuestAddress  int    `default:"${pdf_guest_address}" env:"UNINK_PDF_GUEST_ADDRESS_CREDITS" help:"… and by address (${default})."`
	AccountCredits   int    `default:"${account_credits}" env:"UNINK_ACCOUNT_CREDITS" help:"Credits of a new account, once (${default})."`
	AnonymousCredits int    `default:"${anonymous_credits}" env:"UNINK_ANONYMOUS_CREDITS" help:"Credits of an app's new anonymous account, once (${default})."`
	Fleet            string `env:"UNINK_FLEET" placeholder:"URL" help:"nats:// or tls:// of the NATS server that unink worker processes take pages from. Default: pages are cleaned here."`
	fleetFlags
	engineFlags
}

// storeFlags say where the service keeps its data; commands that administer it have them too.
type storeFlags struct {
	Data     string `default:"unink-data" env:"UNINK_DATA_DIR" placeholder:"FOLDER" type:"path" help:"Folder of the embedded database, of the secret and of mails that no SMTP server takes (${default})."`
	Database string `env:"UNINK_DATABASE" placeholder:"URL" help:"postgres:// of a PostgreSQL database. Default: SQLite in the data folder."`
	Secret   string `env:"UNINK_SECRET_FILE" placeholder:"FILE" type:"path" help:"File with the secret that signs tokens, the same for all services on a database. Default: made in the data folder."`
}

// domainFlags say under which names the service is known.
type domainFlags struct {
	PublicURL string `default:"http://localhost:8080" env:"UNINK_PUBLIC_URL" placeholder:"URL" help:"Of the web pages: what mails link to; https makes cookies secure (${default})."`
	Domain    string `default:"localhost" env:"UNINK_DOMAIN" placeholder:"NAME" help:"Each customer's API domain is one label and this (${default})."`
}

func (f domainFlags) backendConfig() backendConfig {
	return backendConfig{publicURL: f.PublicURL, domain: f.Domain}
}

// catalogueFlags say what there is to sell; commands that sell without payment have them too.
type catalogueFlags struct {
	Catalogue string `env:"UNINK_CATALOGUE" placeholder:"FILE" type:"path" help:"JSON file of plans and packs. Default: the built-in one (unink admin catalogue prints it)."`
}

// sellingFlags say what is sold, and how mails go out.
type sellingFlags struct {
	catalogueFlags
	StripeKey           string `env:"UNINK_STRIPE_KEY" placeholder:"KEY" help:"Secret key of Stripe. Default: nothing is sold online."`
	StripeWebhookSecret string `env:"UNINK_STRIPE_WEBHOOK_SECRET" placeholder:"SECRET" help:"Signing secret of the webhook PUBLIC-URL/api/stripe/webhook."`
	SMTP                string `env:"UNINK_SMTP" placeholder:"URL" help:"smtp://USER:PASSWORD@HOST:PORT (STARTTLS), smtps://… (TLS) or smtp+plain://… . Default: mails become files in the data folder."`
	MailFrom            string `default:"unink <unink@localhost>" env:"UNINK_MAIL_FROM" placeholder:"ADDRESS" help:"Sender of mails (${default})."`
}

// serveDefaults hands the service's own defaults to the flags.
func serveDefaults() kong.Vars {
	d := httpapi.DefaultConfig()
	return kong.Vars{
		"queue": strconv.Itoa(d.Gate.Queue), "max_requests": strconv.Itoa(d.MaxRequests),
		"guest_credits": strconv.Itoa(d.GuestDaily), "guest_address": strconv.Itoa(d.GuestAddressDaily),
		"pdf_guest_credits": strconv.Itoa(d.PDFGuestDaily), "pdf_guest_address": strconv.Itoa(d.PDFGuestAddressDaily),
		"account_credits": strconv.Itoa(d.AccountCredits), "anonymous_credits": strconv.Itoa(d.AnonymousCredits),
		"deadline": d.Deadline.String(), "upload_timeout": d.UploadTimeout.String(), "drain_timeout": d.DrainTimeout.String(),
	}
}

// Validate finds what belongs together and is not.
func (c *serveCmd) Validate() error {
	if (c.TurnstileKey == "") != (c.TurnstileSecret == "") {
		return errors.New("--turnstile-key and --turnstile-secret belong together")
	}
	if c.Fleet != "" && c.Workers != 0 {
		return errors.New("--workers says how many pages are cleaned here; with --fleet give it to each unink worker")
	}
	if c.KeepDeadMail < 1 || c.KeepDeadMail > mostDays {
		return fmt.Errorf("--keep-dead-mail must be from 1 to %d days, not %d", mostDays, c.KeepDeadMail)
	}
	if c.KeepUnconfirmed < 1 || c.KeepUnconfirmed > mostDays {
		return fmt.Errorf("--keep-unconfirmed must be from 1 to %d days, not %d", mostDays, c.KeepUnconfirmed)
	}
	if c.KeepGuests < fewestGuestDays || c.KeepGuests > mostDays {
		return fmt.Errorf("--keep-guests must be from %d to %d days, not %d", fewestGuestDays, mostDays, c.KeepGuests)
	}
	return nil
}

const (
	day             = 24 * time.Hour
	mostDays        = 36_500
	fewestGuestDays = 31 // credit.DefaultConfig keeps holds for 30, and what they are of is kept as long
)

// Run serves until an interrupt.
func (c *serveCmd) Run(env *environment) error {
	cfg, err := c.service()
	if err != nil {
		return err
	}
	if c.Open && c.DevToken == "" {
		cfg.DeveloperToken = rand.Text()
		fmt.Fprintf(env.stderr, "unink: developer token until the service stops: %s (UNINK_DEV_TOKEN sets one)\n", cfg.DeveloperToken)
	}
	if err := cfg.Validate(); err != nil {
		return usageError{err.Error()}
	}
	log := newLog(env)
	engine, err := c.cleaner(env, cfg.Gate.Workers, log)
	if err != nil {
		return err
	}
	if c.Open {
		return errors.Join(c.serve(env.ctx, engine, cfg, nil, log), engine.Close())
	}
	return errors.Join(c.serveAccounts(env, engine, cfg, log), engine.Close())
}

func (c *serveCmd) service() (httpapi.Config, error) {
	cfg := httpapi.DefaultConfig()
	cfg.Gate.Workers, cfg.Gate.Queue, cfg.MaxRequests = c.Workers, c.Queue, c.MaxRequests
	cfg.Deadline, cfg.UploadTimeout, cfg.DrainTimeout = c.Deadline, c.UploadTimeout, c.DrainTimeout
	cfg.DeveloperToken, cfg.Version = c.DevToken, version
	cfg.PublicURL, cfg.Domain, cfg.Contact = c.PublicURL, c.Domain, c.Contact
	cfg.Windows[0].Limit, cfg.Windows[1].Limit = c.PerMinute, c.PerHour
	cfg.GuestDaily, cfg.GuestAddressDaily = c.GuestCredits, c.GuestAddress
	cfg.PDFGuestDaily, cfg.PDFGuestAddressDaily = c.PdfGuestCredits, c.PdfGuestAddress
	cfg.AccountCredits, cfg.AnonymousCredits = c.AccountCredits, c.AnonymousCredits
	if c.Workers == 0 {
		cfg.Gate.Workers = max(1, runtime.NumCPU()/2)
	}
	for _, network := range c.TrustedProxy {
		prefix, err := netip.ParsePrefix(network)
		if err != nil {
			return cfg, wrongUse("--trusted-proxy must be a network such as 10.0.0.0/8, not %q", network)
		}
		cfg.TrustedProxies = append(cfg.TrustedProxies, prefix)
	}
	return cfg, nil
}

func (c *serveCmd) serve(ctx context.Context, engine cleaner, cfg httpapi.Config, services *httpapi.Services, log *slog.Logger) error {
	s, err := httpapi.New(engine, cfg, services, log)
	if err != nil {
		return err
	}
	public, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	metrics, err := net.Listen("tcp", c.MetricsListen)
	if err != nil {
		_ = public.Close()
		return fmt.Errorf("--metrics-listen: %w", err)
	}
	log.Info("serving", "address", public.Addr().String(), "metrics", metrics.Addr().String(), "accounts", services != nil,
		"workers", cfg.Gate.Workers, "queue", cfg.Gate.Queue, "device", c.Device, "fleet", c.Fleet != "", "version", version)
	defer log.Info("stopped")
	return s.Serve(ctx, public, metrics)
}

// firstSteps is what a new operator is told.
const firstSteps = `unink: the first user:      unink admin user add you@example.com
unink: the first customer:  unink admin customer add you@example.com --plan starter
unink: without accounts:    unink serve --open
`

// serveAccounts opens what accounts need, serves, and closes it.
func (c *serveCmd) serveAccounts(env *environment, engine cleaner, cfg httpapi.Config, log *slog.Logger) error {
	unlock, err := c.lock()
	if err != nil {
		return err
	}
	defer unlock()
	limits, err := c.limits(log)
	if err != nil {
		return err
	}
	config := c.backendConfig()
	config.keepGuests, config.keepDeadMail = time.Duration(c.KeepGuests)*day, time.Duration(c.KeepDeadMail)*day
	config.keepUnconfirmed = time.Duration(c.KeepUnconfirmed) * day
	config.oidc = account.OIDC{Issuer: c.OidcIssuer, ClientID: c.OidcClient, ClientSecret: c.OidcSecret}
	if c.OidcIssuer != "" {
		config.oidc.RedirectURL = c.PublicURL + "/api/sign-in/callback"
	}
	config.throttle = limit.NewThrottle(limits, attempts)
	b, err := c.openBackend(env.ctx, c.sellingFlags, config, log)
	if err != nil {
		return err
	}
	defer b.close()
	services, err := c.services(b, limits)
	if err != nil {
		return err
	}
	if c.Database == "" { // this process is alone on it
		if _, err := b.credits.ReleaseAll(env.ctx); err != nil {
			return err
		}
	}
	if terminal(env.stderr) {
		fmt.Fprint(env.stderr, firstSteps)
	}
	// What runs beside the requests ends after the last of them.
	background, stop := context.WithCancel(context.WithoutCancel(env.ctx))
	var running sync.WaitGroup
	b.background(background, &running, log)
	err = c.serve(env.ctx, engine, cfg, services, log)
	stop()
	running.Wait()
	return err
}

// attempts are how often somebody may try to log in, by account and by address each.
var attempts = []limit.Window{{Name: "minute", Limit: 10, Every: time.Minute}, {Name: "hour", Limit: 60, Every: time.Hour}}

// limits keeps the rolling windows: in memory, or in Redis with memory for when it is away.
func (c *serveCmd) limits(log *slog.Logger) (limit.Limiter, error) {
	memory := limit.NewMemory(limit.DefaultKeys, time.Now)
	if c.Redis == "" {
		return memory, nil
	}
	redis, err := limit.NewRedis(c.Redis)
	if err != nil {
		return nil, wrongUse("--redis: %v", err)
	}
	return limit.NewFallback(redis, memory, log), nil
}

// services hands the backend to the entry points.
func (c *serveCmd) services(b *backend, limits limit.Limiter) (*httpapi.Services, error) {
	services := &httpapi.Services{
		Accounts: b.accounts, Credits: b.credits, Catalogue: b.catalogue, Limits: limits, Slots: limit.NewSlots(c.PerCustomer),
		Uses: b.recorder, History: b.uses, Selling: b.stripe, Revenue: store.NewPurchases(b.db).Revenue, Database: b.db.Ping, Mail: b.outbox.Status,
	}
	if c.TurnstileKey != "" {
		checker, err := botcheck.NewTurnstile(botcheck.TurnstileConfig{Secret: c.TurnstileSecret, URL: botcheck.SiteVerify}, b.nonces, time.Now)
		services.Bots, services.TurnstileKey = checker, c.TurnstileKey
		return services, err
	}
	checker, err := botcheck.NewALTCHA(botcheck.ALTCHAConfig{Key: derived(b.secret, "bot check"), Cost: botcheck.DefaultCost}, b.nonces, time.Now)
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
