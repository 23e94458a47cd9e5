package pdfjob

import (
	"context"
	"errors"

	"unink/internal/credit"
	"unink/internal/pdf"
)

// end writes the file when no page waits any more.
func (w *work) end(ctx context.Context, document []byte) error {
	var rest error
	switch {
	case w.unpaid.Load():
		rest = &credit.InsufficientError{Owner: w.job.Owner}
	case w.now().Sub(w.job.Created) > Life:
		rest = ErrLate
	}
	if rest != nil {
		if err := w.store.Fail(ctx, w.job.ID, w.engine.Explain(rest)); err != nil {
			return err
		}
	}
	j, err := w.store.Job(ctx, w.job.Owner, w.job.ID, w.now())
	if err != nil {
		return err
	}
	w.job.Pages = j.Pages
	counts := j.Counts()
	switch {
	case counts.Waiting > 0:
		return nil // in another turn
	case counts.Failed == counts.Total:
		w.job.State, w.job.Problem = Failed, w.firstProblem()
		return w.finish(ctx)
	case counts.Failed > 0:
		w.job.State, w.job.Problem = Partial, w.firstProblem()
	default:
		w.job.State = Done
	}
	size, err := w.write(ctx, document)
	if err != nil {
		if again, _ := w.engine.Passing(err); again || ctx.Err() != nil || errors.Is(err, ErrLost) {
			return err
		}
		return w.giveBack(ctx, counts.Charged, err)
	}
	w.job.Bytes = size
	return w.finish(ctx)
}

// giveBack ends a job whose pages came to nothing: what they cost is given back, once.
func (w *work) giveBack(ctx context.Context, charged int, why error) error {
	w.log.Error("the file of a PDF cannot be written", "job", w.job.ID, "error", why)
	w.job.State, w.job.Problem = Failed, w.engine.Explain(faultOf(why))
	if charged > 0 {
		if _, _, err := w.credits.Grant(ctx, credit.Grant{Owner: w.job.Owner, Plan: "refund",
			Credits: charged, Expires: w.now().AddDate(1, 0, 0), Source: "refund:" + w.job.ID,
			Note: "the file could not be written"}); err != nil {
			return err
		}
	}
	if err := w.store.Drop(ctx, w.job.ID, File); err != nil {
		return err
	}
	return w.finish(ctx)
}

func (w *work) firstProblem() Problem {
	for _, p := range w.job.Pages {
		if p.State == Failed {
			return p.Problem
		}
	}
	return Problem{}
}

// write puts the finished file together. It begins with the document as it came, whatever the
// pages' cleaning did to the one that is open.
func (w *work) write(ctx context.Context, document []byte) (int64, error) {
	w.source.Close()
	if err := w.store.Drop(ctx, w.job.ID, File); err != nil { // of an attempt that did not end
		return 0, err
	}
	source, err := pdf.Open(ctx, document)
	if err != nil {
		return 0, err
	}
	defer source.Close()
	source.KeepMarks = w.job.Options.KeepMarks
	pages := make([]pdf.Page, len(w.job.Pages))
	for i, p := range w.job.Pages {
		switch p.State {
		case Cleaned:
			pages[i] = p.Place
			pages[i].Picture = &picture{load: func() ([]byte, error) {
				return w.whole(ctx, w.job.ID, p.Number)
			}}
		case Kept:
			pages[i] = pdf.Page{Original: p.Number - 1}
		default:
			pages[i] = pdf.Page{Original: p.Number - 1, Untouched: true}
		}
	}
	to := &filer{ctx: ctx, store: w.store, id: w.job.ID}
	if err := pdf.Write(ctx, to, source, pages); err != nil {
		return 0, err
	}
	return to.size, to.close()
}

// finish ends the job, which stands for a day from now.
func (w *work) finish(ctx context.Context) error {
	w.job.Finished = w.now()
	w.job.Expires = w.job.Finished.Add(Life)
	if err := w.store.End(ctx, w.job, w.holder); err != nil {
		return err
	}
	nudge(w.hooks)
	counts := w.job.Counts()
	w.log.Info("a PDF was done", "job", w.job.ID, "state", string(w.job.State), "pages", counts.Total,
		"charged", counts.Charged, "bytes", w.job.Bytes)
	return nil
}
