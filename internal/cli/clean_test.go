package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"unink"
)

// cleaning is an engine that cleans as a function does.
type cleaning func(ctx context.Context, image []byte) (*unink.Result, error)

func (f cleaning) Clean(ctx context.Context, image []byte, _ unink.Options) (*unink.Result, error) {
	return f(ctx, image)
}
func (cleaning) CleanImage(context.Context, image.Image, unink.Options) (*unink.Page, error) {
	return nil, errors.New("no page of a PDF was expected")
}
func (cleaning) Probe(context.Context) error { return nil }
func (cleaning) Describe() unink.Description { return unink.Description{} }
func (cleaning) Close() error                { return nil }

// pagesOf plans n pages of a new folder.
func pagesOf(t *testing.T, n int) (p *plan, out string) {
	t.Helper()
	in, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	for i := range n {
		if err := os.WriteFile(filepath.Join(in, fmt.Sprintf("%d.jpg", i)), []byte("\xff\xd8\xff"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := (&cleanCmd{Inputs: []string{in}, Out: out}).plan(&environment{}, unink.Auto)
	if err != nil {
		t.Fatal(err)
	}
	return p, out
}

func batchOf(ctx context.Context, c engine, jobs int) (*batch, *bytes.Buffer) {
	var log bytes.Buffer
	return &batch{
		env: &environment{ctx: ctx}, engine: c, jobs: jobs,
		report: &textReport{out: &log, err: &log, total: 2},
	}, &log
}

func TestInterruptStopsTheRun(t *testing.T) {
	defer goleak.VerifyNone(t)
	p, out := pagesOf(t, 5)
	ctx, interrupt := context.WithCancel(t.Context())
	var calls atomic.Int32
	b, log := batchOf(ctx, cleaning(func(ctx context.Context, _ []byte) (*unink.Result, error) {
		if calls.Add(1) == 2 {
			interrupt()
			<-ctx.Done()
			return nil, &unink.Error{Code: unink.ErrCanceled, Op: "clean", Err: ctx.Err()}
		}
		return &unink.Result{Data: []byte("clean"), Format: unink.JPEG}, nil
	}), 1)
	err := b.run(p)
	if got := b.env.exit(err); got != exitInterrupted {
		t.Errorf("exit code %d for %v", got, err)
	}
	if calls.Load() != 2 {
		t.Errorf("%d pages were begun, want 2", calls.Load())
	}
	if !bytes.Contains(log.Bytes(), []byte("interrupted: 1 cleaned, 0 failed")) {
		t.Errorf("the summary: %s", log)
	}
	files, err := os.ReadDir(out)
	if err != nil || len(files) != 1 {
		t.Errorf("%d files were written, want 1 (%v)", len(files), err)
	}
}

func TestPagesAtOnceAreBounded(t *testing.T) {
	defer goleak.VerifyNone(t)
	const jobs = 3
	p, _ := pagesOf(t, 12)
	var running, most atomic.Int32
	together := make(chan struct{}) // closed once jobs pages run at the same time
	b, _ := batchOf(t.Context(), cleaning(func(context.Context, []byte) (*unink.Result, error) {
		defer running.Add(-1)
		now := running.Add(1)
		if now > most.Load() {
			most.Store(now)
		}
		if now == jobs {
			select {
			case <-together:
			default:
				close(together)
			}
		}
		<-together
		return &unink.Result{Data: []byte("clean"), Format: unink.PNG}, nil
	}), jobs)
	if err := b.run(p); err != nil {
		t.Fatal(err)
	}
	if most.Load() != jobs {
		t.Errorf("%d pages at once, want %d", most.Load(), jobs)
	}
}

func TestFailedWriteLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "x.jpg")
	if err := os.MkdirAll(filepath.Join(target, "in the way"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(target, []byte("data")); err == nil {
		t.Error("a folder was overwritten")
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("left behind: %v (%v)", files, err)
	}
}

func TestExitCodes(t *testing.T) {
	for want, err := range map[int]error{
		exitDone:        nil,
		exitFailed:      errors.New("anything"),
		exitUsage:       wrongUse("wrong"),
		exitSomeFailed:  errSomeFailed,
		exitInterrupted: fmt.Errorf("stopped: %w", context.Canceled),
	} {
		var b bytes.Buffer
		if got := (&environment{stderr: &b}).exit(err); got != want {
			t.Errorf("%v: exit code %d, want %d", err, got, want)
		}
	}
}
