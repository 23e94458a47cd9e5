package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"unink"
	"unink/internal/credit"
	"unink/internal/gate"
	"unink/internal/httpapi/failure"
	"unink/internal/option"
	"unink/internal/pdfjob"
	"unink/internal/usage"
)

// maxPDFBody is what the largest PDF can make of a body, as maxDeveloperBody is of an image.
const maxPDFBody = (pdfjob.MaxBytes+2)/3*4 + pdfjob.MaxBytes/48 + formSlack

// pdfRoutes are those of whole PDFs, for developers.
func (s *Server) pdfRoutes(mux *http.ServeMux) {
	if s.services.PDFs == nil {
		return
	}
	mux.Handle("POST /pdf", s.endpoint(s.addPDF, s.developer()))
	mux.Handle("GET /pdf/{id}", s.endpoint(s.ofPDF(s.pdfStatus), s.developer()))
	mux.Handle("DELETE /pdf/{id}", s.endpoint(s.ofPDF(s.deletePDF), s.developer()))
	mux.Handle("GET /pdf/{id}/file", s.endpoint(s.ofPDF(s.pdfFile), s.developer()))
	mux.Handle("/pdf", only(http.MethodPost, writeDeveloperFailure))
	mux.Handle("/pdf/{id}", only("GET, DELETE", writeDeveloperFailure))
	mux.Handle("/pdf/{id}/file", only(http.MethodGet, writeDeveloperFailure))
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
	wish
	hook pdfjob.Hook
}

func (p *pdfRequest) granted() pdfjob.Options {
	return pdfjob.Options{Pages: p.pages, KeepMarks: p.keepMarks, Clean: p.wish.granted()}
}

func errPDFTooLarge() *failure.Failure {
	return failure.New(failure.BodyTooLarge,
		"a PDF may have at most %d MB; split it, or scan it more coarsely",
		pdfjob.MaxBytes>>20)
}

// pdfFields say how the fields of a form are read: the file, and the keys of the JSON object.
var pdfFields = withOptions(fields[pdfRequest]{
	"pdf": fileOf(func(p *pdfRequest) *[]byte { return &p.document }, pdfjob.MaxBytes,
		errPDFTooLarge()),
	"pages":          text(func(p *pdfRequest, _, v string) error { p.pages = v; return nil }),
	"keep_marks":     flag(func(p *pdfRequest) *bool { return &p.keepMarks }),
	"preserve_color": flag(func(p *pdfRequest) *bool { return &p.preserve }),
	"webhook":        text(func(p *pdfRequest, _, v string) error { p.hook.URL = v; return nil }),
	"webhook_secret": text(func(p *pdfRequest, _, v string) error {
		p.hook.Secret = v
		return nil
	}),
}, option.Option.PDFKey, func(p *pdfRequest) *unink.Options { return &p.options })

// pdfKeys say how each key of the JSON object is read.
var pdfKeys = withKeys(keys[pdfRequest]{
	"media_id": into("a string", func(p *pdfRequest, v string) error { p.mediaID = v; return nil }),
	"pages":    into("a string", func(p *pdfRequest, v string) error { p.pages = v; return nil }),
	"keep_marks": into(boolean, func(p *pdfRequest, v bool) error {
		p.keepMarks = v
		return nil
	}),
	"preserve_color": into(boolean, func(p *pdfRequest, v bool) error {
		p.preserve = v
		return nil
	}),
	"webhook": into("a string", func(p *pdfRequest, v string) error { p.hook.URL = v; return nil }),
	"webhook_secret": into("a string", func(p *pdfRequest, v string) error {
		p.hook.Secret = v
		return nil
	}),
}, option.Option.PDFKey, func(p *pdfRequest) *unink.Options { return &p.options })

// addPDF is POST /pdf.
func (s *Server) addPDF(w http.ResponseWriter, r *http.Request) (any, error) {
	c := callOf(r)
	var err error
	if c.caller, err = s.door.developer(r); err != nil {
		return nil, err
	}
	in, err := s.readPDF(w, r)
	if err != nil {
		return nil, err
	}
	if err := s.checkPDF(in); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(in.document)
	j := pdfjob.Job{Owner: c.caller.owner, Options: in.granted(), Hook: in.hook}
	key, err := idempotencyKey(r, j.Owner, fmt.Appendf(nil, "%+v %+v", j.Options, j.Hook), sum[:])
	if err != nil {
		return nil, err
	}
	j.Body = hex.EncodeToString(sum[:])
	if key != nil {
		j.Key, j.Body = key.Key, key.BodyHash
	}
	if j, err = s.services.PDFs.Add(r.Context(), j, in.document); err != nil {
		return nil, pdfFailure(err)
	}
	w.Header().Set("Location", "/pdf/"+j.ID)
	c.note("job", j.ID)
	return s.tellPDF(w, c, http.StatusAccepted, j), nil
}

func (s *Server) tellPDF(w http.ResponseWriter, c *call, status int, j pdfjob.Job) any {
	setCredits(w.Header(), c, 0)
	w.Header().Set("Content-Type", developerContentType)
	return answered{status, pdfAnswer{Data: j.Status(), Message: "success"}}
}

// readPDF reads the body, a JSON object or a form.
func (s *Server) readPDF(w http.ResponseWriter, r *http.Request) (in *pdfRequest, err error) {
	contentType := r.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(contentType)
	if form := err == nil && media == "multipart/form-data"; !form {
		if err := checkJSON(contentType); err != nil {
			return nil, err
		}
		var body []byte
		if err := s.readBody(w, r, maxPDFBody, func() (err error) {
			body, err = io.ReadAll(r.Body)
			return err
		}); err != nil {
			return nil, pdfBodyFailure(err)
		}
		return parsePDF(body)
	}
	in = new(pdfRequest)
	return in, pdfBodyFailure(s.readBody(w, r, pdfjob.MaxBytes+formSlack, func() error {
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
func (s *Server) checkPDF(in *pdfRequest) error {
	switch {
	case in.options.Format == unink.WebP:
		return failure.New(failure.BadParameter,
			"a PDF cannot hold WebP; use the output_format png or jpeg")
	case (in.hook.URL == "") != (in.hook.Secret == ""):
		return failure.New(failure.BadParameter, "webhook and webhook_secret belong together")
	}
	if err := in.granted().Check(); err != nil {
		return failure.New(failure.BadParameter, "pages %.64q is not known; write such as 2-5 or 1,3,7-",
			in.pages)
	}
	if in.hook.URL != "" {
		if err := s.services.PDFs.CheckHook(in.hook.URL); err != nil {
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
		return creditFailure(credit.ErrKeyReused)
	}
	return creditFailure(err)
}

// ofPDF answers of the job that the path names, of the customer who asks.
func (s *Server) ofPDF(answer func(http.ResponseWriter, *http.Request, *call, pdfjob.Job) (any,
	error)) answerer {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		c := callOf(r)
		var err error
		if c.caller, err = s.door.developer(r); err != nil {
			return nil, err
		}
		j, err := s.services.PDFs.Job(r.Context(), c.caller.owner, r.PathValue("id"))
		if err != nil {
			return nil, pdfFailure(err)
		}
		return answer(w, r, c, j)
	}
}

// pdfStatus is GET /pdf/{id}.
func (s *Server) pdfStatus(w http.ResponseWriter, _ *http.Request, c *call,
	j pdfjob.Job) (any, error) {
	if !j.State.Ended() {
		w.Header().Set("Retry-After", strconv.Itoa(int(failure.RetryAfter.Seconds())))
	}
	return s.tellPDF(w, c, http.StatusOK, j), nil
}

// deletePDF is DELETE /pdf/{id}.
func (s *Server) deletePDF(w http.ResponseWriter, r *http.Request, c *call,
	j pdfjob.Job) (any, error) {
	if err := s.services.PDFs.Delete(r.Context(), j.Owner, j.ID); err != nil {
		return nil, pdfFailure(err)
	}
	setCredits(w.Header(), c, 0)
	return answered{http.StatusNoContent, nil}, nil
}

// pdfFile is GET /pdf/{id}/file.
func (s *Server) pdfFile(w http.ResponseWriter, r *http.Request, c *call,
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
	return download{s.services.PDFs.File(r.Context(), j), j.Finished, `"` + j.ID + `"`}, nil
}

// download is an answer that is a PDF, of which a piece at a time is in memory.
type download struct {
	content io.ReadSeeker
	made    time.Time
	tag     string
}

// hand writes a download, whole or the part that was asked for.
func (s *Server) hand(w http.ResponseWriter, r *http.Request, d download) error {
	if err := callOf(r).stay.answer(pdfjob.PieceBytes); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/pdf")
	h.Set("Content-Disposition", `attachment; filename="clean.pdf"`)
	h.Set("ETag", d.tag)
	content := &granting{d.content, func() { s.grantTime(w) }, nil}
	http.ServeContent(w, r, "", d.made, content)
	if content.broken != nil && r.Context().Err() == nil { // the answer's end is missing
		s.log.Error("a file could not be read", "request_id", callOf(r).id, "cause", content.broken)
	}
	return nil
}

// granting gives the client its time for each part that is read.
type granting struct {
	io.ReadSeeker
	grant  func()
	broken error
}

func (g *granting) Read(p []byte) (int, error) {
	g.grant()
	n, err := g.ReadSeeker.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		g.broken = err
	}
	return n, err
}

// pdfPatience is how much longer than for a request's page a worker may have one that nobody waits
// for.
const pdfPatience = 4

// PDFEngine cleans pages of jobs beside those of requests.
func (s *Server) PDFEngine() (pdfjob.Engine, error) {
	cleaner, ok := s.cleaner.(PixelCleaner)
	if !ok {
		return nil, errors.New("the engine cannot clean pages of PDFs")
	}
	return pdfEngine{s, cleaner}, nil
}

type pdfEngine struct {
	*Server
	cleaner PixelCleaner
}

func (e pdfEngine) CleanFor(ctx context.Context, owner string, m image.Image, o unink.Options,
	begun func(context.Context) error) (page *unink.Page, err error) {
	size := m.Bounds().Size()
	turn := gate.Turn{Caller: owner, Bulk: true,
		Size: (pageBase + float64(size.X*size.Y)) / (pageBase + usualPage)}
	err = e.work.DoAs(ctx, turn, func() error {
		ctx, cancel := context.WithTimeout(ctx, pdfPatience*e.cfg.Deadline)
		defer cancel()
		if err := begun(ctx); err != nil {
			return err
		}
		page, err = e.cleaner.CleanImage(ctx, m, o)
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	e.ready.proven()
	e.metrics.page(page.Timings)
	return page, nil
}

func (e pdfEngine) Lease() time.Duration {
	return pdfPatience*e.cfg.Deadline + 2*time.Minute // in which the page is encoded and kept
}

func (e pdfEngine) Explain(err error) pdfjob.Problem {
	var document *pdfjob.DocumentError
	var pages *pdfjob.PagesError
	f := failure.Of(creditFailure(err))
	switch {
	case errors.As(err, &document):
		f = failure.New(failure.BrokenImage, "%s", document.Error())
	case errors.As(err, &pages):
		f = failure.New(failure.BadParameter, "%s", pages.Error())
	case errors.Is(err, pdfjob.ErrLate):
		f = failure.New(failure.TimedOut, "%s", err)
	case errors.Is(err, pdfjob.ErrTries):
		f = failure.New(failure.Remote, "%s", err)
	case errors.Is(err, pdfjob.ErrTooLong):
		f = failure.New(failure.BadResult, "%s", err)
	}
	row := developerRowOf(f.Kind)
	return pdfjob.Problem{Code: row.code, Message: row.text + ": " + f.Message}
}

func (e pdfEngine) Passing(err error) (again, suspect bool) {
	switch {
	case failure.Away(err), errors.Is(err, gate.ErrFull),
		errors.Is(err, gate.ErrLate), errors.Is(err, gate.ErrClosed), errors.Is(err, gate.ErrNoWorker):
		return true, false
	case errors.Is(err, gate.ErrWorker), errors.Is(err, context.DeadlineExceeded):
		return true, true
	}
	return false, false
}

func (e pdfEngine) Note(owner string, p pdfjob.Problem, charged int, took time.Duration) {
	outcome := usage.OK
	if p.Code != 0 {
		outcome = strconv.Itoa(p.Code)
	}
	if charged > 0 {
		e.metrics.credits.WithLabelValues("settled").Inc()
	}
	e.services.Uses.Record(usage.Use{At: e.now(), Entry: credit.Developer, Caller: callerCustomer,
		Owner: owner, Bulk: true, PDF: true, Outcome: outcome, Charged: charged,
		Millis: took.Milliseconds()})
}
