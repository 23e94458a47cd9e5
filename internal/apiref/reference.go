// Package apiref is the reference of the API: its OpenAPI description, for machines, and what the
// page for developers shows of it.
package apiref

import (
	"bytes"
	_ "embed" // the description
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"unink/examples"
)

// Description is the OpenAPI description of both entry points and of accounts, as JSON.
//
//go:embed openapi.json
var Description []byte

// Page is what the template of the page for developers is filled with. It is made once: all of it
// is in the program.
var Page = sync.OnceValue(func() *Reference {
	shown, err := reference(Description)
	if err != nil {
		panic(err) // never: the tests make it
	}
	return shown
})

// Reference is what people read of the API.
type Reference struct {
	Info     info
	Intro    []string // paragraphs
	Sections any
	Codes    any
	Security ordered[securityScheme]
	Headers  any
	Examples []exampleProgram
	At       string // the address that is called, such as https://acme.example.com
	Own      bool   // it is that of who reads the page
	Free     int    // calls for who begins without a package
}

// reference makes it of an OpenAPI description, and of examples of calls.
func reference(text []byte) (*Reference, error) {
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("openapi.json: %w", err)
	}
	programs, err := examplePrograms()
	if err != nil {
		return nil, err
	}
	return &Reference{
		Info: d.Info, Intro: strings.Split(d.Info.Description, "\n\n"), Sections: d.sections(),
		Codes: d.codes(), Security: d.Components.SecuritySchemes, Headers: d.headers(),
		Examples: programs,
	}, nil
}

// exampleProgram is a program that calls the developer entry point.
type exampleProgram struct{ Language, Path, Text string }

func examplePrograms() ([]exampleProgram, error) {
	programs := []exampleProgram{
		{Language: "curl", Path: "clean.sh"},
		{Language: "Go", Path: "go/main.go"},
		{Language: "Python", Path: "clean.py"},
		{Language: "JavaScript", Path: "clean.mjs"},
		{Language: "PDF with curl", Path: "pdf.sh"},
	}
	for i := range programs {
		text, err := fs.ReadFile(examples.Files, programs[i].Path)
		if err != nil {
			return nil, err
		}
		programs[i].Text = string(text)
	}
	return programs, nil
}

// document is what the page shows of an OpenAPI document.
type document struct {
	Info info
	Tags []struct{ Name, Description string }

	Paths      ordered[ordered[operation]] // by path and method
	Components struct {
		SecuritySchemes ordered[securityScheme]
		Schemas         map[string]*schema
		Headers         map[string]header
	}
}

type info struct{ Title, Version, Summary, Description string }

type securityScheme struct{ Description string }

type operation struct {
	OperationID, Summary, Description string
	Tags                              []string
	Security                          []map[string][]string
	Parameters                        []parameter
	RequestBody                       *struct {
		Required bool
		Content  ordered[media]
	}
	Responses ordered[response] // by status
}

type parameter struct {
	Name, In, Description string
	Required              bool
	Schema                *schema
}

type media struct{ Schema *schema }

type response struct {
	Description string
	Headers     ordered[header]
	Content     ordered[media]
}

type header struct {
	Ref         string `json:"$ref"`
	Description string
}

// schema is a JSON Schema, as far as the description uses it.
type schema struct {
	Ref                               string `json:"$ref"`
	Type                              names
	Title, Description                string
	Format, Pattern                   string
	ContentEncoding, ContentMediaType string
	Const, Default                    json.RawMessage
	Enum                              []json.RawMessage
	Minimum, Maximum                  *int
	MinLength, MaxLength              *int
	MinItems, MaxItems                *int
	Required                          []string
	Properties                        ordered[*schema]
	Items                             *schema
	AllOf, OneOf                      []*schema
}

// ordered is a JSON object whose members stay in the order in which they are written.
type ordered[T any] []member[T]

type member[T any] struct {
	Name  string
	Value T
}

// UnmarshalJSON reads an object.
func (o *ordered[T]) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return fmt.Errorf("not an object: %.40s", text)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		m := member[T]{Name: name.(string)}
		if err := d.Decode(&m.Value); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		*o = append(*o, m)
	}
	return nil
}

func (o ordered[T]) index(name string) int {
	return slices.IndexFunc(o, func(m member[T]) bool { return m.Name == name })
}

func (o ordered[T]) get(name string) (value T) {
	if i := o.index(name); i >= 0 {
		value = o[i].Value
	}
	return value
}

// with replaces the member of a name, or adds one.
func (o ordered[T]) with(m member[T]) ordered[T] {
	if i := o.index(m.Name); i >= 0 {
		o[i] = m
		return o
	}
	return append(o, m)
}

// names is a string or a list of them.
type names []string

// UnmarshalJSON reads either.
func (n *names) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*n = names{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(n))
}

// resolve follows references and joins what allOf puts together; a later property replaces an
// earlier one of its name.
func (d *document) resolve(s *schema) *schema {
	if s.Ref != "" {
		return d.resolve(d.Components.Schemas[path.Base(s.Ref)])
	}
	if len(s.AllOf) == 0 {
		return s
	}
	joined := &schema{Type: names{"object"}, Description: s.Description}
	for _, part := range append(slices.Clone(s.AllOf),
		&schema{Properties: s.Properties, Required: s.Required}) {
		part = d.resolve(part)
		joined.Required = append(joined.Required, part.Required...)
		for _, p := range part.Properties {
			joined.Properties = joined.Properties.with(p)
		}
	}
	return joined
}

// section is the operations of one tag.
type section struct {
	Name, Description string
	Operations        []operationText
}

// operationText is an operation as the page shows it.
type operationText struct {
	ID, Method, Path, Summary, Description string
	Security                               []string // names of schemes, any of which is enough
	Parameters                             []fieldText
	Bodies                                 []bodyText // any of which will do
	Responses                              []responseText
}

type bodyText struct {
	Type, Sample string
	Required     bool
	Fields       []fieldText
}

type responseText struct {
	Status, Description string
	Names               []string // of errors
	Headers             []string
	Fields              []fieldText
	Samples             []string
}

// fieldText is a parameter, or a property with the path to it.
type fieldText struct {
	Name, In, Type, Limits, Default, Description string
	Required                                     bool // the caller must send it
	Optional                                     bool // the service may leave it out
}

func (d *document) sections() []section {
	var sections []section
	for _, tag := range d.Tags {
		s := section{Name: tag.Name, Description: tag.Description}
		for _, p := range d.Paths {
			for _, method := range p.Value {
				if slices.Contains(method.Value.Tags, tag.Name) {
					s.Operations = append(s.Operations, d.operation(method.Name, p.Name, method.Value))
				}
			}
		}
		sections = append(sections, s)
	}
	return sections
}

func (d *document) operation(method, path string, o operation) operationText {
	t := operationText{
		ID: o.OperationID, Method: strings.ToUpper(method), Path: path,
		Summary: o.Summary, Description: o.Description,
	}
	for _, way := range o.Security {
		if len(way) == 0 {
			t.Security = append(t.Security, "none")
		}
		for name := range way {
			t.Security = append(t.Security, name)
		}
	}
	for _, p := range o.Parameters {
		f := d.field(p.Name, p.Schema)
		f.In, f.Required, f.Description = p.In, p.Required, p.Description
		t.Parameters = append(t.Parameters, f)
	}
	if o.RequestBody != nil {
		for _, content := range o.RequestBody.Content {
			body := bodyText{Type: content.Name, Required: o.RequestBody.Required,
				Fields: d.fields("", content.Value.Schema)}
			if content.Name == "application/json" && len(body.Fields) > 0 {
				body.Sample = indented(d.sample("", content.Value.Schema))
			}
			t.Bodies = append(t.Bodies, body)
		}
	}
	for _, r := range o.Responses {
		t.Responses = append(t.Responses, d.response(r.Name, r.Value))
	}
	return t
}

func (d *document) response(status string, r response) responseText {
	t := responseText{Status: status, Description: r.Description}
	for _, h := range r.Headers {
		t.Headers = append(t.Headers, h.Name)
	}
	if len(r.Content) == 0 {
		return t
	}
	body := d.resolve(r.Content[0].Value.Schema)
	if status >= "400" {
		for _, name := range []string{"code", "error"} {
			if p := body.Properties.get(name); p != nil {
				t.Names = append(t.Names, plain(p.Enum)...)
			}
		}
		t.Samples = []string{d.sample("", body)}
		return t
	}
	t.Fields = d.fields("", body)
	for i, f := range t.Fields {
		t.Fields[i].Required, t.Fields[i].Optional = false, !f.Required
	}
	for _, one := range alternatives(body) {
		t.Samples = append(t.Samples, indented(d.sample("", one)))
	}
	return t
}

// alternatives are what a value may be.
func alternatives(s *schema) []*schema {
	if len(s.OneOf) > 0 && s.Type == nil {
		return s.OneOf
	}
	return []*schema{s}
}

// fields lists what is in a value, each with the path to it.
func (d *document) fields(prefix string, s *schema) []fieldText {
	s = d.resolve(s)
	several := alternatives(s)
	var found []fieldText
	for _, one := range several {
		for _, p := range d.resolve(one).Properties {
			f := d.field(prefix+p.Name, p.Value)
			f.Required = len(several) == 1 && slices.Contains(s.Required, p.Name)
			inside := d.resolve(p.Value)
			found = append(found, f)
			found = append(found, d.fields(prefix+p.Name+".", inside)...)
			if inside.Items != nil {
				found = append(found, d.fields(prefix+p.Name+"[].", inside.Items)...)
			}
		}
	}
	return found
}

func (d *document) field(name string, s *schema) fieldText {
	outer := s.Description
	s = d.resolve(s)
	f := fieldText{Name: name, Type: d.typeOf(s), Limits: d.limits(s), Default: string(s.Default),
		Description: s.Description}
	if outer != "" {
		f.Description = outer
	}
	return f
}

func (d *document) typeOf(s *schema) string {
	s = d.resolve(s)
	switch {
	case s.ContentMediaType != "":
		return "file"
	case s.ContentEncoding == "base64":
		return "Base64 string"
	case s.Format != "":
		return s.Format + " string"
	case s.Items != nil:
		return "list of " + d.typeOf(s.Items)
	}
	return strings.Join(s.Type, " or ")
}

// limits says which values are good.
func (d *document) limits(s *schema) string {
	var said []string
	say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	if s.Const != nil {
		say("always %s", s.Const)
	}
	if len(s.Enum) > 0 {
		say("one of %s", strings.Join(plain(s.Enum), ", "))
	}
	for _, r := range []struct {
		min, max *int
		unit     string
	}{{s.Minimum, s.Maximum, ""}, {s.MinLength, s.MaxLength, " characters"},
		{s.MinItems, s.MaxItems, " items"}} {
		switch {
		case r.min != nil && r.max != nil:
			say("%d to %d%s", *r.min, *r.max, r.unit)
		case r.min != nil:
			say("at least %d%s", *r.min, r.unit)
		case r.max != nil:
			say("at most %d%s", *r.max, r.unit)
		}
	}
	if s.Pattern != "" {
		say("matches %s", s.Pattern)
	}
	if s.Items != nil {
		if of := d.limits(d.resolve(s.Items)); of != "" {
			say("each %s", of)
		}
	}
	return strings.Join(said, "; ")
}

// plain are values without the quotes of JSON.
func plain(values []json.RawMessage) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = strings.Trim(string(v), `"`)
	}
	return texts
}

// sample is a value in JSON: what must be in it, and what has a default.
func (d *document) sample(name string, s *schema) string {
	s = d.resolve(s)
	switch {
	case s.Const != nil:
		return string(s.Const)
	case s.Default != nil:
		return string(s.Default)
	case len(s.Enum) > 0:
		return string(s.Enum[0])
	case s.Items != nil:
		return "[" + d.sample(name, s.Items) + "]"
	case s.ContentEncoding == "base64":
		return `"<Base64>"`
	case s.Format == "date-time":
		return `"2027-02-21T12:00:00Z"`
	case slices.Contains(s.Type, "object"):
		var members []string
		for _, p := range s.Properties {
			if slices.Contains(s.Required, p.Name) || p.Value.Default != nil {
				members = append(members, strconv.Quote(p.Name)+":"+d.sample(p.Name, p.Value))
			}
		}
		return "{" + strings.Join(members, ",") + "}"
	case slices.Contains(s.Type, "boolean"):
		return "false"
	case slices.Contains(s.Type, "integer") && s.Minimum != nil:
		return strconv.Itoa(*s.Minimum)
	case slices.Contains(s.Type, "integer"):
		return "0"
	}
	return strconv.Quote("<" + name + ">")
}

func indented(text string) string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(text), "", "  "); err != nil {
		return text
	}
	return b.String()
}

// codeText is a row of the table of business codes.
type codeText struct {
	Code, Message, Description string
	Statuses                   []string
}

// codes are the developer entry point's errors, and the statuses with which they come.
func (d *document) codes() []codeText {
	statuses := map[string][]string{}
	for _, p := range d.Paths {
		for _, method := range p.Value {
			for _, r := range method.Value.Responses {
				for _, name := range d.response(r.Name, r.Value).Names {
					if !slices.Contains(statuses[name], r.Name) {
						statuses[name] = append(statuses[name], r.Name)
					}
				}
			}
		}
	}
	var rows []codeText
	if failure := d.Components.Schemas["DeveloperError"]; failure != nil {
		for _, c := range failure.Properties.get("code").OneOf {
			code := string(c.Enum[0])
			rows = append(rows, codeText{code, c.Title, c.Description, statuses[code]})
		}
	}
	return rows
}

// headers explains each response header once.
func (d *document) headers() []fieldText {
	var found []fieldText
	for _, p := range d.Paths {
		for _, method := range p.Value {
			for _, r := range method.Value.Responses {
				for _, h := range r.Value.Headers {
					if slices.ContainsFunc(found, func(f fieldText) bool { return f.Name == h.Name }) {
						continue
					}
					if h.Value.Ref != "" {
						h.Value = d.Components.Headers[path.Base(h.Value.Ref)]
					}
					found = append(found, fieldText{Name: h.Name, Description: h.Value.Description})
				}
			}
		}
	}
	return found
}
