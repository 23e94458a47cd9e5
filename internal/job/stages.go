package job

import (
	"context"
	"image"
	"slices"
	"strconv"

	"unink"
	"unink/internal/imagefile"
)

// stageName is the file of a stage's picture, beside the page's other files.
func (pg page) stageName(stage string) string {
	return pg.stem + "." + strconv.Itoa(slices.Index(unink.Pictures(), stage)) + "-" + stage + ".png"
}

// stageWriter writes the stages of one page. The engine shows them by the page's context.
type stageWriter struct {
	page page
	err  error // the first
}

type stageWriterKey struct{}

// watched makes a context whose page's stages are written.
func (pg page) watched(ctx context.Context) (context.Context, *stageWriter) {
	w := &stageWriter{page: pg}
	if !pg.extras.Stages {
		return ctx, w
	}
	return context.WithValue(ctx, stageWriterKey{}, w), w
}

// ShowStage is what the engine calls with each stage's picture, as [unink.Config.Show]: it writes
// the picture beside the page's result, if the page's [Request] asks for it.
func ShowStage(ctx context.Context, stage string, m *image.RGBA) {
	w, ok := ctx.Value(stageWriterKey{}).(*stageWriter)
	if !ok || w.err != nil {
		return
	}
	data, err := imagefile.Encode(ctx, m, imagefile.PNG, imagefile.Meta{})
	if err == nil {
		err = writeFile(w.page.stageName(stage), data)
	}
	w.err = err
}
