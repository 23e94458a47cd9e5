package cli

import (
	"context"
	"errors"
	"image"
	"time"

	"unink"
	"unink/internal/imagefile"
)

// drawing is an engine without a network: a page comes back as it was, in the format asked for.
type drawing struct{ limits imagefile.Limits }

func openDrawing(c unink.Config) (engine, error) {
	switch {
	case c.Threads < 0:
		return nil, &unink.Error{Code: unink.ErrOption, Op: "open",
			Message: "threads must not be negative"}
	case c.Library != "" || c.Device != "cpu":
		return nil, &unink.Error{Code: unink.ErrDevice, Op: "open", Message: "not usable"}
	}
	return drawing{imagefile.Limits{MaxBytes: c.Limits.MaxBytes}}, nil
}

func (d drawing) Clean(ctx context.Context, data []byte, o unink.Options) (*unink.Result, error) {
	p, err := imagefile.Decode(ctx, data, d.limits)
	if errors.Is(err, imagefile.ErrFormat) {
		return nil, &unink.Error{Code: unink.ErrFormat, Op: "decode", Message: err.Error()}
	} else if err != nil {
		return nil, err
	}
	format := imagefile.Choose(imagefile.Format(o.Format), p.Format, p.Pixels)
	res := &unink.Result{Format: unink.Format(format), Width: p.Width, Height: p.Height,
		Report: unink.Report{Removed: 0.25}}
	res.Timings.Note("total", time.Millisecond)
	if o.Layers {
		if res.Mask, err = imagefile.EncodePNG(ctx, p.Pixels); err != nil {
			return nil, err
		}
		res.Handwriting = res.Mask
	}
	res.Data, err = imagefile.Encode(ctx, p.Pixels, format, p.Meta)
	return res, err
}

// CleanImage finds nothing on a page without ink, and little on others.
func (drawing) CleanImage(_ context.Context, m image.Image, _ unink.Options) (*unink.Page, error) {
	p := &unink.Page{Image: imagefile.Opaque(m)}
	for i := 0; i < len(p.Image.Pix); i += 4 {
		switch r, g, b := p.Image.Pix[i], p.Image.Pix[i+1], p.Image.Pix[i+2]; {
		case b > 150 && r < 100 && g < 100: // blue is handwriting
			p.Removed = 0.25
			return p, nil
		case r < 100:
			p.Timings.Note("total", time.Millisecond) // print
		}
	}
	if p.Timings.Total() == 0 {
		return nil, &unink.Error{Code: unink.ErrNoContent, Op: "clean", Message: "blank"}
	}
	return p, nil
}

func (drawing) Probe(context.Context) error { return nil }

func (drawing) Describe() unink.Description {
	return unink.Description{Library: "none", Model: "none", Device: "cpu", Threads: 1}
}

func (drawing) Close() error { return nil }
