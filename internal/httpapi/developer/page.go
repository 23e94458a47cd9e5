package developer

import (
	"net/http"
	"strings"

	"unink/internal/account"
	"unink/internal/apiref"
	"unink/internal/httpapi/address"
)

// developersPage is the reference, and the address to call: the customer's own where the page is
// read, or of who reads it.
func (a *API) developersPage(r *http.Request) any {
	page := *apiref.Page()
	page.At = a.Config.PublicURL
	if a.Services == nil {
		return page
	}
	page.Free = a.Config.TestCredits
	slug := "YOUR-NAME"
	if address.OfCustomer(a.Config.PublicURL, a.Config.Domain, r.Host) {
		slug, page.Own = strings.TrimSuffix(address.Host(r.Host), "."+a.Config.Domain), true
	} else if own, err := a.customerOfReader(r); err == nil {
		slug, page.Own = own.Slug, true
	}
	page.At = address.API(a.Config.PublicURL, a.Config.Domain, slug)
	return page
}

// customerOfReader is the customer of who is logged in and reads a page.
func (a *API) customerOfReader(r *http.Request) (account.Customer, error) {
	u, err := a.sessions.User(r)
	if err != nil {
		return account.Customer{}, err
	}
	return a.Services.Accounts.CustomerOf(r.Context(), u)
}

// customerPage is what the page of API access shows.
type customerPage struct {
	Free int // calls for who begins without a package
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

func (a *API) consolePage(r *http.Request) any {
	return consolePage{
		Here: a.Services == nil || address.OfCustomer(a.Config.PublicURL, a.Config.Domain,
			r.Host), Domain: a.Config.Domain,
		There: address.API(a.Config.PublicURL, a.Config.Domain, "{slug}") + "/developers/console",
	}
}
