package developer

import (
	"errors"
	"net/http"
	"time"

	"unink/internal/account"
	"unink/internal/httpapi/address"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/session"
	"unink/internal/httpapi/state"
	"unink/internal/usage"
)

// customerSummary is a customer as its owner sees it in a list.
type customerSummary struct {
	Slug    string    `json:"slug"`
	AppCode string    `json:"appCode"`
	Name    string    `json:"name,omitempty"`
	URL     string    `json:"url"` // where it calls the developer entry point
	Created time.Time `json:"created"`
	Credits int       `json:"credits"`
}

func (a *API) summary(c account.Customer, credits int) customerSummary {
	return customerSummary{c.Slug, c.AppCode, c.Name, address.API(a.Config.PublicURL, a.Config.Domain,
		c.Slug),
		c.Created, credits}
}

// customersOf lists what a user who is logged in bought with the same e-mail address.
func (a *API) customersOf(_ http.ResponseWriter, r *http.Request, u account.User) (any, error) {
	list := []customerSummary{}
	c, err := a.Services.Accounts.CustomerOf(r.Context(), u)
	switch {
	case err == nil:
		credits, err := a.Services.Credits.Balance(r.Context(), call.CustomerOwner(c.ID))
		if err != nil {
			return nil, err
		}
		list = append(list, a.summary(c, credits))
	case !errors.Is(err, account.ErrNotFound):
		return nil, err
	}
	return map[string]any{"customers": list}, nil
}

// customerDetails is all that a customer's owner sees of it.
type customerDetails struct {
	customerSummary
	Packages []state.Package `json:"packages"`
	Tokens   []state.Token   `json:"tokens"` // those that are good now, the newest first
	Days     []usage.Day     `json:"days"`   // of the last 30, those with uses or refusals
	state.UseList
	Refusals []state.Refusal `json:"refusals"` // of the last minutes with some, newest first
}

const daysShown = 30

// customer is one customer of the user who is logged in.
func (a *API) customer(_ http.ResponseWriter, r *http.Request) (any, error) {
	ctx := r.Context()
	c, err := a.ownCustomer(r)
	if err != nil {
		return nil, err
	}
	owner := call.CustomerOwner(c.ID)
	credits, err := a.state.Credits(ctx, owner)
	if err != nil {
		return nil, err
	}
	tokens, err := a.Services.Accounts.Tokens(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	from, to := state.LastDays(a.Now(), daysShown)
	days, err := a.Services.History.Days(ctx, owner, from, to)
	if err != nil {
		return nil, err
	}
	uses, err := a.state.Uses(ctx, owner, usage.Place{}, state.Shown)
	if err != nil {
		return nil, err
	}
	refusals, err := a.state.Refusals(ctx, owner, state.Shown)
	if err != nil {
		return nil, err
	}
	details := customerDetails{
		customerSummary: a.summary(c, credits.Credits), Packages: credits.Packages,
		Tokens: []state.Token{}, Days: append([]usage.Day{}, days...), UseList: uses,
		Refusals: refusals,
	}
	for _, t := range tokens {
		details.Tokens = append(details.Tokens, state.Token{Created: t.Created, Ends: t.Ends})
	}
	return details, nil
}

// ownCustomer is the customer that the path names, of the user who is logged in.
func (a *API) ownCustomer(r *http.Request) (account.Customer, error) {
	u, err := a.sessions.User(r)
	if err != nil {
		return account.Customer{}, err
	}
	c, err := a.Services.Accounts.CustomerOf(r.Context(), u)
	if err == nil && c.Slug != r.PathValue("slug") {
		err = account.ErrNotFound
	}
	if err != nil {
		return account.Customer{}, customerFailure(err)
	}
	return c, nil
}

// customerUses goes on with the uses of a customer of the user who is logged in.
func (a *API) customerUses(_ http.ResponseWriter, r *http.Request) (any, error) {
	c, err := a.ownCustomer(r)
	if err != nil {
		return nil, err
	}
	from, err := state.PlaceAsked(r)
	if err != nil {
		return nil, err
	}
	return a.state.Uses(r.Context(), call.CustomerOwner(c.ID), from, state.Shown)
}

// beginCustomer makes the customer of a user who bought nothing, with credits to try the API, and
// its first token. After a failure it may be called again.
func (a *API) beginCustomer(_ http.ResponseWriter, r *http.Request,
	u account.User) (any, error) {
	if a.Config.TestCredits == 0 {
		return nil, failure.New(failure.NoCredits, "there are no free calls here; buy a package")
	}
	c, err := a.Services.Accounts.Begin(r.Context(), u)
	if errors.Is(err, account.ErrTooMany) {
		return nil, failure.With(err, failure.NoCredits,
			"free calls are given once to each person, and you have had yours; buy a package")
	}
	if err != nil {
		return nil, customerFailure(err)
	}
	tokens, err := a.Services.Accounts.Tokens(r.Context(), c.ID)
	if err != nil {
		return nil, err
	}
	if len(tokens) > 0 {
		return nil, failure.New(failure.BadParameter,
			"your account has a token; make a new one in its place")
	}
	token, c, err := a.Services.Accounts.Rotate(r.Context(), u, c.Slug, 0)
	if err != nil {
		return nil, customerFailure(err)
	}
	return call.Answered{Status: http.StatusCreated, Body: a.state.NewToken(token, c.Slug, 0)}, nil
}

type rotation struct {
	GraceHours int `json:"graceHours"`
}

// rotateToken makes a token of a customer's. The earlier ones end after the grace period.
func (a *API) rotateToken(_ http.ResponseWriter, r *http.Request, in rotation) (any, error) {
	if err := state.CheckGrace(in.GraceHours); err != nil {
		return nil, err
	}
	u, err := a.sessions.User(r)
	if err != nil {
		return nil, err
	}
	grace := time.Duration(in.GraceHours) * time.Hour
	token, c, err := a.Services.Accounts.Rotate(r.Context(), u, r.PathValue("slug"), grace)
	if err != nil {
		return nil, customerFailure(err)
	}
	return a.state.NewToken(token, c.Slug, in.GraceHours), nil
}

func customerFailure(err error) error {
	if errors.Is(err, account.ErrNotFound) {
		return failure.With(err, failure.NotFound,
			"your account has no such API customer; one belongs to the "+
				"account with the e-mail address that it was bought with")
	}
	return session.Failure(err)
}
