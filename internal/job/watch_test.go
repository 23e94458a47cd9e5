package job

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/goleak"

	"unink"
	"unink/internal/pdf/pdftest"
)

// jpegHead makes a file a JPEG for who looks at its first bytes.
const jpegHead = "\xff\xd8\xff"

// whole is an engine that takes a file as it is, unless it is marked as bad.
func whole(_ context.Context, data []byte) (*unink.Result, error) {
	if strings.HasSuffix(string(data), "bad") {
		return nil, errors.New("it is bad")
	}
	return &unink.Result{Data: data, Format: unink.JPEG}, nil
}

// watched is a folder with a watch at work, and what that tells.
type watched struct {
	t    *testing.T
	root string // holds the folder, in, and its results
	stop context.CancelFunc
	sum  chan Summary

	pages   chan Outcome
	skipped chan Skipped

	documents chan DocumentOutcome
}

func (w *watched) Page(o Outcome)             { w.pages <- o }
func (w *watched) Skip(s Skipped)             { w.skipped <- s }
func (w *watched) Document(o DocumentOutcome) { w.documents <- o }
func (*watched) Done(Summary)                 {}

// untold is a system that tells of no change.
func untold() (*fsnotify.Watcher, error) { return nil, errors.New("no notifications here") }

// folder is a new one, not watched yet.
func folder(t *testing.T) *watched {
	return &watched{
		t: t, root: t.TempDir(), sum: make(chan Summary, 1),
		pages: make(chan Outcome, 100), skipped: make(chan Skipped, 100),
		documents: make(chan DocumentOutcome, 100),
	}
}

// put writes a file of the root, making its folder.
func (w *watched) put(name, content string) {
	w.t.Helper()
	path := filepath.Join(w.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// content is what a file of the root holds.
func (w *watched) content(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.root, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// files are all below a folder of the root.
func (w *watched) files(name string) (found []string) {
	w.t.Helper()
	note := func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found = append(found, strings.TrimPrefix(path, w.root+"/"))
		}
		return err
	}
	if err := filepath.WalkDir(filepath.Join(w.root, name), note); err != nil {
		w.t.Fatal(err)
	}
	return found
}

// start watches the folder in, whose results go to out; prepare changes the watch before.
func (w *watched) start(out string, engine Engine, prepare func(*Watch)) {
	w.t.Helper()
	watch, err := NewWatch(filepath.Join(w.root, "in"), Request{Out: filepath.Join(w.root, out)})
	if err != nil {
		w.t.Fatal(err)
	}
	prepare(watch)
	ctx, stop := context.WithCancel(w.t.Context())
	w.stop = stop
	go func() {
		sum, err := watch.Run(ctx, func(ctx context.Context, p *Plan, report Report) error {
			p.Run(ctx, engine, 2, report)
			return nil
		}, w)
		if err != nil {
			w.t.Error(err)
		}
		w.sum <- sum
	}()
}

// quietly is a start where the system tells of no change.
func (w *watched) quietly(out string) {
	w.t.Helper()
	w.start(out, cleaning(whole), func(watch *Watch) { watch.notify = untold })
}

// end stops the watch and returns what it did.
func (w *watched) end() Summary {
	w.stop()
	return <-w.sum
}

// hears waits for pages in any order, and returns the errors among them.
func (w *watched) hears(names ...string) (errs []error) {
	w.t.Helper()
	var got []string
	for range names {
		select {
		case o := <-w.pages:
			got = append(got, strings.TrimPrefix(o.Input, w.root+"/in/"))
			if o.Err != nil {
				errs = append(errs, o.Err)
			}
		case <-time.After(2 * time.Minute):
			w.t.Fatalf("only %v of %v", got, names)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, names) {
		w.t.Fatalf("told of %v, want %v", got, names)
	}
	return errs
}

// failsWith wants one error, which says so.
func failsWith(t *testing.T, errs []error, says string) {
	t.Helper()
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), says) {
		t.Errorf("failed: %v, want %q", errs, says)
	}
}

// silent lets the watch look many times and wants to hear nothing.
func (w *watched) silent() {
	w.t.Helper()
	time.Sleep(time.Hour) // of the bubble's time
	select {
	case o := <-w.pages:
		w.t.Fatalf("told of %+v", o)
	default:
	}
}

func TestWatchCleansWhatHasNoResultAndWhatComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := folder(t)
		w.put("in/done.jpg", jpegHead)
		w.put("out/done.jpg", "its result")
		w.put("in/left.jpg", jpegHead)
		w.put("in/sub/deep.jpg", jpegHead)
		w.put("in/notes.txt", "no picture")
		w.quietly("out")
		w.hears("left.jpg", "sub/deep.jpg")

		w.put("in/new/came.jpg", jpegHead+" later")
		w.hears("new/came.jpg")
		w.put("in/done.jpg", jpegHead+" changed")
		w.hears("done.jpg")
		w.silent()

		if sum := w.end(); sum.Cleaned != 4 || sum.Failed != 0 || sum.Skipped != 2 || !sum.Interrupted {
			t.Errorf("in the end %+v", sum)
		}
		want := []string{"out/done.jpg", "out/left.jpg", "out/new/came.jpg", "out/sub/deep.jpg"}
		if got := w.files("out"); !slices.Equal(got, want) {
			t.Errorf("results: %v", got)
		}
		if got := w.content("out/done.jpg"); got != jpegHead+" changed" {
			t.Errorf("of the changed page: %q", got)
		}
		for _, want := range []string{"in/notes.txt", "in/done.jpg"} {
			if s := <-w.skipped; s.Path != filepath.Join(w.root, want) {
				t.Errorf("skipped: %v, want %s", s, want)
			}
		}
	})
}

func TestWatchTakesOnlyWholeFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := folder(t)
		w.put("in/grows.jpg", jpegHead)
		w.put("in/loads.jpg.part", jpegHead)
		w.quietly("out")
		content := jpegHead
		for range 20 {
			time.Sleep(settling * 3 / 4) // of the bubble's time
			content += " and more"
			w.put("in/grows.jpg", content)
		}
		select {
		case o := <-w.pages:
			t.Fatalf("half a file was taken: %+v", o)
		default:
		}
		w.hears("grows.jpg")
		if got := w.content("out/grows.jpg"); got != content {
			t.Errorf("cleaned: %q", got)
		}
		w.silent()
		part := filepath.Join(w.root, "in/loads.jpg.part")
		if err := os.Rename(part, strings.TrimSuffix(part, ".part")); err != nil {
			t.Fatal(err)
		}
		w.hears("loads.jpg")
		w.end()
	})
}

func TestWatchGoesOnAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := folder(t)
		w.put("in/bad.jpg", jpegHead+"bad")
		w.put("in/good.jpg", jpegHead)
		w.quietly("out")
		failsWith(t, w.hears("bad.jpg", "good.jpg"), "it is bad")
		w.silent()
		w.put("in/bad.jpg", jpegHead+" mended")
		if errs := w.hears("bad.jpg"); errs != nil {
			t.Errorf("failed again: %v", errs)
		}
		if sum := w.end(); sum.Cleaned != 2 || sum.Failed != 1 {
			t.Errorf("in the end %+v", sum)
		}
	})
}

func TestWatchLeavesItsOwnFilesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := folder(t)
		w.put("in/page.jpg", jpegHead)
		w.put("in/old.clean.jpg", jpegHead)
		w.put("in/more.clean/x.jpg", jpegHead)
		w.put("in/.unink-TEMPORARY", jpegHead)
		w.quietly("in/results")
		w.hears("page.jpg")
		w.silent()
		w.end()
		if got := w.files("in/results"); !slices.Equal(got, []string{"in/results/page.jpg"}) {
			t.Errorf("results: %v", got)
		}
	})
}

// Two files whose results might be one are not both cleaned: the second is told.
func TestWatchOverwritesNoOtherResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := folder(t)
		w.put("in/page.jpg", jpegHead)
		w.quietly("out")
		w.hears("page.jpg")
		w.put("in/page.jpeg", jpegHead) // each may become page.png
		failsWith(t, w.hears("page.jpeg"), "both be written")
		if err := os.Remove(filepath.Join(w.root, "in/page.jpg")); err != nil {
			t.Fatal(err)
		}
		w.put("in/page.jpeg", jpegHead+" again")
		if errs := w.hears("page.jpeg"); errs != nil {
			t.Errorf("failed though the other is gone: %v", errs)
		}
		w.end()
	})
}

func TestWatchEndsWithoutHalfAFile(t *testing.T) {
	defer goleak.VerifyNone(t)
	synctest.Test(t, func(t *testing.T) {
		w := folder(t)
		w.put("in/page.jpg", jpegHead)
		begun := make(chan struct{})
		w.start("out", cleaning(func(ctx context.Context, _ []byte) (*unink.Result, error) {
			close(begun)
			<-ctx.Done()
			return nil, ctx.Err()
		}), func(watch *Watch) { watch.notify = untold })
		<-begun
		if sum := w.end(); !sum.Interrupted || sum.Cleaned+sum.Failed != 0 {
			t.Errorf("in the end %+v", sum)
		}
		if got := w.files("out"); got != nil {
			t.Errorf("left: %v", got)
		}
	})
}

// A PDF that comes becomes a PDF; one that is broken is told, and cleaned when it is whole.
func TestWatchCleansPDFs(t *testing.T) {
	w := folder(t)
	exam := string(pdftest.Make(pdftest.Page{Width: 100, Height: 150, Text: "x"}))
	w.put("in/exam.pdf", "%PDF-1.7 and nothing")
	w.start("out", painter{cleaning(whole), unchanged}, func(watch *Watch) {
		watch.settling, watch.lull = time.Millisecond, 24*time.Hour
	})
	if errs := w.hears("exam.pdf"); len(errs) != 1 {
		t.Errorf("a broken PDF: %v", errs)
	}
	w.put("whole", exam)
	from, to := filepath.Join(w.root, "whole"), filepath.Join(w.root, "in/exam.pdf")
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
	if errs := w.hears("exam.pdf, page 1"); errs != nil {
		t.Errorf("a whole PDF: %v", errs)
	}
	if o := <-w.documents; o.Err != nil || o.Pages != 1 {
		t.Errorf("the PDF: %+v", o)
	}
	w.end()
	if sizes := sizesOf(t, filepath.Join(w.root, "out/exam.pdf")); len(sizes) != 1 {
		t.Errorf("the result has pages of %v", sizes)
	}
}

// What cannot be done to one file keeps no other from it.
func TestWatchTellsWhatAFileCannotBecome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := folder(t)
		w.put("in/exam.pdf", "%PDF-1.7")
		w.put("in/page.jpg", jpegHead)
		engine := cleaning(func(context.Context, []byte) (*unink.Result, error) {
			return &unink.Result{Data: []byte("a page"), Format: unink.WebP}, nil
		})
		w.start("out", engine, func(watch *Watch) {
			watch.notify, watch.request.Options.Format = untold, unink.WebP
		})
		failsWith(t, w.hears("exam.pdf", "page.jpg"), "WebP")
		w.end()
	})
}

// Where the system tells of changes nothing has to wait for the next look, in new folders neither.
func TestWatchIsToldOfChanges(t *testing.T) {
	defer goleak.VerifyNone(t)
	w := folder(t)
	w.put("in/first.jpg", jpegHead)
	w.start("out", cleaning(whole), func(watch *Watch) {
		watch.settling, watch.lull = time.Millisecond, 24*time.Hour
	})
	w.hears("first.jpg")
	w.put("in/second.jpg", jpegHead)
	w.hears("second.jpg")
	if err := os.Mkdir(filepath.Join(w.root, "in/sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.put("in/sub/third.jpg", jpegHead)
	w.hears("sub/third.jpg")
	w.end()
}

func TestWatchRefusesWhatWouldNotWork(t *testing.T) {
	w := folder(t)
	w.put("in/page.jpg", jpegHead)
	for folder, out := range map[string]string{
		"in/page.jpg": "out", "nowhere": "out", "in": "in", "in/": ".", "./in": "in/page.jpg",
	} {
		_, err := NewWatch(filepath.Join(w.root, folder), Request{Out: filepath.Join(w.root, out)})
		if err == nil {
			t.Errorf("%s is watched, with results in %s", folder, out)
		}
	}
}

func TestLinkedFolderIsWalked(t *testing.T) {
	w := folder(t)
	w.put("in/sub/page.jpg", jpegHead)
	link := filepath.Join(w.root, "link")
	if err := os.Symlink(filepath.Join(w.root, "in"), link); err != nil {
		t.Fatal(err)
	}
	p, err := Request{Inputs: []string{link}}.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all(t, p, cleaning(whole), 1)
	if got := w.files("link.clean"); !slices.Equal(got, []string{"link.clean/sub/page.jpg"}) {
		t.Errorf("results: %v", got)
	}
}
