// Package developer is the developer entry point: pictures and PDFs of programs, and the customers
// whose programs they are.
package developer

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"unink"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/cleaning"
	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/input"
	"unink/internal/httpapi/session"
	"unink/internal/httpapi/setup"
	"unink/internal/httpapi/state"
	"unink/internal/webui"
)

const (
	// maxSide is the longest side, in pixels, that the developer entry point takes.
	maxSide = 4000
	// MaxBody is what the largest image can make of a body: its Base64 with each slash
	// escaped where some encoders do (one character in 64), and the other keys.
	MaxBody = (unink.DefaultMaxBytes+2)/3*4 + 256<<10
)

// API answers the developer entry point.
type API struct {
	*setup.Setup
	entry    *call.Entry
	site     *call.Entry // of the pages
	engine   *cleaning.Engine
	sessions session.Sessions
	state    state.Reader
	pages    *webui.UI
}

// New makes the developer entry point of an engine, whose customers see themselves on a site.
func New(s *setup.Setup, site *call.Entry, engine *cleaning.Engine, pages *webui.UI) *API {
	a := &API{Setup: s, site: site, engine: engine, sessions: session.Sessions{Setup: s},
		state: state.Reader{Setup: s}, pages: pages}
	a.entry = &call.Entry{Known: a.known, Write: WriteFailure, Setup: s, Bounds: site.Bounds}
	return a
}

// Mount adds the routes, but GET /account, which is a page of the site, too.
func (a *API) Mount(mux *http.ServeMux) {
	mux.Handle("POST /cleanup", a.entry.Handler(a.cleanup))
	mux.Handle("/cleanup", a.entry.Only(http.MethodPost))
	mux.Handle("GET /developers", a.pages.Page("developers", a.developersPage))
	mux.Handle("GET /developers/console", a.pages.Page("console", a.consolePage))
	if a.Services == nil {
		return
	}
	mux.Handle("/account", a.entry.Only(http.MethodGet))
	mux.Handle("GET /developers/account", a.sessions.ForMembers(a.site, a.pages.Page("customer",
		func(*http.Request) any { return customerPage{a.Config.TestCredits} })))
	for pattern, answer := range map[string]call.Answerer{
		"GET /api/customers":                a.sessions.ForUser(a.customersOf),
		"POST /api/customers":               a.sessions.ForUser(a.beginCustomer),
		"GET /api/customers/{slug}":         a.customer,
		"GET /api/customers/{slug}/uses":    a.customerUses,
		"POST /api/customers/{slug}/rotate": call.WithBody(a.rotateToken),
	} {
		mux.Handle(pattern, a.site.Handler(answer))
	}
	if a.Services.PDFs != nil {
		a.mountPDFs(mux)
	}
}

const answerType = "application/json; charset=UTF-8"

// setCredits says what a request cost and what its customer has left.
func setCredits(h http.Header, c *call.Call, charged int) {
	remaining := 0
	if c.Caller != nil {
		remaining = c.Caller.Remaining
	}
	h.Set("X-Credits-Charged", strconv.Itoa(charged))
	h.Set("X-Credits-Remaining", strconv.Itoa(remaining))
}

// answer is the developer entry point's success envelope.
type answer struct {
	Code    int             `json:"code"`
	Data    cleaning.Answer `json:"data"`
	Message string          `json:"message"`
}

// cleanup is POST /cleanup.
func (a *API) cleanup(w http.ResponseWriter, r *http.Request) (any, error) {
	c := call.Of(r.Context())
	var err error
	if c.Caller, err = a.caller(r); err != nil {
		return nil, err
	}
	in, same, err := a.readCleanup(w, r)
	if err != nil {
		return nil, err
	}
	plain := wantsPicture(r.Header.Values("Accept"))
	if plain && (in.Options.Layers || in.Options.Before) {
		return nil, failure.New(failure.BadParameter, "layers and the page before come in JSON; "+
			"send Accept: application/json, or leave return_layers and return_before out")
	}
	if c.Key, err = call.IdempotencyKey(r, c.Caller.Owner, same...); err != nil {
		return nil, err
	}
	res, err := a.engine.Clean(r.Context(), in)
	if err != nil {
		return nil, err
	}
	charged := 0
	if c.Charged {
		charged = 1
	}
	setCredits(w.Header(), c, charged)
	if plain {
		w.Header().Set("Content-Type", res.Format.MediaType())
		return call.Encoded(res.Data), nil
	}
	w.Header().Set("Content-Type", answerType)
	return answer{Data: cleaning.AnswerOf(res, in.Options), Message: "success"}, nil
}

// readCleanup reads the body, a JSON object or a form, and what has to be the same with the same
// Idempotency-Key.
func (a *API) readCleanup(w http.ResponseWriter,
	r *http.Request) (in cleaning.Input, same [][]byte, err error) {
	contentType := r.Header.Get("Content-Type")
	if media, _, err := mime.ParseMediaType(contentType); err == nil &&
		media == "multipart/form-data" {
		in, err = a.readCleanupForm(w, r)
		// each form has another boundary
		return in, [][]byte{fmt.Appendf(nil, "%+v", in.Options), in.Image}, err
	}
	if err := checkJSON(contentType); err != nil {
		return in, nil, err
	}
	var body []byte
	err = call.ReadBody(w, r, MaxBody, func() (err error) {
		body, err = io.ReadAll(r.Body)
		return err
	})
	if err != nil {
		return in, nil, err
	}
	in, err = parseCleanup(body)
	return in, [][]byte{body}, err
}

func (a *API) readCleanupForm(w http.ResponseWriter, r *http.Request) (in cleaning.Input,
	err error) {
	err = call.ReadBody(w, r, unink.DefaultMaxBytes+input.FormSlack, func() error {
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
