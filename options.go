package unink

import (
	"fmt"
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

// ParseFinish reads "scan", "colour" or "color", in any case. The empty string is [Scan].
func ParseFinish(s string) (Finish, error) {
	switch strings.ToLower(s) {
	case "", "scan":
		return Scan, nil
	case "colour", "color":
		return Colour, nil
	}
	return 0, badOption("finish", s, "scan, colour")
}

func (f Finish) String() string {
	if f == Colour {
		return "colour"
	}
	return "scan"
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

var inkNames = []struct {
	ink  Ink
	name string
}{{Black, "black"}, {Blue, "blue"}, {Red, "red"}, {Green, "green"}, {Pencil, "pencil"}}

// ParseInk reads ink names ("black", "blue", "red", "green", "pencil"), each possibly a
// comma-separated list of them. No name at all is the zero Ink: all inks.
func ParseInk(names ...string) (Ink, error) {
	var set Ink
	for _, list := range names {
		for name := range strings.SplitSeq(list, ",") {
			ink := inkOf(strings.ToLower(strings.TrimSpace(name)))
			if ink == 0 {
				return 0, badOption("ink", name, "black, blue, red, green, pencil")
			}
			set |= ink
		}
	}
	return set, nil
}

func inkOf(name string) Ink {
	for _, n := range inkNames {
		if n.name == name {
			return n.ink
		}
	}
	return 0
}

// String lists the inks of the set, separated by commas; "all" for the zero Ink.
func (i Ink) String() string {
	if i == 0 {
		return "all"
	}
	var names []string
	for _, n := range inkNames {
		if i&n.ink != 0 {
			names = append(names, n.name)
		}
	}
	return strings.Join(names, ",")
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

// ParseFormat reads an output format: "png", "jpeg" or "jpg", "webp", "auto", in any case.
// The empty string is [Auto].
func ParseFormat(s string) (Format, error) {
	switch strings.ToLower(s) {
	case "", "auto":
		return Auto, nil
	case "png":
		return PNG, nil
	case "jpeg", "jpg":
		return JPEG, nil
	case "webp":
		return WebP, nil
	}
	return 0, badOption("format", s, "png, jpeg, webp")
}

// String is the format's lower-case name.
func (f Format) String() string { return imagefile.Format(f).String() }

// Ext is the usual file name ending, dot included; empty for Auto.
func (f Format) Ext() string { return imagefile.Format(f).Ext() }

// MediaType is the format's MIME type; empty for Auto.
func (f Format) MediaType() string { return imagefile.Format(f).MediaType() }

// Options say what one call of [Cleaner.Clean] does. The zero value removes all inks, gives
// the scan finish, which corrects orientation and distortion, and lets the format follow the input.
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

func (o Options) validate() error {
	switch {
	case o.Finish > Colour:
		return badOption("finish", fmt.Sprint(uint8(o.Finish)), "Scan, Colour")
	case o.Remove >= 1<<len(inkNames):
		return badOption("ink", fmt.Sprintf("%#x", uint8(o.Remove)), "Black, Blue, Red, Green, Pencil")
	case o.Format > WebP:
		return badOption("format", o.Format.String(), "Auto, PNG, JPEG, WebP")
	}
	return nil
}

func badOption(what, got, want string) error {
	return &Error{Code: ErrOption, Op: "options",
		Message: fmt.Sprintf("%s %q is not known", what, got), Hint: "use one of: " + want}
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
