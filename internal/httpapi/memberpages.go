package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"unink/internal/credit"
	"unink/internal/httpapi/failure"
	"unink/internal/webui"
)

// memberPages are the pages of people who have accounts, or want one.
func (s *Server) memberPages(mux *http.ServeMux) {
	signIn := func(*http.Request) any {
		return signInPage{s.services.Accounts.Provider(), s.cfg.AccountCredits}
	}
	mux.Handle("GET /sign-up", s.pages.Page("sign-up", signIn))
	mux.Handle("GET /log-in", s.pages.Page("log-in", signIn))
	fromMail := func(r *http.Request) any { return linkPage{r.URL.Query().Get("token") != ""} }
	mux.Handle("GET /verify", s.pages.Page("verify", fromMail))
	mux.Handle("GET /reset", s.pages.Page("reset", fromMail))
	mux.Handle("GET /pricing", s.pages.Page("pricing", func(*http.Request) any {
		return s.pricingPage()
	}))
	mux.Handle("GET /developers/account", s.forMembers(s.pages.Page("customer",
		func(*http.Request) any { return customerPage{s.cfg.TestCredits} })))
	mux.Handle("GET /operator", s.forMembers(s.forOperators(s.pages.Page("operator", nil))))
}

// signInPage is what the pages about logging in show.
type signInPage struct {
	Provider string // the host of whom to sign in with besides; empty where there is nobody
	Credits  int    // of a new account
}

// customerPage is what the page of API access shows.
type customerPage struct {
	Free int // calls for who begins without a package
}

// linkPage is what the pages show that mails link to.
type linkPage struct {
	Token bool // the link has one
}

// forMembers sends whoever is not logged in to do that first.
func (s *Server) forMembers(page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := s.user(r)
		if err != nil && failure.Of(err).Kind != failure.LoggedOut {
			_ = s.refuseWith(w, r, err, writeWebFailure)
			return
		}
		if err != nil {
			w.Header().Set("Cache-Control", "no-store")
			to := "/log-in"
			if here := r.URL.RequestURI(); webui.Local(here) {
				to += "?next=" + url.QueryEscape(here)
			}
			http.Redirect(w, r, to, http.StatusSeeOther)
			return
		}
		page.ServeHTTP(w, r)
	})
}

// forOperators hides a page from others, to whom there is nothing at its address.
func (s *Server) forOperators(page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := s.mustOperate(r)
		switch {
		case err == nil:
			page.ServeHTTP(w, r)
		case failure.Of(err).Kind == failure.NotFound:
			s.nothingHere(w, r)
		default:
			_ = s.refuseWith(w, r, err, writeWebFailure)
		}
	})
}

// accountOf answers GET /account: people's browsers with the page of their account, programs with
// what the customer whose domain it is has.
func (s *Server) accountOf(customer http.Handler) http.Handler {
	page := s.forMembers(s.pages.Page("account", nil))
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

// onCustomersDomain reports whether a request came to a label under the domain of customers.
func (s *Server) onCustomersDomain(r *http.Request) bool {
	slug, under := strings.CutSuffix(hostOnly(r.Host), "."+s.cfg.Domain)
	public, err := url.Parse(s.cfg.PublicURL)
	isPublic := err == nil && public.Hostname() == hostOnly(r.Host)
	return under && !isPublic && !strings.Contains(slug, ".")
}

// consolePage is what the console is told. It calls the developer entry point where the page itself
// is, so that no browser lets a token go elsewhere.
type consolePage struct {
	Here   bool   `json:"here"`   // POST /cleanup at this address takes tokens
	Domain string `json:"domain"` // a customer's domain ends with it
	There  string `json:"there"`  // else: the console of the customer whose slug is in place of {slug}
}

// ClientData hands it to the page's script.
func (p consolePage) ClientData() any { return p }

func (s *Server) consolePage(r *http.Request) any {
	return consolePage{
		Here: s.services == nil || s.onCustomersDomain(r), Domain: s.cfg.Domain,
		There: APIURL(s.cfg.PublicURL, s.cfg.Domain, "{slug}") + "/developers/console",
	}
}

// pricingPage is what is sold, as people read it.
type pricingPage struct {
	Packs, Plans []offer // for the web, for developers
	Online       bool
	Contact      string
	Domain       string
}

type offer struct {
	credit.Plan
	Price, Each string // of all, and of a page
	Pages       string // the credits
}

func (s *Server) pricingPage() pricingPage {
	p := pricingPage{Online: s.services.Selling != nil, Contact: s.cfg.Contact, Domain: s.cfg.Domain}
	for _, plan := range s.services.Catalogue.Plans {
		o := offer{plan, money(plan.Currency, float64(plan.Cents)/100, 2),
			money(plan.Currency, float64(plan.Cents)/100/float64(plan.Credits), 3),
			grouped(strconv.Itoa(plan.Credits))}
		if plan.Entry == credit.Web {
			p.Packs = append(p.Packs, o)
		} else {
			p.Plans = append(p.Plans, o)
		}
	}
	return p
}

// grouped separates the thousands of a number.
func grouped(number string) string {
	whole, _, _ := strings.Cut(number, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		number = number[:at] + "," + number[at:]
	}
	return number
}

// signs are of the currencies that are sooner known by them.
var signs = map[string]string{"usd": "$", "eur": "€", "gbp": "£", "cny": "¥"}

// money writes an amount with at most so many decimals: whole ones without.
func money(currency string, amount float64, decimals int) string {
	text := fmt.Sprintf("%.*f", decimals, amount)
	if decimals > 2 {
		text = strings.TrimSuffix(text, "0")
	}
	text = grouped(strings.TrimSuffix(text, ".00"))
	if sign := signs[currency]; sign != "" {
		return sign + text
	}
	return text + " " + strings.ToUpper(currency)
}
