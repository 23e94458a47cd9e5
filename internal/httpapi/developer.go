package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"unink/internal/credit"
	"unink/internal/httpapi/failure"
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

var developerTable = map[failure.Kind]developerRow{
	failure.BadRequest:    {http.StatusBadRequest, 1000, "body error"},
	failure.WrongMethod:   {http.StatusMethodNotAllowed, 1000, "body error"},
	failure.NotFound:      {http.StatusNotFound, 1000, "body error"},
	failure.BadParameter:  {http.StatusBadRequest, 1001, "param error"},
	failure.BadMediaType:  {http.StatusUnsupportedMediaType, 1002, "content type error"},
	failure.NoImage:       {http.StatusBadRequest, 1003, "image not exists"},
	failure.FileTooLarge:  {http.StatusBadRequest, 1004, "image size error"},
	failure.BadDimensions: {http.StatusBadRequest, 1004, "image size error"},
	failure.TooSmall:      {http.StatusBadRequest, 1004, "image size error"},
	failure.UnknownFormat: {http.StatusBadRequest, 1005, "image format error"},
	failure.BrokenImage:   {http.StatusBadRequest, 1005, "image format error"},
	failure.BadToken:      {http.StatusUnauthorized, 1006, "invalid signature"},
	failure.BodyTooLarge:  {http.StatusRequestEntityTooLarge, 1007, "body size error"},
	failure.Unauthorized:  {http.StatusUnauthorized, 1008, "no authorization"},
	failure.NoCredits:     {http.StatusPaymentRequired, 1008, "no authorization"},
	failure.CrossSite:     {http.StatusForbidden, 1008, "no authorization"},
	failure.Unexpected:    {http.StatusInternalServerError, 2000, "server unknown error"},
	failure.TimedOut:      {http.StatusGatewayTimeout, 2001, "server timeout"},
	failure.Blank:         {http.StatusUnprocessableEntity, 2003, "no content recognition"},
	failure.BadResult:     {http.StatusInternalServerError, 2004, "validate data error"},
	failure.Remote:        {http.StatusBadGateway, 3000, "remote server error"},
	failure.Overloaded:    {http.StatusServiceUnavailable, 4000, "base server error"},
	failure.TooManyOpen:   {http.StatusTooManyRequests, 4000, "base server error"},
	failure.NotReady:      {http.StatusConflict, 4000, "base server error"},
}

// sizeRule is said with every code 1004.
var sizeRule = fmt.Sprintf(
	"the image must be under 5 MB and its longest side under %d px, each side at least %d px",
	maxDeveloperSide, minImageSide,
)

// developerFailure is the developer entry point's error envelope.
type developerFailure struct {
	Error   string `json:"error"`
	Code    int    `json:"code"`
	Message string `json:"message"`
}

const developerContentType = "application/json; charset=UTF-8"

func writeDeveloperFailure(w http.ResponseWriter, r *http.Request, f *failure.Failure) {
	row := developerRowOf(f.Kind)
	message := row.text + ": " + f.Message
	switch row.code {
	case 1004:
		message += "; " + sizeRule
	case 2000:
		message = row.text + ": request " + callOf(r).id
	}
	if row.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	setCredits(w.Header(), callOf(r), 0)
	w.Header().Set("Content-Type", developerContentType)
	refuse(w, row.status, f, developerFailure{"API_ERROR", row.code, message})
}

func developerRowOf(k failure.Kind) developerRow {
	if row, known := developerTable[k]; known {
		return row
	}
	return developerTable[failure.Unexpected]
}

// setCredits says what a request cost and what its customer has left.
func setCredits(h http.Header, c *call, charged int) {
	remaining := 0
	if c.caller != nil {
		remaining = c.caller.remaining
	}
	h.Set("X-Credits-Charged", strconv.Itoa(charged))
	h.Set("X-Credits-Remaining", strconv.Itoa(remaining))
}

// developerAnswer is the developer entry point's success envelope.
type developerAnswer struct {
	Code    int      `json:"code"`
	Data    envelope `json:"data"`
	Message string   `json:"message"`
}

// cleanup is POST /cleanup.
func (s *Server) cleanup(w http.ResponseWriter, r *http.Request) (any, error) {
	c := callOf(r)
	var err error
	if c.caller, err = s.door.developer(r); err != nil {
		return nil, err
	}
	in, same, err := s.readCleanup(w, r)
	if err != nil {
		return nil, err
	}
	plain := wantsPicture(r.Header.Values("Accept"))
	if plain && (in.options.Layers || in.options.Before) {
		return nil, failure.New(failure.BadParameter, "layers and the page before come in JSON; "+
			"send Accept: application/json, or leave return_layers and return_before out")
	}
	if c.key, err = idempotencyKey(r, c.caller.owner, same...); err != nil {
		return nil, err
	}
	res, err := s.clean(r.Context(), in)
	if err != nil {
		return nil, err
	}
	answer := developerAnswer{Data: envelope{imageAnswer{MediaID: res.Data, Before: res.Before}},
		Message: "success"}
	if in.options.Layers {
		answer.Data.Data.Layers, answer.Data.Data.Report = &layers{res.Handwriting, res.Mask}, &res.Report
	}
	charged := 0
	if c.charge.charged {
		charged = 1
	}
	setCredits(w.Header(), c, charged)
	if plain {
		w.Header().Set("Content-Type", res.Format.MediaType())
		return encoded(res.Data), nil
	}
	w.Header().Set("Content-Type", developerContentType)
	return answer, nil
}

// readCleanup reads the body, a JSON object or a form, and what has to be the same with the same
// Idempotency-Key.
func (s *Server) readCleanup(w http.ResponseWriter,
	r *http.Request) (in input, same [][]byte, err error) {
	contentType := r.Header.Get("Content-Type")
	if media, _, err := mime.ParseMediaType(contentType); err == nil &&
		media == "multipart/form-data" {
		in, err = s.readCleanupForm(w, r)
		// each form has another boundary
		return in, [][]byte{fmt.Appendf(nil, "%+v", in.options), in.image}, err
	}
	if err := checkJSON(contentType); err != nil {
		return in, nil, err
	}
	var body []byte
	err = s.readBody(w, r, maxDeveloperBody, func() (err error) {
		body, err = io.ReadAll(r.Body)
		return err
	})
	if err != nil {
		return in, nil, err
	}
	in, err = parseCleanup(body)
	return in, [][]byte{body}, err
}

func (s *Server) readCleanupForm(w http.ResponseWriter, r *http.Request) (in input, err error) {
	err = s.readBody(w, r, maxImageBytes+formSlack, func() error {
		parts, err := r.MultipartReader()
		if err != nil {
			return failure.With(err, failure.BadMediaType,
				"the body must be multipart/form-data with a boundary, or JSON")
		}
		in, err = parseCleanupForm(parts)
		return err
	})
	return in, err
}

// wantsPicture tells callers who accept a picture, and no JSON by that name.
func wantsPicture(accept []string) bool {
	picture := false
	for part := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		media, parameters, err := mime.ParseMediaType(part)
		weight, weighted := parameters["q"]
		q, unreadable := strconv.ParseFloat(weight, 64)
		switch {
		case err != nil, weighted && unreadable == nil && q <= 0: // 0 is what is not accepted
		case media == "application/json":
			return false
		case strings.HasPrefix(media, "image/"):
			picture = true
		}
	}
	return picture
}

// maxKeyBytes is the longest Idempotency-Key.
const maxKeyBytes = 255

// idempotencyKey reads the header of that name; nil is none. The body is what must be the same with
// the same key.
func idempotencyKey(r *http.Request, owner string, body ...[]byte) (*credit.Key, error) {
	values := r.Header.Values("Idempotency-Key")
	if len(values) == 0 || owner == "" {
		return nil, nil
	}
	if len(values) > 1 || values[0] == "" || len(values[0]) > maxKeyBytes {
		return nil, failure.New(failure.BadParameter, "send one Idempotency-Key of 1 to %d bytes",
			maxKeyBytes)
	}
	if err := checkText("Idempotency-Key", values[0]); err != nil {
		return nil, err
	}
	sum := sha256.New()
	for _, part := range body {
		sum.Write(part)
	}
	return &credit.Key{Owner: owner, Key: values[0], BodyHash: hex.EncodeToString(sum.Sum(nil))}, nil
}

// accountAnswer is what GET /account tells a customer.
type accountAnswer struct {
	Code    int          `json:"code"`
	Data    accountState `json:"data"`
	Message string       `json:"message"`
}

type accountState struct {
	AppCode  string         `json:"appCode,omitempty"`
	Credits  int            `json:"credits"`
	Packages []packageState `json:"packages"`
}

type packageState struct {
	Plan      string    `json:"plan"`
	Credits   int       `json:"credits"`
	Remaining int       `json:"remaining"`
	Expires   time.Time `json:"expires"`
	Expired   bool      `json:"expired"`
}

// customerAccount is GET /account.
func (s *Server) customerAccount(w http.ResponseWriter, r *http.Request) (any, error) {
	c := callOf(r)
	var err error
	if c.caller, err = s.door.developer(r); err != nil {
		return nil, err
	}
	state, err := s.credits(r.Context(), c.caller.owner)
	if err != nil {
		return nil, err
	}
	state.AppCode = c.caller.appCode
	setCredits(w.Header(), c, 0)
	w.Header().Set("Content-Type", developerContentType)
	return accountAnswer{Data: state, Message: "success"}, nil
}

// credits is what an owner has.
func (s *Server) credits(ctx context.Context, owner string) (accountState, error) {
	packages, err := s.services.Credits.Packages(ctx, owner)
	if err != nil {
		return accountState{}, err
	}
	state := accountState{Packages: []packageState{}}
	for _, p := range packages {
		usable := p.Revoked.IsZero() && s.now().Before(p.Expires)
		if usable {
			state.Credits += p.Remaining
		}
		state.Packages = append(state.Packages,
			packageState{p.Plan, p.Credits, p.Remaining, p.Expires, !usable})
	}
	return state, nil
}

// checkJSON accepts application/json in UTF-8, which is also what no charset means.
func checkJSON(contentType string) error {
	media, params, err := mime.ParseMediaType(contentType)
	charset, given := params["charset"]
	if err != nil || media != "application/json" || given && !strings.EqualFold(charset, "utf-8") {
		return failure.New(failure.BadMediaType,
			"Content-Type must be application/json; charset=UTF-8 or multipart/form-data, not %q",
			contentType)
	}
	return nil
}
