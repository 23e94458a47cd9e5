package httpapi

import (
	"bytes"
	"net/http"
	"strings"
	"time"

	"unink/internal/apiref"
	"unink/internal/httpapi/address"
	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/session"
)

// nothingHere answers an unknown address: people with a page, programs with an error.
func (s *Server) nothingHere(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") {
		s.pages.PageWithStatus("lost", http.StatusNotFound, nil).ServeHTTP(w, r)
		return
	}
	s.failureAt(r)(w, r, failure.New(failure.NotFound,
		"there is nothing at this address; see /openapi.json"))
}

// serveOpenAPI serves the description of both entry points.
func serveOpenAPI(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(apiref.Description))
}

// accountOf answers GET /account: people's browsers with the page of their account, programs with
// what the customer whose domain it is has.
func (s *Server) accountOf(customer http.Handler) http.Handler {
	page := session.Sessions{Setup: s.Setup}.ForMembers(s.site, s.pages.Page("account", nil))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept, Authorization")
		asksForPage := strings.Contains(r.Header.Get("Accept"), "text/html") &&
			r.Header.Get("Authorization") == ""
		if asksForPage && !s.onCustomersDomain(r) {
			page.ServeHTTP(w, r)
			return
		}
		customer.ServeHTTP(w, r)
	})
}

// onCustomersDomain reports whether a request came to a customer's own domain.
func (s *Server) onCustomersDomain(r *http.Request) bool {
	return address.OfCustomer(s.Config.PublicURL, s.Config.Domain, r.Host)
}
