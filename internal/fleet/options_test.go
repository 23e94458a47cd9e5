package fleet

import (
	"bytes"
	"encoding/json"
	"testing"

	"unink"
)

var everyOption = unink.Options{Finish: unink.Colour, Remove: unink.Blue | unink.Red,
	Format: unink.WebP, Layers: true, KeepOrientation: true, KeepDistortion: true}

// The version before, with which this one may be mixed, reads and writes numbers.
func TestOptionsAreThoseOfTheVersionBefore(t *testing.T) {
	type before struct {
		Finish          uint8 `json:"finish,omitempty"`
		Remove          uint8 `json:"remove,omitempty"`
		Format          uint8 `json:"format,omitempty"`
		Layers          bool  `json:"layers,omitempty"`
		KeepOrientation bool  `json:"keepOrientation,omitempty"`
		KeepDistortion  bool  `json:"keepDistortion,omitempty"`
	}
	want := before{1, 6, 3, true, true, true}
	wire, err := writeOptions(everyOption)
	if err != nil {
		t.Fatal(err)
	}
	var got before
	decoder := json.NewDecoder(bytes.NewReader(wire))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&got); err != nil || got != want {
		t.Errorf("the version before reads %s as %+v (%v)", wire, got, err)
	}
	if wire, err = json.Marshal(want); err != nil {
		t.Fatal(err)
	}
	if o, err := readOptions(wire); err != nil || o != everyOption {
		t.Errorf("%s of the version before is read as %+v (%v)", wire, o, err)
	}
}

// A later version may say names, and values that this one does not know: those are for others.
func TestOptionsOfALaterVersion(t *testing.T) {
	named := `{"finish":"colour","remove":"blue,red","format":"webp","layers":true,` +
		`"keepOrientation":true,"keepDistortion":true}`
	if o, err := readOptions([]byte(named)); err != nil || o != everyOption {
		t.Errorf("%s is read as %+v (%v)", named, o, err)
	}
	for _, wire := range []string{`{"finish":200}`, `{"finish":"newspaper"}`, `{"remove":64}`,
		`{"remove":"violet"}`, `{"format":"gif"}`, `{"format":-1}`, `{"layers":1}`, `{"keepStamps":true}`,
		`[]`, ``} {
		if o, err := readOptions([]byte(wire)); err == nil {
			t.Errorf("%s is taken for %+v", wire, o)
		}
	}
}
