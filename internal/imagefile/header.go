package imagefile

import (
	"errors"
	"fmt"
	"image"
)

// Header is what is known of a picture before its pixels are decoded.
type Header struct {
	Format        Format
	Width, Height int // pixels, once upright
	Orientation   int // 1 to 8, numbered as in EXIF: what turned the stored picture upright
}

// turned says that upright width and height are the stored ones swapped.
func (h Header) turned() bool { return h.Orientation >= 5 }

// refused are files that are told apart to say why they are refused.
var refused = []struct{ magic, reason string }{
	{"%PDF-", "this is a PDF, not a picture"},
}

// Sniff tells the format by the first bytes. The error wraps ErrFormat and names the format
// when it is one that is known but not accepted.
func Sniff(data []byte) (Format, error) {
	for _, one := range refused {
		if hasAt(data, 0, one.magic) {
			return Auto, fmt.Errorf("%w: %s", ErrFormat, one.reason)
		}
	}
	for _, one := range formats {
		if one.sniff(data) {
			return one.Format, nil
		}
	}
	reason := "this is not a picture of a known kind"
	switch {
	case hasAt(data, 4, "ftyp"):
		reason = "this is a film or a kind of HEIF other than HEIC and AVIF"
	case len(data) == 0:
		reason = "the file is empty"
	}
	return Auto, fmt.Errorf("%w: %s", ErrFormat, reason)
}

// Inspect reads the header and checks it against the limits. No pixel is decoded.
func Inspect(data []byte, l Limits) (h Header, err error) {
	defer recoverBroken(&err)
	h, _, err = open(data, l)
	return h, err
}

// open reads all but the pixels, within the limits.
func open(data []byte, l Limits) (Header, stored, error) {
	if err := l.CheckBytes(len(data)); err != nil {
		return Header{}, stored{}, err
	}
	f, err := Sniff(data)
	if err != nil {
		return Header{}, stored{}, err
	}
	s, err := f.row().open(data)
	if err != nil {
		return Header{}, stored{}, broken(f, err)
	}
	for _, size := range []image.Point{s.coded, s.size} {
		if err := l.CheckSize(size.X, size.Y); err != nil {
			return Header{}, stored{}, err
		}
	}
	h := Header{f, s.size.X, s.size.Y, s.orientation}
	if h.turned() {
		h.Width, h.Height = h.Height, h.Width
	}
	return h, s, nil
}

// refusal is a picture that a decoder refuses. It says why in words of this package; the decoder's
// own are for the log.
type refusal struct {
	reason  error // ErrFormat or ErrBroken
	text    string
	decoder error
}

func (r *refusal) Error() string { return r.reason.Error() + ": " + r.text }

func (r *refusal) Unwrap() []error { return []error{r.reason, r.decoder} }

// Cause is what a decoder said, where an error comes from one; else it is the error.
func Cause(err error) error {
	var r *refusal
	if errors.As(err, &r) {
		return r.decoder
	}
	return err
}

// problem is what is wrong with a picture, in words for whoever sent it.
type problem string

func (p problem) Error() string { return string(p) }

// broken wraps a decoder's error: ErrFormat for a variant the decoder does not know, else
// ErrBroken.
func broken(f Format, err error) error {
	r := &refusal{ErrBroken, "it cannot be read as " + f.String(), err}
	if isUnsupported(err) {
		r.reason, r.text = ErrFormat, "this variant of "+f.String()+" is not supported"
	}
	var known problem
	var unsupported unsupportedError
	switch {
	case errors.As(err, &known):
		r.text += ": " + known.Error()
	case errors.As(err, &unsupported):
		r.text += ": " + unsupported.Error()
	}
	return r
}

// recoverBroken turns a decoder's panic on hostile data into an error.
func recoverBroken(err *error) {
	if p := recover(); p != nil {
		*err = &refusal{ErrBroken, "the decoder failed", fmt.Errorf("panic: %v", p)}
	}
}
