package usage_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"unink/internal/store"
	"unink/internal/store/storetest"
	"unink/internal/usage"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func recorder(t *testing.T, s usage.Store, c usage.Config) *usage.Recorder {
	t.Helper()
	r, err := usage.NewRecorder(s, c, quiet)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRecorderWritesTheRestAtTheEnd(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := store.NewUsage(db)
		config := usage.DefaultConfig()
		config.Buffer, config.Batch = 25, 10
		r := recorder(t, s, config)
		at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
		for i := range 30 {
			r.Record(usage.Use{At: at.Add(time.Duration(i) * time.Second), Owner: "user:1",
				Outcome: usage.OK, Millis: int64(i)})
		}
		if r.Dropped() != 5 {
			t.Errorf("%d uses were dropped, want the 5 that found the buffer full", r.Dropped())
		}
		ended, end := context.WithCancel(context.Background())
		end()
		r.Run(ended)
		uses, _, err := usage.New(s).History(context.Background(), "user:1", usage.Place{}, 100)
		if err != nil || len(uses) != 25 || uses[0].Millis != 24 {
			t.Errorf("%d uses were written, %v, want 25", len(uses), err)
		}
	})
}

// fake is a store that can be away or hang.
type fake struct {
	usage.Store
	hang bool
	rows int

	mu       sync.Mutex
	err      error
	batches  [][]usage.Use
	refusals []usage.Refusals
}

func (f *fake) Count(ctx context.Context, refusals []usage.Refusals) error {
	if f.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.refusals = append(f.refusals, refusals...)
	}
	return f.err
}

func (f *fake) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func (f *fake) Add(ctx context.Context, uses []usage.Use) error {
	if f.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return f.err
	}
	f.batches = append(f.batches, append([]usage.Use(nil), uses...))
	return nil
}

func (f *fake) Stats(context.Context, time.Time, time.Time, []string, int) ([]usage.Row, error) {
	return make([]usage.Row, f.rows), nil
}

// sizes are how many uses each batch has.
func (f *fake) sizes() (n []int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.batches {
		n = append(n, len(b))
	}
	return n
}

// running starts a recorder and returns what stops it and waits for its end.
func running(r *usage.Recorder) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); r.Run(ctx) }()
	return func() { cancel(); <-ended }
}

var small = usage.Config{Buffer: 5, Batch: 3, Every: time.Second, Flush: 5 * time.Second}

func TestRecorderWritesFullBatchesAtOnceAndOthersInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		r := recorder(t, f, small)
		stop := running(r)
		defer stop()
		for range 4 {
			r.Record(usage.Use{Outcome: usage.OK})
			synctest.Wait()
		}
		if got := fmt.Sprint(f.sizes()); got != "[3]" {
			t.Errorf("batches are %s, want the full one", got)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := fmt.Sprint(f.sizes()); got != "[3 1]" {
			t.Errorf("batches are %s, want the rest too", got)
		}
	})
}

func TestRecorderOutlivesItsStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{err: errors.New("away")}
		r := recorder(t, f, small)
		stop := running(r)
		for i := range 10 {
			r.Record(usage.Use{Outcome: usage.OK, Millis: int64(i)})
			synctest.Wait()
		}
		if r.Dropped() != 2 { // a batch of 3 and a buffer of 5 are kept
			t.Errorf("%d uses were dropped, want 2", r.Dropped())
		}
		f.fail(nil)
		time.Sleep(time.Second)
		synctest.Wait()
		stop()
		var next int64
		for _, b := range f.batches {
			for _, u := range b {
				if u.Millis != next {
					t.Errorf("use %d was written, want %d", u.Millis, next)
				}
				next++
			}
		}
		if next != 8 || r.Dropped() != 2 {
			t.Errorf("%d uses were written and %d dropped, want 8 and 2", next, r.Dropped())
		}
	})
}

// However many requests are refused, and however long the store is away, they are a few sums, and
// take no use's place.
func TestRefusalsTakeNoPlaceOfUses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{err: errors.New("away")}
		r := recorder(t, f, small)
		stop := running(r)
		minute := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
		refuse := func(outcome string) {
			r.Record(usage.Use{At: minute.Add(7 * time.Second), Owner: "user:1", Outcome: outcome,
				Millis: 2})
		}
		r.Record(usage.Use{Outcome: usage.OK})
		for i := range 3000 {
			refuse("1005")
			if i%1000 == 0 {
				time.Sleep(time.Second) // in which the store is asked in vain
			}
		}
		r.Record(usage.Use{Outcome: "gone", Charged: 1}) // whose answer was lost
		if r.Dropped() != 0 {
			t.Errorf("%d were dropped", r.Dropped())
		}
		for i := range small.Buffer + 2 {
			refuse(fmt.Sprint("other ", i))
		}
		if r.Dropped() != 3 { // one sum was there before
			t.Errorf("%d were dropped, want those beyond the bound of sums", r.Dropped())
		}
		f.fail(nil)
		stop()
		if got := len(slices.Concat(f.batches...)); got != 2 {
			t.Errorf("%d uses were written, want both", got)
		}
		want := usage.Refusals{Refusal: usage.Refusal{Minute: minute, Owner: "user:1", Outcome: "1005"},
			Requests: 3000, Millis: 6000}
		if len(f.refusals) != small.Buffer || !slices.Contains(f.refusals, want) {
			t.Errorf("written were %+v, want %+v among them", f.refusals, want)
		}
	})
}

func TestRecorderEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{hang: true}
		r := recorder(t, f, small)
		stop := running(r)
		for range 5 {
			r.Record(usage.Use{Outcome: usage.OK})
			synctest.Wait()
		}
		start := time.Now()
		stop()
		if took := time.Since(start); took != small.Flush {
			t.Errorf("the end took %v, want %v", took, small.Flush)
		}
		if r.Dropped() != 5 {
			t.Errorf("%d uses were dropped, want 5", r.Dropped())
		}
	})
}

func TestConfigSaysWhatIsWrong(t *testing.T) {
	for want, change := range map[string]func(*usage.Config){
		"buffer":         func(c *usage.Config) { c.Buffer = 0 },
		"batch":          func(c *usage.Config) { c.Batch = 1001 },
		"between writes": func(c *usage.Config) { c.Every = 0 },
		"last uses":      func(c *usage.Config) { c.Flush = 0 },
	} {
		c := usage.DefaultConfig()
		change(&c)
		if _, err := usage.NewRecorder(&fake{}, c, quiet); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one with %q", err, want)
		}
	}
}

func TestPruneGoesOnUntilNothingIsLeft(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx, s := context.Background(), store.NewUsage(db)
		at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
		const many = 1100 // more than are pruned at a time
		uses := make([]usage.Use, many+1)
		for i := range uses {
			uses[i] = usage.Use{At: at, Caller: "guest", Outcome: usage.OK}
		}
		uses[many].Owner = "user:1"
		if err := s.Add(ctx, uses); err != nil {
			t.Fatal(err)
		}
		for i, want := range []int{0, many, 0} {
			if n, err := usage.New(s).Prune(ctx, at.Add(time.Duration(i)*time.Second)); err != nil ||
				n != want {
				t.Errorf("pruned %d, %v, want %d", n, err, want)
			}
		}
		if rows, err := usage.New(s).Stats(ctx, at, at.Add(time.Second), nil); err != nil ||
			len(rows) != 1 || rows[0].Uses != 1 {
			t.Errorf("left are %+v, %v", rows, err)
		}
	})
}

func TestServiceRefuses(t *testing.T) {
	ctx, now := context.Background(), time.Now()
	s := usage.New(&fake{rows: 10_001})
	for want, by := range map[string][]string{
		"only by day, entry": {"entry", "owner"},
		"named twice":        {"entry", "entry"},
		"shorter time":       {"page_slug"},
	} {
		if _, err := s.Stats(ctx, now, now, by); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one with %q", err, want)
		}
	}
	if _, _, err := s.History(ctx, "", usage.Place{}, 10); err == nil {
		t.Error("all guests' history was given")
	}
	if _, err := s.Refusals(ctx, "", 10); err == nil {
		t.Error("all guests' refusals were given")
	}
	for _, limit := range []int{0, 10_001} {
		if _, _, err := s.History(ctx, "user:1", usage.Place{}, limit); err == nil {
			t.Errorf("a history of %d was given", limit)
		}
		if _, err := s.Refusals(ctx, "user:1", limit); err == nil {
			t.Errorf("%d refusals were given", limit)
		}
	}
}
