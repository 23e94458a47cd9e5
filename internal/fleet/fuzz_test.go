package fleet

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/nats-io/nats.go"
)

// FuzzMessage reads a message as each side would that may get one of its kind.
func FuzzMessage(f *testing.F) {
	for k, body := range map[kind]string{
		proposal: `{"page":"p","size":10,"budget":1000000000,"options":{"finish":1,"layers":true}}`,
		take:     `{"worker":"w"}`,
		failed:   `{"code":"broken","op":"decode","message":"m","hint":"h","cause":"c"}`,
		finished: `{"made":{"version":"v1","model":"aa"},"format":1,"width":2,"height":3,"data":9223372036854775807,"handwriting":1,"mask":1,"before":1}`,
		piece:    "\x00\x01",
	} {
		f.Add(string(k), "0", "", []byte(body))
	}
	f.Add("", "-1", "503",
		[]byte(`{"data":1,"handwriting":0,"mask":0,"report":{"timings":{"decode":1e400}}}`))
	f.Fuzz(func(t *testing.T, name, sequence, code string, body []byte) {
		m := &nats.Msg{Header: nats.Header{}, Data: body}
		m.Header.Set(kindHeader, name)
		m.Header.Set(sequenceHeader, sequence)
		m.Header.Set("Status", code)
		if k, n := kindOf(m); k != gone && k != kind(name) || n < -1 && sequence == "" {
			t.Errorf("%q, %q, %q is %q %d", name, sequence, code, k, n)
		}
		a := &attempt{link: &link{}, page: &page{declined: map[string]bool{}}, worker: "w"}
		if err := a.expect(body); err == nil {
			if n := cap(a.in.data); n < 1 || n > maxResult {
				t.Fatalf("a result of %d bytes is taken", n)
			}
			if size := cap(a.in.data); size <= 1<<20 {
				full := a.result.with(make([]byte, size))
				if n := len(full.Data) + len(full.Handwriting) + len(full.Mask) + len(full.Before); n != size {
					t.Errorf("%d bytes of %d", n, size)
				}
			}
		}
		if a.pageError(body) == nil {
			t.Error("a failure is no error")
		}
		var o offer
		if json.Unmarshal(body, &o) == nil {
			_, _ = readOptions(o.Options)
		}
		_, _ = readOptions(body)
	})
}

// FuzzPieces takes pieces in any order and of any size: they add up to what was announced, or are
// refused.
func FuzzPieces(f *testing.F) {
	f.Add(4, 0, []byte("ab"), 1, []byte("cd"))
	f.Add(4, 0, []byte("ab"), 0, []byte("ab"))
	f.Add(1, 0, []byte("ab"), -1, []byte{})
	f.Fuzz(func(t *testing.T, size, first int, a []byte, second int, b []byte) {
		if size < 1 || size > 1<<20 || first == 0 || second == 0 {
			t.Skip() // a piece that is due is acknowledged, which takes a connection; TestNonsense has one
		}
		in := newIncoming(size)
		err := errors.Join(in.add(first, a, nil), in.add(second, b, nil))
		if err == nil && (in.next != 0 || len(in.data) != 0) {
			t.Errorf("pieces %d and %d are taken first", first, second)
		}
	})
}

// FuzzOptions reads options that a newer or a hostile service sends.
func FuzzOptions(f *testing.F) {
	f.Add(
		[]byte(
			`{"finish":1,"remove":3,"format":2,"layers":true,"keepOrientation":true,"keepDistortion":true}`,
		),
	)
	f.Add([]byte(`{"unknown":1}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := readOptions(body)
		if err != nil {
			return
		}
		again, err := writeOptions(o)
		if err != nil {
			t.Fatalf("%+v cannot be said again: %v", o, err)
		}
		if same, err := readOptions(again); err != nil || same != o {
			t.Errorf("%+v came back as %+v, %v", o, same, err)
		}
	})
}
