package pdfjob_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"unink"
	"unink/internal/credit"
	"unink/internal/pdf"
	"unink/internal/pdf/pdftest"
	"unink/internal/pdfjob"
	"unink/internal/store"
	"unink/internal/store/storetest"
)

// engine gives pages back as they came, after what a function does to them.
type engine struct {
	clean func(m image.Image) error
}

func (e engine) CleanFor(ctx context.Context, _ string, m image.Image, _ unink.Options,
	begun func(context.Context) error) (*unink.Page, error) {
	if err := begun(ctx); err != nil {
		return nil, err
	}
	if err := e.clean(m); err != nil {
		return nil, err
	}
	return &unink.Page{Image: m.(*image.RGBA), Report: unink.Report{Removed: 0.1}}, nil
}

func (engine) Lease() time.Duration { return time.Hour }

func (engine) Explain(err error) pdfjob.Problem {
	return pdfjob.Problem{Code: 1, Message: err.Error()}
}

func (engine) Passing(err error) (again, suspect bool) { return errors.Is(err, errAgain), true }

func (engine) Note(string, pdfjob.Problem, int, time.Duration) {}

var errAgain = errors.New("another time")

const owner = "customer:c"

// world is a service with a clock, on a store.
type world struct {
	*pdfjob.Service
	t       *testing.T
	credits *credit.Service
	mu      sync.Mutex
	passed  time.Duration
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.passed)
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.passed += d
}

const room = pdfjob.MaxBytes

// each runs a test on both databases, with so many credits.
func each(t *testing.T, credits int, test func(t *testing.T, w *world)) {
	eachOn(t, credits, func(s pdfjob.Store) pdfjob.Store { return s }, test)
}

// eachOn runs a test on stores of jobs made of those of both databases.
func eachOn(t *testing.T, credits int, of func(pdfjob.Store) pdfjob.Store,
	test func(t *testing.T, w *world)) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := &world{t: t}
		var err error
		w.credits, err = credit.New(store.NewCredits(db), credit.DefaultConfig(), w.now)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := w.credits.Grant(t.Context(), credit.Grant{Owner: owner, Plan: "p",
			Credits: credits, Expires: credit.Never, Source: "s"}); err != nil {
			t.Fatal(err)
		}
		kept, err := store.NewPDFs(db, bytes.Repeat([]byte("k"), 32))
		if err != nil {
			t.Fatal(err)
		}
		w.Service, err = pdfjob.New(of(kept), w.credits, pdfjob.Config{
			Bounds: pdfjob.Bounds{Jobs: 5, Bytes: room}, Pages: 2}, w.now,
			slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		test(t, w)
		if wrong, err := w.credits.Audit(t.Context()); err != nil || len(wrong) > 0 {
			t.Errorf("audit: %v %v", wrong, err)
		}
	})
}

func (w *world) add(document []byte, o pdfjob.Options) pdfjob.Job {
	w.t.Helper()
	j, err := w.Add(w.t.Context(), pdfjob.Job{Owner: owner, Options: o}, document)
	if err != nil {
		w.t.Fatal(err)
	}
	return j
}

func (w *world) job(id string) pdfjob.Job {
	w.t.Helper()
	j, err := w.Job(w.t.Context(), owner, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return j
}

// work works until a job has ended.
func (w *world) work(e engine, id string) pdfjob.Job {
	w.t.Helper()
	ctx, stop := context.WithTimeout(w.t.Context(), time.Minute)
	defer stop()
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx, e) })
	defer running.Wait()
	defer stop()
	for ctx.Err() == nil {
		if j := w.job(id); j.State.Ended() {
			return j
		}
	}
	w.t.Fatalf("it did not end: %+v", w.job(id))
	return pdfjob.Job{}
}

func (w *world) balance() int {
	w.t.Helper()
	n, err := w.credits.Balance(w.t.Context(), owner)
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

func scans(pages int) []byte {
	var made []pdftest.Page
	for n := range pages {
		made = append(made, pdftest.Page{Width: 100 + n, Height: 100,
			Scan: pdftest.Scan(200, 200, color.Black)})
	}
	return pdftest.Make(made...)
}

func TestFailedPagesStayAndCostNothing(t *testing.T) {
	each(t, 5, func(t *testing.T, w *world) {
		bad := engine{func(m image.Image) error {
			if m.Bounds().Dx() == 202 { // page 2
				return errors.New("no")
			}
			return nil
		}}
		j := w.work(bad, w.add(scans(3), pdfjob.Options{}).ID)
		c := j.Counts()
		if j.State != pdfjob.Partial || c.Cleaned != 2 || c.Failed != 1 || c.Charged != 2 ||
			w.balance() != 3 || j.Problem.Message != "no" {
			t.Fatalf("%+v, %d credits left", j, w.balance())
		}
		file, err := io.ReadAll(w.File(t.Context(), j))
		if err != nil || int64(len(file)) != j.Bytes {
			t.Fatal(len(file), j.Bytes, err)
		}
		made, err := pdf.Open(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		defer made.Close()
		if made.Pages() != 3 {
			t.Errorf("%d pages", made.Pages())
		}
	})
}

// full has no room for files, and loses the first try to end a job.
type full struct {
	pdfjob.Store
	lost *atomic.Bool
}

func (s full) AddPiece(ctx context.Context, id string, part, piece int, data []byte) error {
	if part == pdfjob.File {
		return errors.New("the disk is full")
	}
	return s.Store.AddPiece(ctx, id, part, piece, data)
}

func (s full) End(ctx context.Context, j pdfjob.Job, holder string) error {
	if s.lost.CompareAndSwap(false, true) {
		return errors.New("the database is away")
	}
	return s.Store.End(ctx, j, holder)
}

// What the pages of a file cost that cannot be written comes back, once.
func TestUnwrittenFileIsGivenBack(t *testing.T) {
	of := func(s pdfjob.Store) pdfjob.Store { return full{s, new(atomic.Bool)} }
	eachOn(t, 5, of, func(t *testing.T, w *world) {
		good := engine{func(image.Image) error { return nil }}
		j := w.work(good, w.add(scans(3), pdfjob.Options{}).ID)
		if j.State != pdfjob.Failed || j.Counts().Charged != 0 || j.Bytes != 0 || w.balance() != 5 {
			t.Errorf("%+v, %d credits left", j, w.balance())
		}
	})
}

// A page whose workers fail each time, or that panics, is given up, and costs nothing.
func TestPoisonedPagesAreGivenUp(t *testing.T) {
	each(t, 5, func(t *testing.T, w *world) {
		tries := 0
		j := w.work(engine{func(image.Image) error { tries++; return errAgain }},
			w.add(scans(1), pdfjob.Options{}).ID)
		if j.State != pdfjob.Failed || tries != 3 || w.balance() != 5 {
			t.Errorf("%+v after %d tries, %d credits left", j, tries, w.balance())
		}
		j = w.work(engine{func(image.Image) error { panic("no") }},
			w.add(scans(1), pdfjob.Options{}).ID)
		if j.State != pdfjob.Failed || w.balance() != 5 {
			t.Errorf("%+v, %d credits left", j, w.balance())
		}
	})
}

func TestRoomIsBounded(t *testing.T) {
	each(t, 5, func(t *testing.T, w *world) {
		large := append([]byte("%PDF-1.4\n"), make([]byte, room-100)...)
		first := w.add(large, pdfjob.Options{})
		other := pdfjob.Job{Owner: owner}
		if _, err := w.Add(t.Context(), other, scans(1)); !errors.Is(err, pdfjob.ErrFull) {
			t.Errorf("beyond the room: %v", err)
		}
		if err := w.Delete(t.Context(), owner, first.ID); err != nil {
			t.Fatal(err)
		}
		w.add(scans(1), pdfjob.Options{})
	})
}

// One customer who takes all the room that it may leaves some for others.
func TestRoomIsShared(t *testing.T) {
	each(t, 1, func(t *testing.T, w *world) {
		const other = "customer:d"
		if _, _, err := w.credits.Grant(t.Context(), credit.Grant{Owner: other, Plan: "p", Credits: 1,
			Expires: credit.Never, Source: "other"}); err != nil {
			t.Fatal(err)
		}
		add := func(owner string) error {
			_, err := w.Add(t.Context(), pdfjob.Job{Owner: owner},
				append([]byte("%PDF-1.4\n"), make([]byte, room/5)...))
			return err
		}
		for range 2 {
			if err := add(owner); err != nil {
				t.Fatal(err)
			}
		}
		if err := add(owner); !errors.Is(err, pdfjob.ErrFull) {
			t.Errorf("the third document that takes a fifth of the room: %v", err)
		}
		if err := add(other); err != nil {
			t.Errorf("another customer's: %v", err)
		}
	})
}

func TestJobsAreForgotten(t *testing.T) {
	each(t, 5, func(t *testing.T, w *world) {
		good := engine{func(image.Image) error { return nil }}
		j := w.work(good, w.add(scans(1), pdfjob.Options{}).ID)
		w.pass(pdfjob.Life - time.Minute)
		w.job(j.ID)
		w.pass(2 * time.Minute)
		if _, err := w.Job(t.Context(), owner, j.ID); !errors.Is(err, pdfjob.ErrNotFound) {
			t.Errorf("after a day: %v", err)
		}
		if err := w.Prune(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := w.File(t.Context(), j).Read(make([]byte, 1)); !errors.Is(err, pdfjob.ErrLost) {
			t.Errorf("its file: %v", err)
		}
		j = w.add(scans(1), pdfjob.Options{})
		if err := w.Delete(t.Context(), "customer:other", j.ID); !errors.Is(err,
			pdfjob.ErrNotFound) {
			t.Errorf("another customer's: %v", err)
		}
		if err := w.Delete(t.Context(), owner, j.ID); err != nil {
			t.Error(err)
		}
		if _, err := w.Job(t.Context(), owner, j.ID); !errors.Is(err, pdfjob.ErrNotFound) {
			t.Errorf("after it was deleted: %v", err)
		}
	})
}

// A job that is deleted while a page of it is worked on costs nothing for that page.
func TestDeletedUnderWay(t *testing.T) {
	each(t, 5, func(t *testing.T, w *world) {
		j := w.add(scans(1), pdfjob.Options{})
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		var running sync.WaitGroup
		running.Go(func() {
			w.Run(ctx, engine{func(image.Image) error { return w.Delete(ctx, owner, j.ID) }})
		})
		for ctx.Err() == nil {
			held, err := w.credits.Outstanding(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Job(ctx, owner, j.ID); errors.Is(err, pdfjob.ErrNotFound) && held.Held == 0 {
				break
			}
		}
		stop()
		running.Wait()
		if w.balance() != 5 {
			t.Errorf("%d credits are left", w.balance())
		}
	})
}
