package job

import (
	"context"
	"errors"
	"image"
	"math"
	"time"

	"unink"
	"unink/internal/imagefile"
	"unink/internal/pdf"
)

// PDFEngine removes handwriting from the pages of PDFs; [*unink.Cleaner] is one.
type PDFEngine interface {
	CleanImage(ctx context.Context, m image.Image, o unink.Options) (*unink.Page, error)
}

// Leaf is a page of a PDF that was cleaned.
type Leaf struct {
	Kept    bool         // it stays as it was, but for marks
	Marks   int          // annotations that were taken off it
	Strokes int          // of a stylus that were taken off its own content
	Unheld  bool         // it stays for its text is in a font that the file does not hold
	Picture []byte       // that takes the place of what the page shows; nil where it stays
	Place   pdf.Page     // how it is to be written, but for the picture
	Result  unink.Result // what was done, without data
}

// Press cleans pages of PDFs.
type Press struct {
	Engine    PDFEngine
	Options   unink.Options // the format is that of the pages' pictures
	KeepClean bool          // leave pages as they are where nothing is removed or corrected
}

// Clean cleans a page of a PDF, counted from 0. One that the file itself says to be all print stays
// as it is, and so does one that cannot be drawn as it is meant.
func (p Press) Clean(ctx context.Context, d *pdf.Document, n int) (l Leaf, err error) {
	start := time.Now()
	defer func() { l.Result.Timings.Note("total", time.Since(start)) }()
	l.Place.Original = n
	content, err := d.Look(ctx, n)
	if err != nil {
		return l, err
	}
	l.Marks, l.Strokes = content.Marks, content.Strokes
	l.Unheld = content.Unheld && !content.Printed
	if l.Kept = content.Printed || l.Unheld; l.Kept {
		return l, nil
	}
	picture, err := d.Draw(ctx, n)
	if err != nil {
		return l, err
	}
	drawn := time.Since(start)
	p.Options.Layers = content.Text // the mask tells which of it was written
	size := picture.Pixels.Rect.Size()
	page, err := p.clean(ctx, picture.Pixels, &l)
	l.Result.Timings.Note("decode", drawn)
	if err != nil || l.Kept {
		return l, err
	}
	encoding := time.Now()
	l.Place.Turned = page.Turned
	for corner := range l.Place.Corners {
		l.Place.Corners[corner] = pdf.WholePage[(corner+4-page.Turned/90)%4]
		if page.Corners != nil {
			l.Place.Corners[corner] = [2]float64{page.Corners[corner][0] / float64(size.X),
				page.Corners[corner][1] / float64(size.Y)}
		}
	}
	if page.Mask != nil {
		l.Place.Dropped, err = d.TextUnder(ctx, n, l.Place.Corners, wordsGone(page))
		if err != nil {
			return l, err
		}
	}
	err = p.encode(ctx, page.Image, &l)
	l.Result.Timings.Note("encode", time.Since(encoding))
	return l, err
}

// clean has pixels cleaned, and notes what was done. A page on which nothing is found is kept.
func (p Press) clean(ctx context.Context, m *image.RGBA, l *Leaf) (*unink.Page, error) {
	size := m.Rect.Size()
	page, err := p.Engine.CleanImage(ctx, m, p.Options)
	switch {
	case errors.Is(err, unink.ErrNoContent): // a blank page
		page, l.Kept = &unink.Page{}, true
	case err != nil:
		return nil, err
	default:
		l.Kept = p.KeepClean && page.Removed == 0 && page.Turned == 0 && !page.Flattened
	}
	l.Result.Report, l.Result.Width, l.Result.Height = page.Report, size.X, size.Y
	return page, nil
}

// encode makes the leaf's picture.
func (p Press) encode(ctx context.Context, m *image.RGBA, l *Leaf) (err error) {
	if l.Picture, l.Result.Format, err = p.encodePicture(ctx, m); err != nil {
		return err
	}
	l.Place.Pixels = m.Rect.Size()
	l.Result.Width, l.Result.Height = l.Place.Pixels.X, l.Place.Pixels.Y
	if p.Options.Format != unink.Auto || !imagefile.Bilevel(m) {
		return nil
	}
	fax, err := imagefile.Group4(ctx, m)
	if err == nil && len(fax) < len(l.Picture) {
		l.Picture, l.Place.Fax = fax, true
	}
	return err
}

// encodePicture encodes a page's picture. Unless a format is asked for, coloured pages of the scan
// finish, which are few flat colours or have a photo on them, get the one that is smaller.
func (p Press) encodePicture(ctx context.Context, m *image.RGBA) ([]byte, unink.Format, error) {
	format := imagefile.Choose(imagefile.Format(p.Options.Format), imagefile.Auto, m)
	data, err := imagefile.Encode(ctx, m, format, imagefile.Meta{})
	if err != nil || p.Options.Format != unink.Auto || p.Options.Finish != unink.Scan ||
		format == imagefile.PNG {
		return data, unink.Format(format), err
	}
	flat, err := imagefile.Encode(ctx, m, imagefile.PNG, imagefile.Meta{})
	if len(flat) < len(data) {
		return flat, unink.PNG, err
	}
	return data, unink.JPEG, err
}

// wordsGone tells of a part of the page whether more of its ink was removed than was left.
func wordsGone(page *unink.Page) func(left, top, right, bottom float64) bool {
	const darkest = 0.7 // of the paper: what is darker is ink
	size := page.Image.Rect.Size()
	w, h := float64(size.X), float64(size.Y)
	return func(left, top, right, bottom float64) bool {
		part := image.Rect(int(left*w), int(top*h), int(math.Ceil(right*w)), int(math.Ceil(bottom*h)))
		part = part.Intersect(page.Image.Rect).Intersect(page.Mask.Rect)
		paper := uint8(0)
		for y := part.Min.Y; y < part.Max.Y; y++ {
			row := page.Image.Pix[page.Image.PixOffset(part.Min.X, y):][:4*part.Dx()]
			for x := 0; x+3 < len(row); x += 4 {
				paper = max(paper, row[x+1])
			}
		}
		ink := darkest * float64(paper)
		removed, stayed := 0, 0
		for y := part.Min.Y; y < part.Max.Y; y++ {
			row := page.Image.Pix[page.Image.PixOffset(part.Min.X, y):]
			for x, gone := range page.Mask.Pix[page.Mask.PixOffset(part.Min.X, y):][:part.Dx()] {
				switch {
				case gone > 0:
					removed++
				case float64(row[4*x+1]) < ink:
					stayed++
				}
			}
		}
		return removed > stayed
	}
}
