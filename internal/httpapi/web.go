package httpapi

import (
	"net/http"
	"strings"

	"unink"
	"unink/internal/httpapi/failure"
)

// webRow is what a kind of failure is to the web entry point.
type webRow struct {
	status int
	name   string
}

var webTable = map[failure.Kind]webRow{
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

// pricing is where the web page sells credits.
const pricing = "/pricing"

// webFailure is the web entry point's error envelope: a message, but details on 500, and the
// window alone on 429.
type webFailure struct {
	Error       string `json:"error"`
	Message     string `json:"message,omitempty"`
	Details     string `json:"details,omitempty"`
	RedirectURL string `json:"redirectUrl,omitempty"`
	LimitType   string `json:"limitType,omitempty"`
	RetryAfter  int    `json:"retryAfter,omitempty"`
}

func writeWebFailure(w http.ResponseWriter, r *http.Request, f *failure.Failure) {
	row := webRowOf(f.Kind)
	body := webFailure{Error: row.name, Message: f.Message}
	switch row.status {
	case http.StatusInternalServerError:
		body.Message, body.Details = "", "request "+callOf(r).id
	case http.StatusPaymentRequired:
		body.RedirectURL = pricing
	case http.StatusTooManyRequests:
		body.Message, body.LimitType, body.RetryAfter = "", f.Window, f.Seconds()
	}
	refuse(w, row.status, f, body)
}

func webRowOf(k failure.Kind) webRow {
	if row, known := webTable[k]; known {
		return row
	}
	return webTable[failure.Unexpected]
}

// webAnswer is the web entry point's success envelope.
type webAnswer struct {
	Code    int      `json:"code"`
	Data    envelope `json:"data"`
	IsTrial bool     `json:"isTrial"`
}

// envelope is the inner "data" that both entry points wrap an image in.
type envelope struct {
	Data imageAnswer `json:"data"`
}

type imageAnswer struct {
	MediaID []byte        `json:"mediaId"` // Base64 in JSON
	Layers  *layers       `json:"layers,omitempty"`
	Report  *unink.Report `json:"report,omitempty"` // beside the layers
	Before  []byte        `json:"before,omitempty"` // a JPEG
}

type layers struct {
	Handwriting []byte `json:"handwriting"` // transparent PNG of what was removed
	Mask        []byte `json:"mask"`        // grey PNG, white where something was removed
}

// processImage is POST /api/process-image.
func (s *Server) processImage(w http.ResponseWriter, r *http.Request) (any, error) {
	preserve, err := queryFlag(r, "preserveColor")
	if err != nil {
		return nil, err
	}
	c := callOf(r)
	err = s.readBody(w, r, maxImageBytes+formSlack, func() error {
		parts, err := r.MultipartReader()
		if err != nil {
			return failure.With(err, failure.BadRequest,
				"the body must be multipart/form-data with a boundary")
		}
		c.form, err = parseUpload(parts)
		return err
	})
	if err != nil {
		return nil, err
	}
	form := c.form
	c.note("page_slug", form.pageSlug, "bulk", form.bulk, "pdf", form.pdf)
	if c.caller, err = s.door.web(r, form); err != nil {
		return nil, err
	}
	form.preserve = form.preserve || preserve
	options := form.granted()
	if len(c.caller.payers) > 0 {
		if c.key, err = idempotencyKey(r, c.caller.payers[0], form.image); err != nil {
			return nil, err
		}
	}
	res, err := s.clean(r.Context(), input{image: form.image, options: options})
	if err != nil {
		return nil, err
	}
	answer := webAnswer{Data: envelope{imageAnswer{MediaID: res.Data, Before: res.Before}},
		IsTrial: c.caller.trial}
	if options.Layers {
		answer.Data.Data.Layers, answer.Data.Data.Report = &layers{res.Handwriting, res.Mask}, &res.Report
	}
	return answer, nil
}

// queryFlag reads a boolean of the query; absent is false.
func queryFlag(r *http.Request, name string) (bool, error) {
	text, given, err := queryText(r, name)
	if err != nil || !given {
		return false, err
	}
	return parseFlag(name, text)
}

func parseFlag(name, value string) (bool, error) {
	switch strings.ToLower(value) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, failure.New(failure.BadParameter, "%s must be true or false, not %q", name, value)
}
