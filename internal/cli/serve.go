package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/alecthomas/kong"

	"unink"
	"unink/internal/account"
	"unink/internal/app"
	"unink/internal/billing"
	"unink/internal/certs"
	"unink/internal/httpapi/setup"
	"unink/internal/misuse"
	"unink/internal/pdfjob"
	"unink/internal/webui"
)

type serveCmd struct {
	Open          bool          `env:"UNINK_OPEN" help:"Without accounts, credits and limits: serve everybody who can reach the address."`
	Listen        string        `default:":8080" env:"UNINK_LISTEN" placeholder:"ADDR" help:"Address of both entry points (${default})."`
	MetricsListen string        `default:"127.0.0.1:9464" env:"UNINK_METRICS_LISTEN" placeholder:"ADDR" help:"Address of /metrics (${default})."`
	DevToken      string        `env:"UNINK_DEV_TOKEN" placeholder:"TOKEN" help:"With --open: token of the developer entry point, 16 characters or more. Default: a new one at each start."`
	Workers       int           `env:"UNINK_WORKERS" placeholder:"N" help:"Pages cleaned at once. Default: half the CPUs."`
	Queue         float64       `default:"${queue}" env:"UNINK_QUEUE" help:"How long a page may wait before others are refused, in times of what a page takes: so many wait for each page cleaned at once (${default})."`
	MaxRequests   int           `default:"${max_requests}" env:"UNINK_MAX_REQUESTS" help:"Requests held at once, but for those still uploading, of strangers at most half; bounds what their bodies take too (${default})."`
	Deadline      time.Duration `default:"${deadline}" env:"UNINK_DEADLINE" help:"For one page, waiting included (${default})."`
	UploadTimeout time.Duration `default:"${upload_timeout}" env:"UNINK_UPLOAD_TIMEOUT" help:"For one request's body (${default})."`
	DrainTimeout  time.Duration `default:"${drain_timeout}" env:"UNINK_DRAIN_TIMEOUT" help:"For pages under way when the service stops (${default})."`
	domainFlags
	tlsFlags
	Contact      string   `env:"UNINK_CONTACT" placeholder:"EMAIL" help:"Address of whoever runs the service, which the pages name: whom to ask where nothing is sold online."`
	Browser      string   `default:"on" enum:"on,off,only" env:"UNINK_BROWSER" help:"Whether the front page cleans in the browser, where nothing is uploaded and guests need no allowance: on (people choose), off or only (${default})."`
	TrustedProxy []string `env:"UNINK_TRUSTED_PROXIES" placeholder:"CIDR" help:"Networks of proxies whose X-Forwarded-For is believed."`
	storeFlags
	sellingFlags
	KeepGuests      int    `default:"400" env:"UNINK_KEEP_GUESTS" placeholder:"DAYS" help:"Days for which guests' allowances, their movements of credits and their uses are kept, and apps' anonymous accounts that nobody uses and that never bought anything (${default})."`
	KeepUnconfirmed int    `default:"30" env:"UNINK_KEEP_UNCONFIRMED" placeholder:"DAYS" help:"Days after which an account is deleted whose e-mail address was never confirmed (${default})."`
	KeepDeadMail    int    `default:"30" env:"UNINK_KEEP_DEAD_MAIL" placeholder:"DAYS" help:"Days after which a mail that could not be sent is discarded, with the token that may be in it, and the file of a mail that was written instead (${default})."`
	Redis           string `env:"UNINK_REDIS" placeholder:"URL" help:"redis:// of a Redis that several services share their rolling windows in. Default: in memory."`
	BotCost         int    `default:"${bot_cost}" env:"UNINK_BOT_COST" placeholder:"ROUNDS" help:"How hard the built-in bot check is: ${default} keep a phone of the middle class at work for about a second, twice as many for two."`
	TurnstileKey    string `env:"UNINK_TURNSTILE_KEY" placeholder:"KEY" help:"Site key of Cloudflare Turnstile. Default: ALTCHA, built in."`
	TurnstileSecret string `env:"UNINK_TURNSTILE_SECRET" placeholder:"SECRET" help:"Secret key of Cloudflare Turnstile."`
	OidcIssuer      string `env:"UNINK_OIDC_ISSUER" placeholder:"URL" help:"OpenID Connect provider to sign in with."`
	OidcClient      string `env:"UNINK_OIDC_CLIENT" placeholder:"ID" help:"Client id at that provider; it redirects to PUBLIC-URL/api/sign-in/callback."`
	OidcSecret      string `env:"UNINK_OIDC_SECRET" placeholder:"SECRET" help:"Client secret at that provider."`

	PerMinute        int      `default:"5" env:"UNINK_PER_MINUTE" help:"Pages a caller of the web entry point may send in any minute (${default})."`
	PerHour          int      `default:"30" env:"UNINK_PER_HOUR" help:"The same in any hour (${default})."`
	PerCustomer      int      `default:"4" env:"UNINK_PER_CUSTOMER" help:"Requests at once that a customer may have (${default})."`
	PdfJobs          int      `default:"${pdf_jobs}" env:"UNINK_PDF_JOBS" help:"Whole PDFs that a customer may have here at a time, under way or done (${default})."`
	PdfSpace         int      `default:"${pdf_space}" env:"UNINK_PDF_SPACE" placeholder:"GB" help:"Room for all customers' whole PDFs in the database, in GB (${default}); then they are told to come later."`
	WebhookNetwork   []string `env:"UNINK_WEBHOOK_NETWORKS" placeholder:"CIDR" help:"Private networks that customers' webhooks may be in. Default: none; webhooks go to the internet alone."`
	GuestCredits     int      `default:"${guest_credits}" env:"UNINK_GUEST_CREDITS" help:"Pages a guest may have cleaned a day, by device (${default}) …"`
	GuestAddress     int      `default:"${guest_address}" env:"UNINK_GUEST_ADDRESS_CREDITS" help:"… and by address (${default})."`
	PdfGuestCredits  int      `default:"${pdf_guest_credits}" env:"UNINK_PDF_GUEST_CREDITS" help:"The same for pages of a PDF, which need no bot check, by device (${default}) …"`
	PdfGuestAddress  int      `default:"${pdf_guest_address}" env:"UNINK_PDF_GUEST_ADDRESS_CREDITS" help:"… and by address (${default})."`
	AccountCredits   int      `default:"${account_credits}" env:"UNINK_ACCOUNT_CREDITS" help:"Credits of a new account, once (${default})."`
	AnonymousCredits int      `default:"${anonymous_credits}" env:"UNINK_ANONYMOUS_CREDITS" help:"Credits of an app's new anonymous account, once (${default})."`
	AnonymousDaily   int      `default:"${anonymous_daily}" env:"UNINK_ANONYMOUS_DAILY" help:"Such accounts that a network address may make a day (${default})."`
	Fleet            string   `env:"UNINK_FLEET" placeholder:"URL" help:"nats:// or tls:// of the NATS server that unink worker processes take pages from. Default: pages are cleaned here."`
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
	PublicURL string `env:"UNINK_PUBLIC_URL" placeholder:"URL" help:"Of the web pages: what mails link to; https makes cookies secure. Default: http://localhost and the port of --listen, 8080 where there is none."`
	Domain    string `default:"localhost" env:"UNINK_DOMAIN" placeholder:"NAME" help:"Each customer's API domain is one label and this (${default})."`
}

// complete fills in the address of the web pages on this machine.
func (f *domainFlags) complete(listen string) {
	if f.PublicURL != "" {
		return
	}
	f.PublicURL = "http://localhost:8080"
	_, port, _ := net.SplitHostPort(listen)
	if n, err := strconv.ParseUint(port, 10, 16); err == nil && n > 0 {
		f.PublicURL = "http://localhost:" + port
	}
}

// tlsFlags say how the service gets certificates.
type tlsFlags struct {
	TLS           bool   `name:"tls" env:"UNINK_TLS" help:"Speak TLS at --listen, with certificates by ACME for PUBLIC-URL's host and the customers' domains. It means to agree to the authority's terms."`
	HTTPListen    string `default:":80" env:"UNINK_HTTP_LISTEN" placeholder:"ADDR" help:"With --tls: address without it, for the authority's challenges and browsers on their way to https (${default})."`
	ACMEDirectory string `name:"acme-directory" default:"${acme_directory}" env:"UNINK_ACME_DIRECTORY" placeholder:"URL" help:"The authority's ACME directory (${default})."`
	ACMEEmail     string `name:"acme-email" env:"UNINK_ACME_EMAIL" placeholder:"EMAIL" help:"E-mail address for the authority's notices about certificates."`
	ACMERoots     string `name:"acme-roots" env:"UNINK_ACME_ROOTS" placeholder:"FILE" type:"path" help:"PEM file of what the directory's own certificate is checked with. Default: the system's."`
}

// validateTLS finds what cannot go with --tls.
func (c *serveCmd) validateTLS() error {
	switch {
	case c.TLS && c.Open:
		return errors.New("--tls keeps certificates with the accounts; leave out --open, or put a " +
			"proxy with TLS in front")
	case c.TLS && !strings.HasPrefix(c.PublicURL, "https://"):
		return fmt.Errorf("--tls needs a --public-url that begins with https://, not %q", c.PublicURL)
	}
	return nil
}

// catalogueFlags say what there is to sell; commands that sell without payment have them too.
type catalogueFlags struct {
	Catalogue string `env:"UNINK_CATALOGUE" placeholder:"FILE" type:"path" help:"JSON file of plans and packs. Default: the built-in one (unink admin catalogue prints it)."`
}

// customerFlags say what a new customer begins with; the command that makes one has them too.
type customerFlags struct {
	TestCredits int `default:"${test_credits}" env:"UNINK_TEST_CREDITS" help:"Credits to try the API with that a new customer has once, for a month; with them developers begin without a package, once for each person. 0: none (${default})."`
}

// sellingFlags say what is sold, and how mails go out.
type sellingFlags struct {
	catalogueFlags
	customerFlags
	StripeKey           string `env:"UNINK_STRIPE_KEY" placeholder:"KEY" help:"Secret key of Stripe. Default: nothing is sold online."`
	StripeWebhookSecret string `env:"UNINK_STRIPE_WEBHOOK_SECRET" placeholder:"SECRET" help:"Signing secret of the webhook PUBLIC-URL/api/stripe/webhook."`
	SMTP                string `env:"UNINK_SMTP" placeholder:"URL" help:"smtp://USER:PASSWORD@HOST:PORT (STARTTLS), smtps://… (TLS) or smtp+plain://… . Default: mails become files in the data folder."`
	MailFrom            string `default:"unink <unink@localhost>" env:"UNINK_MAIL_FROM" placeholder:"ADDRESS" help:"Sender of mails (${default})."`
}

// backend is what the flags say of what stands behind the entry points.
func (f sellingFlags) backend(s storeFlags, d domainFlags) app.Config {
	return app.Config{
		Storage: app.Storage(s), Catalogue: f.Catalogue, SMTP: f.SMTP, MailFrom: f.MailFrom,
		Stripe:    billing.Config{SecretKey: f.StripeKey, WebhookSecret: f.StripeWebhookSecret},
		PublicURL: d.PublicURL, Domain: d.Domain, TestCredits: f.TestCredits,
	}
}

// serveDefaults hands the service's own defaults to the flags.
func serveDefaults() kong.Vars {
	d := setup.Default()
	return kong.Vars{
		"queue":         strconv.FormatFloat(d.Gate.Queue, 'g', -1, 64),
		"max_requests":  strconv.Itoa(d.MaxRequests),
		"pdf_jobs":      strconv.Itoa(pdfjob.DefaultBounds.Jobs),
		"pdf_space":     strconv.FormatInt(pdfjob.DefaultBounds.Bytes>>30, 10),
		"guest_credits": strconv.Itoa(d.GuestDaily), "guest_address": strconv.Itoa(d.GuestAddressDaily),
		"pdf_guest_credits": strconv.Itoa(d.PDFGuestDaily),
		"pdf_guest_address": strconv.Itoa(d.PDFGuestAddressDaily),
		"account_credits":   strconv.Itoa(d.AccountCredits),
		"anonymous_credits": strconv.Itoa(d.AnonymousCredits),
		"anonymous_daily":   strconv.Itoa(d.AnonymousDaily),
		"test_credits":      strconv.Itoa(d.TestCredits),
		"bot_cost":          strconv.Itoa(app.DefaultBotCost),
		"acme_directory":    certs.LetsEncrypt, "deadline": d.Deadline.String(),
		"upload_timeout": d.UploadTimeout.String(), "drain_timeout": d.DrainTimeout.String(),
	}
}

// Validate finds what belongs together and is not.
func (c *serveCmd) Validate() error {
	if (c.TurnstileKey == "") != (c.TurnstileSecret == "") {
		return errors.New("--turnstile-key and --turnstile-secret belong together")
	}
	if c.BotCost < 1 || c.BotCost > app.MostBotCost {
		return fmt.Errorf("--bot-cost must be from 1 to %d, not %d", app.MostBotCost, c.BotCost)
	}
	if c.Fleet != "" && c.Workers != 0 {
		return errors.New("--workers says how many pages are cleaned here; with --fleet give it to " +
			"each unink worker")
	}
	if c.KeepDeadMail < 1 || c.KeepDeadMail > mostDays {
		return fmt.Errorf("--keep-dead-mail must be from 1 to %d days, not %d", mostDays, c.KeepDeadMail)
	}
	if c.KeepUnconfirmed < 1 || c.KeepUnconfirmed > mostDays {
		return fmt.Errorf("--keep-unconfirmed must be from 1 to %d days, not %d", mostDays,
			c.KeepUnconfirmed)
	}
	if c.KeepGuests < fewestGuestDays || c.KeepGuests > mostDays {
		return fmt.Errorf("--keep-guests must be from %d to %d days, not %d", fewestGuestDays, mostDays,
			c.KeepGuests)
	}
	return c.validateTLS()
}

const (
	day      = 24 * time.Hour
	mostDays = 36_500
	// credit.DefaultConfig keeps holds for 30, and what they are of is kept as long
	fewestGuestDays = 31
)

// AfterApply has the public address follow the one that is listened on.
func (c *serveCmd) AfterApply() error {
	c.complete(c.Listen)
	return nil
}

// Run serves until an interrupt.
func (c *serveCmd) Run(env *environment) error {
	service, err := c.service()
	if err != nil {
		return err
	}
	if c.Open && c.DevToken == "" {
		service.HTTP.DeveloperToken = rand.Text()
		fmt.Fprintf(env.stderr, "unink: developer token until the service stops: %s (UNINK_DEV_TOKEN "+
			"sets one)\n", service.HTTP.DeveloperToken)
	}
	if err := service.HTTP.Validate(); err != nil {
		return misuse.Errorf("%v", err)
	}
	service.Opened = func(ctx context.Context, b *app.Backend) error {
		if !terminal(env.stderr) {
			return nil
		}
		steps, err := c.firstSteps(ctx, b)
		fmt.Fprint(env.stderr, steps)
		return err
	}
	if terminal(env.stderr) {
		fmt.Fprintf(env.stderr, "unink: open %s in a browser; Ctrl-C ends the service\n", c.PublicURL)
	}
	open := func(cfg unink.Config) (app.Cleaner, error) { return env.open(cfg) }
	return service.Run(env.ctx, open, newLog(env))
}

// service is what the flags say.
func (c *serveCmd) service() (s app.Service, err error) {
	s = app.Service{
		Listen: app.Addresses{Public: c.Listen, Metrics: c.MetricsListen, Plain: c.HTTPListen},
		Open:   c.Open, Config: c.backend(), Redis: c.Redis, PerCustomer: c.PerCustomer,
		Bots: app.BotCheck{Cost: c.BotCost, TurnstileKey: c.TurnstileKey,
			TurnstileSecret: c.TurnstileSecret},
	}
	if s.HTTP, err = c.http(); err != nil {
		return s, err
	}
	if s.PDFs, err = c.pdfs(s.HTTP.Gate.Workers); err != nil {
		return s, err
	}
	s.Engine = c.config(s.HTTP.Gate.Workers, unink.Limits{})
	if c.TLS {
		s.TLS = &app.TLS{Directory: c.ACMEDirectory, Email: c.ACMEEmail, Roots: c.ACMERoots}
	}
	if c.Fleet != "" {
		s.Fleet, err = c.fleet(c.Fleet)
	}
	return s, err
}

func (c *serveCmd) backend() app.Config {
	b := c.sellingFlags.backend(c.storeFlags, c.domainFlags)
	b.Keep = app.Keep{Guests: time.Duration(c.KeepGuests) * day,
		Unconfirmed: time.Duration(c.KeepUnconfirmed) * day, DeadMail: time.Duration(
			c.KeepDeadMail,
		) * day}
	b.OIDC = account.OIDC{Issuer: c.OidcIssuer, ClientID: c.OidcClient, ClientSecret: c.OidcSecret}
	if c.OidcIssuer != "" {
		b.OIDC.RedirectURL = c.PublicURL + "/api/sign-in/callback"
	}
	return b
}

func (c *serveCmd) http() (setup.Config, error) {
	cfg := setup.Default()
	cfg.Gate.Workers, cfg.Gate.Queue, cfg.MaxRequests = c.Workers, c.Queue, c.MaxRequests
	cfg.Deadline, cfg.UploadTimeout, cfg.DrainTimeout = c.Deadline, c.UploadTimeout, c.DrainTimeout
	cfg.DeveloperToken, cfg.Version = c.DevToken, version()
	cfg.PublicURL, cfg.Domain, cfg.Contact, cfg.Browser = c.PublicURL, c.Domain, c.Contact,
		webui.Browser(c.Browser)
	cfg.Windows[0].Limit, cfg.Windows[1].Limit = c.PerMinute, c.PerHour
	cfg.GuestDaily, cfg.GuestAddressDaily = c.GuestCredits, c.GuestAddress
	cfg.PDFGuestDaily, cfg.PDFGuestAddressDaily = c.PdfGuestCredits, c.PdfGuestAddress
	cfg.AccountCredits, cfg.AnonymousCredits = c.AccountCredits, c.AnonymousCredits
	cfg.AnonymousDaily, cfg.TestCredits = c.AnonymousDaily, c.TestCredits
	if c.Workers == 0 {
		cfg.Gate.Workers = max(1, runtime.NumCPU()/2)
	}
	var err error
	cfg.TrustedProxies, err = networks("--trusted-proxy", c.TrustedProxy)
	return cfg, err
}

// networks reads those that a flag names.
func networks(flag string, texts []string) (list []netip.Prefix, err error) {
	for _, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, misuse.Errorf("%s must be a network such as 10.0.0.0/8, not %q", flag, text)
		}
		list = append(list, prefix)
	}
	return list, nil
}

// fleetPages are the pages of a PDF that are with a fleet at once.
const fleetPages = 16

func (c *serveCmd) pdfs(workers int) (p pdfjob.Config, err error) {
	p.Jobs, p.Bytes, p.Pages = c.PdfJobs, int64(c.PdfSpace)<<30, workers
	if c.Fleet != "" {
		p.Pages = fleetPages
	}
	p.Networks, err = networks("--webhook-network", c.WebhookNetwork)
	return p, err
}

// firstSteps is what a new operator is told, while there are no users yet.
func (c *serveCmd) firstSteps(ctx context.Context, b *app.Backend) (string, error) {
	users, err := b.Accounts.Users(ctx, 1, "")
	if err != nil || len(users) > 0 {
		return "", err
	}
	where := c.where()
	return "unink: the first user:      unink admin user add you@example.com" + where + "\n" +
		"unink: the first customer:  unink admin customer add you@example.com --plan starter --domain " +
		quoted(c.Domain) + c.repeated() + where + "\n" +
		"unink: without accounts:    unink serve --open\n", nil
}

// repeated are the flags with which another command makes the same of a new customer.
func (f customerFlags) repeated() string {
	if f.TestCredits == setup.Default().TestCredits {
		return ""
	}
	return fmt.Sprint(" --test-credits ", f.TestCredits)
}

// where are the flags with which another command finds the same data.
func (f storeFlags) where() string {
	if f.Database == "" {
		return " --data " + quoted(f.Data)
	}
	address := f.Database
	if u, err := url.Parse(address); err == nil {
		address = u.Redacted()
	}
	return " --database " + quoted(address) + " --secret " + quoted(f.Secret)
}

// quoted is a word as a shell reads it.
func quoted(word string) string {
	if strings.ContainsFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:@,+=%", r)
	}) {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}
