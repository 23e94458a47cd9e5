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
	unauthorized // no token, or not one we gave
	badToken     // a token that cannot be one of ours
	timedOut
	badResult
	overloaded
	gone // the client went away: there is nobody to answer
)

// failure is the one type of error that handlers return.
type failure struct {
	kind       kind
	message    string        // for the caller: what was wrong, the limit, what to do
	retryAfter time.Duration // rounded up to whole seconds; 0 is none
	cause      error         // for the log only
}

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

// retryAfter is what callers are asked to wait when there is no place for them: about the time
// in which a few pages are cleaned.
const retryAfter = 5 * time.Second

// asFailure tells what an error means for the caller.
func asFailure(err error) *failure {
	var f *failure
	var e *unink.Error
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, gate.ErrFull):
		return &failure{overloaded, "all workers are busy and the queue is full; try again later", retryAfter, err}
	case errors.Is(err, gate.ErrClosed):
		return &failure{overloaded, "the service is shutting down; try again", retryAfter, err}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &failure{timedOut, "the upload took too long", 0, err}
	case errors.Is(err, context.DeadlineExceeded):
		return &failure{timedOut, "processing took longer than the deadline; try a smaller image, or later", 0, err}
	case errors.Is(err, context.Canceled):
		return &failure{gone, "the client went away", 0, err}
	case errors.As(err, &tooLarge):
		return &failure{bodyTooLarge, fmt.Sprintf("the request body is larger than %d bytes; an image may have at most 5 MB", tooLarge.Limit), 0, err}
	case errors.As(err, &e):
		return &failure{kindOf(e.Code), sentence(e), 0, err}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return &failure{badRequest, "the request body ends too early", 0, err}
	}
	return &failure{unexpected, "unexpected failure", 0, err}
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
