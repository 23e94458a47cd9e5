// Package httpapi is the HTTP service: the web entry point, the developer entry point and the
// pages that operate them.
//
// A request's way: method and path, who is asking, limits, body (bounded), image header, gate,
// clean, answer. A worker is held only while a page is worked on, never while a client sends or
// receives. Handlers return a value or an error; one place per entry point writes it.
package httpapi

import (
	"errors"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"time"

	"unink/internal/httpapi/accounts"
	"unink/internal/httpapi/admission"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/cleaning"
	"unink/internal/httpapi/developer"
	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/operate"
	"unink/internal/httpapi/session"
	"unink/internal/httpapi/setup"
	"unink/internal/httpapi/web"
	"unink/internal/pdfjob"
	"unink/internal/webui"
)

// Server answers both entry points.
type Server struct {
	*setup.Setup
	site      *call.Entry // of the web pages
	engine    *cleaning.Engine
	developer *developer.API
	metrics   *metrics
	pages     *webui.UI
	handler   http.Handler
}

// New makes a server. It serves nothing until [Server.Serve]. Without services it is open: it
// cleans pages for everybody, and for programs that know the developer token.
func New(c cleaning.Cleaner, cfg setup.Config, services *setup.Services,
	log *slog.Logger) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if services == nil && cfg.DeveloperToken == "" {
		return nil, errors.New("an open service needs a developer token")
	}
	s := &Server{Setup: &setup.Setup{Config: cfg, Services: services, Now: time.Now, Log: log},
		metrics: newMetrics(cfg.Version)}
	var err error
	if s.engine, err = cleaning.New(c, s.Setup, s.metrics.registry); err != nil {
		return nil, err
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
	s.site = &call.Entry{Known: session.Sessions{Setup: s.Setup}.Known, Write: web.WriteFailure,
		Setup: s.Setup, Bounds: admission.New(cfg.MaxRequests, developer.MaxBody)}
	s.developer = developer.New(s.Setup, s.site, s.engine, s.pages)
	s.handler = inert(s.strict(s.observe(s.routes())))
	return s, nil
}

// Handler answers the public address.
func (s *Server) Handler() http.Handler { return s.handler }

// PDFEngine cleans pages of jobs beside those of requests.
func (s *Server) PDFEngine() (pdfjob.Engine, error) { return s.developer.PDFEngine() }

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	web.New(s.Setup, s.site, s.engine).Mount(mux)
	s.developer.Mount(mux)
	mux.HandleFunc("GET /healthz", s.healthz)
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.HandleFunc("GET /openapi.json", serveOpenAPI)
	mux.Handle("GET /{$}", s.pages.Page("front", nil))
	s.pages.Mount(mux)
	mux.Handle("/", s.elsewhere(mux))
	if s.Services != nil {
		mux.Handle("GET /account", s.accountOf(s.developer.Account()))
		accounts.New(s.Setup, s.site, s.pages).Mount(mux)
		operate.New(s.Setup, s.site, s.engine.Gate).Mount(mux, s.pages.Page("operator", nil),
			http.HandlerFunc(s.nothingHere))
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
func (s *Server) failureAt(r *http.Request) call.FailureWriter {
	if s.Services != nil && s.onCustomersDomain(r) {
		return developer.WriteFailure
	}
	return web.WriteFailure
}

// sameSite refuses what pages of other sites make a browser send: its cookies would speak for a
// user who did not ask.
func sameSite(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		write := web.WriteFailure
		if r.URL.Path == "/cleanup" || r.URL.Path == "/pdf" || strings.HasPrefix(r.URL.Path, "/pdf/") {
			write = developer.WriteFailure
		}
		write(w, r, failure.New(failure.CrossSite, "requests from pages of other sites are refused"))
	}))
	return protection.Handler(next)
}
