package web

import (
	"mime/multipart"
	"regexp"

	"unink"
	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/input"
	"unink/internal/option"
)

var slugForm = regexp.MustCompile(`^[a-z0-9/-]{0,64}$`)

// upload is the form of the web entry point.
type upload struct {
	image     []byte
	userID    string
	deviceID  string
	botToken  string
	bulk, pdf bool
	pageSlug  string
	input.Wish
}

// parseUpload reads a form. Unknown fields are passed over.
func parseUpload(parts *multipart.Reader) (*upload, error) {
	form := &upload{}
	if err := input.Parse(parts, form, formFields, func(string) error { return nil }); err != nil {
		return nil, err
	}
	if len(form.image) == 0 {
		return nil, input.MissingImage()
	}
	return form, nil
}

var formFields = input.WithOptions(input.Fields[upload]{
	"image":            input.File(func(f *upload) *[]byte { return &f.image }),
	"userId":           input.Text(func(f *upload, _, v string) error { f.userID = v; return nil }),
	"deviceId":         input.Text(func(f *upload, _, v string) error { f.deviceID = v; return nil }),
	"cfTurnstileToken": input.Text(func(f *upload, _, v string) error { f.botToken = v; return nil }),
	"preserveColor":    input.Flag(func(f *upload) *bool { return &f.Preserve }),
	"isBulkProcessing": input.Flag(func(f *upload) *bool { return &f.bulk }),
	"isPdfProcessing":  input.Flag(func(f *upload) *bool { return &f.pdf }),
	"pageSlug": input.Text(func(f *upload, name, v string) error {
		if !slugForm.MatchString(v) {
			return failure.New(failure.BadParameter, "%s may have at most 64 of a-z, 0-9, - and /", name)
		}
		f.pageSlug = v
		return nil
	}),
}, func(one option.Option) string { return one.Form },
	func(f *upload) *unink.Options { return &f.Options })
