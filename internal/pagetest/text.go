// Package pagetest prints text on the pages that tests make. Text tells at once which way up a page
// lies; of other marks the engine has to look at a page again and again.
package pagetest

import (
	"image"
	"image/color"
	"image/draw"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

const (
	size    = 15 // pixels, of the text's em
	leading = 20 // from line to line
)

// words are printed one after the other, and again from the first.
var words = strings.Fields(`The clerk shall read each form that is handed in and file it under the
name of the person who signed it. Where a name is missing the form goes back by the next post, with
a note that says which lines are still to be filled in and by what day they have to be here.`)

// PrintText prints lines of text into the part r of a page, as many as fit.
func PrintText(page draw.Image, r image.Rectangle, ink color.Color) {
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		panic(err) // the font is a part of the program
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: size, DPI: 72})
	if err != nil {
		panic(err)
	}
	d := font.Drawer{Dst: page, Src: image.NewUniform(ink), Face: face}
	word := 0
	for y := r.Min.Y; y+leading <= r.Max.Y; y += leading {
		d.Dot = fixed.P(r.Min.X, y+size)
		for {
			next := words[word%len(words)] + " "
			if d.Dot.X+d.MeasureString(next) > fixed.I(r.Max.X) {
				break
			}
			d.DrawString(next)
			word++
		}
	}
}
