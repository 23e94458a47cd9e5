package job

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"unink"
	"unink/internal/imagefile"
)

// cleaning is an engine that cleans as a function does.
type cleaning func(ctx context.Context, image []byte) (*unink.Result, error)

func (f cleaning) Clean(ctx context.Context, image []byte, _ unink.Options) (*unink.Result, error) {
	return f(ctx, image)
}
func (cleaning) CleanImage(context.Context, image.Image, unink.Options) (*unink.Page, error) {
	return nil, errors.New("no page of a PDF was expected")
}

// pagesOf plans n pages of a new folder.
func pagesOf(t *testing.T, n int) (p *Plan, out string) {
	t.Helper()
	in, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	for i := range n {
		if err := os.WriteFile(filepath.Join(in, fmt.Sprintf("%d.jpg", i)), []byte("\xff\xd8\xff"),
			0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := Request{Inputs: []string{in}, Out: out}.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p, out
}

// told is a report that keeps what it is told.
type told struct {
	pages     []Outcome
	documents []DocumentOutcome
}

func (*told) Skip(Skipped)                 {}
func (r *told) Page(o Outcome)             { r.pages = append(r.pages, o) }
func (r *told) Document(o DocumentOutcome) { r.documents = append(r.documents, o) }
func (*told) Done(Summary)                 {}

// all runs a plan of which nothing may fail.
func all(t *testing.T, p *Plan, engine Engine, jobs int) *told {
	t.Helper()
	report := &told{}
	if sum := p.Run(t.Context(), engine, jobs, report); sum.Failed > 0 || sum.Interrupted {
		t.Fatalf("%+v of %+v", sum, report)
	}
	return report
}

// straightened is an engine that makes pages wider, and hands them out before if it is asked to.
type straightened struct{ cleaning }

func (straightened) Clean(_ context.Context, _ []byte, o unink.Options) (*unink.Result, error) {
	res := &unink.Result{Data: picture(600, color.White), Format: unink.PNG}
	if o.Before {
		res.Before = picture(600, color.Black)
	}
	return res, nil
}

func picture(width int, c color.Color) []byte {
	m := image.NewRGBA(image.Rect(0, 0, width, 100))
	draw.Draw(m, m.Rect, image.NewUniform(c), image.Point{}, draw.Src)
	data, err := imagefile.EncodePNG(context.Background(), m)
	if err != nil {
		panic(err)
	}
	return data
}

// Of a page that was straightened the two pictures beside each other lie alike.
func TestCompareShowsThePageAsTheResultLies(t *testing.T) {
	in, out := filepath.Join(t.TempDir(), "x.png"), filepath.Join(t.TempDir(), "y.png")
	if err := os.WriteFile(in, picture(200, color.White), 0o600); err != nil {
		t.Fatal(err)
	}
	request := Request{Inputs: []string{in}, Out: out, Extras: Extras{Compare: true}}
	p, err := request.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all(t, p, straightened{}, 1)
	data, err := os.ReadFile(strings.TrimSuffix(out, "png") + "compare.jpg")
	if err != nil {
		t.Fatal(err)
	}
	both, err := imagefile.Decode(t.Context(), data, imagefile.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	const gap = 6
	left, right := both.Pixels.RGBAAt(590, 50), both.Pixels.RGBAAt(600+gap+10, 50)
	if both.Width != 2*600+gap || left.R > 20 || right.R < 235 {
		t.Errorf("%d pixels wide, %v and %v", both.Width, left, right)
	}
}

// striped is an engine that says that the upper half of a page was written on.
type striped struct{ cleaning }

func (striped) Clean(_ context.Context, data []byte, o unink.Options) (*unink.Result, error) {
	res := &unink.Result{Data: data, Format: unink.PNG}
	if o.Layers {
		mask := image.NewGray(image.Rect(0, 0, 200, 100))
		draw.Draw(mask, image.Rect(0, 0, 200, 50), image.White, image.Point{}, draw.Src)
		var err error
		if res.Mask, err = imagefile.EncodePNG(context.Background(), mask); err != nil {
			return nil, err
		}
	}
	return res, nil
}

func TestCompareTintsWhatWasRemoved(t *testing.T) {
	in, out := filepath.Join(t.TempDir(), "x.png"), filepath.Join(t.TempDir(), "y.png")
	if err := os.WriteFile(in, picture(200, color.White), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tinted := range []bool{false, true} {
		request := Request{Inputs: []string{in}, Out: out, Extras: Extras{Compare: true, Tint: tinted}}
		p, err := request.Plan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all(t, p, striped{}, 1)
		data, err := os.ReadFile(strings.TrimSuffix(out, "png") + "compare.jpg")
		if err != nil {
			t.Fatal(err)
		}
		both, err := imagefile.Decode(t.Context(), data, imagefile.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		removed, stayed, after := both.Pixels.RGBAAt(100, 20), both.Pixels.RGBAAt(100, 80),
			both.Pixels.RGBAAt(300, 20)
		if tinted != (removed.G < 60) || stayed.G < 235 || after.G < 235 {
			t.Errorf("tinted %t: %v where it was removed, %v elsewhere, %v after", tinted, removed, stayed,
				after)
		}
	}
}

func TestInterruptStopsTheRun(t *testing.T) {
	defer goleak.VerifyNone(t)
	p, out := pagesOf(t, 5)
	ctx, interrupt := context.WithCancel(t.Context())
	var calls atomic.Int32
	sum := p.Run(ctx, cleaning(func(ctx context.Context, _ []byte) (*unink.Result, error) {
		if calls.Add(1) == 2 {
			interrupt()
			<-ctx.Done()
			return nil, &unink.Error{Code: unink.ErrCanceled, Op: "clean", Err: ctx.Err()}
		}
		return &unink.Result{Data: []byte("clean"), Format: unink.JPEG}, nil
	}), 1, &told{})
	if calls.Load() != 2 {
		t.Errorf("%d pages were begun, want 2", calls.Load())
	}
	if !sum.Interrupted || sum.Cleaned != 1 || sum.Failed != 0 {
		t.Errorf("the summary: %+v", sum)
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
	all(t, p, cleaning(func(context.Context, []byte) (*unink.Result, error) {
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
