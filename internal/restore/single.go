package restore

import (
	"context"
	"image"

	"unink/internal/nn"
	"unink/internal/restore/flatten"
)

// Flatten finds what makes an opaque picture of an upright page flat, as Clean does.
func Flatten(ctx context.Context, runner nn.Runner, src *image.RGBA, workers int) (
	flatten.Result, error) {
	w := workOn(&Engine{Flattener: runner, Threads: workers}, src, Options{KeepOrientation: true})
	if _, err := w.orient(ctx); err != nil {
		return flatten.Result{}, err
	}
	return w.findFlat(ctx)
}

// Upright tells how often an opaque picture must be turned clockwise by 90° to stand upright, as
// Clean does: quarters, 0 to 3, and with what probability it then does. It is 0 also when the
// network is not sure, the print too small to be read, or the picture black.
func Upright(ctx context.Context, runner nn.Runner, src *image.RGBA, workers int) (
	quarters int, p float64, err error) {
	w := workOn(&Engine{Orienter: runner, Threads: workers}, src, Options{})
	if _, err := w.orient(ctx); err != nil {
		return 0, 0, err
	}
	return w.result.Turned / 90, w.result.Confidence.Orient, nil
}
