package httpapi

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"unink/internal/gate"
	"unink/internal/httpapi/failure"
)

// sessionFor is how long a browser keeps a session's cookie; the session itself may end before.
const sessionFor = 30 * 24 * time.Hour

// cookieName binds the cookie to this host and to TLS where there is TLS (RFC 6265bis, 4.1.3).
func cookieName(c Config) string {
	if secure(c) {
		return "__Host-unink"
	}
	return "unink"
}

func secure(c Config) bool { return strings.HasPrefix(c.PublicURL, "https://") }

// sessionCookie keeps a session's token; without one it makes the browser forget it.
func sessionCookie(c Config, token string) *http.Cookie {
	cookie := &http.Cookie{
		Name: cookieName(c), Value: token, Path: "/", MaxAge: int(sessionFor / time.Second),
		Secure: secure(c), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
	if token == "" {
		cookie.MaxAge = -1
	}
	return cookie
}

// sessionToken is what a request carries: an app's bearer token, or a browser's cookie.
func sessionToken(r *http.Request, c Config) string {
	if scheme, token, _ := strings.Cut(r.Header.Get("Authorization"),
		" "); strings.EqualFold(scheme, "Bearer") {
		return token
	}
	if cookie, err := r.Cookie(cookieName(c)); err == nil {
		return cookie.Value
	}
	return ""
}

// signInsAtOnce bounds how many requests wait for the OpenID Connect provider, each for some
// seconds at most; they take no places from pages.
const signInsAtOnce = 8

// elsewhere is an answer that sends the browser to a URL.
type elsewhere string

// signingIn makes a handler of a half of signing in, which answers [elsewhere] or an error. None
// waits for a place.
func (s *Server) signingIn(places *gate.Gate, half answerer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var to any
		err := places.Do(r.Context(), func() (err error) {
			to, err = guarded(half, w, r)
			return err
		})
		if errors.Is(err, gate.ErrFull) {
			err = failure.Busy(err,
				"too many people are signing in now; try again, or log in with a password")
		}
		if err != nil {
			_ = s.refuseWith(w, r, err, writeWebFailure)
			return
		}
		http.Redirect(w, r, string(to.(elsewhere)), http.StatusSeeOther)
	})
}

const signInCookie = "unink-sign-in"

// beginSignIn sends a browser to the OpenID Connect provider.
func (s *Server) beginSignIn(w http.ResponseWriter, r *http.Request) (any, error) {
	url, state, err := s.services.Accounts.BeginSignIn(r.Context())
	if err != nil {
		return nil, accountFailure(err)
	}
	http.SetCookie(w, &http.Cookie{
		Name: signInCookie, Value: state, Path: "/api/sign-in", MaxAge: 600,
		Secure: secure(s.cfg), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
	return elsewhere(url), nil
}

// completeSignIn takes a browser back from the provider and opens a session.
func (s *Server) completeSignIn(w http.ResponseWriter, r *http.Request) (any, error) {
	var state string
	if cookie, err := r.Cookie(signInCookie); err == nil {
		state = cookie.Value
	}
	address := clientAddress(r, s.cfg.TrustedProxies)
	answer, err := query(r)
	if err != nil {
		return nil, err
	}
	token, user, err := s.services.Accounts.CompleteSignIn(
		r.Context(), answer, state, address.String(), agentName(r.UserAgent()),
	)
	if err != nil {
		return nil, accountFailure(err)
	}
	if err := s.welcome(r.Context(), user); err != nil {
		return nil, err
	}
	http.SetCookie(w, &http.Cookie{Name: signInCookie, Path: "/api/sign-in", MaxAge: -1,
		Secure: secure(s.cfg), HttpOnly: true})
	http.SetCookie(w, sessionCookie(s.cfg, token))
	return elsewhere("/"), nil
}
