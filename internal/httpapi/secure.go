package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"unink/internal/account"
	"unink/internal/httpapi/address"
)

// inert puts on every answer what browsers need to know: it is what its Content-Type says, it loads
// nothing and is shown in no frame, it is not kept, and no other site hears of it. Pages say for
// themselves what they load.
func inert(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// strict tells browsers to use nothing but TLS for a year, where the service has it.
func (s *Server) strict(next http.Handler) http.Handler {
	if !s.Config.TLS() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		next.ServeHTTP(w, r)
	})
}

// toTLS answers what came without TLS. Who only reads is sent on; what was sent along was readable
// on its way, which the sender should learn.
func (s *Server) toTLS(w http.ResponseWriter, r *http.Request) {
	host := address.Host(r.Host)
	ours, err := s.Serves(r.Context(), host)
	switch {
	case err != nil:
		http.Error(w, "the service cannot answer now; try again", http.StatusServiceUnavailable)
	case !ours:
		http.Error(w, "there is nothing at this address", http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		http.Error(w, "use https; whatever this request carried was sent in the clear, so replace a "+
			"token that was in it", http.StatusForbidden)
	default:
		to := url.URL{Scheme: "https", Host: host + s.tlsPort(), Path: r.URL.Path, RawPath: r.URL.RawPath,
			RawQuery: r.URL.RawQuery}
		http.Redirect(w, r, to.String(), http.StatusMovedPermanently)
	}
}

// tlsPort is the port of the public URL with its colon, or nothing.
func (s *Server) tlsPort() string {
	if u, err := url.Parse(s.Config.PublicURL); err == nil && u.Port() != "" {
		return ":" + u.Port()
	}
	return ""
}

// Serves reports whether a host is one of the service's: that of the web pages, or the API domain
// of a customer who was not revoked.
func (s *Server) Serves(ctx context.Context, host string) (bool, error) {
	host = address.Host(host)
	if public, err := url.Parse(s.Config.PublicURL); err == nil && address.Host(public.Host) == host {
		return true, nil
	}
	slug, under := strings.CutSuffix(host, "."+s.Config.Domain)
	if !under || s.Services == nil {
		return false, nil
	}
	customer, err := s.Services.Accounts.CustomerAt(ctx, slug)
	if errors.Is(err, account.ErrNotFound) {
		return false, nil
	}
	return err == nil && customer.Revoked.IsZero(), err
}
