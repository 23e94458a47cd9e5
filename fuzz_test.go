package unink_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"unink"
)

// FuzzReport reads reports as programs keep them: what can be read can be written and read again.
func FuzzReport(f *testing.F) {
	f.Add(
		[]byte(
			`{"removed":0.5,"turned":90,"flattened":true,"skew":-1.5,"confidence":{"orient":1},"timings":{"decode":1.5,"total":1e3}}`,
		),
	)
	f.Add([]byte(`{"timings":{"total":1e300},"corners":[[0,0]]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var r, again unink.Report
		if json.Unmarshal(text, &r) != nil {
			return
		}
		written, err := json.Marshal(r)
		if err != nil {
			t.Fatalf("%+v cannot be written: %v", r, err)
		}
		if err := json.Unmarshal(written, &again); err != nil {
			t.Errorf("%s: %v", written, err)
		}
		if r.Timings.Total().Abs() < 1<<50 && r.Timings.Total() != again.Timings.Total() {
			t.Errorf("%v came back as %v", r.Timings.Total(), again.Timings.Total())
		}
	})
}

// FuzzNames reads what callers name: what is accepted has a name that means the same.
func FuzzNames(f *testing.F) {
	for _, name := range []string{"png", "JPEG", "red", "all", "", "black,red", "\x00"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if format, err := unink.ParseFormat(name); err == nil {
			if same, err := unink.ParseFormat(format.String()); err != nil || same != format {
				t.Errorf("%q is %v, which is %v, %v", name, format, same, err)
			}
		}
		if ink, err := unink.ParseInk(name, name); err == nil {
			if once, err := unink.ParseInk(name); err != nil || !reflect.DeepEqual(once, ink) {
				t.Errorf("%q is %v once and %v twice, %v", name, once, ink, err)
			}
		}
	})
}
