package main

import (
	"bytes"
	"encoding/json"
	"slices"

	"unink/internal/option"
)

// inputs are where the OpenAPI description has the options, under which names and in which form.
var inputs = []struct {
	path, content string
	name          func(option.Option) string
	schema        func(option.Option) schema
}{
	{"/api/process-image", "multipart/form-data", form, webField},
	{"/cleanup", "application/json", key, jsonKey},
	{"/cleanup", "multipart/form-data", key, developerField},
	{"/pdf", "application/json", option.Option.PDFKey, jsonKey},
	{"/pdf", "multipart/form-data", option.Option.PDFKey, developerField},
}

func form(one option.Option) string { return one.Form }
func key(one option.Option) string  { return one.Key }

// schema is what the description says of an option.
type schema struct {
	Type        string   `json:"type"`
	Enum        []string `json:"enum,omitempty"`
	Items       *schema  `json:"items,omitempty"`
	Pattern     string   `json:"pattern,omitempty"`
	Default     any      `json:"default,omitempty"`
	Description string   `json:"description,omitempty"`
}

func webField(one option.Option) schema {
	if one.Values == nil {
		return schema{Type: "string", Pattern: "^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$"}
	}
	return developerField(one)
}

func developerField(one option.Option) schema {
	if one.List { // between commas
		return schema{Type: "string"}
	}
	return jsonKey(one)
}

func jsonKey(one option.Option) schema {
	switch {
	case one.Values == nil:
		return schema{Type: "boolean", Default: false}
	case one.List:
		return schema{Type: "array", Items: &schema{Type: "string", Enum: one.Values}}
	}
	return schema{Type: "string", Enum: one.Values}
}

// describe writes options and stages into the OpenAPI description. What it has of them already
// keeps its place and its text; what is new is told by its help.
func describe(old []byte) (_ []byte, err error) {
	text := json.RawMessage(old)
	for _, in := range inputs {
		text, err = edit(text, func(properties *object) error {
			for _, one := range option.All {
				if err := properties.describe(in.name(one), one.Help, in.schema(one)); err != nil {
					return err
				}
			}
			return nil
		}, "paths", in.path, "post", "requestBody", "content", in.content, "schema", "properties")
		if err != nil {
			return nil, err
		}
	}
	text, err = edit(text, describeTimes, "components", "schemas", "Image", "properties", "data",
		"properties", "report", "properties", "ms")
	if err != nil {
		return nil, err
	}
	var laidOut bytes.Buffer
	err = json.Indent(&laidOut, text, "", "  ")
	laidOut.WriteByte('\n')
	return laidOut.Bytes(), err
}

// describe adds a property, or brings what is said of it up to date.
func (o *object) describe(name, help string, s schema) error {
	if name == "" {
		return nil
	}
	old := o.member(name)
	if old == nil {
		s.Description = help
		return o.set(name, s)
	}
	text, err := plain(s)
	if err != nil {
		return err
	}
	var now object
	if err := json.Unmarshal(text, &now); err != nil {
		return err
	}
	old.value, err = edit(old.value, func(property *object) error {
		for _, m := range now {
			if err := property.set(m.name, m.value); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// describeTimes writes the times of a report.
func describeTimes(ms *object) error {
	if err := ms.set("required", times()); err != nil {
		return err
	}
	var err error
	properties := ms.member("properties")
	properties.value, err = edit(properties.value, func(o *object) error {
		var now object
		for _, name := range times() {
			if known := o.member(name); known != nil {
				now = append(now, *known)
			} else if err := now.set(name, json.RawMessage(`{"type":"number","minimum":0}`)); err != nil {
				return err
			}
		}
		*o = slices.Clip(now)
		return nil
	})
	return err
}
