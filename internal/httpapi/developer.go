package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
)

const (
	// maxDeveloperSide is the longest side, in pixels, that the developer entry point takes.
	maxDeveloperSide = 4000
	// maxDeveloperBody is what the largest image can make of a body: its Base64 with each slash
	// escaped where some encoders do (one character in 64), and the other keys.
	maxDeveloperBody = (maxImageBytes+2)/3*4 + 256<<10
)

// developerRow is what a kind of failure is to the developer entry point.
type developerRow struct {
	status int
	code   int
	text   string
}

var developerTable = map[kind]developerRow{
	badRequest:    {http.StatusBadRequest, 1000, "body error"},
	wrongMethod:   {http.StatusMethodNotAllowed, 1000, "body error"},
	badParameter:  {http.StatusBadRequest, 1001, "param error"},
	badMediaType:  {http.StatusUnsupportedMediaType, 1002, "content type error"},
	noImage:       {http.StatusBadRequest, 1003, "image not exists"},
	fileTooLarge:  {http.StatusBadRequest, 1004, "image size error"},
	badDimensions: {http.StatusBadRequest, 1004, "image size error"},
	tooSmall:      {http.StatusBadRequest, 1004, "image size error"},
	unknownFormat: {http.StatusBadRequest, 1005, "image format error"},
	brokenImage:   {http.StatusBadRequest, 1005, "image format error"},
	badToken:      {http.StatusUnauthorized, 1006, "invalid signature"},
	bodyTooLarge:  {http.StatusRequestEntityTooLarge, 1007, "body size error"},
	unauthorized:  {http.StatusUnauthorized, 1008, "no authorization"},
	unexpected:    {http.StatusInternalServerError, 2000, "server unknown error"},
	timedOut:      {http.StatusGatewayTimeout, 2001, "server timeout"},
	blank:         {http.StatusUnprocessableEntity, 2003, "no content recognition"},
	badResult:     {http.StatusInternalServerError, 2004, "validate data error"},
	overloaded:    {http.StatusServiceUnavailable, 4000, "base server error"},
}

// sizeRule is said with every code 1004.
var sizeRule = fmt.Sprintf("the image must be under 5 MB and its longest side under %d px, each side at least %d px", maxDeveloperSide, minImageSide)

// developerFailure is the developer entry point's error envelope.
type developerFailure struct {
	Error   string `json:"error"`
	Code    int    `json:"code"`
	Message string `json:"message"`
}

const developerContentType = "application/json; charset=UTF-8"

func writeDeveloperFailure(w http.ResponseWriter, r *http.Request, f *failure) {
	row, known := developerTable[f.kind]
	if !known {
		row = developerTable[unexpected]
	}
	message := row.text + ": " + f.message
	switch row.code {
	case 1004:
		message += "; " + sizeRule
	case 2000:
		message = row.text + ": request " + callOf(r).id
	}
	if row.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	w.Header().Set("Content-Type", developerContentType)
	refuse(w, row.status, f, developerFailure{"API_ERROR", row.code, message})
}

// developerAnswer is the developer entry point's success envelope.
type developerAnswer struct {
	Code    int      `json:"code"`
	Data    envelope `json:"data"`
	Message string   `json:"message"`
}

// cleanup is POST /cleanup.
func (s *Server) cleanup(w http.ResponseWriter, r *http.Request) (any, error) {
	if err := s.authorize(r.Header.Values("Authorization")); err != nil {
		return nil, err
	}
	if err := checkJSON(r.Header.Get("Content-Type")); err != nil {
		return nil, err
	}
	var body []byte
	err := s.readBody(w, r, maxDeveloperBody, func() (err error) {
		body, err = io.ReadAll(r.Body)
		return err
	})
	if err != nil {
		return nil, err
	}
	in, err := parseCleanup(body)
	if err != nil {
		return nil, err
	}
	res, err := s.clean(r.Context(), in)
	if err != nil {
		return nil, err
	}
	answer := developerAnswer{Data: envelope{imageAnswer{MediaID: res.Data}}, Message: "success"}
	if in.options.Layers {
		answer.Data.Data.Layers = &layers{res.Handwriting, res.Mask}
	}
	w.Header().Set("Content-Type", developerContentType)
	return answer, nil
}

// authorize checks the bearer token. Comparing digests tells nothing by its time.
func (s *Server) authorize(headers []string) error {
	if len(headers) == 0 {
		return fail(unauthorized, "send the header Authorization: Bearer <API_TOKEN>")
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	if len(headers) > 1 || !strings.EqualFold(scheme, "Bearer") || !tokenForm.MatchString(token) {
		return fail(badToken, "the token is malformed; send Authorization: Bearer <API_TOKEN>, with the token exactly as it was given")
	}
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(s.cfg.DeveloperToken))
	if subtle.ConstantTimeCompare(got[:], want[:]) == 0 {
		return fail(unauthorized, "the token is not known here")
	}
	return nil
}

// checkJSON accepts application/json in UTF-8, which is also what no charset means.
func checkJSON(contentType string) error {
	media, params, err := mime.ParseMediaType(contentType)
	charset, given := params["charset"]
	if err != nil || media != "application/json" || given && !strings.EqualFold(charset, "utf-8") {
		return fail(badMediaType, "Content-Type must be application/json; charset=UTF-8, not %q", contentType)
	}
	return nil
}
