package option

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"unink"
)

// A typo is an error that says what there is, and changes nothing to a default.
func TestTyposAreTold(t *testing.T) {
	for _, one := range All {
		var o unink.Options
		field, isText := one.Field(&o).(Text)
		if !isText {
			continue
		}
		err := field.UnmarshalText([]byte("shiny"))
		var told *unink.Error
		if !errors.As(err, &told) || told.Code != unink.ErrOption ||
			!strings.Contains(told.Hint, strings.Join(one.Values, ", ")) {
			t.Errorf("%s: %v", one.Form, err)
		}
	}
}

// Each value is written as it is read, and known to be asked for where it is no default.
func TestValuesAreReadAsTheyAreWritten(t *testing.T) {
	for _, one := range All {
		for i, value := range one.Values {
			var o unink.Options
			if err := one.Field(&o).(Text).UnmarshalText([]byte(strings.ToUpper(value))); err != nil {
				t.Fatal(err)
			}
			byDefault := one.Word == "" && i == 0
			if text, asked := one.Asked(o); text != value || asked == byDefault {
				t.Errorf("%s is written as %q, asked for: %v", value, text, asked)
			}
		}
		if one.Values == nil {
			var o unink.Options
			*one.Field(&o).(*bool) = true
			if text, asked := one.Asked(o); text != "true" || !asked {
				t.Errorf("%s is written as %q, asked for: %v", one.Form, text, asked)
			}
		}
	}
}

// Each field is an option of its own, and batches notice when what their commands can say changes.
func TestTheTableIsWhole(t *testing.T) {
	var o unink.Options
	seen := map[any]bool{}
	for _, one := range All {
		field := one.Field(&o)
		if seen[field] {
			t.Errorf("%s is another option, too", one.Form)
		}
		seen[field] = true
		if one.Flag != "" && one.Record == "" && field != any(&o.Finish) {
			t.Errorf("--%s has no Record: batches would not clean again with it", one.Flag)
		}
	}
	if want := reflect.TypeFor[unink.Options]().NumField(); len(seen) != want {
		t.Errorf("the table has %d options, unink.Options %d", len(seen), want)
	}
}
