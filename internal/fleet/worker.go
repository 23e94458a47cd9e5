package fleet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"unink"
	"unink/internal/pause"
)

// WorkerConfig configures a [Worker].
type WorkerConfig struct {
	Slots int           // pages cleaned at once
	Drain time.Duration // for pages under way when it stops
	Build Build         // what it is made of
}

// Worker takes pages from services and cleans them.
type Worker struct {
	nc      *nats.Conn
	pace    pace
	cfg     WorkerConfig
	cleaner Cleaner
	log     *slog.Logger
	id      string
	free    atomic.Int32
	leaving atomic.Bool

	heardWaiting atomic.Int64 // when a service last said that a page waits, in Unix nanoseconds
}

// NewWorker connects a worker to its fleet. It takes nothing until [Worker.Run].
func NewWorker(fleet Config, c WorkerConfig, cleaner Cleaner, log *slog.Logger) (*Worker, error) {
	if c.Slots < 1 {
		return nil, fmt.Errorf("a worker needs at least 1 slot, not %d", c.Slots)
	}
	if c.Drain <= 0 {
		return nil, errors.New("the drain time-out must be positive, such as 30s")
	}
	id := rand.Text()[:10]
	log = log.With("worker", id)
	nc, err := connect(fleet, "unink worker "+id, log)
	if err != nil {
		return nil, err
	}
	return &Worker{nc: nc, pace: fleet.timing(), cfg: c, cleaner: cleaner, log: log, id: id}, nil
}

// ID names the worker, until its process ends.
func (w *Worker) ID() string { return w.id }

// errStuck ends a worker whose cleaner does not return: nothing but a new process helps.
var errStuck = errors.New("a page does not end, and cannot be stopped; start the worker again")

// Run takes pages until ctx ends, finishes those it has, and closes the connection. An error says
// that a cleaner hangs: those pages that do not are finished as well, and the process should end.
func (w *Worker) Run(ctx context.Context) error {
	defer w.nc.Close()
	taking, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	// ends when draining takes too long
	working, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	// What is asked before the slots are there is answered by the first of them.
	if _, err := w.nc.Subscribe(hello, func(*nats.Msg) { w.tell() }); err != nil {
		return err
	}
	if _, err := w.nc.Subscribe(waiting, func(*nats.Msg) {
		w.heardWaiting.Store(time.Now().UnixNano())
	}); err != nil {
		return err
	}
	var slots, presence sync.WaitGroup
	for range w.cfg.Slots {
		slots.Go(func() {
			if err := w.slot(taking, working); err != nil {
				stop(err)
			}
		})
	}
	presence.Go(func() { w.beat(working) })
	<-taking.Done()
	w.leaving.Store(true)
	w.tell()
	defer time.AfterFunc(w.cfg.Drain, giveUp).Stop()
	slots.Wait()
	giveUp()
	presence.Wait()
	// what was said last; a server that is away hears nothing anyway
	_ = w.nc.FlushTimeout(time.Second)
	if cause := context.Cause(taking); errors.Is(cause, errStuck) {
		return cause
	}
	return nil
}

// beat tells regularly that the worker is there.
func (w *Worker) beat(ctx context.Context) {
	tick := time.NewTicker(w.pace.beat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			w.tell()
		case <-ctx.Done():
			return
		}
	}
}

// tell says how the worker is. Unheard, it is said again with the next beat.
func (w *Worker) tell() {
	body, err := json.Marshal(status{w.id, w.cfg.Build, w.cfg.Slots, int(w.free.Load()),
		w.leaving.Load()})
	if err == nil {
		_ = w.nc.Publish(presence, body)
	}
}

// slot takes one page after the other until taking ends.
func (w *Worker) slot(taking, working context.Context) error {
	for taking.Err() == nil {
		m := w.next(taking)
		if m == nil {
			continue
		}
		if err := w.serve(working, m); err != nil {
			return err
		}
	}
	return nil
}

// next waits for an offer; nil is none.
func (w *Worker) next(taking context.Context) *nats.Msg {
	w.free.Add(1)
	m, err := w.take(taking)
	w.free.Add(-1)
	if err != nil && taking.Err() == nil {
		w.log.Error("no pages can be taken", "cause", err)
		_ = pause.For(taking, w.pace.beat)
	}
	return m
}

// serve takes an offer, if it can be served, and sees it to its end.
func (w *Worker) serve(working context.Context, m *nats.Msg) error {
	l, err := newLink(w.nc)
	if err != nil {
		return nil // the offer is made again
	}
	defer l.close()
	l.peer = m.Reply
	var o offer
	err = json.Unmarshal(m.Data, &o)
	asked, bad := readOptions(o.Options)
	asked.Before = o.Before
	switch {
	case err != nil || bad != nil || o.Size < 1 || o.Size > maxPage:
		w.log.Warn("a page was declined", "page", o.Page, "bytes", o.Size, "cause", errors.Join(err, bad))
		_ = l.sayJSON(decline, note{Worker: w.id})
		return nil
	case o.Not == w.id:
		_ = l.sayJSON(decline, note{Worker: w.id})
		_ = pause.For(working, w.pace.look) // while others can take it
		return nil
	}
	if err := l.sayJSON(take, note{Worker: w.id}); err != nil {
		return nil
	}
	ctx, stop := context.WithTimeout(working, o.Budget)
	defer stop()
	j := &job{link: l, worker: w, options: asked, longest: o.Budget, in: newIncoming(o.Size),
		stop: stop, cleaned: make(chan cleaned, 1)}
	if !o.Again {
		j.longest = o.Budget * 2 / 3 // so that another worker can still do it
	}
	return j.run(ctx, working)
}

// job is the worker's side of the conversation about a page.
type job struct {
	*link
	worker  *Worker
	options unink.Options
	longest time.Duration // for cleaning; then the worker does not vouch for the page any more
	in      *incoming
	begun   bool // cleaning
	ended   bool // cleaning
	out     *outgoing
	stop    context.CancelFunc
	cleaned chan cleaned
}

type cleaned struct {
	result *unink.Result
	err    error
}

// errOver ends a conversation.
var errOver = errors.New("over")

// run talks with the service until the page is done or given up, and waits for the cleaner. Its
// error is [errStuck].
func (j *job) run(ctx, working context.Context) error {
	p := j.worker.pace
	j.patience = time.NewTimer(p.silence)
	defer j.patience.Stop()
	stall := time.NewTimer(j.longest)
	defer stall.Stop()
	beat := time.NewTicker(p.beat)
	defer beat.Stop()
	for {
		var err error
		select {
		case m := <-j.link.in:
			err = j.listen(ctx, m)
		case c := <-j.cleaned:
			j.ended = true
			err = j.answer(working, c)
		case <-beat.C:
			_ = j.say(alive, 0, nil) // unheard too often, the other side gives up
			j.out.beat(j.link)
		case <-working.Done():
			_ = j.sayJSON(abandon, note{j.worker.id, "it has to stop"})
			err = errOver
		case <-stall.C:
			if !j.ended {
				j.worker.log.Error("a page takes too long", "after", j.longest)
				_ = j.sayJSON(abandon, note{j.worker.id, "the page takes too long"})
				err = errOver
			}
		case <-j.patience.C:
			err = errOver
		}
		if err != nil {
			return j.end()
		}
	}
}

// end waits for the cleaner, which was told to stop.
func (j *job) end() error {
	j.stop()
	if !j.begun || j.ended {
		return nil
	}
	last := time.NewTimer(j.worker.pace.lastWord)
	defer last.Stop()
	select {
	case <-j.cleaned:
		return nil
	case <-last.C:
		j.worker.log.Error("alarm: a page hangs")
		return errStuck
	}
}

// listen acts on a message; an error ends the conversation.
func (j *job) listen(ctx context.Context, m *nats.Msg) error {
	k, sequence := j.hear(m, j.worker.pace.silence)
	if k != piece && j.in.next == 0 {
		if kind, _ := kindOf(m); kind == gone { // the offer was given up before it was taken
			return errOver
		}
	}
	switch k {
	case piece:
		if err := j.in.add(sequence, m.Data, j.link); err != nil {
			return err
		}
		if j.in.complete() && !j.begun {
			j.begun = true
			go j.clean(ctx, j.in.data)
		}
	case acknowledge:
		if err := j.out.acknowledged(sequence, j.link); err != nil {
			return err
		}
		if j.out.arrived() {
			return errOver
		}
	case cancel, gone:
		return errOver
	}
	return nil
}

// clean runs the cleaner; a panic is its error.
func (j *job) clean(ctx context.Context, image []byte) {
	var c cleaned
	defer func() {
		if p := recover(); p != nil {
			c = cleaned{err: fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
		}
		j.cleaned <- c
	}()
	c.result, c.err = j.worker.cleaner.Clean(ctx, image, j.options)
}

// answer begins to send what came of the page.
func (j *job) answer(working context.Context, c cleaned) error {
	if c.err != nil && working.Err() != nil {
		_ = j.sayJSON(abandon, note{j.worker.id, "it has to stop"})
		return errOver
	}
	if c.err == nil {
		about := resultOf(c.result, j.worker.cfg.Build)
		if _, c.err = about.size(); c.err == nil {
			head := func() error { return j.sayJSON(finished, about) }
			r := c.result
			j.out = newOutgoing(j.nc, head, r.Data, r.Handwriting, r.Mask, r.Before)
			j.out.begin(j.link)
			return nil
		}
	}
	f := failureOf(c.err)
	if f.Code == unink.ErrInternal || f.Code == unink.ErrDevice {
		j.worker.log.Error("a page failed", "cause", c.err)
	}
	_ = j.sayJSON(failed, f)
	return errOver
}
