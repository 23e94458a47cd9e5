package main

import (
	"bytes"
	_ "embed" // the template
	"slices"
	"strings"
	"text/template"

	"unink"
	"unink/internal/option"
)

//go:embed unink.d.ts.tmpl
var declaration string

// declare writes the TypeScript types of the npm package.
func declare([]byte) ([]byte, error) {
	parsed, err := template.New("unink.d.ts").Funcs(template.FuncMap{
		"options": scripted, "inks": unink.Inks, "pictures": unink.Pictures, "times": times,
		"union": union, "type": typeOf, "comment": comment,
	}).Parse(declaration)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = parsed.Execute(&text, nil)
	return text.Bytes(), err
}

// scripted are the options that the npm package has.
func scripted() []option.Option {
	return slices.DeleteFunc(slices.Clone(option.All),
		func(one option.Option) bool { return one.Script == "" })
}

// times are the names of the times in a report.
func times() []string { return append(unink.Stages(), "total") }

// union is the type of what has one of some values.
func union(values []string) string {
	alternatives := make([]string, len(values))
	for i, value := range values {
		alternatives[i] = "| '" + value + "'"
	}
	if filled := fill(alternatives); len(filled) > 1 {
		return "\n    " + strings.Join(filled, "\n    ") + "\n  "
	}
	return strings.TrimPrefix(strings.Join(alternatives, " "), "| ")
}

func typeOf(one option.Option) string {
	switch {
	case one.Values == nil:
		return "boolean"
	case slices.Equal(one.Values, unink.Inks()):
		return "Ink[]"
	case one.List:
		return "(" + union(one.Values) + ")[]"
	}
	return union(one.Values)
}

// comment makes a comment of a member's text.
func comment(text string) string {
	lines := fill(strings.Fields(text))
	if len(lines) == 1 {
		return "/** " + text + " */"
	}
	return "/**\n   * " + strings.Join(lines, "\n   * ") + "\n   */"
}

// fill makes lines of words, which with what stands before and after have at most 100 columns.
func fill(words []string) (lines []string) {
	const width = 90
	for _, word := range words {
		if last := len(lines) - 1; last >= 0 && len(lines[last])+1+len(word) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
