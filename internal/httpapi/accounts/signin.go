package accounts

import (
	"errors"
	"net/http"

	"unink/internal/gate"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/input"
	"unink/internal/httpapi/session"
)

// signInsAtOnce bounds how many requests wait for the OpenID Connect provider, each for some
// seconds at most; they take no places from pages.
const signInsAtOnce = 8

// elsewhere is an answer that sends the browser to a URL.
type elsewhere string

// mountSignIn adds the routes of signing in elsewhere.
func (a *Accounts) mountSignIn(mux *http.ServeMux) {
	signIns, err := gate.New(gate.Config{Workers: signInsAtOnce})
	if err != nil {
		panic(err) // never: the number is a constant
	}
	mux.Handle("GET /api/sign-in", a.signingIn(signIns, a.beginSignIn))
	mux.Handle("GET /api/sign-in/callback", a.signingIn(signIns, a.completeSignIn))
}

// signingIn makes a handler of a half of signing in, which answers [elsewhere] or an error. None
// waits for a place.
func (a *Accounts) signingIn(places *gate.Gate, half call.Answerer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var to any
		err := places.Do(r.Context(), func() (err error) {
			to, err = call.Guarded(half, w, r)
			return err
		})
		if errors.Is(err, gate.ErrFull) {
			err = failure.Busy(err,
				"too many people are signing in now; try again, or log in with a password")
		}
		if err != nil {
			a.entry.Refuse(w, r, err)
			return
		}
		http.Redirect(w, r, string(to.(elsewhere)), http.StatusSeeOther)
	})
}

const signInCookie = "unink-sign-in"

// beginSignIn sends a browser to the OpenID Connect provider.
func (a *Accounts) beginSignIn(w http.ResponseWriter, r *http.Request) (any, error) {
	url, state, err := a.Services.Accounts.BeginSignIn(r.Context())
	if err != nil {
		return nil, session.Failure(err)
	}
	http.SetCookie(w, &http.Cookie{
		Name: signInCookie, Value: state, Path: "/api/sign-in", MaxAge: 600,
		Secure: a.Config.TLS(), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
	return elsewhere(url), nil
}

// completeSignIn takes a browser back from the provider and opens a session.
func (a *Accounts) completeSignIn(w http.ResponseWriter, r *http.Request) (any, error) {
	var state string
	if cookie, err := r.Cookie(signInCookie); err == nil {
		state = cookie.Value
	}
	answer, err := input.Query(r)
	if err != nil {
		return nil, err
	}
	token, user, err := a.Services.Accounts.CompleteSignIn(
		r.Context(), answer, state, a.from(r), agentName(r.UserAgent()),
	)
	if err != nil {
		return nil, session.Failure(err)
	}
	if err := a.welcome(r.Context(), user); err != nil {
		return nil, err
	}
	http.SetCookie(w, &http.Cookie{Name: signInCookie, Path: "/api/sign-in", MaxAge: -1,
		Secure: a.Config.TLS(), HttpOnly: true})
	http.SetCookie(w, session.Cookie(a.Config, token))
	return elsewhere("/"), nil
}
