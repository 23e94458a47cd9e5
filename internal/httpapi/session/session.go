// Package session is who is logged in, and what people without a session have to show.
package session

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"unink/internal/account"
	"unink/internal/botcheck"
	"unink/internal/httpapi/address"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/setup"
	"unink/internal/webui"
)

// sessionFor is how long a browser keeps a session's cookie; the session itself may end before.
const sessionFor = 30 * 24 * time.Hour

// cookieName binds the cookie to this host and to TLS where there is TLS (RFC 6265bis, 4.1.3).
func cookieName(c setup.Config) string {
	if c.TLS() {
		return "__Host-unink"
	}
	return "unink"
}

// Cookie keeps a session's token; without one it makes the browser forget it.
func Cookie(c setup.Config, token string) *http.Cookie {
	cookie := &http.Cookie{
		Name: cookieName(c), Value: token, Path: "/", MaxAge: int(sessionFor / time.Second),
		Secure: c.TLS(), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
	if token == "" {
		cookie.MaxAge = -1
	}
	return cookie
}

// Token is what a request carries: an app's bearer token, or a browser's cookie.
func Token(r *http.Request, c setup.Config) string {
	if scheme, token, _ := strings.Cut(r.Header.Get("Authorization"),
		" "); strings.EqualFold(scheme, "Bearer") {
		return token
	}
	if cookie, err := r.Cookie(cookieName(c)); err == nil {
		return cookie.Value
	}
	return ""
}

// Sessions tell who is logged in.
type Sessions struct{ *setup.Setup }

// Of is the user whose cookie or bearer token a request carries.
func (s Sessions) Of(r *http.Request) (account.User, error) {
	return call.Of(r.Context()).User.Get(func() (account.User, error) {
		token := Token(r, s.Config)
		if token == "" {
			return account.User{}, account.ErrNoSession
		}
		return s.Services.Accounts.Session(r.Context(), token)
	})
}

// Known names who is logged in, by the request's header alone, and nobody where that fails.
func (s Sessions) Known(r *http.Request) string {
	if s.Services == nil {
		return ""
	}
	user, err := s.Of(r)
	if err != nil {
		return ""
	}
	return call.UserOwner(user.ID)
}

// CheckHuman checks a bot-check token.
func (s Sessions) CheckHuman(r *http.Request, token string) error {
	if token == "" {
		return failure.New(failure.Unverified, "guests need a bot-check token in cfTurnstileToken; GET "+
			"/api/bot-challenge says how to get one, or log in")
	}
	switch err := s.Services.Bots.Check(r.Context(), token,
		address.Client(r, s.Config.TrustedProxies).String()); {
	case errors.Is(err, botcheck.ErrInvalid):
		return failure.With(err, failure.Unverified,
			"the bot-check token is wrong, too old or used already; get a new one")
	case errors.Is(err, botcheck.ErrUnavailable):
		return failure.Busy(err, "the bot check cannot be done now; try again, or log in")
	default:
		return err
	}
}

// ForUser is an answer for the account that is logged in.
func (s Sessions) ForUser(
	answer func(http.ResponseWriter, *http.Request, account.User) (any, error),
) call.Answerer {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		u, err := s.User(r)
		if err != nil {
			return nil, err
		}
		return answer(w, r, u)
	}
}

// Failure tells what an error of the accounts means for the caller.
func Failure(err error) error {
	var throttled *account.ThrottledError
	var bad *account.InputError
	switch {
	case errors.As(err, &throttled):
		return &failure.Failure{Kind: failure.RateLimited, Message: "too many attempts",
			RetryAfter: throttled.Wait,
			Window:     "attempts", Cause: err}
	case errors.As(err, &bad):
		return failure.With(err, failure.BadParameter, bad.Error())
	case errors.Is(err, account.ErrCredentials):
		return failure.With(err, failure.Unverified,
			"the e-mail address or the password is wrong, or the address was not confirmed yet")
	case errors.Is(err, account.ErrNoProvider):
		return failure.With(err, failure.NotFound, "there is no provider to sign in with here")
	case errors.Is(err, account.ErrProvider):
		return failure.Busy(
			err, "the provider to sign in with does not answer; try again, or log in with a password",
		)
	case errors.Is(err, account.ErrSignInState), errors.Is(err, account.ErrSignInRefused),
		errors.Is(err, account.ErrIDToken):
		return failure.With(err, failure.Unverified, "signing in was not completed; begin again")
	case errors.Is(err, account.ErrOneTimeToken):
		return failure.With(err, failure.Unverified,
			"this link was used already or is too old; ask for a new one")
	case errors.Is(err, account.ErrNoSession):
		return failure.With(err, failure.LoggedOut, "log in first")
	}
	return err
}

// User is who is logged in.
func (s Sessions) User(r *http.Request) (account.User, error) {
	u, err := s.Of(r)
	if err != nil {
		return u, Failure(err)
	}
	return u, nil
}

// ForMembers sends whoever is not logged in to do that first.
func (s Sessions) ForMembers(at *call.Entry, page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := s.User(r)
		if err != nil && failure.Of(err).Kind != failure.LoggedOut {
			at.Refuse(w, r, err)
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
