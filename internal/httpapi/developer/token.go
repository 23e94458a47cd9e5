package developer

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/setup"
)

// bearer reads the token of the one Authorization header.
func bearer(r *http.Request) (string, error) {
	headers := r.Header.Values("Authorization")
	if len(headers) == 0 {
		return "", failure.New(failure.Unauthorized, "send the header Authorization: Bearer <API_TOKEN>")
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	if len(headers) > 1 || !strings.EqualFold(scheme, "Bearer") || !setup.IsToken(token) {
		return "", failure.New(failure.BadToken,
			"the token is malformed; send Authorization: Bearer <API_TOKEN>, "+
				"with the token exactly as it was given")
	}
	return token, nil
}

// equal compares two secrets. Comparing digests tells nothing by its time.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
