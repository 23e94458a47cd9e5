// Package operate is the operator's pages: what the service does, and acts on others' accounts.
package operate

import (
	"errors"
	"net/http"
	"strings"
	"unicode/utf8"

	"unink/internal/account"
	"unink/internal/credit"
	"unink/internal/gate"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/session"
	"unink/internal/httpapi/setup"
	"unink/internal/httpapi/state"
	"unink/internal/operator"
)

// Pages answers operators. To others there is nothing here.
type Pages struct {
	*setup.Setup
	entry    *call.Entry
	gate     *gate.Gate // of pages that are cleaned
	sessions session.Sessions
	state    state.Reader
}

// New makes the operator's part of a site.
func New(s *setup.Setup, site *call.Entry, work *gate.Gate) *Pages {
	return &Pages{s, site, work, session.Sessions{Setup: s}, state.Reader{Setup: s}}
}

// Mount adds the routes: a page, where nothing answers to others, and what it asks.
func (a *Pages) Mount(mux *http.ServeMux, page, nothing http.Handler) {
	mux.Handle("GET /operator", a.sessions.ForMembers(a.entry, a.forOperators(page, nothing)))
	for pattern, answer := range map[string]call.Answerer{
		"GET /api/operator/statistics": a.statistics,
		"GET /api/operator/accounts":   a.findAccounts,
		"GET /api/operator/acts":       a.acts,
		"POST /api/operator/grants":    forOperator(a, a.grantCredits),

		"POST /api/operator/customers/{id}/rotate":                forOperator(a, a.rotateFor),
		"POST /api/operator/customers/{id}/close":                 forOperator(a, a.closeCustomer),
		"POST /api/operator/customers/{id}/tokens/{token}/revoke": forOperator(a, a.endToken),
	} {
		mux.Handle(pattern, a.entry.Handler(answer))
	}
}

// mustOperate refuses who is not logged in as an operator: to others there is nothing here.
func (a *Pages) mustOperate(r *http.Request) (account.User, error) {
	u, err := a.sessions.User(r)
	if err == nil && u.Role != account.Operator {
		err = failure.New(failure.NotFound, "there is nothing at this address; see /openapi.json")
	}
	return u, err
}

// forOperators hides a page from others, to whom there is nothing at its address.
func (a *Pages) forOperators(page, nothing http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := a.mustOperate(r)
		switch {
		case err == nil:
			page.ServeHTTP(w, r)
		case failure.Of(err).Kind == failure.NotFound:
			nothing.ServeHTTP(w, r)
		default:
			a.entry.Refuse(w, r, err)
		}
	})
}

// forOperator is an answer to a request with a JSON object as its body, of an operator only: nobody
// else's body is read.
func forOperator[T any](a *Pages,
	answer func(*http.Request, operator.Order, T) (any, error)) call.Answerer {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		u, err := a.mustOperate(r)
		if err != nil {
			return nil, err
		}
		var body T
		if err := call.ReadJSON(w, r, &body); err != nil {
			return nil, err
		}
		return answer(r, operator.Order{Actor: call.UserOwner(u.ID)}, body)
	}
}

// withReason completes an order, which on the web must say why.
func withReason(o operator.Order, reason string) (operator.Order, error) {
	o.Reason = strings.TrimSpace(reason)
	if o.Reason == "" || utf8.RuneCountInString(o.Reason) > operator.MaxReason {
		return o, failure.New(failure.BadParameter, "reason must have from 1 to %d characters",
			operator.MaxReason)
	}
	return o, nil
}

// operatorFailure is what an error of an act means for the operator.
func operatorFailure(err error) error {
	switch {
	case errors.Is(err, account.ErrNotFound):
		return failure.With(err, failure.NotFound,
			"there is no such user, customer or token; GET /api/operator/accounts finds them")
	case errors.Is(err, credit.ErrKeyReused):
		return failure.With(err, failure.BadParameter,
			"this Idempotency-Key gave something else before; use a new key for each gift")
	}
	return session.Failure(err)
}
