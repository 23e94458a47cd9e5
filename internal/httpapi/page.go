package httpapi

import (
	"bytes"
	"net/http"
	"strings"
	"time"

	"unink/internal/account"
	"unink/internal/apiref"
	"unink/internal/httpapi/failure"
)

// pageRoutes are the web pages and what they load.
func (s *Server) pageRoutes(mux *http.ServeMux) {
	mux.Handle("GET /{$}", s.pages.Page("front", nil))
	mux.Handle("GET /developers", s.pages.Page("developers", s.developersPage))
	mux.Handle("GET /developers/console", s.pages.Page("console", s.consolePage))
	if s.services != nil {
		s.memberPages(mux)
	}
	s.pages.Mount(mux)
}

// developersPage is the reference, and the address to call: the customer's own where the page is
// read, or of who reads it.
func (s *Server) developersPage(r *http.Request) any {
	page := *apiref.Page()
	page.At = s.cfg.PublicURL
	if s.services == nil {
		return page
	}
	page.Free = s.cfg.TestCredits
	slug := "YOUR-NAME"
	if s.onCustomersDomain(r) {
		slug, page.Own = strings.TrimSuffix(hostOnly(r.Host), "."+s.cfg.Domain), true
	} else if own, err := s.customerOfReader(r); err == nil {
		slug, page.Own = own.Slug, true
	}
	page.At = APIURL(s.cfg.PublicURL, s.cfg.Domain, slug)
	return page
}

// customerOfReader is the customer of who is logged in and reads a page.
func (s *Server) customerOfReader(r *http.Request) (account.Customer, error) {
	u, err := s.user(r)
	if err != nil {
		return account.Customer{}, err
	}
	return s.services.Accounts.CustomerOf(r.Context(), u)
}

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
