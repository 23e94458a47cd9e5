package httpapi

import (
	"net/http"
	"strings"

	"unink"
)

// webRow is what a kind of failure is to the web entry point.
type webRow struct {
	status int
	name   string
}

var webTable = map[kind]webRow{
	badRequest:    {http.StatusBadRequest, "INVALID_REQUEST"},
	badMediaType:  {http.StatusBadRequest, "INVALID_REQUEST"},
	badParameter:  {http.StatusBadRequest, "INVALID_PARAMETER"},
	unverified:    {http.StatusBadRequest, "VERIFICATION_FAILED"},
	noImage:       {http.StatusBadRequest, "MISSING_IMAGE"},
	bodyTooLarge:  {http.StatusBadRequest, "FILE_TOO_LARGE"},
	fileTooLarge:  {http.StatusBadRequest, "FILE_TOO_LARGE"},
	badDimensions: {http.StatusBadRequest, "IMAGE_TOO_LARGE"},
	tooSmall:      {http.StatusBadRequest, "INVALID_IMAGE"},
	unknownFormat: {http.StatusBadRequest, "INVALID_FILE_TYPE"},
	brokenImage:   {http.StatusBadRequest, "INVALID_IMAGE"},
	blank:         {http.StatusBadRequest, "INVALID_IMAGE"},
	notFound:      {http.StatusNotFound, "NOT_FOUND"},
	wrongMethod:   {http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED"},
	timedOut:      {http.StatusRequestTimeout, "REQUEST_TIMEOUT"},
	overloaded:    {http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE"},
	unexpected:    {http.StatusInternalServerError, "INTERNAL_ERROR"},
}

// webFailure is the web entry point's error envelope: details on 500, otherwise a message.
type webFailure struct {
	Error   string `json:"error"`
	Message string `json:"message,omitempty"`
	Details string `json:"details,omitempty"`
}

func writeWebFailure(w http.ResponseWriter, r *http.Request, f *failure) {
	row, known := webTable[f.kind]
	if !known {
		row = webTable[unexpected]
	}
	body := webFailure{Error: row.name, Message: f.message}
	if row.status == http.StatusInternalServerError {
		body.Message, body.Details = "", "request "+callOf(r).id
	}
	refuse(w, row.status, f, body)
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
	MediaID []byte  `json:"mediaId"` // Base64 in JSON
	Layers  *layers `json:"layers,omitempty"`
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
	var form *uploadForm
	err = s.readBody(w, r, maxImageBytes+formSlack, func() (err error) {
		parts, err := r.MultipartReader()
		if err != nil {
			return &failure{badRequest, "the body must be multipart/form-data with a boundary", 0, err}
		}
		form, err = parseUpload(parts)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := identify(r.Header, form); err != nil {
		return nil, err
	}
	callOf(r).note("page_slug", form.pageSlug, "bulk", form.bulk, "pdf", form.pdf)
	options := unink.Options{Format: form.format}
	if preserve || form.preserveColor {
		options.Finish = unink.Colour
	}
	res, err := s.clean(r.Context(), input{image: form.image, options: options})
	if err != nil {
		return nil, err
	}
	// Whoever asks an open service has bought nothing.
	return webAnswer{Data: envelope{imageAnswer{MediaID: res.Data}}, IsTrial: true}, nil
}

// identify checks what a caller says of itself. In open mode there are no accounts to hold it
// against, so that only contradictions are refused.
func identify(h http.Header, form *uploadForm) error {
	switch t := h.Get("X-User-Type"); t {
	case "", "registered", "guest":
		return nil
	case "anonymous":
		if h.Get("X-Device-Id") == "" || form.userID == "" {
			return fail(unverified, "an anonymous account is identified by the header X-Device-Id and the field userId; one is missing")
		}
		return nil
	default:
		return fail(badParameter, "X-User-Type must be anonymous, registered or guest, not %q", t)
	}
}

// queryFlag reads a boolean of the query; absent is false.
func queryFlag(r *http.Request, name string) (bool, error) {
	values, given := r.URL.Query()[name]
	if !given {
		return false, nil
	}
	if len(values) > 1 {
		return false, fail(badParameter, "%s is given %d times", name, len(values))
	}
	return parseFlag(name, values[0])
}

func parseFlag(name, value string) (bool, error) {
	switch strings.ToLower(value) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fail(badParameter, "%s must be true or false, not %q", name, value)
}
