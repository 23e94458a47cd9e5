// Package httpapi is the HTTP service: the web entry point, the developer entry point and the
// pages that operate them.
//
// A request's way: method and path, who is asking, limits, body (bounded), image header, gate,
// clean, answer. A worker is held only while a page is worked on, never while a client sends or
// receives. Handlers return a value or an error; one place per entry point writes it.
package httpapi

import (
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"net/http"
	netmail "net/mail"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"unink"
	"unink/internal/account"
	"unink/internal/billing"
	"unink/internal/botcheck"
	"unink/internal/credit"
	"unink/internal/gate"
	"unink/internal/httpapi/failure"
	"unink/internal/limit"
	"unink/internal/mail"
	"unink/internal/operator"
	"unink/internal/pdfjob"
	"unink/internal/usage"
	"unink/internal/webui"
)

// Limits of an uploaded image that both entry points share.
const (
	maxImageBytes  = unink.DefaultMaxBytes
	maxImagePixels = unink.DefaultMaxPixels
	minImageSide   = unink.DefaultMinSide
)

// Cleaner removes handwriting; [*unink.Cleaner] is one.
type Cleaner interface {
	Clean(ctx context.Context, image []byte, o unink.Options) (*unink.Result, error)
	Probe(ctx context.Context) error
}

// PixelCleaner is a [Cleaner] that cleans pages of PDFs.
type PixelCleaner interface {
	CleanImage(ctx context.Context, m image.Image, o unink.Options) (*unink.Page, error)
}

// Elastic is a [Cleaner] that cleans more or fewer pages at once as its workers come and go.
type Elastic interface {
	// OnCapacity has report called with that number, now and whenever it changes.
	OnCapacity(report func(pages int))
}

// Config configures a [Server].
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

// DefaultConfig returns a configuration that lacks only the developer token.
func DefaultConfig() Config {
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
	case c.DeveloperToken != "" && !tokenForm.MatchString(c.DeveloperToken):
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

func isAddress(text string) bool {
	a, err := netmail.ParseAddress(text)
	return err == nil && a.Address == text
}

var domainForm = regexp.MustCompile(
	`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`,
)

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

// Server answers both entry points.
type Server struct {
	cfg      Config
	cleaner  Cleaner
	services *Services // nil in open mode
	door     door
	now      func() time.Time
	log      *slog.Logger
	work     *gate.Gate // pages
	rooms    *rooms     // requests
	ready    *readiness
	metrics  *metrics
	pages    *webui.UI
	handler  http.Handler
}

// New makes a server. It serves nothing until [Server.Serve]. Without services it is open: it
// cleans pages for everybody, and for programs that know the developer token.
func New(c Cleaner, cfg Config, services *Services, log *slog.Logger) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	work, err := gate.New(cfg.Gate)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, cleaner: c, services: services, now: time.Now, log: log, work: work,
		rooms: newRooms(cfg.MaxRequests), ready: &readiness{probe: c.Probe}}
	s.door = openDoor{cfg.DeveloperToken}
	if services != nil {
		s.door = &accountDoor{cfg, services, time.Now}
	} else if cfg.DeveloperToken == "" {
		return nil, errors.New("an open service needs a developer token")
	}
	if elastic, is := c.(Elastic); is {
		elastic.OnCapacity(work.Resize)
	}
	s.metrics = newMetrics(cfg.Version, work)
	if collector, is := c.(prometheus.Collector); is {
		s.metrics.registry.MustRegister(collector)
	}
	if services != nil {
		s.metrics.watch(services)
	}
	if s.pages, err = webui.New(webui.Config{
		Accounts: services != nil, Turnstile: services != nil && services.TurnstileKey != "",
		Browser: cfg.Browser,
	}); err != nil {
		return nil, err
	}
	s.handler = inert(s.strict(s.observe(s.routes())))
	return s, nil
}

// Handler answers the public address.
func (s *Server) Handler() http.Handler { return s.handler }

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, answer answerer, e entry) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.Handle(pattern, s.endpoint(answer, e))
		mux.Handle(path, only(method, e.write))
	}
	handle("POST /api/process-image", s.processImage, s.web())
	handle("POST /cleanup", s.cleanup, s.developer())
	mux.HandleFunc("GET /healthz", s.healthz)
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.HandleFunc("GET /openapi.json", serveOpenAPI)
	s.pageRoutes(mux)
	mux.Handle("/", s.elsewhere(mux))
	if s.services != nil {
		mux.Handle("GET /account", s.accountOf(s.endpoint(s.customerAccount, s.developer())))
		mux.Handle("/account", only(http.MethodGet, writeDeveloperFailure))
		s.accountRoutes(mux)
		s.pdfRoutes(mux)
	}
	return sameSite(s.exact(mux))
}

// exact answers paths that are not written as they are registered: net/http would send their
// callers elsewhere, who would come back without their body.
func (s *Server) exact(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if clean := path.Clean(r.URL.Path); r.URL.Path != "" && clean != r.URL.Path &&
			clean+"/" != r.URL.Path {
			s.nothingHere(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// elsewhere answers what no pattern of a mux but its own matches: with the methods that would, if
// there are any.
func (s *Server) elsewhere(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var allowed []string
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost,
			http.MethodDelete} {
			other := *r
			other.Method = method
			if _, pattern := mux.Handler(&other); pattern != "/" && pattern != "" {
				allowed = append(allowed, method)
			}
		}
		if len(allowed) == 0 {
			s.nothingHere(w, r)
			return
		}
		methods := strings.Join(allowed, ", ")
		w.Header().Set("Allow", methods)
		s.failureAt(r)(w, r, failure.New(failure.WrongMethod, "use %s, not %s", methods, r.Method))
	})
}

// failureAt is how failures are told where there is no endpoint: on a customer's domain as
// developers expect them.
func (s *Server) failureAt(r *http.Request) failureWriter {
	if s.services != nil && s.onCustomersDomain(r) {
		return writeDeveloperFailure
	}
	return writeWebFailure
}

// sameSite refuses what pages of other sites make a browser send: its cookies would speak for a
// user who did not ask.
func sameSite(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		write := writeWebFailure
		if r.URL.Path == "/cleanup" || r.URL.Path == "/pdf" || strings.HasPrefix(r.URL.Path, "/pdf/") {
			write = writeDeveloperFailure
		}
		write(w, r, failure.New(failure.CrossSite, "requests from pages of other sites are refused"))
	}))
	return protection.Handler(next)
}

// clean inspects a picture, holds its price, waits for a worker, cleans it and checks the result.
func (s *Server) clean(ctx context.Context, in input) (*unink.Result, error) {
	info, err := inspect(in.image, in.maxSide)
	if err != nil {
		return nil, err
	}
	c := ctx.Value(callKey{}).(*call)
	c.pixels = info.Width * info.Height
	if err := s.admit(ctx, c); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Deadline)
	defer cancel()
	var res *unink.Result
	arrived := time.Now()
	err = s.work.DoAs(ctx, s.turnOf(c), func() (err error) {
		s.metrics.wait.Observe(time.Since(arrived).Seconds())
		res, err = s.cleaner.Clean(ctx, in.image, in.options)
		return err
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, err
	}
	s.ready.proven()
	s.metrics.page(res.Timings)
	return res, checkResult(res, info, in.options)
}

// What a page takes grows with its pixels, and is not nothing for the smallest. The usual page has
// 4 megapixels.
const pageBase, usualPage = 1e6, 4e6

// turnOf says with whom a request takes turns: guests by their addresses, since devices are free to
// invent; everybody else by account.
func (s *Server) turnOf(c *call) gate.Turn {
	turn := gate.Turn{Bulk: c.form.bulk, Size: (pageBase + float64(c.pixels)) / (pageBase + usualPage),
		Within: s.cfg.Deadline}
	if payers := c.caller.payers; len(payers) > 0 {
		turn.Caller = payers[len(payers)-1]
	}
	return turn
}

// input is what both entry points make of a request.
type input struct {
	image   []byte
	options unink.Options
	maxSide int // in pixels; 0 is no limit
}

// inspect checks a picture's header against the limits, before anything is decoded.
func inspect(image []byte, maxSide int) (unink.Info, error) {
	info, err := unink.Inspect(image, unink.Limits{
		MaxBytes: maxImageBytes, MaxPixels: maxImagePixels, MaxSide: maxSide, MinSide: -1,
	})
	if err == nil && min(info.Width, info.Height) < minImageSide {
		return info, failure.New(failure.TooSmall,
			"the image has %d×%d pixels; each side needs at least %d", info.Width,
			info.Height, minImageSide)
	}
	return info, err
}

// checkResult withholds a result that cannot be right.
func checkResult(res *unink.Result, in unink.Info, o unink.Options) error {
	out, err := unink.Inspect(res.Data, unink.Limits{MaxBytes: -1, MaxPixels: -1, MinSide: -1})
	switch {
	case err != nil:
		return failure.With(err, failure.BadResult, "the result failed its check and was withheld")
	case out.Width != res.Width || out.Height != res.Height,
		o.KeepOrientation && o.KeepDistortion && (out.Width != in.Width || out.Height != in.Height),
		o.Layers && (len(res.Handwriting) == 0 || len(res.Mask) == 0):
		return failure.New(failure.BadResult, "the result failed its check and was withheld")
	}
	return nil
}
