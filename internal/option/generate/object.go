package main

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// object is a JSON object whose members stay in their order.
type object []member

type member struct {
	name  string
	value json.RawMessage
}

// UnmarshalJSON reads an object.
func (o *object) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return fmt.Errorf("not an object: %.40s", text)
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		m := member{name: name.(string)}
		if err := decoder.Decode(&m.value); err != nil {
			return err
		}
		*o = append(*o, m)
	}
	return nil
}

// MarshalJSON writes it.
func (o object) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			text = append(text, ',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		text = append(append(append(text, name...), ':'), m.value...)
	}
	return append(text, '}'), nil
}

// member finds one, nil if there is none.
func (o *object) member(name string) *member {
	for i := range *o {
		if (*o)[i].name == name {
			return &(*o)[i]
		}
	}
	return nil
}

// set gives a member a value.
func (o *object) set(name string, value any) error {
	text, err := plain(value)
	if err != nil {
		return err
	}
	if old := o.member(name); old != nil {
		old.value = text
		return nil
	}
	*o = append(*o, member{name, text})
	return nil
}

// plain is JSON that leaves <, > and & as they are.
func plain(value any) (json.RawMessage, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSpace(text.Bytes()), err
}

// edit changes the object at a path of names.
func edit(text json.RawMessage, change func(*object) error,
	path ...string) (json.RawMessage, error) {
	var o object
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, err
	}
	if len(path) == 0 {
		if err := change(&o); err != nil {
			return nil, err
		}
		return plain(o)
	}
	inner := o.member(path[0])
	if inner == nil {
		return nil, fmt.Errorf("there is no %s", path[0])
	}
	value, err := edit(inner.value, change, path[1:]...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path[0], err)
	}
	inner.value = value
	return plain(o)
}
