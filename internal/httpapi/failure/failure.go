// Package failure is what went wrong with a request, as its caller is to be told.
package failure

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

// Kind says what went wrong. Each entry point has one table that gives a kind its status and
// its name there; a kind without a row is answered as unexpected.
type Kind uint8

// The kinds of failures.
const (
	Unexpected Kind = iota
	BadRequest      // the body as a whole: not multipart, not JSON
	BadParameter
	BadMediaType
	WrongMethod
	NotFound
	NoImage
	BodyTooLarge
	FileTooLarge
	BadDimensions // too many pixels or a side too long
	TooSmall
	UnknownFormat
	BrokenImage
	Blank
	Unverified   // the caller is not who it says it is
	LoggedOut    // what was asked for needs a log-in
	CrossSite    // sent by a page of another site
	NoCredits    // all used up, or expired
	RateLimited  // more requests than a window allows
	TooManyOpen  // more requests at once, or jobs, than a customer may have
	NotReady     // what was asked for is still being made
	Unauthorized // no token, or not one we gave
	BadToken     // a token that cannot be one of ours
	TimedOut
	BadResult
	Remote // a worker on another machine failed
	Overloaded
	Gone // the client went away: there is nobody to answer
)

// Failure is the one type of error that handlers return.
type Failure struct {
	Kind       Kind
	Message    string        // for the caller: what was wrong, the limit, what to do
	RetryAfter time.Duration // rounded up to whole seconds; 0 is none
	Cause      error         // for the log only
	Window     string        // the name of the window, when rate limited
	Location   string        // where the request belongs, when it came to another address
}

// Seconds is RetryAfter in whole seconds, rounded up.
func (f *Failure) Seconds() int { return int((f.RetryAfter + time.Second - 1) / time.Second) }

func (f *Failure) Error() string {
	if f.Cause != nil {
		return f.Message + ": " + f.Cause.Error()
	}
	return f.Message
}

func (f *Failure) Unwrap() error { return f.Cause }

// New is a failure of a kind with a message for the caller.
func New(k Kind, format string, args ...any) *Failure {
	return &Failure{Kind: k, Message: fmt.Sprintf(format, args...)}
}

// With is [New] with a cause, which only the log tells.
func With(cause error, k Kind, message string) *Failure {
	return &Failure{Kind: k, Message: message, Cause: cause}
}

// Busy is for callers who may come again in a moment.
func Busy(cause error, message string) *Failure {
	return &Failure{Kind: Overloaded, Message: message, RetryAfter: RetryAfter, Cause: cause}
}

// RetryAfter is what callers are asked to wait when there is no place for them: about the time
// in which a few pages are cleaned.
const RetryAfter = 5 * time.Second

// Away reports whether an error is of something behind the service that is away, such as the
// database.
func Away(err error) bool {
	var e interface{ Unavailable() bool }
	return errors.As(err, &e) && e.Unavailable()
}

// Of tells what an error means for the caller.
func Of(err error) *Failure {
	var f *Failure
	var e *unink.Error
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &f):
		return f
	// before its cause, which may be a deadline of its own
	case Away(err):
		return Busy(err, "the service cannot reach its data; try again later")
	case errors.Is(err, gate.ErrFull):
		return Busy(err, "all workers are busy and the queue is full; try again later")
	case errors.Is(err, gate.ErrLate):
		return Busy(err, "the pages that wait leave too little time for this one; try again later, or "+
			"a smaller image")
	case errors.Is(err, gate.ErrClosed):
		return Busy(err, "the service is shutting down; try again")
	case errors.Is(err, gate.ErrNoWorker):
		return Busy(err, "there is no worker to clean the page; try again later")
	case errors.Is(err, gate.ErrWorker):
		return With(err, Remote, "the machine that worked on the page failed; try again")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return With(err, TimedOut, "the upload took too long")
	case errors.Is(err, context.DeadlineExceeded):
		return With(err, TimedOut,
			"processing took longer than the deadline; try a smaller image, or later")
	case errors.Is(err, context.Canceled):
		return With(err, Gone, "the client went away")
	case errors.As(err, &tooLarge):
		return With(err, BodyTooLarge,
			fmt.Sprintf("the request body is larger than %d bytes; an image may have at most 5 MB",
				tooLarge.Limit))
	case errors.As(err, &e):
		return With(err, kindOf(e.Code), sentence(e))
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return With(err, BadRequest, "the request body ends too early")
	}
	return With(err, Unexpected, "unexpected failure")
}

func kindOf(c unink.Code) Kind {
	switch c {
	case unink.ErrTooLarge:
		return FileTooLarge
	case unink.ErrDimensions:
		return BadDimensions
	case unink.ErrFormat:
		return UnknownFormat
	case unink.ErrBroken:
		return BrokenImage
	case unink.ErrNoContent:
		return Blank
	case unink.ErrOption:
		return BadParameter
	}
	return Unexpected
}

// sentence is what an engine's error tells the caller.
func sentence(e *unink.Error) string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}
