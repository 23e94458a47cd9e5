package developer

import (
	"net/http"

	"unink/internal/httpapi/call"
	"unink/internal/httpapi/state"
)

// accountAnswer is what GET /account tells a customer.
type accountAnswer struct {
	Code    int           `json:"code"`
	Data    state.Credits `json:"data"`
	Message string        `json:"message"`
}

// Account answers GET /account to programs.
func (a *API) Account() http.Handler { return a.entry.Handler(a.account) }

// account tells a customer what it has.
func (a *API) account(w http.ResponseWriter, r *http.Request) (any, error) {
	c := call.Of(r.Context())
	var err error
	if c.Caller, err = a.caller(r); err != nil {
		return nil, err
	}
	credits, err := a.state.Credits(r.Context(), c.Caller.Owner)
	if err != nil {
		return nil, err
	}
	credits.AppCode = c.Caller.AppCode
	setCredits(w.Header(), c, 0)
	w.Header().Set("Content-Type", answerType)
	return accountAnswer{Data: credits, Message: "success"}, nil
}
