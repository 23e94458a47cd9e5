// Package option has what can be asked for of a page, with the names of each option on every way
// in. The command line's flags, both HTTP entry points, the requests of --server, the fleet's
// messages, the browser's engine, openapi.json and unink.d.ts follow from its one table.
package option

import (
	"encoding"
	"strings"

	"unink"
)

//go:generate go run ./generate

// Option is one of [unink.Options]. Where a name is empty, it cannot be asked for.
type Option struct {
	Flag   string // on the command line
	Form   string // in the form of the web entry point
	Key    string // in the JSON object and the form of the developer entry point
	Script string // in the npm package
	Wire   string // in the fleet's messages
	// Record is what records of batches say before its value, and of a flag instead of it. They know
	// by it what was cleaned already: it never changes.
	Record string

	Values []string // that it can have; none for a flag, which is true or false
	List   bool     // it has any of the values, separated by commas in text
	Word   string   // for its value in the help, where it has no default
	Help   string   // a sentence or two, which end with a full stop

	// Field is the option in a set of them: a *bool, or a [Text].
	Field func(o *unink.Options) any
}

// Text is an option that has one of some values, or any of them.
type Text interface {
	encoding.TextMarshaler
	encoding.TextUnmarshaler
}

// All are the options, in the order in which help and descriptions list them.
var All = []Option{{
	Flag: "finish", Form: "finish", Key: "finish", Script: "finish", Wire: "finish",
	Values: unink.Finishes(),
	Help: "scan: even white paper, crisp print. colour (or color): the picture as it was, only the " +
		"handwriting gone.",
	Field: func(o *unink.Options) any { return &o.Finish },
}, {
	Flag: "remove", Form: "remove", Key: "remove", Script: "remove", Wire: "remove", Record: "only ",
	Values: unink.Inks(), List: true, Word: "INK",
	Help:  "Remove only these inks: " + strings.Join(unink.Inks(), ", ") + ". Default: all.",
	Field: func(o *unink.Options) any { return &o.Remove },
}, {
	Flag: "format", Form: "output_format", Key: "output_format", Script: "format", Wire: "format",
	Record: "as ", Values: unink.Formats(), Word: "FORMAT",
	Help: "png, jpeg or webp. Default: PNG for grey line art and from PNG, WebP from WebP, " +
		"otherwise JPEG.",
	Field: func(o *unink.Options) any { return &o.Format },
}, {
	Flag: "keep-orientation", Form: "keepOrientation", Key: "keep_ori", Script: "keepOrientation",
	Wire: "keepOrientation", Record: "orientation kept",
	Help: "Leave the page turned as it is. Default: it is turned upright by what is on it, when " +
		"that is sure (scan finish).",
	Field: func(o *unink.Options) any { return &o.KeepOrientation },
}, {
	Flag: "keep-distortion", Form: "keepDistortion", Key: "keep_distortion", Script: "keepDistortion",
	Wire: "keepDistortion", Record: "distortion kept",
	Help: "Leave skew and perspective as they are. Default: undone where text lines or the sheet's " +
		"edges show them (scan finish).",
	Field: func(o *unink.Options) any { return &o.KeepDistortion },
}, {
	Form: "returnLayers", Key: "return_layers", Script: "returnLayers", Wire: "layers",
	Help:  "Also return what was removed.",
	Field: func(o *unink.Options) any { return &o.Layers },
}, {
	Form: "returnBefore", Key: "return_before", Script: "returnBefore",
	Help:  "Also return the page uncleaned as the result lies, where it was turned or straightened.",
	Field: func(o *unink.Options) any { return &o.Before },
}}

// PDFKey is an option's name in requests for whole PDFs, which have no layers.
func (one Option) PDFKey() string {
	if one.Flag == "" {
		return ""
	}
	return one.Key
}

// By are the options that have a name on a way in, under these names.
func By(name func(Option) string) map[string]Option {
	named := map[string]Option{}
	for _, one := range All {
		if name(one) != "" {
			named[name(one)] = one
		}
	}
	return named
}

// Asked is the text of an option that is not as it is by default; of a flag "true".
func (one Option) Asked(o unink.Options) (text string, asked bool) {
	var zero unink.Options
	text, usual := valueOf(one.Field(&o)), valueOf(one.Field(&zero))
	return text, text != usual
}

func valueOf(field any) string {
	if field, isText := field.(Text); isText {
		text, _ := field.MarshalText() // what has no text is refused by the engine
		return string(text)
	}
	return map[bool]string{true: "true", false: "false"}[*field.(*bool)]
}
