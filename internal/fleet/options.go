package fleet

import (
	"encoding/json"
	"fmt"
	"reflect"

	"unink"
	"unink/internal/option"
)

var options = option.By(func(one option.Option) string { return one.Wire })

// writeOptions says what is asked for. What is not is left out, so that a worker that does not know
// an option can serve those who do not use it. Values go as numbers: the version before this one,
// with which it may be mixed, does not read their names.
func writeOptions(o unink.Options) (json.RawMessage, error) {
	asked := map[string]any{}
	for name, one := range options {
		switch value := reflect.ValueOf(one.Field(&o)).Elem(); {
		case value.IsZero():
		case value.Kind() == reflect.Bool:
			asked[name] = true
		default:
			asked[name] = value.Uint()
		}
	}
	return json.Marshal(asked)
}

// readOptions reads what writeOptions writes, and the names of values. What this version does not
// know is an error, upon which the page is left to other workers.
func readOptions(data []byte) (o unink.Options, err error) {
	var asked map[string]json.RawMessage
	if err := json.Unmarshal(data, &asked); err != nil {
		return o, err
	}
	for name, value := range asked {
		one, known := options[name]
		if !known {
			return o, fmt.Errorf("the option %.64q is not known", name)
		}
		if err := readOption(one.Field(&o), value); err != nil {
			return o, fmt.Errorf("%s: %w", name, err)
		}
	}
	return o, nil
}

func readOption(field any, value json.RawMessage) error {
	text, named := field.(option.Text)
	if !named || value[0] == '"' {
		return json.Unmarshal(value, field)
	}
	var number uint8
	if err := json.Unmarshal(value, &number); err != nil {
		return err
	}
	reflect.ValueOf(field).Elem().SetUint(uint64(number))
	_, err := text.MarshalText()
	return err
}
