package unink

import (
	"context"
	"errors"

	"unink/internal/imagefile"
	"unink/internal/nn"
	"unink/internal/restore"
)

// Code says what kind of failure an [Error] is. A Code is itself an error, so that
// errors.Is(err, unink.ErrTooLarge) works without unwrapping.
type Code string

// The codes an [Error] may carry.
const (
	ErrTooLarge   Code = "too_large"  // the encoded picture has more bytes than Limits.MaxBytes
	ErrDimensions Code = "dimensions" // too many pixels, or a side too long or too short
	ErrFormat     Code = "format"     // not a picture, or of a format that is not accepted
	ErrBroken     Code = "broken"     // an accepted format whose data is damaged or cut short
	ErrNoContent  Code = "no_content" // a blank picture: there is nothing on it to clean
	ErrCanceled   Code = "canceled"   // the context ended before the work did
	ErrDevice     Code = "device"     // the compute device or its library is not usable here
	ErrOption     Code = "option"     // an option or a configuration value is not valid
	ErrInternal   Code = "internal"   // a defect of this library
)

func (c Code) Error() string { return string(c) }

// Error is the one type of error this package returns.
type Error struct {
	Code    Code
	Op      string // the operation that failed: "inspect", "decode", "clean", "encode", "open"
	Message string // what was wrong and which limit applied; safe to show to anyone
	Hint    string // what to do about it; may be empty
	Err     error  // the cause; may be nil and may name things of the inside
}

func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Op + ": " + e.Message
	}
	return e.Op + ": " + e.Message + " (" + e.Hint + ")"
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is this error's [Code].
func (e *Error) Is(target error) bool { return target == e.Code }

// wrap turns an error of the inside into an *Error. It is the only place that does.
func wrap(op string, err error) error {
	var done *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &done):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Error{ErrCanceled, op, "stopped before the page was done", "", err}
	case errors.Is(err, imagefile.ErrTooLarge):
		return &Error{ErrTooLarge, op, err.Error(), "send a smaller file", err}
	case errors.Is(err, imagefile.ErrDimensions):
		return &Error{ErrDimensions, op, err.Error(), "scale the picture to fit", err}
	case errors.Is(err, imagefile.ErrFormat):
		return &Error{ErrFormat, op, err.Error(),
			"accepted are " + imagefile.Accepted(), imagefile.Cause(err)}
	case errors.Is(err, imagefile.ErrBroken):
		return &Error{ErrBroken, op, err.Error(), "export or scan the picture again",
			imagefile.Cause(err)}
	case errors.Is(err, restore.ErrNoContent):
		return &Error{ErrNoContent, op, err.Error(), "", err}
	case errors.Is(err, nn.ErrDevice):
		return &Error{ErrDevice, op, err.Error(), "", err}
	}
	return &Error{ErrInternal, op, "unexpected failure", "", err}
}

// whyNot says why the networks cannot be opened. Whoever opens them has the program, and may know.
func whyNot(err error) error {
	err = wrap("open", err)
	if told := (*Error)(nil); errors.As(err, &told) && told.Code == ErrInternal && told.Err != nil {
		told.Message = told.Err.Error()
	}
	return err
}
