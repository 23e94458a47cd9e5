package httpapi

import (
	"io"
	"mime/multipart"
	"regexp"

	"unink"
	"unink/internal/httpapi/failure"
	"unink/internal/option"
)

const (
	formSlack     = 64 << 10 // bytes of a form besides its image
	maxFieldBytes = 8 << 10  // bot-check tokens are the longest
)

var slugForm = regexp.MustCompile(`^[a-z0-9/-]{0,64}$`)

// uploadForm is the form of the web entry point.
type uploadForm struct {
	image     []byte
	userID    string
	deviceID  string
	botToken  string
	bulk, pdf bool
	pageSlug  string
	wish
}

// parseUpload reads a form. Unknown fields are passed over.
func parseUpload(parts *multipart.Reader) (*uploadForm, error) {
	form := &uploadForm{}
	if err := parseParts(parts, form, formFields, func(string) error { return nil }); err != nil {
		return nil, err
	}
	if len(form.image) == 0 {
		return nil, missingImage()
	}
	return form, nil
}

func missingImage() error {
	return failure.New(failure.NoImage, "the form has no image; send the file in the field image")
}

// fields says how each field of a form F is read.
type fields[F any] map[string]func(f *F, name string, r io.Reader) error

// parseParts reads a form part by part, each bounded.
func parseParts[F any](parts *multipart.Reader, form *F, known fields[F],
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

// file reads the picture of a form.
func file[F any](of func(*F) *[]byte) func(*F, string, io.Reader) error {
	return fileOf(of, maxImageBytes,
		failure.New(failure.FileTooLarge,
			"the image is larger than 5 MB; scale it down or save it as JPEG"))
}

// fileOf reads a file of at most so many bytes; more are tooMuch.
func fileOf[F any](of func(*F) *[]byte, most int,
	tooMuch *failure.Failure) func(*F, string, io.Reader) error {
	return func(f *F, _ string, r io.Reader) (err error) {
		*of(f), err = readAtMost(r, most, tooMuch)
		return err
	}
}

var formFields = withOptions(fields[uploadForm]{
	"image":            file(func(f *uploadForm) *[]byte { return &f.image }),
	"userId":           text(func(f *uploadForm, _, v string) error { f.userID = v; return nil }),
	"deviceId":         text(func(f *uploadForm, _, v string) error { f.deviceID = v; return nil }),
	"cfTurnstileToken": text(func(f *uploadForm, _, v string) error { f.botToken = v; return nil }),
	"preserveColor":    flag(func(f *uploadForm) *bool { return &f.preserve }),
	"isBulkProcessing": flag(func(f *uploadForm) *bool { return &f.bulk }),
	"isPdfProcessing":  flag(func(f *uploadForm) *bool { return &f.pdf }),
	"pageSlug": text(func(f *uploadForm, name, v string) error {
		if !slugForm.MatchString(v) {
			return failure.New(failure.BadParameter, "%s may have at most 64 of a-z, 0-9, - and /", name)
		}
		f.pageSlug = v
		return nil
	}),
}, func(one option.Option) string { return one.Form },
	func(f *uploadForm) *unink.Options { return &f.options })

func text[F any](set func(f *F, name, value string) error) func(*F, string, io.Reader) error {
	return func(f *F, name string, r io.Reader) error {
		b, err := readAtMost(r, maxFieldBytes,
			failure.New(failure.BadParameter, "the field %s is longer than %d bytes", name, maxFieldBytes))
		if err != nil {
			return err
		}
		if err := checkText(name, string(b)); err != nil {
			return err
		}
		return set(f, name, string(b))
	}
}

func flag[F any](of func(*F) *bool) func(*F, string, io.Reader) error {
	return text(func(f *F, name, v string) (err error) {
		*of(f), err = parseFlag(name, v)
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
