package httpapi

import (
	"net/http"
	"strings"
	"time"
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
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return token
	}
	if cookie, err := r.Cookie(cookieName(c)); err == nil {
		return cookie.Value
	}
	return ""
}

const signInCookie = "unink-sign-in"

// beginSignIn sends a browser to the OpenID Connect provider.
func (s *Server) beginSignIn(w http.ResponseWriter, r *http.Request) {
	url, state, err := s.services.Accounts.BeginSignIn(r.Context())
	if err != nil {
		_ = s.refuseWith(w, r, accountFailure(err), writeWebFailure)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: signInCookie, Value: state, Path: "/api/sign-in", MaxAge: 600,
		Secure: secure(s.cfg), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
	http.Redirect(w, r, url, http.StatusSeeOther)
}

// completeSignIn takes a browser back from the provider and opens a session.
func (s *Server) completeSignIn(w http.ResponseWriter, r *http.Request) {
	var state string
	if cookie, err := r.Cookie(signInCookie); err == nil {
		state = cookie.Value
	}
	token, user, err := s.services.Accounts.CompleteSignIn(r.Context(), r.URL.Query(), state)
	if err == nil {
		err = s.welcome(r.Context(), user)
	}
	if err != nil {
		_ = s.refuseWith(w, r, accountFailure(err), writeWebFailure)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: signInCookie, Path: "/api/sign-in", MaxAge: -1, Secure: secure(s.cfg), HttpOnly: true})
	http.SetCookie(w, sessionCookie(s.cfg, token))
	http.Redirect(w, r, "/", http.StatusSeeOther)
}
