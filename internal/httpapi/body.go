package httpapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"strings"

	"unink"
)

// cleanupBody is the body of the developer entry point.
type cleanupBody struct {
	mediaID string
	options unink.Options
}

// parseCleanup reads a body in the order of the contract: JSON, parameters, image.
func parseCleanup(body []byte) (input, error) {
	b, err := parseObject(body, cleanupKeys)
	if err != nil {
		return input{}, err
	}
	image, err := decodeMedia(b.mediaID)
	return input{image: image, options: b.options, maxSide: maxDeveloperSide}, err
}

// parseObject reads a body that is one JSON object of known keys.
func parseObject[B any](body []byte, known keys[B]) (*B, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, fail(badRequest, "the body is empty; send a JSON object")
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	b, err := parseKeys(decoder, known)
	if _, after := decoder.Token(); err == nil && after != io.EOF {
		err = fail(badRequest, "there is something after the JSON object")
	}
	if err != nil && !json.Valid(body) { // which comes before what its keys say
		err = failWith(err, badRequest, "the body is not one JSON value")
	}
	return b, err
}

// cleanupFields say how the fields of a form are read: the file, and the keys of the JSON object.
var cleanupFields = withOptionFields(fields[input]{
	"image":         file(func(in *input) *[]byte { return &in.image }),
	"return_layers": flag(func(in *input) *bool { return &in.options.Layers }),
	"return_before": flag(func(in *input) *bool { return &in.options.Before }),
}, func(in *input) *unink.Options { return &in.options })

// withOptionFields adds the fields that say how a page is cleaned.
func withOptionFields[F any](known fields[F], of func(*F) *unink.Options) fields[F] {
	known["keep_distortion"] = flag(func(f *F) *bool { return &of(f).KeepDistortion })
	known["keep_ori"] = flag(func(f *F) *bool { return &of(f).KeepOrientation })
	known["preserve_color"] = text(func(f *F, name, v string) error {
		preserve, err := parseFlag(name, v)
		if preserve {
			of(f).Finish = unink.Colour
		}
		return err
	})
	known["output_format"] = text(func(f *F, _, v string) (err error) {
		of(f).Format, err = unink.ParseFormat(v)
		return err
	})
	known["remove"] = inks(func(f *F) *unink.Ink { return &of(f).Remove })
	return known
}

// parseCleanupForm reads a form, as strictly as the JSON object.
func parseCleanupForm(parts *multipart.Reader) (input, error) {
	in := input{maxSide: maxDeveloperSide}
	err := parseStrictly(parts, &in, cleanupFields, func() bool { return in.image != nil })
	if err == nil && len(in.image) == 0 {
		err = missingImage()
	}
	return in, err
}

// parseStrictly reads a form of known fields. One that breaks before its file came may be anything.
func parseStrictly[F any](parts *multipart.Reader, form *F, known fields[F],
	came func() bool) error {
	err := parseParts(parts, form, known, func(name string) error {
		return fail(badParameter, "the field %.64q is not known", name)
	})
	var f *failure
	if errors.As(err, &f) && f.kind == badRequest && !came() {
		return failWith(err, badMediaType, "the body is not the form that Content-Type says")
	}
	return err
}

// parseKeys walks the object key by key: encoding/json alone would take keys in any case, twice,
// and null for anything.
func parseKeys[B any](dec *json.Decoder, all keys[B]) (*B, error) {
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return nil, fail(badParameter, "the body must be a JSON object")
	}
	b := new(B)
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, failWith(err, badRequest, "the body is not one JSON value")
		}
		key, _ := token.(string)
		set, known := all[key]
		switch {
		case !known:
			return nil, fail(badParameter, "the key %.64q is not known", key)
		case seen[key]:
			return nil, fail(badParameter, "the key %s is given twice", key)
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
type keys[B any] map[string]func(b *B, key string, dec *json.Decoder) error

// cleanupKeys are those of the developer entry point.
var cleanupKeys = withOptionKeys(keys[cleanupBody]{
	"media_id": into("a string", func(b *cleanupBody, v string) error {
		b.mediaID = v
		return nil
	}),
	"return_layers": into("true or false", func(b *cleanupBody, v bool) error {
		b.options.Layers = v
		return nil
	}),
	"return_before": into("true or false", func(b *cleanupBody, v bool) error {
		b.options.Before = v
		return nil
	}),
}, func(b *cleanupBody) *unink.Options { return &b.options })

// withOptionKeys adds the keys that say how a page is cleaned.
func withOptionKeys[B any](known keys[B], of func(*B) *unink.Options) keys[B] {
	known["keep_distortion"] = into("true or false", func(b *B, v bool) error {
		of(b).KeepDistortion = v
		return nil
	})
	known["keep_ori"] = into("true or false", func(b *B, v bool) error {
		of(b).KeepOrientation = v
		return nil
	})
	known["preserve_color"] = into("true or false", func(b *B, v bool) error {
		if v {
			of(b).Finish = unink.Colour
		}
		return nil
	})
	known["output_format"] = into("a string", func(b *B, v string) (err error) {
		of(b).Format, err = unink.ParseFormat(v)
		return err
	})
	known["remove"] = into("a list of strings", func(b *B, v []string) (err error) {
		of(b).Remove, err = unink.ParseInk(v...)
		return err
	})
	return known
}

// into reads a value of type T, which null is not, and hands it to set.
func into[B, T any](want string, set func(*B, T) error) func(*B, string, *json.Decoder) error {
	return func(b *B, key string, dec *json.Decoder) error {
		var v *T
		if err := dec.Decode(&v); err != nil || v == nil {
			return failWith(err, badParameter, key+" must be "+want)
		}
		return set(b, *v)
	}
}

// decodeMedia decodes standard Base64, padded or not.
func decodeMedia(s string) ([]byte, error) {
	switch {
	case s == "":
		return nil, fail(noImage, "media_id is missing or empty; send the file in Base64")
	case len(s) >= 5 && strings.EqualFold(s[:5], "data:"):
		return nil, fail(badParameter,
			"media_id must be the Base64 alone, without the prefix data:image/...;base64,")
	case strings.ContainsAny(s, "\r\n"): // which encoding/base64 would pass over
		return nil, fail(unknownFormat, "media_id must be Base64 in one line, without white space")
	}
	encoding := base64.RawStdEncoding
	if strings.HasSuffix(s, "=") {
		encoding = base64.StdEncoding
	}
	image, err := encoding.DecodeString(s)
	if err != nil {
		return nil, failWith(err, unknownFormat,
			"media_id is not standard Base64 (A-Z, a-z, 0-9, + and /)")
	}
	return image, nil
}
