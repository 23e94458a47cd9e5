package httpapi

import (
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

// withKeys adds the options to what is known of the JSON object.
func withKeys(known map[string]key) map[string]key {
	for name, one := range option.By(func(one option.Option) string { return one.Key }) {
		known[name] = keyOf(one)
	}
	return known
}

func keyOf(one option.Option) key {
	unmarshal := func(b *cleanupBody, v string) error {
		return one.Field(&b.options).(option.Text).UnmarshalText([]byte(v))
	}
	switch {
	case one.Values == nil:
		return into(boolean, func(b *cleanupBody, v bool) error {
			*one.Field(&b.options).(*bool) = v
			return nil
		})
	case one.List:
		return into("a list of strings", func(b *cleanupBody, v []string) error {
			if len(v) == 0 {
				return nil
			}
			return unmarshal(b, strings.Join(v, ","))
		})
	}
	return into("a string", unmarshal)
}
