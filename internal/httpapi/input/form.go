// Package input reads what callers send, strictly: forms, JSON objects, queries.
package input

import (
	"io"
	"mime/multipart"
	"strings"

	"unink"
	"unink/internal/httpapi/failure"
)

// Bounds of a form.
const (
	FormSlack     = 64 << 10 // bytes of a form besides its image
	maxFieldBytes = 8 << 10  // bot-check tokens are the longest
)

// MissingImage is the failure of a form without its file.
func MissingImage() error {
	return failure.New(failure.NoImage, "the form has no image; send the file in the field image")
}

// Fields says how each field of a form F is read.
type Fields[F any] map[string]func(f *F, name string, r io.Reader) error

// Parse reads a form part by part, each bounded.
func Parse[F any](parts *multipart.Reader, form *F, known Fields[F],
	unknown func(name string) error) error {
	seen := map[string]bool{}
	for {
		part, err := parts.NextPart()
		if err == io.EOF { // a form cut short gives one that wraps it
			return nil
		}
		if err != nil {
			return partError(err)
		}
		name := part.FormName()
		set := known[name]
		if set == nil {
			if err := unknown(name); err != nil {
				return err
			}
			continue
		}
		if seen[name] {
			return failure.New(failure.BadParameter,
				"the field %s is given more than once; send one image and one value per request", name)
		}
		seen[name] = true
		if err := set(form, name, part); err != nil {
			return partError(err)
		}
	}
}

// File reads the picture of a form.
func File[F any](of func(*F) *[]byte) func(*F, string, io.Reader) error {
	return FileOf(of, unink.DefaultMaxBytes,
		failure.New(failure.FileTooLarge,
			"the image is larger than 5 MB; scale it down or save it as JPEG"))
}

// FileOf reads a file of at most so many bytes; more are tooMuch.
func FileOf[F any](of func(*F) *[]byte, most int,
	tooMuch *failure.Failure) func(*F, string, io.Reader) error {
	return func(f *F, _ string, r io.Reader) (err error) {
		*of(f), err = readAtMost(r, most, tooMuch)
		return err
	}
}

// Text reads a field.
func Text[F any](set func(f *F, name, value string) error) func(*F, string, io.Reader) error {
	return func(f *F, name string, r io.Reader) error {
		b, err := readAtMost(r, maxFieldBytes,
			failure.New(failure.BadParameter, "the field %s is longer than %d bytes", name, maxFieldBytes))
		if err != nil {
			return err
		}
		if err := CheckText(name, string(b)); err != nil {
			return err
		}
		return set(f, name, string(b))
	}
}

// Flag reads a field that is true or false.
func Flag[F any](of func(*F) *bool) func(*F, string, io.Reader) error {
	return Text(func(f *F, name, v string) (err error) {
		*of(f), err = ParseFlag(name, v)
		return err
	})
}

// readAtMost reads r to its end; more than limit bytes are tooMuch.
func readAtMost(r io.Reader, limit int, tooMuch *failure.Failure) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err == nil && len(b) > limit {
		return nil, tooMuch
	}
	return b, err
}

// partError takes what failure.Of does not know for a form that is broken.
func partError(err error) error {
	if f := failure.Of(err); f.Kind != failure.Unexpected {
		return f
	}
	return failure.With(err, failure.BadRequest, "the multipart form is broken")
}

// ParseFlag reads true or false, in any case.
func ParseFlag(name, value string) (bool, error) {
	switch strings.ToLower(value) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, failure.New(failure.BadParameter, "%s must be true or false, not %q", name, value)
}
