package developer

import (
	"errors"
	"net/http"
	"strings"

	"unink/internal/account"
	"unink/internal/httpapi/address"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/failure"
)

// kindCustomer is the kind of callers who are customers, as the statistics have it.
const kindCustomer = "customer"

// customerBy is whose token a request carries.
func (a *API) customerBy(r *http.Request) (account.Customer, error) {
	return call.Of(r.Context()).Customer.Get(func() (account.Customer, error) {
		token, err := bearer(r)
		if err != nil {
			return account.Customer{}, err
		}
		return a.Services.Accounts.Authenticate(r.Context(), token)
	})
}

// known names whose token a request carries, by its header alone, and nobody where that fails.
func (a *API) known(r *http.Request) string {
	if a.Services == nil {
		if _, err := a.openCaller(r); err != nil {
			return ""
		}
		return call.Open
	}
	customer, err := a.customerBy(r)
	if err != nil {
		return ""
	}
	return call.CustomerOwner(customer.ID)
}

// caller tells which customer a request comes from: by its domain, then by its token.
func (a *API) caller(r *http.Request) (*call.Caller, error) {
	if a.Services == nil {
		return a.openCaller(r)
	}
	slug, under := strings.CutSuffix(address.Host(r.Host), "."+a.Config.Domain)
	here := address.Reached(a.Config.PublicURL, r.Host)
	at := func(slug string) string { return address.API(here, a.Config.Domain, slug) }
	elsewhere := !under || strings.Contains(slug, ".")
	customer, err := a.customerBy(r)
	switch {
	case err != nil && elsewhere:
		return nil, failure.New(failure.Unauthorized, "use the API domain that came with the token: %s",
			at("{your domain}"))
	case errors.Is(err, account.ErrSignature):
		return nil, failure.With(err, failure.BadToken,
			"the token's signature is wrong; send it exactly as it was given")
	case errors.Is(err, account.ErrToken):
		return nil, failure.With(err, failure.Unauthorized,
			"the token is not known, or was revoked or replaced")
	case err != nil:
		return nil, err
	case elsewhere || customer.Slug != slug:
		f := failure.New(failure.Unauthorized, "the token belongs to another API domain: %s",
			at(customer.Slug))
		f.Location = at(customer.Slug) + r.URL.Path
		return nil, f
	}
	owner := call.CustomerOwner(customer.ID)
	who := &call.Caller{Kind: kindCustomer, Owner: owner, Payers: []string{owner}, Slot: owner,
		AppCode: customer.AppCode}
	who.Remaining, err = a.Services.Credits.Balance(r.Context(), owner)
	return who, err
}

// openCaller is a program that knows the one token of an open service.
func (a *API) openCaller(r *http.Request) (*call.Caller, error) {
	token, err := bearer(r)
	if err != nil {
		return nil, err
	}
	if !equal(token, a.Config.DeveloperToken) {
		return nil, failure.New(failure.Unauthorized, "the token is not known here")
	}
	return &call.Caller{Kind: call.Open}, nil
}
