package input

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"strings"

	"unink/internal/httpapi/failure"
)

// JSON reads a body that is one JSON object into v, which has every field that may be there.
func JSON(r io.Reader, v any) error {
	body, err := io.ReadAll(r)
	if err != nil {
		return jsonError(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(v); err != nil {
		return jsonError(err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return failure.New(failure.BadRequest, "the body must be one JSON object and nothing after it")
	}
	if err := checkKeys(body, reflect.TypeOf(v).Elem()); err != nil {
		return err
	}
	var texts any
	if err := json.Unmarshal(body, &texts); err != nil {
		return jsonError(err)
	}
	return cmp.Or(CheckText("the body", string(body)), checkTexts("the body", texts))
}

// checkKeys refuses keys of an object that are not written as its fields are, or come twice, which
// encoding/json passes over.
func checkKeys(body []byte, fields reflect.Type) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return jsonError(err)
	}
	seen := map[string]bool{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return jsonError(err)
		}
		key, _ := token.(string)
		written := slices.ContainsFunc(reflect.VisibleFields(fields), func(f reflect.StructField) bool {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			return name == key
		})
		switch {
		case !written:
			return failure.New(failure.BadParameter,
				"the key %.64q is not known; keys are written as in /openapi.json",
				key)
		case seen[key]:
			return failure.New(failure.BadParameter, "the key %s is given twice", key)
		}
		seen[key] = true
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return jsonError(err)
		}
	}
	return nil
}

func jsonError(err error) error {
	if f := failure.Of(err); f.Kind != failure.Unexpected {
		return f
	}
	return failure.With(err, failure.BadRequest,
		"the body must be a JSON object with the fields that /openapi.json names")
}
