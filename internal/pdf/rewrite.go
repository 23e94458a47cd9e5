package pdf

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"unink/internal/sandbox"
)

// Corners are where a picture's upper left, upper right, lower right and lower left corners lay on
// the page that it was made of, as displayed: shares of its width and height, from its upper left.
type Corners [4][2]float64

// WholePage are the corners of a picture that lies as the page does.
var WholePage = Corners{{0, 0}, {1, 0}, {1, 1}, {0, 1}}

// TextUnder names the texts of a page, counted from 0, of which gone says that what they stand for
// is gone from the picture with these corners. It is given parts of the picture, by shares of its
// width and height from its upper left. Texts in forms are left out, as they do not stay anyway.
func (d *Document) TextUnder(ctx context.Context, n int, corners Corners,
	gone func(left, top, right, bottom float64) bool) (texts []int, err error) {
	err = d.page(ctx, n, func(ctx context.Context, g *guest, page uint64) error {
		displayed, err := g.displayed(ctx, page)
		if err != nil {
			return err
		}
		toPicture, ok := projectionOf(corners).inverse()
		if !ok {
			return nil
		}
		toShares, ok := displayed.inverse()
		if !ok {
			return nil
		}
		out, err := g.Alloc(ctx, 16)
		if err != nil {
			return err
		}
		err = g.eachText(ctx, page, func(i int, object uint64) error {
			box, err := g.bounds(ctx, object, out)
			if err != nil {
				return err
			}
			left, top, right, bottom := 1.0, 1.0, 0.0, 0.0
			for _, corner := range [4][2]float64{
				{box[0], box[1]}, {box[2], box[1]}, {box[2], box[3]}, {box[0], box[3]},
			} {
				x, y := toShares.at(corner[0], corner[1])
				x, y = toPicture.at(x, y)
				left, right = min(left, x), max(right, x)
				top, bottom = min(top, y), max(bottom, y)
			}
			if gone(max(0, left), max(0, top), min(1, right), min(1, bottom)) {
				texts = append(texts, i)
			}
			return nil
		})
		if err != nil {
			return err
		}
		_, err = g.Call(ctx, "free", uint64(out))
		return err
	})
	return texts, err
}

// eachText goes through the texts that stand on a page itself.
func (g *guest) eachText(ctx context.Context, page uint64,
	f func(i int, object uint64) error) error {
	n, err := g.Call(ctx, "FPDFPage_CountObjects", page)
	if err != nil {
		return err
	}
	texts := 0
	for i := range uint64(min(mostObjects, max(0, int32(n)))) {
		object, err := g.Call(ctx, "FPDFPage_GetObject", page, i)
		if err != nil {
			return err
		}
		kind, err := g.Call(ctx, "FPDFPageObj_GetType", object)
		if err != nil {
			return err
		}
		if kind != textObject {
			continue
		}
		if err := f(texts, object); err != nil {
			return err
		}
		texts++
	}
	return nil
}

// bounds are an object's left, bottom, right and top. It uses 16 bytes at out.
func (g *guest) bounds(ctx context.Context, object uint64, out uint32) (box [4]float64, err error) {
	at := uint64(out)
	ok, err := g.Call(ctx, "FPDFPageObj_GetBounds", object, at, at+4, at+8, at+12)
	if err != nil || ok == 0 {
		return box, err
	}
	for i := range box {
		box[i] = g.real(out + 4*uint32(i))
	}
	return box, nil
}

// displayed maps shares of the page as it is displayed, from its upper left, to its own places.
func (g *guest) displayed(ctx context.Context, page uint64) (projection, error) {
	turns, err := g.Call(ctx, "FPDFPage_GetRotation", page)
	if err != nil {
		return projection{}, err
	}
	out, err := g.Alloc(ctx, 16)
	if err != nil {
		return projection{}, err
	}
	if _, err := g.Call(ctx, "FPDF_GetPageBoundingBox", page, uint64(out)); err != nil {
		return projection{}, err
	}
	left, top, right, bottom := g.real(out), g.real(out+4), g.real(out+8), g.real(out+12)
	if _, err := g.Call(ctx, "free", uint64(out)); err != nil {
		return projection{}, err
	}
	across, up := right-left, top-bottom
	return [4]projection{ // by quarters clockwise
		{{across, 0, left}, {0, -up, top}, {0, 0, 1}},
		{{0, across, left}, {up, 0, bottom}, {0, 0, 1}},
		{{-across, 0, right}, {0, up, bottom}, {0, 0, 1}},
		{{0, -across, right}, {-up, 0, top}, {0, 0, 1}},
	}[turns%4], nil
}

// frame is the file that is written, but for the pictures: where one belongs stands a stand-in,
// which tells its page by what begins with the mark. It is made of the original itself, so that
// bookmarks, title, links, form fields and all else that the document holds stay. Labels are those
// of the pages where others are left out, for they are counted by page; nil where there are none.
func (d *Document) frame(ctx context.Context, pages []Page, mark []byte) (file []byte,
	labels []string, err error) {
	for _, p := range pages {
		if p.Untouched {
			continue
		}
		if err := d.prepare(ctx, p.Original); err != nil {
			return nil, nil, err
		}
	}
	for i, p := range pages {
		if p.Untouched {
			continue
		}
		standIn := binary.BigEndian.AppendUint32(bytes.Clone(mark), uint32(i))
		if err := d.rewrite(ctx, p, standIn); err != nil {
			return nil, nil, err
		}
	}
	if len(pages) < d.pages {
		if labels, err = d.labelsOf(ctx, pages); err != nil {
			return nil, nil, err
		}
	}
	err = d.with(ctx, func(ctx context.Context, g *guest) error {
		for n := d.pages - 1; n >= 0; n-- {
			if slices.ContainsFunc(pages, func(p Page) bool { return p.Original == n }) {
				continue
			}
			if _, err := g.Call(ctx, "FPDFPage_Delete", g.document, uint64(n)); err != nil {
				return err
			}
		}
		file, err = g.save(ctx)
		return err
	})
	d.Close() // it is no longer what it was
	return file, labels, err
}

// prepare makes sure that what comes off a page is known: finding out may start PDFium anew.
func (d *Document) prepare(ctx context.Context, n int) error {
	d.mu.Lock()
	known := d.off[n].ink != unseen
	d.mu.Unlock()
	if known {
		return nil
	}
	return d.page(ctx, n, func(context.Context, *guest, uint64) error { return nil })
}

// rewrite makes a page what it is to be.
func (d *Document) rewrite(ctx context.Context, p Page, standIn []byte) error {
	return d.page(ctx, p.Original, func(ctx context.Context, g *guest, page uint64) error {
		if p.Picture == nil {
			return nil
		}
		return g.replace(ctx, page, p, standIn)
	})
}

// replace puts a stand-in for the picture in the place of what the page shows. Its texts stay,
// unseen, to be found and copied.
func (g *guest) replace(ctx context.Context, page uint64, p Page, standIn []byte) error {
	before, err := g.displayed(ctx, page)
	if err != nil {
		return err
	}
	turns, err := g.Call(ctx, "FPDFPage_GetRotation", page)
	if err != nil {
		return err
	}
	const quarter = 90
	if _, err := g.Call(ctx, "FPDFPage_SetRotation", page,
		(turns+uint64(p.Turned/quarter))%4); err != nil {
		return err
	}
	after, err := g.fitted(ctx, page, float64(p.Pixels.X)/float64(p.Pixels.Y))
	if err != nil {
		return err
	}
	if err := g.hideAll(ctx, page, p, before, after); err != nil {
		return err
	}
	if err := g.insert(ctx, page, after, standIn); err != nil {
		return err
	}
	done, err := g.Call(ctx, "FPDFPage_GenerateContent", page)
	if err == nil && done == 0 {
		err = broken("the page cannot be written")
	}
	return err
}

// fitted maps shares of a picture of that shape, width by height, to places of the page, in whose
// middle it stands as large as fits.
func (g *guest) fitted(ctx context.Context, page uint64, shape float64) (projection, error) {
	size, err := g.size(ctx, page)
	if err != nil {
		return projection{}, err
	}
	displayed, err := g.displayed(ctx, page)
	// Renderers widen a picture to whole pixels, for which a rounding error is enough.
	const inside = 0.001 // points
	width := min(1, shape*size.Height/size.Width) - inside/size.Width
	height := min(1, size.Width/shape/size.Height) - inside/size.Height
	return displayed.after(projection{
		{width, 0, (1 - width) / 2}, {0, height, (1 - height) / 2}, {0, 0, 1},
	}), err
}

// hideAll takes everything off a page but its texts, which are put where they are on the picture,
// and out of sight.
func (g *guest) hideAll(ctx context.Context, page uint64, p Page, before, after projection) error {
	keep := map[uint64]bool{}
	moved, ok := before.inverse()
	toPicture, fine := projectionOf(p.Corners).inverse()
	if ok && fine {
		moved = after.after(toPicture).after(moved)
		out, err := g.Alloc(ctx, 16)
		if err != nil {
			return err
		}
		err = g.eachText(ctx, page, func(i int, object uint64) error {
			if slices.Contains(p.Dropped, i) {
				return nil
			}
			keep[object] = true
			return g.hide(ctx, object, moved, out)
		})
		if err != nil {
			return err
		}
		if _, err := g.Call(ctx, "free", uint64(out)); err != nil {
			return err
		}
	}
	n, err := g.Call(ctx, "FPDFPage_CountObjects", page)
	if err != nil {
		return err
	}
	for i := int(int32(n)) - 1; i >= 0; i-- {
		object, err := g.Call(ctx, "FPDFPage_GetObject", page, uint64(i))
		if err != nil {
			return err
		}
		if keep[object] {
			continue
		}
		if _, err := g.Call(ctx, "FPDFPage_RemoveObject", page, object); err != nil {
			return err
		}
		if _, err := g.Call(ctx, "FPDFPageObj_Destroy", object); err != nil {
			return err
		}
	}
	return nil
}

// hide puts a text out of sight, and where its middle is moved to.
func (g *guest) hide(ctx context.Context, object uint64, moved projection, out uint32) error {
	const unmoved = 0.5 // points
	box, err := g.bounds(ctx, object, out)
	if err != nil {
		return err
	}
	x, y := (box[0]+box[2])/2, (box[1]+box[3])/2
	if m := moved.near(x, y); math.Hypot(m.A*x+m.C*y+m.E-x, m.B*x+m.D*y+m.F-y) > unmoved {
		if _, err := g.Call(ctx, "FPDFPageObj_Transform",
			append([]uint64{object}, params(m.A, m.B, m.C, m.D, m.E, m.F)...)...); err != nil {
			return err
		}
	}
	_, err = g.Call(ctx, "FPDFTextObj_SetTextRenderMode", object, invisible)
	return err
}

// insert puts a stand-in onto the page: a picture of one row, each of whose pixels is a grey.
func (g *guest) insert(ctx context.Context, page uint64, at projection, standIn []byte) error {
	const rgb = 2
	var row []byte
	for _, b := range standIn {
		row = append(row, b, b, b)
	}
	pixels, err := g.Put(ctx, row)
	if err != nil {
		return err
	}
	bitmap, err := g.Call(ctx, "FPDFBitmap_CreateEx", uint64(len(standIn)), 1, rgb, uint64(pixels),
		uint64(len(row)))
	if err == nil && bitmap == 0 {
		err = sandbox.ErrMemory
	}
	if err != nil {
		return err
	}
	object, err := g.Call(ctx, "FPDFPageObj_NewImageObj", g.document)
	if err != nil {
		return err
	}
	if _, err := g.Call(ctx, "FPDFImageObj_SetBitmap", 0, 0, object, bitmap); err != nil {
		return err
	}
	// A picture is a square of one unit, from its lower left.
	x, y := at.at(0, 1)
	rightX, rightY := at.at(1, 1)
	upX, upY := at.at(0, 0)
	if _, err := g.Call(ctx, "FPDFImageObj_SetMatrix", append([]uint64{object},
		params(rightX-x, rightY-y, upX-x, upY-y, x, y)...)...); err != nil {
		return err
	}
	if _, err := g.Call(ctx, "FPDFPage_InsertObject", page, object); err != nil {
		return err
	}
	if _, err := g.Call(ctx, "FPDFBitmap_Destroy", bitmap); err != nil {
		return err
	}
	_, err = g.Call(ctx, "free", uint64(pixels))
	return err
}

// save is the document as a file, unencrypted.
func (g *guest) save(ctx context.Context) ([]byte, error) {
	if err := g.Link(ctx, connectSink); err != nil {
		return nil, err
	}
	// FPDF_FILEWRITE: a version, and the function to call, which is entry 0 of the table.
	writer, err := g.Put(ctx, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	if err != nil {
		return nil, err
	}
	out := &saved{instance: g.Instance}
	const removeSecurity = 3
	done, err := g.Call(context.WithValue(ctx, savedKey{}, out), "FPDF_SaveAsCopy", g.document,
		uint64(writer), removeSecurity)
	switch {
	case err != nil:
		return nil, err
	case done == 0:
		return nil, fmt.Errorf("%w: its pages cannot be copied", ErrTooLarge)
	}
	return out.Bytes(), nil
}
