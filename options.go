package unink

import (
	"fmt"
	"slices"
	"strings"

	"unink/internal/imagefile"
	"unink/internal/restore"
)

// Finish is how the cleaned page looks.
type Finish uint8

// The finishes. Scan is the default.
const (
	Scan   = Finish(restore.Scan)   // even white paper, print dark and crisp
	Colour = Finish(restore.Colour) // the picture as it was: only the handwriting is gone
)

var finishNames = []string{Scan: "scan", Colour: "colour"}

// Finishes are the names of the finishes, the default first.
func Finishes() []string { return slices.Clone(finishNames) }

// ParseFinish reads one of [Finishes] or "color", in any case. The empty string is [Scan].
func ParseFinish(s string) (Finish, error) {
	name := strings.ToLower(s)
	switch name {
	case "":
		return Scan, nil
	case "color":
		return Colour, nil
	}
	if i := slices.Index(finishNames, name); i >= 0 {
		return Finish(i), nil
	}
	return 0, badOption("finish", s, finishNames)
}

func (f Finish) valid() bool { return int(f) < len(finishNames) }

func (f Finish) String() string {
	if f.valid() {
		return finishNames[f]
	}
	return fmt.Sprintf("Finish(%d)", uint8(f))
}

// MarshalText writes the name. The error is an *[Error]: there is no such finish.
func (f Finish) MarshalText() ([]byte, error) {
	if !f.valid() {
		return nil, badOption("finish", f.String(), finishNames)
	}
	return []byte(f.String()), nil
}

// UnmarshalText reads what [ParseFinish] does.
func (f *Finish) UnmarshalText(text []byte) (err error) {
	*f, err = ParseFinish(string(text))
	return err
}

// Ink is a set of ink colours. The zero value stands for all of them.
type Ink uint8

// The inks. Pencil is any grey of low contrast; a colour between two goes to the nearest:
// highlighter is of its colour's ink too, yellow as Green.
const (
	Black  = Ink(restore.Black)
	Blue   = Ink(restore.Blue)
	Red    = Ink(restore.Red)
	Green  = Ink(restore.Green)
	Pencil = Ink(restore.Pencil)
)

var inkNames = []string{"black", "blue", "red", "green", "pencil"} // by the bits of an Ink

// Inks are the names of the inks.
func Inks() []string { return slices.Clone(inkNames) }

// ParseInk reads names of [Inks], in any case, each possibly a comma-separated list of them. No
// name at all is the zero Ink: all inks.
func ParseInk(names ...string) (Ink, error) {
	var set Ink
	for _, list := range names {
		for name := range strings.SplitSeq(list, ",") {
			i := slices.Index(inkNames, strings.ToLower(strings.TrimSpace(name)))
			if i < 0 {
				return 0, badOption("ink", name, inkNames)
			}
			set |= 1 << i
		}
	}
	return set, nil
}

func (i Ink) valid() bool { return i < 1<<len(inkNames) }

// allInks is the name of the zero Ink.
const allInks = "all"

// String lists the inks of the set, separated by commas; "all" for the zero Ink.
func (i Ink) String() string {
	if i == 0 {
		return allInks
	}
	var names []string
	for bit, name := range inkNames {
		if i&(1<<bit) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// MarshalText writes what String does. The error is an *[Error]: there is no such ink.
func (i Ink) MarshalText() ([]byte, error) {
	if !i.valid() {
		return nil, badOption("ink", fmt.Sprintf("%#x", uint8(i)), inkNames)
	}
	return []byte(i.String()), nil
}

// UnmarshalText reads a list of [Inks], separated by commas, or "all".
func (i *Ink) UnmarshalText(text []byte) (err error) {
	if string(text) == allInks {
		*i = 0
		return nil
	}
	*i, err = ParseInk(string(text))
	return err
}

// Format is an encoding of pictures.
type Format uint8

// The formats. Only Auto, PNG, JPEG and WebP may be asked for as output.
const (
	// PNG for bilevel and grey line art or PNG input, WebP for WebP input, else JPEG
	Auto = Format(imagefile.Auto)
	PNG  = Format(imagefile.PNG)
	JPEG = Format(imagefile.JPEG)
	WebP = Format(imagefile.WebP)
	BMP  = Format(imagefile.BMP)
	TIFF = Format(imagefile.TIFF)
	GIF  = Format(imagefile.GIF)
	HEIC = Format(imagefile.HEIC)
	AVIF = Format(imagefile.AVIF)
)

var formatNames = []string{PNG: "png", JPEG: "jpeg", WebP: "webp"}

// Formats are the names of the formats that may be asked for as output.
func Formats() []string { return slices.Clone(formatNames[PNG:]) }

// ParseFormat reads an output format: one of [Formats], "jpg" or "auto", in any case. The empty
// string is [Auto].
func ParseFormat(s string) (Format, error) {
	name := strings.ToLower(s)
	switch name {
	case "", "auto":
		return Auto, nil
	case "jpg":
		return JPEG, nil
	}
	if i := slices.Index(formatNames, name); i > 0 {
		return Format(i), nil
	}
	return 0, badOption("format", s, Formats())
}

// String is the format's lower-case name.
func (f Format) String() string { return imagefile.Format(f).String() }

// MarshalText writes the name.
func (f Format) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads what [ParseFormat] does.
func (f *Format) UnmarshalText(text []byte) (err error) {
	*f, err = ParseFormat(string(text))
	return err
}

// Ext is the usual file name ending, dot included; empty for Auto.
func (f Format) Ext() string { return imagefile.Format(f).Ext() }

// MediaType is the format's MIME type; empty for Auto.
func (f Format) MediaType() string { return imagefile.Format(f).MediaType() }

// Options say what one call of [Cleaner.Clean] does. The zero value removes all inks, gives
// the scan finish, which corrects orientation and distortion, and lets the format follow the input.
// The package internal/option has the names under which they can be asked for.
type Options struct {
	Finish Finish
	Remove Ink    // which inks to remove; zero is all
	Format Format // of the result; Auto follows the input
	Layers bool   // also return Result.Handwriting and Result.Mask
	Before bool   // also return Result.Before, to be compared with the result
	// leave the page turned as it is, as the Colour finish always does; its EXIF orientation is always
	// applied
	KeepOrientation bool
	KeepDistortion  bool // leave skew and perspective as they are, as the Colour finish always does
}

// stages are the options of the stages; the format is the encoder's.
func (o Options) stages() restore.Options {
	return restore.Options{
		Finish: restore.Finish(o.Finish), Remove: restore.Ink(o.Remove), Layers: o.Layers,
		Before: o.Before, KeepOrientation: o.KeepOrientation, KeepDistortion: o.KeepDistortion,
	}
}

func (o Options) validate() error {
	if _, err := o.Finish.MarshalText(); err != nil {
		return err
	}
	if _, err := o.Remove.MarshalText(); err != nil {
		return err
	}
	if int(o.Format) >= len(formatNames) {
		return badOption("format", o.Format.String(), Formats())
	}
	return nil
}

func badOption(what, got string, want []string) error {
	return &Error{Code: ErrOption, Op: "options",
		Message: fmt.Sprintf("%s %q is not known", what, got),
		Hint:    "use one of: " + strings.Join(want, ", ")}
}

// Default limits.
const (
	DefaultMaxBytes  = 5 << 20    // 5 MiB of encoded picture
	DefaultMaxPixels = 50_000_000 // decoded
	DefaultMinSide   = 16
)

// Limits bound what is accepted. They are checked against the file's header, before any
// pixel is decoded. A zero field takes its default; a negative one means no limit.
type Limits struct {
	MaxBytes  int // encoded bytes; default 5 MiB
	MaxPixels int // width × height; default 50 million
	MaxSide   int // longest side in pixels; default none
	MinSide   int // shortest side in pixels; default 16
}

func (l Limits) internal() imagefile.Limits {
	return imagefile.Limits{
		MaxBytes:  limit(l.MaxBytes, DefaultMaxBytes),
		MaxPixels: limit(l.MaxPixels, DefaultMaxPixels),
		MaxSide:   limit(l.MaxSide, 0),
		MinSide:   limit(l.MinSide, DefaultMinSide),
	}
}

// limit applies a default to v. For imagefile, zero is no limit.
func limit(v, def int) int {
	switch {
	case v == 0:
		return def
	case v < 0:
		return 0
	}
	return v
}
