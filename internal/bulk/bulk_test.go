package bulk

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"unink"
	"unink/internal/gate"
)

func TestFoldersAndBuckets(t *testing.T) {
	for _, kinds := range [][2]string{{"folder", "folder"}, {"s3", "s3"}, {"folder", "s3"},
		{"s3", "folder"}} {
		t.Run(strings.Join(kinds[:], " to "), func(t *testing.T) {
			w := newWorld(t, kinds[0], kinds[1])
			pages := w.many(50) // more than the queue holds
			w.put(map[string]string{"notes.txt": "no page", ".hidden/x.jpg": "hidden", "a/.y.png": "hidden"})
			pages["line.tif"], pages["photo.JPEG"] = "line art", "photo"
			w.put(pages)
			want := Counts{Pages: 52, Cleaned: 52, Skipped: 3}
			if kinds[0] == "folder" {
				want.Skipped = 2 // .hidden is not looked into
			}
			w.run(want)
			w.holds(pages)
			w.cleaned(pages, 1)
			w.noQueue()

			// Once more: nothing is done again, what is new or changed is.
			w.run(want)
			w.cleaned(pages, 1)
			pages["line.tif"], pages["z.png"] = "now with colours", "another"
			w.put(map[string]string{"line.tif": pages["line.tif"], "z.png": "another"})
			want.Pages, want.Cleaned = 53, 53
			w.run(want)
			w.holds(pages)
			w.cleaned(pages, 1)
			w.noQueue()

			// Other options make other results of all.
			w.Options.Finish = unink.Scan
			w.run(want)
			w.holds(pages)
			w.cleaned(pages, 2)
		})
	}
}

// Two at once share the pages, and none is done twice.
func TestTwoAtOnce(t *testing.T) {
	w := newWorld(t, "folder", "folder")
	pages := w.many(120)
	var reported [2]atomic.Int32
	var both sync.WaitGroup
	for i := range 2 {
		w.Report = func(Outcome) { reported[i].Add(1) }
		b := w.batch()
		both.Go(func() {
			if got, err := b.Run(w.context()); err != nil || got.Cleaned != 120 {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	both.Wait()
	w.holds(pages)
	w.cleaned(pages, 1)
	w.noQueue()
	if a, b := reported[0].Load(), reported[1].Load(); a+b != 120 || a == 0 || b == 0 {
		t.Errorf("%d and %d pages were reported", a, b)
	}
}

// Stopped again and again, it ends with each result once.
func TestStoppedAndStarted(t *testing.T) {
	w := newWorld(t, "folder", "folder")
	pages := w.many(60)
	w.fleet.before = func(ctx context.Context, _ string) error {
		select {
		case <-time.After(time.Duration(rand.IntN(20)) * time.Millisecond):
			return nil
		case <-ctx.Done():
			return &unink.Error{Code: unink.ErrCanceled, Op: "clean", Err: ctx.Err()}
		}
	}
	for range 8 {
		ctx, stop := context.WithTimeout(w.context(), time.Duration(20+rand.IntN(100))*time.Millisecond)
		if _, err := w.batch().Run(ctx); err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
		stop()
	}
	w.run(Counts{Pages: 60, Cleaned: 60})
	w.holds(pages)
	w.noQueue()
}

// The NATS server is restarted while pages are on their way, and once it comes back with nothing.
func TestServerRestarts(t *testing.T) {
	w := newWorld(t, "folder", "folder")
	pages := w.many(80)
	var n atomic.Int32
	reached := make(chan struct{}, 4)
	w.fleet.before = func(context.Context, string) error {
		if n.Add(1)%25 == 0 {
			reached <- struct{}{}
		}
		return nil
	}
	b := w.batch()
	done := make(chan error, 1)
	go func() {
		got, err := b.Run(w.context())
		if got != (Counts{Pages: 80, Cleaned: 80}) {
			t.Errorf("%+v", got)
		}
		done <- err
	}()
	for i := range 2 {
		select {
		case <-reached:
		case err := <-done:
			t.Fatalf("it ended with %v", err)
		}
		w.down()
		if i == 1 {
			w.store = t.TempDir()
		}
		w.serve()
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	w.holds(pages)
	w.noQueue()
}

// What cannot be cleaned is said, recorded, and not tried again unless that is wanted.
func TestFailures(t *testing.T) {
	w := newWorld(t, "folder", "folder")
	w.put(map[string]string{"good.jpg": "good", "bad.jpg": "bad", "cursed.jpg": "cursed"})
	broken := &unink.Error{Code: unink.ErrBroken, Op: "decode", Message: "the data is cut short",
		Hint: "send it whole"}
	var healed atomic.Bool
	w.fleet.before = func(_ context.Context, image string) error {
		switch {
		case image == "bad":
			return broken
		case image == "cursed" && !healed.Load():
			return fmt.Errorf("%w: it vanished", gate.ErrWorker)
		}
		return nil
	}
	var mu sync.Mutex
	told := map[string]error{}
	w.Report = func(o Outcome) {
		mu.Lock()
		defer mu.Unlock()
		told[o.Page] = o.Err
	}
	w.run(Counts{Pages: 3, Cleaned: 1, Failed: 2})
	w.holds(map[string]string{"good.jpg": "good"})
	w.noQueue()
	if told["good.jpg"] != nil || !errors.Is(told["bad.jpg"], unink.ErrBroken) ||
		!errors.Is(told["cursed.jpg"], gate.ErrWorker) {
		t.Errorf("told: %v", told)
	}
	if n := w.fleet.times("cursed"); n != attempts {
		t.Errorf("a page that workers fail with was tried %d times, want %d", n, attempts)
	}
	failed := map[string]string{}
	counts, err := w.batch().Status(w.context(), func(o Outcome) { failed[o.Page] = o.Err.Error() })
	if err != nil || counts != (Counts{Pages: 3, Cleaned: 1, Failed: 2}) {
		t.Errorf("status: %+v, %v", counts, err)
	}
	if failed["bad.jpg"] != "clean: the data is cut short (send it whole)" ||
		!strings.Contains(failed["cursed.jpg"], "vanished") || len(failed) != 2 {
		t.Errorf("failed pages: %q", failed)
	}
	w.run(Counts{Pages: 3, Cleaned: 1, Failed: 2})
	if n := w.fleet.times("bad"); n != 1 {
		t.Errorf("a bad page was tried %d times", n)
	}
	healed.Store(true)
	w.Retry = true
	w.run(Counts{Pages: 3, Cleaned: 2, Failed: 1})
	w.holds(map[string]string{"good.jpg": "good", "cursed.jpg": "cursed"})
	if n := w.fleet.times("bad"); n != 2 {
		t.Errorf("a bad page was tried %d times, once more is wanted", n)
	}
}

// Without workers it waits, and nothing is held against the pages.
func TestWaitsForWorkers(t *testing.T) {
	w := newWorld(t, "folder", "folder")
	pages := w.many(8)
	var refused atomic.Int32
	w.fleet.before = func(context.Context, string) error {
		if refused.Add(1) < 40 {
			return gate.ErrNoWorker
		}
		return nil
	}
	w.run(Counts{Pages: 8, Cleaned: 8})
	w.holds(pages)
}

// A page that takes longer than the queue waits for a sign of life is still with the one who has
// it.
func TestLongPageIsNotGivenOutAgain(t *testing.T) {
	w := newWorld(t, "folder", "folder")
	w.pace.ackWait = 300 * time.Millisecond
	pages := map[string]string{"long.jpg": "long"}
	w.put(pages)
	w.fleet.before = func(context.Context, string) error {
		time.Sleep(4 * w.pace.ackWait) // what is tested is that this time passes
		return nil
	}
	w.run(Counts{Pages: 1, Cleaned: 1})
	w.cleaned(pages, 1)
}

// A destination that cannot be written to stops the batch; no page is to blame, and later it goes
// on.
func TestDestinationFails(t *testing.T) {
	w := newWorld(t, "folder", "folder")
	pages := w.many(12)
	b := w.batch()
	var writes atomic.Int32
	b.destination = full{b.destination, func() bool { return writes.Add(1) > 9 }}
	_, err := b.Run(w.context())
	if err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("it ended with %v", err)
	}
	w.run(Counts{Pages: 12, Cleaned: 12})
	w.holds(pages)
	w.noQueue()
}

// Names that would be written over one another, and names that the destination cannot have.
func TestNames(t *testing.T) {
	t.Run("twice", func(t *testing.T) {
		for _, first := range []string{"x.jpg", "x.jpg.png"} { // whichever comes first
			w := newWorld(t, "folder", "folder")
			w.put(map[string]string{first: "line art " + first})
			if first == "x.jpg" {
				w.run(Counts{Pages: 1, Cleaned: 1})
			}
			w.put(map[string]string{"x.jpg": "line art x.jpg", "x.jpg.png": "line art x.jpg.png"})
			w.AtOnce = 1
			got, err := w.batch().Run(w.context())
			if err != nil || got.Pages != 2 || got.Failed < 1 || got.Left() != 0 {
				t.Errorf("%s first: %+v, %v", first, got, err)
			}
		}
	})
	t.Run("impossible", func(t *testing.T) {
		w := newWorld(t, "s3", "folder")
		long := strings.Repeat("x", 300) + ".jpg"
		w.put(map[string]string{"a.jpg": "a", "a.jpg/b.jpg": "b", long: "long", "good.jpg": "good"})
		got, err := w.batch().Run(w.context())
		if err != nil || got.Pages != 4 || got.Failed != 2 {
			t.Errorf("%+v, %v", got, err)
		}
	})
	for _, name := range []string{"../x.jpg", "/x.jpg", "a/../../x.jpg"} {
		f, err := openFolder(t.TempDir(), true)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.write(t.Context(), name, nil); !errors.Is(err, errName) {
			t.Errorf("%s was written: %v", name, err)
		}
		_ = f.close()
	}
}

func TestResultName(t *testing.T) {
	for _, c := range []struct {
		key    string
		format unink.Format
		want   string
	}{
		{"a/x.jpg", unink.JPEG, "a/x.jpg"}, {"x.JPEG", unink.JPEG, "x.JPEG"}, {"x.jpg", unink.PNG, "x.jpg.png"},
		{"x.heic", unink.JPEG, "x.heic.jpg"}, {"x.webp", unink.WebP, "x.webp"}, {"x.tif", unink.PNG, "x.tif.png"},
	} {
		if got := resultName(c.key, c.format); got != c.want {
			t.Errorf("%s as %s is %s, want %s", c.key, c.format, got, c.want)
		}
	}
}

// A destination has one batch at a time.
func TestOtherSettings(t *testing.T) {
	w := newWorld(t, "folder", "folder")
	pages := w.many(30)
	ctx, stop := context.WithCancel(w.context())
	w.fleet.before = func(ctx context.Context, _ string) error {
		stop()
		<-ctx.Done()
		return ctx.Err()
	}
	if _, err := w.batch().Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	w.fleet.before = nil
	w.Options.Finish = unink.Scan
	_, err := w.batch().Run(w.context())
	if other := (errOther{}); !errors.As(err, &other) || !strings.Contains(err.Error(), w.Source) ||
		!strings.Contains(err.Error(), "colour") {
		t.Errorf("the other batch: %v", err)
	}
	w.Anew = true
	w.run(Counts{Pages: 30, Cleaned: 30})
	w.holds(pages)
}

func TestPlacesThatCannotBe(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	dir := t.TempDir()
	for name, c := range map[string]Config{
		"the same":           {Source: dir, Destination: dir},
		"inside":             {Source: dir, Destination: path.Join(dir, "out")},
		"no source":          {Source: path.Join(dir, "nothing"), Destination: t.TempDir()},
		"no keys":            {Source: "s3://bucket", Destination: t.TempDir()},
		"nothing at a time":  {Source: dir, Destination: t.TempDir(), AtOnce: -1},
		"no endpoint for S3": {Source: "s3://bucket", Destination: t.TempDir(), S3: S3{Endpoint: "ftp://x"}},
	} {
		if c.AtOnce++; c.AtOnce == 1 {
			c.AtOnce = 1
		}
		if _, err := Open(c, nil, nil, nil); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// The queue is on disk, and each page is in it once.
func TestQueue(t *testing.T) {
	w := newWorld(t, "folder", "folder")
	b := w.batch()
	q := newQueue(b.js, "test", map[string]string{"unink-source": "here"}, brisk)
	if err := q.open(w.context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := q.put(w.context(), page{Key: "x.jpg"}); err != nil {
			t.Fatal(err)
		}
	}
	w.down()
	w.serve()
	if err := q.again(w.context()); err != nil {
		t.Fatal(err)
	}
	if n := q.stream.CachedInfo().State.Msgs; n != 1 {
		t.Errorf("%d pages are in the queue, want the one that was put in twice", n)
	}
	m, err := q.next(w.context())
	if err != nil || m == nil || !strings.Contains(string(m.Data()), "x.jpg") {
		t.Fatalf("%v, %v", m, err)
	}
	if err := m.DoubleAck(w.context()); err != nil {
		t.Error(err)
	}
	if err := q.empty(w.context()); err != nil {
		t.Error(err)
	}
	w.down()
	w.noStore = true
	w.serve()
	if err := newQueue(w.batch().js, "other", nil, brisk).open(w.context()); err == nil ||
		!strings.Contains(err.Error(), "JetStream") {
		t.Errorf("without JetStream: %v", err)
	}
}

// A source that fails for a moment is asked again; one that goes on failing stops the batch, and no
// page is to blame.
func TestSourceFails(t *testing.T) {
	w := newWorld(t, "folder", "folder")
	pages := w.many(5)
	for _, c := range []struct {
		failures int32
		want     string
	}{{attempts * 100, "cannot be read"}, {attempts - 1, ""}} {
		b := w.batch()
		b.source = &unreliable{place: b.source, left: c.failures}
		_, err := b.Run(w.context())
		if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%d failures: %v", c.failures, err)
		}
	}
	w.holds(pages)
}

// unreliable is a place whose first reads fail.
type unreliable struct {
	place
	mu   sync.Mutex
	left int32
}

func (u *unreliable) read(ctx context.Context, name string, most int64) ([]byte, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.left--; u.left >= 0 {
		return nil, unavailable{errors.New("no route to host")}
	}
	return u.place.read(ctx, name, most)
}

// putAll opens a batch's queue and puts all pages of the source into it.
func (w *world) putAll(b *Batch) *queue {
	w.t.Helper()
	id, err := b.destination.id(w.context())
	if err != nil {
		w.t.Fatal(err)
	}
	q := newQueue(b.js, id, map[string]string{
		"unink-source": b.source.String(), "unink-options": described(w.Options),
	}, brisk)
	if err := q.open(w.context()); err != nil {
		w.t.Fatal(err)
	}
	for p, err := range b.source.list(w.context()) {
		if err := errors.Join(err, q.put(w.context(), p)); err != nil {
			w.t.Fatal(err)
		}
	}
	return q
}

// A page that comes into the queue once more after it was done, as when its acknowledgement was
// lost, is not cleaned again.
func TestPageThatIsDone(t *testing.T) {
	w := newWorld(t, "folder", "folder")
	pages := w.many(10)
	w.run(Counts{Pages: 10, Cleaned: 10})
	b := w.batch()
	w.putAll(b)
	w.put(map[string]string{"new.jpg": "new"})
	if got, err := b.Run(w.context()); err != nil || got.Cleaned != 11 {
		t.Errorf("%+v, %v", got, err)
	}
	w.cleaned(pages, 1)
}

// A page that was given out again and again, and never came back, is given up.
func TestPageThatNeverComesBack(t *testing.T) {
	w := newWorld(t, "folder", "folder")
	w.put(map[string]string{"x.jpg": "x"})
	var told Outcome
	w.Report = func(o Outcome) { told = o }
	b := w.batch()
	q := w.putAll(b)
	for range maxGiven {
		m, err := q.next(w.context())
		if err != nil || m == nil {
			t.Fatalf("%v, %v", m, err)
		}
		if err := m.Nak(); err != nil {
			t.Fatal(err)
		}
	}
	got, err := b.Run(w.context())
	if err != nil || got != (Counts{Pages: 1, Failed: 1}) || told.Err == nil ||
		w.fleet.times("x") != 0 {
		t.Errorf("%+v, %v, %v", got, err, told.Err)
	}
}

// A server that goes away amid its work may still store a page that it knows to be done, and never
// hand it out again: the queue is empty.
func TestDonePageThatIsStillStored(t *testing.T) {
	w := newWorld(t, "folder", "folder")
	q := newQueue(w.batch().js, "test", nil, brisk)
	if err := errors.Join(q.open(w.context()), q.put(w.context(), page{Key: "x.jpg"})); err != nil {
		t.Fatal(err)
	}
	w.down()
	stored := filepath.Join(w.store, "jetstream", "$G", "streams", q.name, "msgs")
	kept := t.TempDir()
	if err := os.CopyFS(kept, os.DirFS(stored)); err != nil {
		t.Fatal(err)
	}
	w.serve()
	if err := q.again(w.context()); err != nil {
		t.Fatal(err)
	}
	if m, err := q.next(w.context()); err != nil || m == nil || m.DoubleAck(w.context()) != nil {
		t.Fatalf("%v, %v", m, err)
	}
	w.down()
	if err := errors.Join(os.RemoveAll(stored), os.CopyFS(stored, os.DirFS(kept))); err != nil {
		t.Fatal(err)
	}
	w.serve()
	if err := q.again(w.context()); err != nil {
		t.Fatal(err)
	}
	if n := q.stream.CachedInfo().State.Msgs; n != 1 {
		t.Fatalf("%d pages are stored, want the one that is done", n)
	}
	if err := q.empty(w.context()); err != nil {
		t.Fatal(err)
	}
	if err := q.put(w.context(), page{Key: "x.jpg"}); err != nil {
		t.Fatal(err)
	}
	if m, err := q.next(w.context()); err != nil || m == nil {
		t.Errorf("put in anew, the page is not handed out: %v, %v", m, err)
	}
}
