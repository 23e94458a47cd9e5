package web

import (
	"net/http"

	"unink/internal/httpapi/call"
	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/setup"
)

// row is what a kind of failure is to the web entry point.
type row struct {
	status int
	name   string
}

var table = map[failure.Kind]row{
	failure.BadRequest:    {http.StatusBadRequest, "INVALID_REQUEST"},
	failure.BadMediaType:  {http.StatusBadRequest, "INVALID_REQUEST"},
	failure.BadParameter:  {http.StatusBadRequest, "INVALID_PARAMETER"},
	failure.Unverified:    {http.StatusBadRequest, "VERIFICATION_FAILED"},
	failure.LoggedOut:     {http.StatusUnauthorized, "NOT_LOGGED_IN"},
	failure.NoCredits:     {http.StatusPaymentRequired, "INSUFFICIENT_CREDITS"},
	failure.CrossSite:     {http.StatusForbidden, "CROSS_SITE_REQUEST"},
	failure.RateLimited:   {http.StatusTooManyRequests, "RATE_LIMIT_EXCEEDED"},
	failure.NoImage:       {http.StatusBadRequest, "MISSING_IMAGE"},
	failure.BodyTooLarge:  {http.StatusBadRequest, "FILE_TOO_LARGE"},
	failure.FileTooLarge:  {http.StatusBadRequest, "FILE_TOO_LARGE"},
	failure.BadDimensions: {http.StatusBadRequest, "IMAGE_TOO_LARGE"},
	failure.TooSmall:      {http.StatusBadRequest, "INVALID_IMAGE"},
	failure.UnknownFormat: {http.StatusBadRequest, "INVALID_FILE_TYPE"},
	failure.BrokenImage:   {http.StatusBadRequest, "INVALID_IMAGE"},
	failure.Blank:         {http.StatusBadRequest, "INVALID_IMAGE"},
	failure.NotFound:      {http.StatusNotFound, "NOT_FOUND"},
	failure.WrongMethod:   {http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED"},
	failure.TimedOut:      {http.StatusRequestTimeout, "REQUEST_TIMEOUT"},
	failure.Overloaded:    {http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE"},
	failure.Unexpected:    {http.StatusInternalServerError, "INTERNAL_ERROR"},
}

// envelope is the web entry point's error envelope: a message, but details on 500, and the
// window alone on 429.
type envelope struct {
	Error       string `json:"error"`
	Message     string `json:"message,omitempty"`
	Details     string `json:"details,omitempty"`
	RedirectURL string `json:"redirectUrl,omitempty"`
	LimitType   string `json:"limitType,omitempty"`
	RetryAfter  int    `json:"retryAfter,omitempty"`
}

// WriteFailure writes a failure as the web entry point tells it.
func WriteFailure(w http.ResponseWriter, r *http.Request, f *failure.Failure) {
	row := rowOf(f.Kind)
	body := envelope{Error: row.name, Message: f.Message}
	switch row.status {
	case http.StatusInternalServerError:
		body.Message, body.Details = "", "request "+call.Of(r.Context()).ID
	case http.StatusPaymentRequired:
		body.RedirectURL = setup.Pricing
	case http.StatusTooManyRequests:
		body.Message, body.LimitType, body.RetryAfter = "", f.Window, f.Seconds()
	}
	call.WriteFailure(w, row.status, f, body)
}

// Outcome is what a kind of failure is called here.
func Outcome(k failure.Kind) string { return rowOf(k).name }

func rowOf(k failure.Kind) row {
	if row, known := table[k]; known {
		return row
	}
	return table[failure.Unexpected]
}
