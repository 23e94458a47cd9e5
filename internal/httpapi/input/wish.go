package input

import (
	"unink"
	"unink/internal/option"
)

// Wish is what a request wants done to its page.
type Wish struct {
	Options  unink.Options
	Preserve bool // the contract's name of the Colour finish, which goes before finish
}

// Granted are the options that a wish comes to.
func (w Wish) Granted() unink.Options {
	if w.Preserve {
		w.Options.Finish = unink.Colour
	}
	return w.Options
}

// WithOptions adds the options, by one of their names, to what is known of a form.
func WithOptions[F any](known Fields[F], name func(option.Option) string,
	of func(*F) *unink.Options) Fields[F] {
	for name, one := range option.By(name) {
		known[name] = Text(func(f *F, name, v string) (err error) {
			switch field := one.Field(of(f)).(type) {
			case *bool:
				*field, err = ParseFlag(name, v)
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
