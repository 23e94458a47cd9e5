package job

import (
	"context"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"unink"
)

func TestStagesAreWrittenBesideThePage(t *testing.T) {
	dir := t.TempDir()
	pg := page{stem: filepath.Join(dir, "sub", "x"), extras: Extras{Stages: true}}
	ctx, stages := pg.watched(context.Background())
	for i, name := range unink.Pictures() {
		ShowStage(ctx, name, image.NewRGBA(image.Rect(0, 0, 20+i, 10)))
	}
	if stages.err != nil {
		t.Fatal(stages.err)
	}
	for i, name := range []string{"x.0-input.png", "x.1-orient.png", "x.2-flatten.png",
		"x.3-demoire.png", "x.4-segment.png", "x.5-erase.png", "x.6-finish.png"} {
		f, err := os.Open(filepath.Join(dir, "sub", name))
		if err != nil {
			t.Fatal(err)
		}
		m, err := png.DecodeConfig(f)
		_ = f.Close()
		if err != nil || m.Width != 20+i {
			t.Errorf("%s is %d wide (%v), want %d", name, m.Width, err, 20+i)
		}
	}
}

func TestStagesThatCannotBeWrittenAreTold(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	pg := page{stem: filepath.Join(file, "x"), extras: Extras{Stages: true}}
	ctx, stages := pg.watched(context.Background())
	ShowStage(ctx, "orient", image.NewRGBA(image.Rect(0, 0, 20, 10)))
	if stages.err == nil {
		t.Error("a folder that is a file was written to")
	}
}

func TestWithoutTheFlagNoStageIsWritten(t *testing.T) {
	dir := t.TempDir()
	ctx, _ := page{stem: filepath.Join(dir, "x")}.watched(context.Background())
	ShowStage(ctx, "orient", image.NewRGBA(image.Rect(0, 0, 20, 10)))
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("%v was written", files)
	}
}
