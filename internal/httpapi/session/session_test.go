package session

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"unink/internal/httpapi/setup"
)

// A session's cookie is bound to its host and to TLS, and is not for scripts nor for other sites'
// requests.
func TestSessionCookie(t *testing.T) {
	c := setup.Default()
	c.PublicURL = "https://example.com"
	for name, cookie := range map[string]*http.Cookie{
		"session": Cookie(c, "secret"), "end": Cookie(c, ""),
	} {
		if cookie.Name != "__Host-unink" || !cookie.Secure || !cookie.HttpOnly ||
			cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || cookie.Domain != "" {
			t.Errorf("%s: %+v", name, cookie)
		}
		if err := cookie.Valid(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// One of another name, as before the service had TLS, or set by a neighbour of the host, opens
	// nothing.
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.AddCookie(&http.Cookie{Name: "unink", Value: "neighbour"})
	if token := Token(r, c); token != "" {
		t.Errorf("%q is taken for a session", token)
	}
}
