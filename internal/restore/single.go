package restore

import (
	"context"
	"image"

	"unink/internal/nn"
	"unink/internal/restore/flatten"
	"unink/internal/restore/measure"
	"unink/internal/restore/orient"
	"unink/internal/restore/segment"
)

// Flatten finds what makes an opaque picture of an upright page flat, as Clean does, on a picture
// of the page at which the network would look.
func Flatten(ctx context.Context, runner nn.Runner, src *image.RGBA, workers int) (
	flatten.Result, error) {
	em := measure.Print(src, workers).Likely()
	m := segment.WorkingPicture(src, em, measure.PriorEm, workers)
	return flatten.Find(ctx, runner, m, em*float64(m.W)/float64(src.Rect.Dx()), workers)
}

// Upright tells how often an opaque picture must be turned clockwise by 90° to stand upright, as
// Clean does: quarters, 0 to 3, and with what probability it then does. It is 0 also when the
// network is not sure, the print too small to be read, or the picture black.
func Upright(ctx context.Context, runner nn.Runner, src *image.RGBA, workers int) (
	quarters int, p float64, err error) {
	size := measure.Print(src, workers)
	if !size.Legible() {
		return 0, 0, nil
	}
	m := segment.WorkingPicture(src, size.Likely(), measure.PriorEm, workers)
	return orient.Quarters(ctx, runner, m, size.Times(float64(m.W)/float64(src.Rect.Dx())), workers)
}
