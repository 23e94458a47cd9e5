package httpapi

import (
	"encoding/json"
	"strings"

	"unink"
	"unink/internal/option"
)

// wish is what a request wants done to its page.
type wish struct {
	options  unink.Options
	preserve bool // the contract's name of the Colour finish, which goes before finish
}

// granted are the options that a wish comes to.
func (w wish) granted() unink.Options {
	if w.preserve {
		w.options.Finish = unink.Colour
	}
	return w.options
}

// withOptions adds the options, by one of their names, to what is known of a form.
func withOptions[F any](known fields[F], name func(option.Option) string,
	of func(*F) *unink.Options) fields[F] {
	for name, one := range option.By(name) {
		known[name] = text(func(f *F, name, v string) (err error) {
			switch field := one.Field(of(f)).(type) {
			case *bool:
				*field, err = parseFlag(name, v)
			case option.Text:
				if v != "" || !one.List { // an empty list is as none
					err = field.UnmarshalText([]byte(v))
				}
			}
			return err
		})
	}
	return known
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
