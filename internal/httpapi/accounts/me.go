package accounts

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"unink/internal/account"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/session"
	"unink/internal/httpapi/state"
	"unink/internal/usage"
)

func (a *Accounts) logOutEverywhere(w http.ResponseWriter, r *http.Request,
	u account.User) (any, error) {
	if err := a.Services.Accounts.LogOutEverywhere(r.Context(), u.ID); err != nil {
		return nil, err
	}
	http.SetCookie(w, session.Cookie(a.Config, ""))
	return call.Done, nil
}

type sessionState struct {
	account.Session
	Current bool `json:"current"` // this request's
}

// openSessions are those of the account that is logged in, the last used first.
func (a *Accounts) openSessions(_ http.ResponseWriter, r *http.Request, u account.User) (any,
	error) {
	open, err := a.Services.Accounts.Sessions(r.Context(), u.ID)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(open, func(a, b account.Session) int { return b.Seen.Compare(a.Seen) })
	current := account.SessionID(session.Token(r, a.Config))
	list := make([]sessionState, len(open))
	for i, one := range open {
		list[i] = sessionState{one, one.ID == current}
	}
	return map[string]any{"sessions": list}, nil
}

// endSession ends one of the sessions of the account that is logged in.
func (a *Accounts) endSession(w http.ResponseWriter, r *http.Request, u account.User) (any, error) {
	id := r.PathValue("id")
	if err := a.Services.Accounts.EndSession(r.Context(), u.ID, id); err != nil {
		if errors.Is(err, account.ErrNotFound) {
			return nil, failure.With(err, failure.NotFound,
				"your account has no such session; GET /api/me/sessions lists them")
		}
		return nil, err
	}
	if id == account.SessionID(session.Token(r, a.Config)) {
		http.SetCookie(w, session.Cookie(a.Config, ""))
	}
	return call.Done, nil
}

type meAnswer struct {
	UserID  string        `json:"userId"`
	Email   string        `json:"email,omitempty"`
	Kind    string        `json:"kind"`
	Role    string        `json:"role,omitempty"`
	IsTrial bool          `json:"isTrial"`
	Account state.Credits `json:"account"`
	state.UseList
	Refusals []state.Refusal `json:"refusals"` // of the last minutes with some, newest first
}

// me is the account that is logged in.
func (a *Accounts) me(_ http.ResponseWriter, r *http.Request, u account.User) (any, error) {
	return a.about(r.Context(), u, state.Shown)
}

func (a *Accounts) about(ctx context.Context, u account.User, uses int) (*meAnswer, error) {
	credits, err := a.state.Credits(ctx, call.UserOwner(u.ID))
	if err != nil {
		return nil, err
	}
	list, err := a.state.Uses(ctx, call.UserOwner(u.ID), usage.Place{}, uses)
	if err != nil {
		return nil, err
	}
	refusals, err := a.state.Refusals(ctx, call.UserOwner(u.ID), uses)
	if err != nil {
		return nil, err
	}
	return &meAnswer{UserID: u.ID, Email: u.Email, Kind: string(u.Kind), Role: u.Role,
		IsTrial: !u.Bought, Account: credits, UseList: list, Refusals: refusals}, nil
}

// myUses goes on with the uses of the account that is logged in.
func (a *Accounts) myUses(_ http.ResponseWriter, r *http.Request, u account.User) (any, error) {
	from, err := state.PlaceAsked(r)
	if err != nil {
		return nil, err
	}
	return a.state.Uses(r.Context(), call.UserOwner(u.ID), from, state.Shown)
}

const usesExported = 10_000 // and sums of refusals

// export is everything that is known of the account that is logged in.
func (a *Accounts) export(w http.ResponseWriter, r *http.Request, u account.User) (any, error) {
	about, err := a.about(r.Context(), u, usesExported)
	if err != nil {
		return nil, err
	}
	export, err := a.Services.Accounts.Export(r.Context(), u.ID)
	if err != nil {
		return nil, err
	}
	w.Header().Set("Content-Disposition", `attachment; filename="unink-account.json"`)
	return map[string]any{"account": export, "credits": about.Account, "uses": about.Uses,
		"refusals": about.Refusals}, nil
}

// deleteMe deletes the account that is logged in. Its movements of credits stay, under an
// identifier that means nobody any more.
func (a *Accounts) deleteMe(w http.ResponseWriter, r *http.Request, u account.User) (any, error) {
	if _, err := a.Services.Credits.RevokeOwner(
		r.Context(), call.UserOwner(u.ID), "account deleted",
	); err != nil {
		return nil, err
	}
	if err := a.Services.History.Forget(r.Context(), call.UserOwner(u.ID)); err != nil {
		return nil, err
	}
	http.SetCookie(w, session.Cookie(a.Config, ""))
	return call.Done, a.Services.Accounts.Delete(r.Context(), u.ID)
}
