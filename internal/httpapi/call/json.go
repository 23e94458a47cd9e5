package call

import (
	"mime"
	"net/http"

	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/input"
)

const maxJSONBody = 16 << 10 // bytes: forms of a few fields

// ReadJSON reads a body into v, which has every field that may be there.
func ReadJSON(w http.ResponseWriter, r *http.Request, v any) error {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil ||
		media != "application/json" {
		return failure.New(failure.BadRequest, "Content-Type must be application/json")
	}
	return ReadBody(w, r, maxJSONBody, func() error {
		return input.JSON(r.Body, v)
	})
}

// WithBody is an answer to a request with a JSON object as its body.
func WithBody[T any](answer func(http.ResponseWriter, *http.Request, T) (any, error)) Answerer {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		var body T
		if err := ReadJSON(w, r, &body); err != nil {
			return nil, err
		}
		return answer(w, r, body)
	}
}
