package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"unink"
	"unink/internal/gate"
)

// kind says what went wrong. Each entry point has one table that gives a kind its status and
// its name there; a kind without a row is answered as unexpected.
type kind uint8

const (
	unexpected kind = iota
	badRequest      // the body as a whole: not multipart, not JSON
	badParameter
	badMediaType
	wrongMethod
	notFound
	noImage
	bodyTooLarge
	fileTooLarge
	badDimensions // too many pixels or a side too long
	tooSmall
	unknownFormat
	brokenImage
	blank
	unverified   // the caller is not who it says it is
	loggedOut    // what was asked for needs a log-in
	crossSite    // sent by a page of another site
	noCredits    // all used up, or expired
	rateLimited  // more requests than a window allows
	tooManyOpen  // more requests at once, or jobs, than a customer may have
	notReady     // what was asked for is still being made
	unauthorized // no token, or not one we gave
	badToken     // a token that cannot be one of ours
	timedOut
	badResult
	remote // a worker on another machine failed
	overloaded
	gone // the client went away: there is nobody to answer
)

// failure is the one type of error that handlers return.
type failure struct {
	kind       kind
	message    string        // for the caller: what was wrong, the limit, what to do
	retryAfter time.Duration // rounded up to whole seconds; 0 is none
	cause      error         // for the log only
	window     string        // the name of the window, when rateLimited
	location   string        // where the request belongs, when it came to another address
}

// seconds is retryAfter in whole seconds, rounded up.
func (f *failure) seconds() int { return int((f.retryAfter + time.Second - 1) / time.Second) }

func (f *failure) Error() string {
	if f.cause != nil {
		return f.message + ": " + f.cause.Error()
	}
	return f.message
}

func (f *failure) Unwrap() error { return f.cause }

func fail(k kind, format string, args ...any) *failure {
	return &failure{kind: k, message: fmt.Sprintf(format, args...)}
}

// failWith is fail with a cause, which only the log tells.
func failWith(cause error, k kind, message string) *failure {
	return &failure{kind: k, message: message, cause: cause}
}

// busy is for callers who may come again in a moment.
func busy(cause error, message string) *failure {
	return &failure{kind: overloaded, message: message, retryAfter: retryAfter, cause: cause}
}

// retryAfter is what callers are asked to wait when there is no place for them: about the time
// in which a few pages are cleaned.
const retryAfter = 5 * time.Second

// unavailable is an error of something behind the service that is away, such as the database.
type unavailable interface{ Unavailable() bool }

// asFailure tells what an error means for the caller.
func asFailure(err error) *failure {
	var f *failure
	var away unavailable
	var e *unink.Error
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &f):
		return f
	// before its cause, which may be a deadline of its own
	case errors.As(err, &away) && away.Unavailable():
		return busy(err, "the service cannot reach its data; try again later")
	case errors.Is(err, gate.ErrFull):
		return busy(err, "all workers are busy and the queue is full; try again later")
	case errors.Is(err, gate.ErrLate):
		return busy(err, "the pages that wait leave too little time for this one; try again later, or "+
			"a smaller image")
	case errors.Is(err, gate.ErrClosed):
		return busy(err, "the service is shutting down; try again")
	case errors.Is(err, gate.ErrNoWorker):
		return busy(err, "there is no worker to clean the page; try again later")
	case errors.Is(err, gate.ErrWorker):
		return failWith(err, remote, "the machine that worked on the page failed; try again")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return failWith(err, timedOut, "the upload took too long")
	case errors.Is(err, context.DeadlineExceeded):
		return failWith(err, timedOut,
			"processing took longer than the deadline; try a smaller image, or later")
	case errors.Is(err, context.Canceled):
		return failWith(err, gone, "the client went away")
	case errors.As(err, &tooLarge):
		return failWith(err, bodyTooLarge,
			fmt.Sprintf("the request body is larger than %d bytes; an image may have at most 5 MB",
				tooLarge.Limit))
	case errors.As(err, &e):
		return failWith(err, kindOf(e.Code), sentence(e))
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return failWith(err, badRequest, "the request body ends too early")
	}
	return failWith(err, unexpected, "unexpected failure")
}

func kindOf(c unink.Code) kind {
	switch c {
	case unink.ErrTooLarge:
		return fileTooLarge
	case unink.ErrDimensions:
		return badDimensions
	case unink.ErrFormat:
		return unknownFormat
	case unink.ErrBroken:
		return brokenImage
	case unink.ErrNoContent:
		return blank
	case unink.ErrOption:
		return badParameter
	}
	return unexpected
}

// sentence is what an engine's error tells the caller.
func sentence(e *unink.Error) string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}
