package developer

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"strings"

	"unink"
	"unink/internal/httpapi/cleaning"
	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/input"
	"unink/internal/option"
)

// cleanupBody is the body of the developer entry point.
type cleanupBody struct {
	mediaID string
	input.Wish
}

// parseCleanup reads a body in the order of the contract: JSON, parameters, image.
func parseCleanup(body []byte) (cleaning.Input, error) {
	b, err := parseObject(body, cleanupKeys)
	if err != nil {
		return cleaning.Input{}, err
	}
	image, err := decodeMedia(b.mediaID)
	return cleaning.Input{Image: image, Options: b.Granted(), MaxSide: maxSide}, err
}

// cleanupForm is the form of the developer entry point.
type cleanupForm struct {
	image []byte
	input.Wish
}

// parseObject reads a body that is one JSON object of known keys.
func parseObject[B any](body []byte, known keys[B]) (*B, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, failure.New(failure.BadRequest, "the body is empty; send a JSON object")
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	b, err := parseKeys(decoder, known)
	if _, after := decoder.Token(); err == nil && after != io.EOF {
		err = failure.New(failure.BadRequest, "there is something after the JSON object")
	}
	if err != nil && !json.Valid(body) { // which comes before what its keys say
		err = failure.With(err, failure.BadRequest, "the body is not one JSON value")
	}
	return b, err
}

// cleanupFields say how the fields of a form are read: the file, and the keys of the JSON object.
var cleanupFields = input.WithOptions(input.Fields[cleanupForm]{
	"image":          input.File(func(f *cleanupForm) *[]byte { return &f.image }),
	"preserve_color": input.Flag(func(f *cleanupForm) *bool { return &f.Preserve }),
}, developerName, func(f *cleanupForm) *unink.Options { return &f.Options })

func developerName(one option.Option) string { return one.Key }

// parseCleanupForm reads a form, as strictly as the JSON object.
func parseCleanupForm(parts *multipart.Reader) (cleaning.Input, error) {
	var form cleanupForm
	err := parseStrictly(parts, &form, cleanupFields, func() bool { return form.image != nil })
	in := cleaning.Input{Image: form.image, Options: form.Granted(), MaxSide: maxSide}
	if err == nil && len(in.Image) == 0 {
		err = input.MissingImage()
	}
	return in, err
}

// parseStrictly reads a form of known fields. One that breaks before its file came may be anything.
func parseStrictly[F any](parts *multipart.Reader, form *F, known input.Fields[F],
	came func() bool) error {
	err := input.Parse(parts, form, known, func(name string) error {
		return failure.New(failure.BadParameter, "the field %.64q is not known", name)
	})
	var f *failure.Failure
	if errors.As(err, &f) && f.Kind == failure.BadRequest && !came() {
		return failure.With(err, failure.BadMediaType, "the body is not the form that Content-Type says")
	}
	return err
}

// parseKeys walks the object key by key: encoding/json alone would take keys in any case, twice,
// and null for anything.
func parseKeys[B any](dec *json.Decoder, all keys[B]) (*B, error) {
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return nil, failure.New(failure.BadParameter, "the body must be a JSON object")
	}
	b := new(B)
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, failure.With(err, failure.BadRequest, "the body is not one JSON value")
		}
		key, _ := token.(string)
		set, known := all[key]
		switch {
		case !known:
			return nil, failure.New(failure.BadParameter, "the key %.64q is not known", key)
		case seen[key]:
			return nil, failure.New(failure.BadParameter, "the key %s is given twice", key)
		}
		seen[key] = true
		if err := set(b, key, dec); err != nil {
			return nil, err
		}
	}
	_, err := dec.Token() // the object's end
	return b, err
}

// keys say how each key of a JSON object B is read.
type keys[B any] map[string]func(b *B, name string, dec *json.Decoder) error

// cleanupKeys are those of the developer entry point.
var cleanupKeys = withKeys(keys[cleanupBody]{
	"media_id": into("a string", func(b *cleanupBody, v string) error {
		b.mediaID = v
		return nil
	}),
	"preserve_color": into(boolean, func(b *cleanupBody, v bool) error {
		b.Preserve = v
		return nil
	}),
}, developerName, func(b *cleanupBody) *unink.Options { return &b.Options })

// into reads a value of type T, which null is not, and hands it to set.
func into[B, T any](want string, set func(*B, T) error) func(*B, string, *json.Decoder) error {
	return func(b *B, name string, dec *json.Decoder) error {
		var v *T
		if err := dec.Decode(&v); err != nil || v == nil {
			return failure.With(err, failure.BadParameter, name+" must be "+want)
		}
		return set(b, *v)
	}
}

// decodeMedia decodes standard Base64, padded or not.
func decodeMedia(s string) ([]byte, error) {
	switch {
	case s == "":
		return nil, failure.New(failure.NoImage, "media_id is missing or empty; send the file in Base64")
	case len(s) >= 5 && strings.EqualFold(s[:5], "data:"):
		return nil, failure.New(failure.BadParameter,
			"media_id must be the Base64 alone, without the prefix data:image/...;base64,")
	case strings.ContainsAny(s, "\r\n"): // which encoding/base64 would pass over
		return nil, failure.New(failure.UnknownFormat,
			"media_id must be Base64 in one line, without white space")
	}
	encoding := base64.RawStdEncoding
	if strings.HasSuffix(s, "=") {
		encoding = base64.StdEncoding
	}
	image, err := encoding.DecodeString(s)
	if err != nil {
		return nil, failure.With(err, failure.UnknownFormat,
			"media_id is not standard Base64 (A-Z, a-z, 0-9, + and /)")
	}
	return image, nil
}

const boolean = "true or false" // what a key must be

// withKeys adds the options, by one of their names, to what is known of a JSON object.
func withKeys[B any](known keys[B], name func(option.Option) string,
	of func(*B) *unink.Options) keys[B] {
	for name, one := range option.By(name) {
		known[name] = keyOf(one, of)
	}
	return known
}

func keyOf[B any](one option.Option, of func(*B) *unink.Options) func(*B, string,
	*json.Decoder) error {
	unmarshal := func(b *B, v string) error {
		return one.Field(of(b)).(option.Text).UnmarshalText([]byte(v))
	}
	switch {
	case one.Values == nil:
		return into(boolean, func(b *B, v bool) error {
			*one.Field(of(b)).(*bool) = v
			return nil
		})
	case one.List:
		return into("a list of strings", func(b *B, v []string) error {
			if len(v) == 0 {
				return nil
			}
			return unmarshal(b, strings.Join(v, ","))
		})
	}
	return into("a string", unmarshal)
}
