package developer

import (
	"context"
	"errors"
	"strconv"
	"time"

	"unink/internal/credit"
	"unink/internal/gate"
	"unink/internal/httpapi/cleaning"
	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/setup"
	"unink/internal/pdfjob"
	"unink/internal/usage"
)

// PDFEngine cleans pages of jobs beside those of requests.
func (a *API) PDFEngine() (pdfjob.Engine, error) {
	pages, err := a.engine.PDFPages()
	if err != nil {
		return nil, err
	}
	return pdfEngine{a.Setup, pages}, nil
}

type pdfEngine struct {
	*setup.Setup
	*cleaning.PDFPages // with CleanFor
}

func (e pdfEngine) Lease() time.Duration {
	return e.Time() + 2*time.Minute // in which the page is encoded and kept
}

func (e pdfEngine) Explain(err error) pdfjob.Problem {
	var document *pdfjob.DocumentError
	var pages *pdfjob.PagesError
	f := failure.Of(cleaning.CreditFailure(err))
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
	row := rowOf(f.Kind)
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
		e.Paid()
	}
	e.Services.Uses.Record(usage.Use{At: e.Now(), Entry: credit.Developer, Caller: kindCustomer,
		Owner: owner, Bulk: true, PDF: true, Outcome: outcome, Charged: charged,
		Millis: took.Milliseconds()})
}
