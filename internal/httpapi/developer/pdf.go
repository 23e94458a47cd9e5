package developer

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"unink"
	"unink/internal/credit"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/cleaning"
	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/input"
	"unink/internal/option"
	"unink/internal/pdfjob"
)

// maxPDFBody is what the largest PDF can make of a body, as MaxBody is of an image.
const maxPDFBody = (pdfjob.MaxBytes+2)/3*4 + pdfjob.MaxBytes/48 + input.FormSlack

// mountPDFs adds the routes of whole PDFs.
func (a *API) mountPDFs(mux *http.ServeMux) {
	mux.Handle("POST /pdf", a.entry.Handler(a.addPDF))
	mux.Handle("GET /pdf/{id}", a.entry.Handler(a.ofPDF(a.pdfStatus)))
	mux.Handle("DELETE /pdf/{id}", a.entry.Handler(a.ofPDF(a.deletePDF)))
	mux.Handle("GET /pdf/{id}/file", a.entry.Handler(a.ofPDF(a.pdfFile)))
	mux.Handle("/pdf", a.entry.Only(http.MethodPost))
	mux.Handle("/pdf/{id}", a.entry.Only("GET, DELETE"))
	mux.Handle("/pdf/{id}/file", a.entry.Only(http.MethodGet))
}

// pdfAnswer tells of a job.
type pdfAnswer struct {
	Code    int           `json:"code"`
	Data    pdfjob.Status `json:"data"`
	Message string        `json:"message"`
}

// pdfRequest is a PDF and what is to be done to it.
type pdfRequest struct {
	document  []byte
	mediaID   string // the document in Base64, where it came in JSON
	pages     string
	keepMarks bool
	input.Wish
	hook pdfjob.Hook
}

func (p *pdfRequest) job() pdfjob.Options {
	return pdfjob.Options{Pages: p.pages, KeepMarks: p.keepMarks, Clean: p.Granted()}
}

func errPDFTooLarge() *failure.Failure {
	return failure.New(failure.BodyTooLarge,
		"a PDF may have at most %d MB; split it, or scan it more coarsely",
		pdfjob.MaxBytes>>20)
}

// pdfFields say how the fields of a form are read: the file, and the keys of the JSON object.
var pdfFields = input.WithOptions(input.Fields[pdfRequest]{
	"pdf": input.FileOf(func(p *pdfRequest) *[]byte { return &p.document }, pdfjob.MaxBytes,
		errPDFTooLarge()),
	"pages":          input.Text(func(p *pdfRequest, _, v string) error { p.pages = v; return nil }),
	"keep_marks":     input.Flag(func(p *pdfRequest) *bool { return &p.keepMarks }),
	"preserve_color": input.Flag(func(p *pdfRequest) *bool { return &p.Preserve }),
	"webhook": input.Text(func(p *pdfRequest, _,
		v string) error {
		p.hook.URL = v
		return nil
	}),
	"webhook_secret": input.Text(func(p *pdfRequest, _, v string) error {
		p.hook.Secret = v
		return nil
	}),
}, option.Option.PDFKey, func(p *pdfRequest) *unink.Options { return &p.Options })

// pdfKeys say how each key of the JSON object is read.
var pdfKeys = withKeys(keys[pdfRequest]{
	"media_id": into("a string", func(p *pdfRequest, v string) error { p.mediaID = v; return nil }),
	"pages":    into("a string", func(p *pdfRequest, v string) error { p.pages = v; return nil }),
	"keep_marks": into(boolean, func(p *pdfRequest, v bool) error {
		p.keepMarks = v
		return nil
	}),
	"preserve_color": into(boolean, func(p *pdfRequest, v bool) error {
		p.Preserve = v
		return nil
	}),
	"webhook": into("a string", func(p *pdfRequest, v string) error { p.hook.URL = v; return nil }),
	"webhook_secret": into("a string", func(p *pdfRequest, v string) error {
		p.hook.Secret = v
		return nil
	}),
}, option.Option.PDFKey, func(p *pdfRequest) *unink.Options { return &p.Options })

// addPDF is POST /pdf.
func (a *API) addPDF(w http.ResponseWriter, r *http.Request) (any, error) {
	c := call.Of(r.Context())
	var err error
	if c.Caller, err = a.caller(r); err != nil {
		return nil, err
	}
	in, err := a.readPDF(w, r)
	if err != nil {
		return nil, err
	}
	if err := a.checkPDF(in); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(in.document)
	j := pdfjob.Job{Owner: c.Caller.Owner, Options: in.job(), Hook: in.hook}
	key, err := call.IdempotencyKey(r, j.Owner, fmt.Appendf(nil, "%+v %+v", j.Options, j.Hook), sum[:])
	if err != nil {
		return nil, err
	}
	j.Body = hex.EncodeToString(sum[:])
	if key != nil {
		j.Key, j.Body = key.Key, key.BodyHash
	}
	if j, err = a.Services.PDFs.Add(r.Context(), j, in.document); err != nil {
		return nil, pdfFailure(err)
	}
	w.Header().Set("Location", "/pdf/"+j.ID)
	c.Note("job", j.ID)
	return a.tellPDF(w, c, http.StatusAccepted, j), nil
}

func (a *API) tellPDF(w http.ResponseWriter, c *call.Call, status int, j pdfjob.Job) any {
	setCredits(w.Header(), c, 0)
	w.Header().Set("Content-Type", answerType)
	return call.Answered{Status: status, Body: pdfAnswer{Data: j.Status(), Message: "success"}}
}

// readPDF reads the body, a JSON object or a form.
func (a *API) readPDF(w http.ResponseWriter, r *http.Request) (in *pdfRequest, err error) {
	contentType := r.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(contentType)
	if form := err == nil && media == "multipart/form-data"; !form {
		if err := checkJSON(contentType); err != nil {
			return nil, err
		}
		var body []byte
		if err := call.ReadBody(w, r, maxPDFBody, func() (err error) {
			body, err = io.ReadAll(r.Body)
			return err
		}); err != nil {
			return nil, pdfBodyFailure(err)
		}
		return parsePDF(body)
	}
	in = new(pdfRequest)
	return in, pdfBodyFailure(call.ReadBody(w, r, pdfjob.MaxBytes+input.FormSlack,
		func() error {
			parts, err := r.MultipartReader()
			if err != nil {
				return failure.With(err, failure.BadMediaType,
					"the body must be multipart/form-data with a boundary, or JSON")
			}
			return parseStrictly(parts, in, pdfFields, func() bool { return in.document != nil })
		}))
}

func pdfBodyFailure(err error) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return errPDFTooLarge()
	}
	return err
}

func parsePDF(body []byte) (*pdfRequest, error) {
	in, err := parseObject(body, pdfKeys)
	if err != nil {
		return nil, err
	}
	if in.document, err = decodeMedia(in.mediaID); err == nil && len(in.document) > pdfjob.MaxBytes {
		err = errPDFTooLarge()
	}
	in.mediaID = ""
	return in, err
}

// checkPDF finds what is wrong with a request before anything is kept of it.
func (a *API) checkPDF(in *pdfRequest) error {
	switch {
	case in.Options.Format == unink.WebP:
		return failure.New(failure.BadParameter,
			"a PDF cannot hold WebP; use the output_format png or jpeg")
	case (in.hook.URL == "") != (in.hook.Secret == ""):
		return failure.New(failure.BadParameter, "webhook and webhook_secret belong together")
	}
	if err := in.job().Check(); err != nil {
		return failure.New(failure.BadParameter, "pages %.64q is not known; write such as 2-5 or 1,3,7-",
			in.pages)
	}
	if in.hook.URL != "" {
		if err := a.Services.PDFs.CheckHook(in.hook.URL); err != nil {
			return failure.With(err, failure.BadParameter, "webhook: "+err.Error())
		}
		if _, err := pdfjob.ParseSecret(in.hook.Secret); err != nil {
			return failure.With(err, failure.BadParameter, "webhook_secret: "+err.Error())
		}
	}
	switch {
	case len(in.document) == 0:
		return failure.New(failure.NoImage,
			"there is no PDF; send it in media_id or, in a form, as the file pdf")
	case !pdfjob.IsPDF(in.document):
		return failure.New(failure.UnknownFormat, "this is not a PDF; pictures go to /cleanup")
	}
	return nil
}

func pdfFailure(err error) error {
	switch {
	case errors.Is(err, pdfjob.ErrNotFound):
		return failure.With(err, failure.NotFound,
			"there is no such PDF, or it has expired or was deleted")
	case errors.Is(err, pdfjob.ErrTooMany):
		return &failure.Failure{Kind: failure.TooManyOpen, Cause: err, RetryAfter: time.Minute,
			Message: "you have as many PDFs here as you may; delete those that you have fetched, or wait " +
				"for others to be done"}
	case errors.Is(err, pdfjob.ErrFull):
		return &failure.Failure{Kind: failure.Overloaded, Cause: err, RetryAfter: time.Minute,
			Message: "there is no room for another PDF of yours; delete those that you have fetched, or " +
				"try again later"}
	case errors.Is(err, pdfjob.ErrKeyReused):
		return cleaning.CreditFailure(credit.ErrKeyReused)
	}
	return cleaning.CreditFailure(err)
}

// ofPDF answers of the job that the path names, of the customer who asks.
func (a *API) ofPDF(answer func(http.ResponseWriter, *http.Request, *call.Call, pdfjob.Job) (any,
	error)) call.Answerer {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		c := call.Of(r.Context())
		var err error
		if c.Caller, err = a.caller(r); err != nil {
			return nil, err
		}
		j, err := a.Services.PDFs.Job(r.Context(), c.Caller.Owner, r.PathValue("id"))
		if err != nil {
			return nil, pdfFailure(err)
		}
		return answer(w, r, c, j)
	}
}

// pdfStatus is GET /pdf/{id}.
func (a *API) pdfStatus(w http.ResponseWriter, _ *http.Request, c *call.Call,
	j pdfjob.Job) (any, error) {
	if !j.State.Ended() {
		w.Header().Set("Retry-After", strconv.Itoa(int(failure.RetryAfter.Seconds())))
	}
	return a.tellPDF(w, c, http.StatusOK, j), nil
}

// deletePDF is DELETE /pdf/{id}.
func (a *API) deletePDF(w http.ResponseWriter, r *http.Request, c *call.Call,
	j pdfjob.Job) (any, error) {
	if err := a.Services.PDFs.Delete(r.Context(), j.Owner, j.ID); err != nil {
		return nil, pdfFailure(err)
	}
	setCredits(w.Header(), c, 0)
	return call.Done, nil
}

// pdfFile is GET /pdf/{id}/file.
func (a *API) pdfFile(w http.ResponseWriter, r *http.Request, c *call.Call,
	j pdfjob.Job) (any, error) {
	switch {
	case !j.State.Ended():
		return nil, &failure.Failure{Kind: failure.NotReady, RetryAfter: failure.RetryAfter,
			Message: "the PDF is not done yet; GET /pdf/" + j.ID + " says how far it is"}
	case j.Bytes == 0:
		return nil, failure.New(failure.NotFound,
			"there is no file, for the PDF failed; GET /pdf/%s says why", j.ID)
	}
	setCredits(w.Header(), c, 0)
	return call.Download{
		Content: a.Services.PDFs.File(r.Context(), j), Piece: pdfjob.PieceBytes, Made: j.Finished,
		Header: map[string]string{
			"Content-Type":        "application/pdf",
			"Content-Disposition": `attachment; filename="clean.pdf"`,
			"ETag":                `"` + j.ID + `"`,
		},
	}, nil
}
