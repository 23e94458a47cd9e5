package input

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"unink/internal/httpapi/failure"
)

// storable reports whether a text from outside can be kept and looked up in every database:
// PostgreSQL refuses what is not UTF-8, and NUL.
func storable(text string) bool {
	return utf8.ValidString(text) && strings.IndexByte(text, 0) < 0
}

// CheckText refuses what is not storable.
func CheckText(name, text string) error {
	if !storable(text) {
		return failure.New(failure.BadParameter, "%.64q must be UTF-8 without NUL", name)
	}
	return nil
}

// Query reads a request's query, all of it: net/http would pass over the parts that are malformed,
// and what was asked for with them.
func Query(r *http.Request) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, failure.With(err, failure.BadParameter,
			"the query is malformed: each % needs two hexadecimal "+
				"digits after it, and parts are separated by &, not by ;")
	}
	for name, all := range values {
		for _, text := range append(all, name) {
			if err := CheckText(name, text); err != nil {
				return nil, err
			}
		}
	}
	return values, nil
}

// QueryText is a value of the query that may be given once.
func QueryText(r *http.Request, name string) (text string, given bool, err error) {
	values, err := Query(r)
	if err == nil && len(values[name]) > 1 {
		err = failure.New(failure.BadParameter, "%s is given %d times", name, len(values[name]))
	}
	return values.Get(name), values.Has(name), err
}

// checkTexts checks all texts of a value that was read from JSON.
func checkTexts(name string, v any) error {
	switch v := v.(type) {
	case string:
		return CheckText(name, v)
	case []any:
		for _, one := range v {
			if err := checkTexts(name, one); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, one := range v {
			if err := checkTexts(name, one); err != nil {
				return err
			}
		}
	}
	return nil
}
