package job

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"unink"
	"unink/internal/imagefile"
	"unink/internal/misuse"
	"unink/internal/pdf"
)

// binds reports whether pictures are to be put together in a PDF.
func (r Request) binds(sources []source) bool {
	return strings.EqualFold(filepath.Ext(r.Out), pdfEnding) && !isFolder(r.Out) &&
		len(sources) > 0 && !slices.ContainsFunc(sources, func(s source) bool { return s.pdf })
}

// bind is the plan for pictures, in their order, that become one PDF.
func (p *Plan) bind(out string, pictures []source) error {
	for _, s := range pictures {
		if resolve(s.path) == resolve(out) {
			return misuse.Errorf("-o %s is one of the inputs; use another name", out)
		}
	}
	p.pages = []page{{input: pictures[0].path, names: map[unink.Format]string{pdfName: out},
		document: bound(pictures)}}
	return nil
}

// bound is a document of pictures that are no PDF yet.
func bound(pictures []source) *document {
	d := &document{input: pictures[0].path, leaves: pictures, pages: make([]pdf.Page, len(pictures))}
	if slices.ContainsFunc(pictures, func(s source) bool { return s.path != d.input }) {
		d.input = fmt.Sprintf("%d pictures", len(pictures))
	}
	for i := range pictures {
		d.numbers = append(d.numbers, i+1)
	}
	d.left.Store(int32(len(pictures)))
	d.begin = sync.OnceValue(d.open)
	return d
}

// label names a page of a document in messages.
func (d *document) label(i int) string {
	switch {
	case d.leaves == nil:
		return fmt.Sprintf("%s, page %d", d.input, d.numbers[i])
	case d.leaves[i].page > 0:
		return fmt.Sprintf("%s, page %d", d.leaves[i].path, d.leaves[i].page)
	}
	return d.leaves[i].path
}

// bind cleans a picture that becomes a page of a PDF.
func (p Press) bind(ctx context.Context, from source) (l Leaf, err error) {
	start := time.Now()
	defer func() { l.Result.Timings.Note("total", time.Since(start)) }()
	data, err := readFile(from.path)
	if err != nil {
		return l, err
	}
	if from.page > 0 {
		data = imagefile.Page(data, from.page-1)
	}
	picture, err := imagefile.Decode(ctx, data,
		imagefile.Limits{MaxBytes: MaxFileBytes, MaxPixels: pdf.MaxPixels})
	if err != nil {
		return l, err
	}
	drawn := time.Since(start)
	page, err := p.clean(ctx, picture.Pixels, &l)
	l.Result.Timings.Note("decode", drawn)
	if err != nil {
		return l, err
	}
	encoding := time.Now()
	if l.Kept { // there is no PDF to take it from
		page = &unink.Page{Image: picture.Pixels}
	}
	l.Place.Size = onPaper(picture)
	if page.Turned%180 != 0 {
		l.Place.Size.Width, l.Place.Size.Height = l.Place.Size.Height, l.Place.Size.Width
	}
	err = p.encode(ctx, page.Image, &l)
	l.Result.Timings.Note("encode", time.Since(encoding))
	return l, err
}

const (
	a4Width = 595.276 // points
	// A picture's resolution is believed where it makes its longer side 10 to 60 cm: cameras state 72
	// dpi, and mean nothing by it.
	leastSide = 10 / 2.54 * 72
	mostSide  = 60 / 2.54 * 72
)

// onPaper is the size that a picture has by its resolution; without one of a page it is as wide as
// A4.
func onPaper(p *imagefile.Picture) pdf.Size {
	width, height := float64(p.Pixels.Rect.Dx()), float64(p.Pixels.Rect.Dy())
	stated := pdf.Size{Width: width / p.DPI[0] * 72, Height: height / p.DPI[1] * 72}
	if side := max(stated.Width, stated.Height); side >= leastSide && side <= mostSide {
		return stated
	}
	return pdf.Size{Width: a4Width, Height: a4Width * height / width} // also where none is stated
}
