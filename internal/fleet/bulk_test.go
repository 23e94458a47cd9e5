package fleet

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"unink"
	"unink/internal/gate"
)

// While bulk pages without end wait for the only slot, a page that somebody waits for is the next
// one.
func TestPagesGoBeforeBulk(t *testing.T) {
	s := natsServer(t, nil)
	unhurried := brisk
	unhurried.look = normal.look
	w := &world{t: t, Config: Config{URL: s.ClientURL(), pace: unhurried}, log: newLog(t)}
	w.Client = w.client()
	batch := w.client()
	begun, goOn := make(chan string), make(chan struct{})
	h := w.worker(1, func(ctx context.Context, image []byte, o unink.Options) (*unink.Result, error) {
		name, _, _ := strings.Cut(string(image), " ")
		select {
		case begun <- name:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		select {
		case <-goOn:
			return answer(image, o), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	ctx, stop := context.WithCancel(w.context())
	var feeders atomic.Int32
	for range 6 {
		feeders.Add(1)
		go func() {
			defer feeders.Add(-1)
			for ctx.Err() == nil {
				if _, err := batch.CleanBulk(ctx, []byte("bulk page"), unink.Options{}); err != nil &&
					ctx.Err() == nil && !errors.Is(err, gate.ErrNoWorker) {
					t.Error(err)
				}
			}
		}()
	}
	<-begun
	for range 5 {
		h.heardWaiting.Store(0)
		done := w.inBackground("page of somebody")
		w.until("the worker knows that somebody waits", h.pressed)
		goOn <- struct{}{}
		if next := <-begun; next != "page" {
			t.Errorf("a %s was taken before the page that somebody waits for", next)
		}
		goOn <- struct{}{}
		w.fails(done, nil)
		if next := <-begun; next != "bulk" {
			t.Errorf("%s was taken where only bulk is left", next)
		}
	}
	stop()
	w.until("the feeders have ended", func() bool { return feeders.Load() == 0 })
}

// A slot that becomes free while a page waits is kept for it, for as long as it may take to come.
func TestFreeSlotIsKeptForPages(t *testing.T) {
	s := natsServer(t, nil)
	slow := brisk
	slow.look = 5 * time.Second
	w := &world{t: t, Config: Config{URL: s.ClientURL(), pace: slow}, log: newLog(t)}
	w.Client = w.client()
	begun, goOn := make(chan string, 1), make(chan struct{})
	h := w.worker(1, func(_ context.Context, image []byte, o unink.Options) (*unink.Result, error) {
		begun <- string(image)
		<-goOn
		return answer(image, o), nil
	})
	bulkDone := make(chan error, 2)
	for range cap(bulkDone) {
		go func() {
			_, err := w.CleanBulk(w.context(), []byte("bulk"), unink.Options{})
			bulkDone <- err
		}()
	}
	<-begun
	if err := w.nc.Publish(waiting, nil); err != nil {
		t.Fatal(err)
	}
	w.until("the worker knows that a page waits", h.pressed)
	goOn <- struct{}{}
	w.until("the slot is free", func() bool { return h.free.Load() == 1 })
	done := w.inBackground("page")
	if next := <-begun; next != "page" {
		t.Errorf("%s took the slot that was kept", next)
	}
	close(goOn)
	w.fails(done, nil)
	w.fails(bulkDone, nil)
	w.fails(bulkDone, nil)
}

// A free slot wakes a page that somebody waits for, though a bulk one has waited longer.
func TestPageWakesBeforeBulk(t *testing.T) {
	var free turnstile
	woken := make(chan string)
	for i, name := range []string{"bulk", "page", "next page"} {
		ticket := free.ticket(name == "bulk")
		go func() {
			free.wait(t.Context(), ticket, time.Minute)
			woken <- name
		}()
		for free.len() <= i {
			runtime.Gosched()
		}
	}
	for _, want := range []string{"page", "next page", "bulk"} {
		free.wake(1)
		if got := <-woken; got != want {
			t.Errorf("the %s was woken, not the %s", got, want)
		}
	}
}

// Without a worker there is nobody for a bulk page either; with one it has its result.
func TestBulkPageNeedsWorker(t *testing.T) {
	w := newWorld(t, nil)
	batch := w.client()
	if _, err := batch.CleanBulk(w.context(), []byte("page"), unink.Options{}); !errors.Is(
		err, gate.ErrNoWorker,
	) {
		t.Errorf("without a worker: %v", err)
	}
	w.worker(2, echo)
	w.until("the worker is known", func() bool { return batch.workers.slots() > 0 })
	res, err := batch.CleanBulk(w.context(), []byte("page"), unink.Options{})
	if err != nil || string(res.Data) != string(answer([]byte("page"), unink.Options{}).Data) {
		t.Errorf("with one: %v", err)
	}
}
