// Package web is the web entry point: pages of people who are logged in, and of guests.
package web

import (
	"net/http"

	"unink"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/cleaning"
	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/input"
	"unink/internal/httpapi/session"
	"unink/internal/httpapi/setup"
)

// Web answers the web entry point.
type Web struct {
	*setup.Setup
	entry    *call.Entry
	engine   *cleaning.Engine
	sessions session.Sessions
}

// New makes the web entry point of an engine.
func New(s *setup.Setup, entry *call.Entry, engine *cleaning.Engine) *Web {
	return &Web{s, entry, engine, session.Sessions{Setup: s}}
}

// Mount adds the routes.
func (e *Web) Mount(mux *http.ServeMux) {
	mux.Handle("POST /api/process-image", e.entry.Handler(e.processImage))
	mux.Handle("/api/process-image", e.entry.Only(http.MethodPost))
	if e.Services != nil {
		mux.Handle("GET /api/guest", e.entry.Handler(e.guestLeft))
	}
}

// answer is the web entry point's success envelope.
type answer struct {
	Code    int             `json:"code"`
	Data    cleaning.Answer `json:"data"`
	IsTrial bool            `json:"isTrial"`
}

// processImage is POST /api/process-image.
func (e *Web) processImage(w http.ResponseWriter, r *http.Request) (any, error) {
	preserve, err := queryFlag(r, "preserveColor")
	if err != nil {
		return nil, err
	}
	c := call.Of(r.Context())
	var form *upload
	err = call.ReadBody(w, r, unink.DefaultMaxBytes+input.FormSlack, func() error {
		parts, err := r.MultipartReader()
		if err != nil {
			return failure.With(err, failure.BadRequest,
				"the body must be multipart/form-data with a boundary")
		}
		form, err = parseUpload(parts)
		return err
	})
	if err != nil {
		return nil, err
	}
	c.PageSlug, c.Bulk, c.PDF = form.pageSlug, form.bulk, form.pdf
	c.Note("page_slug", form.pageSlug, "bulk", form.bulk, "pdf", form.pdf)
	if c.Caller, err = e.caller(r, form); err != nil {
		return nil, err
	}
	form.Preserve = form.Preserve || preserve
	options := form.Granted()
	if len(c.Caller.Payers) > 0 {
		if c.Key, err = call.IdempotencyKey(r, c.Caller.Payers[0], form.image); err != nil {
			return nil, err
		}
	}
	res, err := e.engine.Clean(r.Context(), cleaning.Input{Image: form.image, Options: options})
	if err != nil {
		return nil, err
	}
	return answer{Data: cleaning.AnswerOf(res, options), IsTrial: c.Caller.Trial}, nil
}

// queryFlag reads a boolean of the query; absent is false.
func queryFlag(r *http.Request, name string) (bool, error) {
	text, given, err := input.QueryText(r, name)
	if err != nil || !given {
		return false, err
	}
	return input.ParseFlag(name, text)
}
