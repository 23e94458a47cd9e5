package cli

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/kong"

	"unink/internal/account"
	"unink/internal/botcheck"
	"unink/internal/certs"
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
	Queue         float64       `default:"${queue}" env:"UNINK_QUEUE" help:"How long a page may wait before others are refused, in times of what a page takes: so many wait for each page cleaned at once (${default})."`
	MaxRequests   int           `default:"${max_requests}" env:"UNINK_MAX_REQUESTS" help:"Requests held at once, those still uploading included (${default})."`
	Deadline      time.Duration `default:"${deadline}" env:"UNINK_DEADLINE" help:"For one page, waiting included (${default})."`
	UploadTimeout time.Duration `default:"${upload_timeout}" env:"UNINK_UPLOAD_TIMEOUT" help:"For one request's body (${default})."`
	DrainTimeout  time.Duration `default:"${drain_timeout}" env:"UNINK_DRAIN_TIMEOUT" help:"For pages under way when the service stops (${default})."`
	domainFlags
	tlsFlags
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

// tlsFlags say how the service gets certificates.
type tlsFlags struct {
	TLS           bool   `name:"tls" env:"UNINK_TLS" help:"Speak TLS at --listen, with certificates by ACME for PUBLIC-URL's host and the customers' domains. It means to agree to the authority's terms."`
	HTTPListen    string `default:":80" env:"UNINK_HTTP_LISTEN" placeholder:"ADDR" help:"With --tls: address without it, for the authority's challenges and browsers on their way to https (${default})."`
	ACMEDirectory string `name:"acme-directory" default:"${acme_directory}" env:"UNINK_ACME_DIRECTORY" placeholder:"URL" help:"The authority's ACME directory (${default})."`
	ACMEEmail     string `name:"acme-email" env:"UNINK_ACME_EMAIL" placeholder:"EMAIL" help:"Whom the authority writes to about certificates."`
	ACMERoots     string `name:"acme-roots" env:"UNINK_ACME_ROOTS" placeholder:"FILE" type:"path" help:"PEM file of what the directory's own certificate is checked with. Default: the system's."`
}

// validateTLS finds what cannot go with --tls.
func (c *serveCmd) validateTLS() error {
	switch {
	case c.TLS && c.Open:
		return errors.New("--tls keeps certificates with the accounts; leave out --open, or put a proxy with TLS in front")
	case c.TLS && !strings.HasPrefix(c.PublicURL, "https://"):
		return fmt.Errorf("--tls needs a --public-url that begins with https://, not %q", c.PublicURL)
	}
	return nil
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
		"queue": strconv.FormatFloat(d.Gate.Queue, 'g', -1, 64), "max_requests": strconv.Itoa(d.MaxRequests),
		"guest_credits": strconv.Itoa(d.GuestDaily), "guest_address": strconv.Itoa(d.GuestAddressDaily),
		"pdf_guest_credits": strconv.Itoa(d.PDFGuestDaily), "pdf_guest_address": strconv.Itoa(d.PDFGuestAddressDaily),
		"account_credits": strconv.Itoa(d.AccountCredits), "anonymous_credits": strconv.Itoa(d.AnonymousCredits),
		"acme_directory": certs.LetsEncrypt, "deadline": d.Deadline.String(), "upload_timeout": d.UploadTimeout.String(), "drain_timeout": d.DrainTimeout.String(),
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
	return c.validateTLS()
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
		return errors.Join(c.serve(env.ctx, engine, cfg, nil, nil, log), engine.Close())
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

func (c *serveCmd) serve(ctx context.Context, engine cleaner, cfg httpapi.Config, services *httpapi.Services, b *backend, log *slog.Logger) (err error) {
	s, err := httpapi.New(engine, cfg, services, log)
	if err != nil {
		return err
	}
	on, end, err := c.listen(s, b, log)
	if err != nil {
		return err
	}
	defer end()
	log.Info("serving", "address", on.Public.Addr().String(), "metrics", on.Metrics.Addr().String(), "tls", c.TLS, "accounts", services != nil,
		"workers", cfg.Gate.Workers, "queue", cfg.Gate.Queue, "device", c.Device, "fleet", c.Fleet != "", "version", version)
	defer log.Info("stopped")
	return s.Serve(ctx, on)
}

// listen opens the addresses. What end ends is for after the service.
func (c *serveCmd) listen(s *httpapi.Server, b *backend, log *slog.Logger) (on httpapi.Listeners, end func(), err error) {
	addresses := []struct {
		flag, address string
		l             *net.Listener
	}{{"--listen", c.Listen, &on.Public}, {"--metrics-listen", c.MetricsListen, &on.Metrics}, {"--http-listen", c.HTTPListen, &on.Plain}}
	if !c.TLS {
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
	if !c.TLS {
		return on, func() {}, nil
	}
	manager, err := c.certificates(s, b, on, log)
	if err != nil {
		return httpapi.Listeners{}, nil, errors.Join(err, on.Public.Close(), on.Metrics.Close(), on.Plain.Close())
	}
	on.Public, on.Challenges = tls.NewListener(on.Public, manager.TLS()), manager.Challenges
	return on, manager.Close, nil
}

// certificates are those of the hosts that a server answers for, kept in the database under the server's secret.
func (c *serveCmd) certificates(s *httpapi.Server, b *backend, on httpapi.Listeners, log *slog.Logger) (*certs.Manager, error) {
	storage, err := store.NewCertificates(b.db, derived(b.secret, "certificates"), store.DefaultLease)
	if err != nil {
		return nil, err
	}
	config := certs.Config{
		Directory: c.ACMEDirectory, Email: c.ACMEEmail, Serves: s.Serves, Storage: storage,
		HTTPPort: on.Plain.Addr().(*net.TCPAddr).Port, TLSPort: on.Public.Addr().(*net.TCPAddr).Port,
	}
	if c.ACMERoots != "" {
		text, err := os.ReadFile(c.ACMERoots)
		if err != nil {
			return nil, fmt.Errorf("--acme-roots: %w", err)
		}
		config.Roots = x509.NewCertPool()
		if !config.Roots.AppendCertsFromPEM(text) {
			return nil, wrongUse("--acme-roots: %s holds no certificate in PEM", c.ACMERoots)
		}
	}
	if err := config.Validate(); err != nil {
		return nil, usageError{err.Error()}
	}
	return certs.New(config, log)
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
	err = c.serve(env.ctx, engine, cfg, services, b, log)
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
