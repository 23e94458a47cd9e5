package job

import (
	"context"
	"crypto/rand"
	"image"
	"image/color"
	"image/draw"
	"io"
	"os"
	"path/filepath"

	"unink"
	"unink/internal/imagefile"
)

// write writes the page's files, the page itself last: when it is there, all is.
func (pg page) write(ctx context.Context, input []byte, res *unink.Result) error {
	if pg.extras.Mask || pg.extras.Layers {
		if err := writeFile(pg.maskName(), res.Mask); err != nil {
			return err
		}
	}
	if pg.extras.Layers {
		if err := writeFile(pg.inkName(), res.Handwriting); err != nil {
			return err
		}
	}
	if pg.extras.Compare {
		before := res.Before
		if before == nil {
			before = input
		}
		var removed []byte
		if pg.extras.Tint {
			removed = res.Mask
		}
		both, err := compare(ctx, before, res.Data, removed)
		if err != nil {
			return err
		}
		if err := writeFile(pg.compareName(), both); err != nil {
			return err
		}
	}
	return writeFile(pg.names[res.Format], res.Data)
}

func writeFile(path string, data []byte) error {
	return createFile(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// createFile writes a file whole or not at all, making its folder.
func createFile(path string, write func(io.Writer) error) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	temporary := filepath.Join(dir, ".unink-"+rand.Text())
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(temporary)
		}
	}()
	if err = write(f); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

// tint is the colour of what was removed: of no ink that people write with, nor of print.
var tint = image.NewUniform(color.RGBA{R: 0xe6, B: 0xc7, A: 0xff})

// compare is before and after side by side, as JPEG. What was removed, if that is told, is tinted.
func compare(ctx context.Context, before, after, removed []byte) ([]byte, error) {
	left, err := imagefile.Decode(ctx, before, imagefile.Limits{})
	if err != nil {
		return nil, err
	}
	right, err := imagefile.Decode(ctx, after, imagefile.Limits{})
	if err != nil {
		return nil, err
	}
	if removed != nil {
		mask, err := imagefile.Decode(ctx, removed, imagefile.Limits{})
		if err != nil {
			return nil, err
		}
		paint(left.Pixels, mask.Pixels)
	}
	a, b := left.Pixels.Rect.Size(), right.Pixels.Rect.Size()
	gap := max(4, a.X/100)
	both := image.NewRGBA(image.Rect(0, 0, a.X+gap+b.X, max(a.Y, b.Y)))
	draw.Draw(both, both.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(both, left.Pixels.Rect, left.Pixels, image.Point{}, draw.Src)
	draw.Draw(both, right.Pixels.Rect.Add(image.Pt(a.X+gap, 0)), right.Pixels, image.Point{}, draw.Src)
	return imagefile.Encode(ctx, both, imagefile.JPEG, imagefile.Meta{})
}

// paint tints a page where a mask is white.
func paint(page, mask *image.RGBA) {
	where := image.NewAlpha(mask.Rect)
	for i := range where.Pix {
		where.Pix[i] = mask.Pix[4*i]
	}
	draw.DrawMask(page, page.Rect, tint, image.Point{}, where, image.Point{}, draw.Over)
}
