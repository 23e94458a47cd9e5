package httpapi

import (
	"bytes"
	"net/http"
	"strings"
	"time"

	"unink/internal/apiref"
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
// read.
func (s *Server) developersPage(r *http.Request) any {
	at := s.cfg.PublicURL
	if s.services != nil {
		slug := "YOUR-NAME"
		if s.onCustomersDomain(r) {
			slug = strings.TrimSuffix(hostOnly(r.Host), "."+s.cfg.Domain)
		}
		at = APIURL(s.cfg.PublicURL, s.cfg.Domain, slug)
	}
	page := *apiref.Page()
	page.At = at
	return page
}

// nothingHere answers an unknown address: people with a page, programs with an error.
func (s *Server) nothingHere(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") {
		s.pages.PageWithStatus("lost", http.StatusNotFound, nil).ServeHTTP(w, r)
		return
	}
	s.failureAt(r)(w, r, fail(notFound, "there is nothing at this address; see /openapi.json"))
}

// serveOpenAPI serves the description of both entry points.
func serveOpenAPI(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(apiref.Description))
}
