package pdfjob

import (
	"context"
	"errors"
	"fmt"
	"image"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"unink"
	"unink/internal/credit"
	"unink/internal/ident"
	"unink/internal/job"
	"unink/internal/pause"
	"unink/internal/pdf"
)

const (
	documents = 2                // worked on at once
	lease     = 15 * time.Second // of a job, unless its holder lives and moves it on
	turn      = time.Minute      // of one job, before another owner's
	poll      = 5 * time.Second  // how long work of other processes may go unseen
	retryWait = 2 * time.Second
	mostTries = 3 // at a page that ended who worked on it
	endTime   = 5 * time.Second
)

// Why pages fail beside what is wrong with them.
var (
	ErrTries = errors.New("those who worked on the page ended each time before it was done")
	ErrLate  = errors.New("the page was not done within a day")
	// ErrTooLong says that a file would be larger than is kept.
	ErrTooLong = errors.New("the finished file would have more than 256 MB")
)

// DocumentError is a fault of the document, or of a page of it.
type DocumentError struct{ cause error }

func (e *DocumentError) Error() string { return e.cause.Error() }

func (e *DocumentError) Unwrap() error { return e.cause }

// PagesError says that the pages that were asked for cannot be had.
type PagesError struct{ message string }

func (e *PagesError) Error() string { return e.message }

// faultOf tells faults of a document from those of who works on it.
func faultOf(err error) error {
	for _, fault := range []error{pdf.ErrNotPDF, pdf.ErrPassword, pdf.ErrBroken, pdf.ErrTooLarge} {
		if errors.Is(err, fault) {
			return &DocumentError{err}
		}
	}
	return err
}

// Run works on jobs and tells hooks until ctx ends.
func (s *Service) Run(ctx context.Context, engine Engine) {
	var running sync.WaitGroup
	for range documents {
		running.Go(func() {
			s.repeat(ctx, s.woken, func() (time.Time, error) { return s.next(ctx, engine) })
		})
	}
	running.Go(func() {
		s.repeat(ctx, s.hooks, func() (time.Time, error) { return s.tellNext(ctx) })
	})
	running.Wait()
}

// repeat does what is due, and waits until there is more: what do returns, or when it is woken.
func (s *Service) repeat(ctx context.Context, woken chan struct{}, do func() (time.Time, error)) {
	for ctx.Err() == nil {
		next, err := do()
		if err != nil && ctx.Err() == nil {
			s.log.Error("PDF jobs cannot be worked on", "error", err)
		}
		wait := poll
		if err == nil && !next.IsZero() {
			wait = min(wait, next.Sub(s.now()))
		}
		timer := time.NewTimer(wait)
		select {
		case <-woken:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// next works on the job that is next; if there was one, more is due now.
func (s *Service) next(ctx context.Context, engine Engine) (time.Time, error) {
	holder, now := ident.New("holder"), s.now()
	j, claimed, err := s.store.Claim(ctx, holder, now, now.Add(lease))
	if err != nil || !claimed {
		return time.Time{}, err
	}
	nudge(s.woken) // the others may look as well
	mine, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var keeping sync.WaitGroup
	keeping.Go(func() { s.keep(mine, stop, j.ID, holder) })
	w := &work{Service: s, engine: engine, job: j, holder: holder, until: now.Add(turn)}
	err = w.do(mine)
	if lost := context.Cause(mine); errors.Is(lost, ErrLost) {
		err = nil // deleted, or another one's
	}
	stop(nil)
	keeping.Wait()
	leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	return now, errors.Join(err, s.store.Leave(leaving, j.ID, holder))
}

// keep moves the lease on, and stops the work when the job is lost.
func (s *Service) keep(ctx context.Context, stop context.CancelCauseFunc, id, holder string) {
	tick := time.NewTicker(lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if err := s.store.Extend(ctx, id, holder, s.now().Add(lease)); errors.Is(err, ErrLost) {
			stop(ErrLost)
			return
		}
	}
}

// work is a turn of one job.
type work struct {
	*Service
	engine Engine
	job    Job
	holder string
	until  time.Time
	source *pdf.Document
	bytes  atomic.Int64 // of the pictures
	unpaid atomic.Bool  // there are no credits left
}

// do works on the job until its turn is over. An error is one that another turn may not have.
func (w *work) do(ctx context.Context) error {
	document, err := w.whole(ctx, w.job.ID, Document)
	if err != nil {
		return err
	}
	w.source, err = pdf.Open(ctx, document)
	if err != nil {
		return w.refuse(ctx, err)
	}
	defer func() { w.source.Close() }()
	w.source.KeepMarks = w.job.Options.KeepMarks
	if len(w.job.Pages) == 0 {
		if err := w.plan(ctx); err != nil || w.job.State.Ended() {
			return err
		}
	}
	size, err := w.store.Size(ctx, w.job.ID)
	if err != nil {
		return err
	}
	w.bytes.Store(size)
	if err := w.pages(ctx); err != nil {
		return err
	}
	return w.end(ctx, document)
}

// refuse ends a job whose document cannot be used.
func (w *work) refuse(ctx context.Context, err error) error {
	fault := faultOf(err)
	var document *DocumentError
	var pages *PagesError
	if !errors.As(fault, &document) && !errors.As(fault, &pages) {
		return err
	}
	w.job.State, w.job.Problem = Failed, w.engine.Explain(fault)
	return w.finish(ctx)
}

// plan finds out which pages there are to clean.
func (w *work) plan(ctx context.Context) error {
	numbers, err := w.job.Options.numbers(w.source.Pages())
	switch {
	case err != nil:
		return w.refuse(ctx, &PagesError{err.Error()})
	case len(numbers) == 0:
		return w.refuse(ctx, &PagesError{fmt.Sprintf("none of the pages that were asked for is there; "+
			"the document has %d", w.source.Pages())})
	case len(numbers) > MaxPages:
		return w.refuse(ctx, &PagesError{fmt.Sprintf("that are %d pages, and a job cleans at most %d; "+
			"ask for a part of them with pages", len(numbers), MaxPages)})
	}
	if err := w.store.Plan(ctx, w.job.ID, numbers); err != nil {
		return err
	}
	for _, n := range numbers {
		w.job.Pages = append(w.job.Pages, Page{Number: n, State: Waiting})
	}
	return nil
}

// pages cleans pages that wait, several at once.
func (w *work) pages(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(w.config.Pages)
	for _, p := range w.job.Pages {
		if p.State != Waiting {
			continue
		}
		group.Go(func() error {
			now := w.now()
			if ctx.Err() != nil || w.unpaid.Load() || now.After(w.until) ||
				now.Sub(w.job.Created) > Life {
				return nil
			}
			return w.page(ctx, p)
		})
	}
	return group.Wait()
}

// page sees a page to its end.
func (w *work) page(ctx context.Context, p Page) error {
	begun := w.now()
	pay := &payment{work: w, number: p.Number}
	l, err := w.clean(ctx, pay)
	if err == nil && l.Marks+l.Strokes > 0 && pay.hold == "" { // which came off without the engine
		err = pay.begin(ctx)
	}
	var insufficient *credit.InsufficientError
	switch {
	case ctx.Err() != nil, errors.Is(err, ErrLost):
		pay.release(ctx)
		return context.Cause(ctx)
	case errors.As(err, &insufficient):
		w.unpaid.Store(true)
		return nil
	case pay.broken != nil: // no fault of the page
		return pay.broken
	case err == nil && w.bytes.Add(int64(len(l.Picture))) > MaxFile:
		err = ErrTooLong
	}
	p.State, p.Marks, p.Place = Cleaned, l.Marks+l.Strokes, l.Place
	if l.Picture == nil {
		p.State = Kept
	}
	if err == nil && (p.State == Cleaned || p.Marks > 0) {
		p.Charged = 1
	}
	if err != nil {
		p = Page{Number: p.Number, State: Failed, Problem: w.engine.Explain(faultOf(err))}
		l.Picture = nil
		w.log.Warn("a page of a PDF failed", "job", w.job.ID, "page", p.Number, "error", err)
	}
	if err := pay.conclude(ctx, p, l.Picture); err != nil {
		pay.release(ctx)
		if errors.Is(err, ErrLost) { // another one has the page, or it was deleted
			return nil
		}
		return err
	}
	w.engine.Note(w.job.Owner, p.Problem, p.Charged, w.now().Sub(begun))
	return nil
}

// clean turns a panic into an error: a page of a request would end no others either.
func (w *work) clean(ctx context.Context, pay *payment) (l job.Leaf, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	press := job.Press{Engine: pay, Options: w.job.Options.Clean}
	return press.Clean(ctx, w.source, pay.number-1)
}

// payment is the engine of one page, whose credit is held while a worker has it.
type payment struct {
	*work
	number int
	hold   string // empty while nothing is held
	broken error  // why it could not be begun
}

// CleanImage has the page cleaned, however long it has to wait.
func (p *payment) CleanImage(ctx context.Context, m image.Image,
	o unink.Options) (*unink.Page, error) {
	for {
		page, err := p.engine.CleanFor(ctx, p.job.Owner, m, o, p.begin)
		if err == nil || p.broken != nil {
			return page, err
		}
		again, suspect := p.engine.Passing(err)
		if !again {
			return nil, err
		}
		p.release(ctx)
		if !suspect {
			if err := p.store.Retract(ctx, p.job.ID, p.number); err != nil {
				p.broken = err
				return nil, err
			}
		}
		if err := pause.For(ctx, retryWait); err != nil {
			return nil, err
		}
	}
}

// begin holds the page's credit.
func (p *payment) begin(ctx context.Context) error {
	tries, err := p.store.Begin(ctx, p.job.ID, p.number,
		func(ctx context.Context, held string) (string, error) {
			if held != "" { // by who had the page before and is gone
				if err := p.credits.Release(ctx, held); err != nil && !errors.Is(err, credit.ErrNotHeld) {
					return "", err
				}
			}
			hold, err := p.credits.Reserve(ctx, credit.Reservation{
				Owners: []string{p.job.Owner}, Lease: p.engine.Lease()})
			p.hold = hold.ID
			return hold.ID, err
		})
	if err != nil {
		p.hold, p.broken = "", err
		return err
	}
	if tries > mostTries {
		return ErrTries
	}
	return nil
}

// conclude notes what became of the page, and charges its credit or gives it back.
func (p *payment) conclude(ctx context.Context, page Page, picture []byte) error {
	held := p.hold
	err := p.store.Conclude(ctx, p.job.ID, held, page, picture, func(ctx context.Context) error {
		switch {
		case held == "":
			return nil
		case page.Charged > 0:
			return p.credits.Settle(ctx, held)
		}
		return p.credits.Release(ctx, held)
	})
	if errors.Is(err, credit.ErrNotHeld) { // its lease ended: the page is done again
		err = ErrLost
	}
	if err == nil {
		p.hold = ""
	}
	return err
}

// release gives the credit back, also when the work was stopped.
func (p *payment) release(ctx context.Context) {
	if p.hold == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	// What is not given back here is given back when its lease ends.
	if err := p.credits.Release(ctx, p.hold); err != nil && !errors.Is(err, credit.ErrNotHeld) {
		p.log.Error("a hold was not released", "hold", p.hold, "error", err)
	}
	p.hold = ""
}
