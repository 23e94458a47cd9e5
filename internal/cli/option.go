package cli

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"unink"
	"unink/internal/option"
)

// optionFlags say what is done to a page, in every command that cleans some: one structure, with a
// field for each option that has a flag.
type optionFlags struct{ kong.Plugins }

func newOptionFlags() optionFlags {
	var fields []reflect.StructField
	for _, one := range option.All {
		if one.Flag == "" {
			continue
		}
		field := reflect.StructField{
			Name: fmt.Sprintf("Option%d", len(fields)), Type: reflect.TypeFor[bool](),
			Tag: reflect.StructTag(fmt.Sprintf("name:%q help:%q", one.Flag, one.Help)),
		}
		switch {
		case one.List:
			field.Type = reflect.TypeFor[[]string]()
		case one.Values != nil:
			field.Type = reflect.TypeFor[string]()
		}
		switch {
		case one.Word != "":
			field.Tag += reflect.StructTag(fmt.Sprintf(" placeholder:%q", one.Word))
		case one.Values != nil:
			field.Tag += reflect.StructTag(fmt.Sprintf(" default:%q", one.Values[0]))
		}
		fields = append(fields, field)
	}
	return optionFlags{kong.Plugins{reflect.New(reflect.StructOf(fields)).Interface()}}
}

// options are what the flags say.
func (f optionFlags) options() (o unink.Options, err error) {
	given := reflect.ValueOf(f.Plugins[0]).Elem()
	var errs []error
	for _, one := range option.All {
		if one.Flag == "" {
			continue
		}
		value := given.Field(len(errs)).Interface()
		errs = append(errs, set(one.Field(&o), value))
	}
	return o, errors.Join(errs...)
}

// set gives an option the value of its flag.
func set(field, value any) error {
	switch value := value.(type) {
	case bool:
		*field.(*bool) = value
	case string:
		return field.(option.Text).UnmarshalText([]byte(value))
	case []string:
		if len(value) > 0 {
			return field.(option.Text).UnmarshalText([]byte(strings.Join(value, ",")))
		}
	}
	return nil
}
