// Package setup is what the service runs with: what its operator chose, and what stands behind its
// entry points.
package setup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	netmail "net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"

	"unink/internal/account"
	"unink/internal/billing"
	"unink/internal/botcheck"
	"unink/internal/credit"
	"unink/internal/gate"
	"unink/internal/limit"
	"unink/internal/mail"
	"unink/internal/operator"
	"unink/internal/pdfjob"
	"unink/internal/usage"
	"unink/internal/webui"
)

// Config is what the operator chose.
type Config struct {
	Gate           gate.Config    // pages worked on at once, and pages that wait for each of these
	MaxRequests    int            // requests held at once, but for those still uploading
	Deadline       time.Duration  // for one page, waiting included
	UploadTimeout  time.Duration  // for one request's body
	DrainTimeout   time.Duration  // for requests under way when the service stops
	DeveloperToken string         // what the developer entry point accepts in open mode
	Version        string         // of the program, for the metrics
	PublicURL      string         // of the web pages, without a path: what mails link to
	Domain         string         // each customer's domain is one label and this
	Contact        string         // e-mail address of whoever runs the service; may be empty
	Browser        webui.Browser  // whether the front page cleans in the browser
	TrustedProxies []netip.Prefix // whose X-Forwarded-For is believed
	Windows        []limit.Window // of the web entry point

	// Credits given away: to guests each day, to new accounts once.
	GuestDaily, GuestAddressDaily       int
	PDFGuestDaily, PDFGuestAddressDaily int
	AccountCredits, AnonymousCredits    int
	AnonymousDaily                      int // anonymous accounts that a network address may make a day
	TestCredits                         int // of a new API customer; 0: none begins without a package
}

// Default returns a configuration that lacks only the developer token.
func Default() Config {
	return Config{
		Gate:          gate.Config{Workers: 1, Queue: 16},
		MaxRequests:   64,
		Deadline:      30 * time.Second,
		UploadTimeout: 20 * time.Second,
		DrainTimeout:  30 * time.Second,
		PublicURL:     "http://localhost:8080",
		Domain:        "localhost",
		Browser:       webui.BrowserOn,
		Windows: []limit.Window{
			{Name: "minute", Limit: 5, Every: time.Minute},
			{Name: "hour", Limit: 30, Every: time.Hour},
		},
		GuestDaily: 3, GuestAddressDaily: 10,
		PDFGuestDaily: 2, PDFGuestAddressDaily: 6,
		AccountCredits: 5, AnonymousCredits: 3, AnonymousDaily: 10,
		TestCredits: 10,
	}
}

// tokenForm is a bearer token as RFC 6750 has it, long enough not to be guessed.
var tokenForm = regexp.MustCompile(`^[A-Za-z0-9._~+/-]{16,256}=*$`)

// Validate says which field is out of range.
func (c Config) Validate() error {
	switch {
	case c.MaxRequests < c.Gate.Workers:
		return fmt.Errorf("max requests must be at least the workers (%d), not %d", c.Gate.Workers,
			c.MaxRequests)
	case c.Deadline <= 0, c.UploadTimeout <= 0, c.DrainTimeout <= 0:
		return errors.New("the deadline, the upload time-out and the drain time-out must be positive, " +
			"such as 30s")
	case c.DeveloperToken != "" && !IsToken(c.DeveloperToken):
		return errors.New("the developer token must have 16 to 256 letters, digits or any of ._~+/-")
	case min(c.GuestDaily, c.GuestAddressDaily, c.PDFGuestDaily, c.PDFGuestAddressDaily,
		c.AccountCredits, c.AnonymousCredits, c.AnonymousDaily) < 0:
		return errors.New("credits and accounts given away must not be negative")
	case c.Contact != "" && !isAddress(c.Contact):
		return fmt.Errorf("the contact must be an e-mail address such as you@example.com, not %q",
			c.Contact)
	case c.Browser != webui.BrowserOn && c.Browser != webui.BrowserOff &&
		c.Browser != webui.BrowserOnly:
		return fmt.Errorf("cleaning in the browser must be on, off or only, not %q", c.Browser)
	case !domainForm.MatchString(c.Domain):
		return fmt.Errorf("the domain must be a host name such as api.example.com, not %q", c.Domain)
	}
	if u, err := url.Parse(c.PublicURL); err != nil || u.Scheme != "http" && u.Scheme != "https" ||
		u.Host == "" || u.Path != "" {
		return fmt.Errorf("the public URL must be such as https://example.com, without a path, not %q",
			c.PublicURL)
	}
	return c.Gate.Validate()
}

// IsToken reports whether a text can be the token of a program.
func IsToken(text string) bool { return tokenForm.MatchString(text) }

// TLS reports whether the web pages are reached by TLS.
func (c Config) TLS() bool { return strings.HasPrefix(c.PublicURL, "https://") }

func isAddress(text string) bool {
	a, err := netmail.ParseAddress(text)
	return err == nil && a.Address == text
}

var domainForm = regexp.MustCompile(
	`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`,
)

// Pricing is where the web pages sell credits.
const Pricing = "/pricing"

// Services are what stands behind the entry points where there are accounts.
type Services struct {
	Accounts  *account.Service
	Credits   *credit.Service
	Catalogue credit.Catalogue
	Limits    limit.Limiter
	Slots     *limit.Slots
	Bots      botcheck.Checker
	// TurnstileKey is the site key of the Turnstile that Bots asks; without one, Challenge makes the
	// tasks that Bots checks.
	TurnstileKey string
	Challenge    func() (any, error)
	Uses         *usage.Recorder
	History      *usage.Service
	PDFs         *pdfjob.Service // nil: no whole PDFs by the API
	Selling      *billing.Stripe // nil: nothing is sold here online
	Operator     *operator.Service
	Revenue      func(ctx context.Context, from, to time.Time) ([]billing.Revenue, error)
	Database     func(context.Context) error // answers whether it is there
	Mail         func(context.Context) (mail.Status, error)
}

// AnswerTime is how long a client may take to receive its answer, which is rarely larger than two
// of what was uploaded.
func (c Config) AnswerTime() time.Duration { return 2 * c.UploadTimeout }

// Setup is what everything in the service runs with.
type Setup struct {
	Config   Config
	Services *Services // nil in open mode
	Now      func() time.Time
	Log      *slog.Logger
}
