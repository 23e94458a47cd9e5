// Package pdfjob cleans whole PDFs beside requests. A job is kept in the store, worked on page by
// page however often the service starts anew, and stands with its result for a day. A page that
// came back costs a credit, which is charged together with the page's being noted as done: once.
package pdfjob

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"log/slog"
	"net/netip"
	"time"

	"unink"
	"unink/internal/credit"
	"unink/internal/ident"
	"unink/internal/job"
	"unink/internal/pdf"
)

// Bounds of a job.
const (
	MaxBytes = 32 << 20 // of a document
	MaxPages = 200      // that a job cleans
	MaxFile  = 256 << 20
	Life     = 24 * time.Hour // of a job that ended, and of the work on one
)

// Reasons for which a job is refused or not there.
var (
	ErrNotFound  = errors.New("pdfjob: there is no such job")
	ErrTooMany   = errors.New("pdfjob: the customer has as many jobs as it may")
	ErrFull      = errors.New("pdfjob: there is no room for another document")
	ErrKeyReused = errors.New("pdfjob: idempotency key was used with another body")
	ErrKeyTaken  = errors.New("pdfjob: there is a job with this idempotency key")
	// ErrLost says that a job or a page is somebody else's by now, or gone.
	ErrLost = errors.New("pdfjob: somebody else has the work, or it was deleted")
)

// State says how far a job or a page is.
type State string

// The states: of jobs all but Cleaned and Kept, of pages Waiting, Cleaned, Kept and Failed.
const (
	Waiting State = "waiting"
	Working State = "working"
	Done    State = "done"
	Partial State = "partial" // some pages failed, which are in the file as they came
	Failed  State = "failed"
	Cleaned State = "cleaned"
	Kept    State = "kept" // there was nothing to clean
)

// Ended reports whether a job with this state is worked on no more.
func (s State) Ended() bool { return s == Done || s == Partial || s == Failed }

// Problem is why something failed: a code of the developer entry point. The zero value is none.
type Problem struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Options say what is done to a document.
type Options struct {
	Pages     string // as [job.ParsePages] reads them; empty is all
	KeepMarks bool   // leave annotations where they are
	Clean     unink.Options
}

// Hook is an address that is told of a job's end.
type Hook struct {
	URL    string
	Secret string // see [ParseSecret]
}

// Job is one document.
type Job struct {
	ID, Owner string
	Key       string // Idempotency-Key; empty for none
	Body      string // hash of what was sent
	Options   Options
	State     State
	Problem   Problem // why it failed or is partial
	Bytes     int64   // of the finished file; 0 where there is none
	Created   time.Time
	Finished  time.Time
	Expires   time.Time
	Hook      Hook
	HookTries int
	Pages     []Page
}

// Page is a page of a job.
type Page struct {
	Number  int // in the document, from 1
	State   State
	Charged int // credits
	Marks   int // annotations and strokes that were taken off it
	Problem Problem
	Place   pdf.Page // how its picture stands in the file
}

// Parts of a job's content; a page's picture has its number.
const (
	Document = 0
	File     = -1
)

// PieceBytes is the size of the pieces in which content is kept, but for the last.
const PieceBytes = 1 << 20

// Store keeps jobs. Each method that changes something does it wholly or not at all.
type Store interface {
	// Add keeps a new job, unless its owner has as many as it may, [ErrTooMany], or one with its key,
	// [ErrKeyTaken], or there is no room for the document, [ErrFull].
	Add(ctx context.Context, j Job, document []byte, b Bounds) error
	// Keyed returns the job with a key that has not expired, or [ErrNotFound].
	Keyed(ctx context.Context, owner, key string, now time.Time) (Job, error)
	// Job returns a job that has not expired, or [ErrNotFound].
	Job(ctx context.Context, owner, id string, now time.Time) (Job, error)
	Delete(ctx context.Context, owner, id string, now time.Time) error
	// Prune deletes what has expired.
	Prune(ctx context.Context, now time.Time) error

	// Claim gives the job that is next to a holder, until lease: of the owner who waits longest.
	Claim(ctx context.Context, holder string, now, lease time.Time) (Job, bool, error)
	// Extend moves the lease's end; [ErrLost] if the job is not the holder's.
	Extend(ctx context.Context, id, holder string, lease time.Time) error
	Leave(ctx context.Context, id, holder string) error
	// Free gives all claims back: of a service that is alone and starts.
	Free(ctx context.Context) error

	// Plan says which pages a job has, unless that is known.
	Plan(ctx context.Context, id string, numbers []int) error
	// Begin counts a try at a page that waits, and notes the credit that hold holds for it. The
	// store's changes that hold makes are part of it. hold is told what is held already.
	Begin(ctx context.Context, id string, number int,
		hold func(ctx context.Context, held string) (string, error)) (tries int, err error)
	// Retract takes a try back.
	Retract(ctx context.Context, id string, number int) error
	// Conclude notes what became of a page that waits, with its picture, if any. pay's changes are
	// part of it. [ErrLost] says that the page does not wait, or another credit is held for it.
	Conclude(ctx context.Context, id, held string, p Page, picture []byte,
		pay func(context.Context) error) error
	// Fail concludes all pages that wait.
	Fail(ctx context.Context, id string, p Problem) error

	// Size is how many bytes a job's pictures have.
	Size(ctx context.Context, id string) (int64, error)
	Piece(ctx context.Context, id string, part, piece int) ([]byte, error)
	AddPiece(ctx context.Context, id string, part, piece int, data []byte) error
	// Drop deletes a part.
	Drop(ctx context.Context, id string, part int) error
	// End ends a holder's job, drops all but the file, and has the hook told.
	End(ctx context.Context, j Job, holder string) error

	// ClaimHook gives a job whose hook is due, and makes it due again at the lease's end.
	ClaimHook(ctx context.Context, now, lease time.Time) (Job, bool, error)
	// HookDue makes a hook due; the zero time is never again.
	HookDue(ctx context.Context, id string, tries int, due time.Time) error
	NextHook(ctx context.Context) (time.Time, error)
}

// Engine cleans pages and knows the developer entry point's words.
type Engine interface {
	// CleanFor has a page cleaned when it is the turn of an owner's waiting work. It calls begun
	// before, when there is a worker; begun's error is its own.
	CleanFor(ctx context.Context, owner string, m image.Image, o unink.Options,
		begun func(context.Context) error) (*unink.Page, error)
	// Lease is how long a credit is held for a page at most.
	Lease() time.Duration
	// Explain says what an error means for the caller.
	Explain(err error) Problem
	// Passing reports whether a page may be tried again after an error, and whether the page itself
	// may have been the reason.
	Passing(err error) (again, suspect bool)
	// Note tells the statistics of a page.
	Note(owner string, p Problem, charged int, took time.Duration)
}

// Bounds say what is taken.
type Bounds struct {
	Jobs  int   // that a customer may have, under way or done
	Bytes int64 // of all customers' documents, pages and files; those under way may exceed it
}

// DefaultBounds are those of a service on one machine.
var DefaultBounds = Bounds{Jobs: 20, Bytes: 20 << 30}

// Config tunes a [Service].
type Config struct {
	Bounds
	Pages    int            // worked on at once of one document
	Networks []netip.Prefix // private ones that hooks may be in
}

// Service takes jobs and works on them. It is safe for concurrent use.
type Service struct {
	store   Store
	credits *credit.Service
	config  Config
	now     func() time.Time
	log     *slog.Logger
	woken   chan struct{} // there is work
	hooks   chan struct{} // there is a hook to tell
	post    poster
}

// New makes a service. It works on nothing until [Service.Run].
func New(store Store, credits *credit.Service, c Config, now func() time.Time,
	log *slog.Logger) (*Service, error) {
	if c.Jobs < 1 || c.Pages < 1 {
		return nil, fmt.Errorf("a customer's PDFs and their pages at once must be at least 1, not %d "+
			"and %d", c.Jobs, c.Pages)
	}
	if c.Bytes < MaxBytes {
		return nil, fmt.Errorf("the room for PDFs must hold one of %d MiB at least, not %d bytes",
			MaxBytes>>20, c.Bytes)
	}
	return &Service{store: store, credits: credits, config: c, now: now, log: log,
		woken: make(chan struct{}, 1), hooks: make(chan struct{}, 1),
		post: newPoster(c.Networks)}, nil
}

// Add takes a job. One with the key of another is that one. The error is also [ErrTooMany],
// [ErrFull], [ErrKeyReused] or [*credit.InsufficientError].
func (s *Service) Add(ctx context.Context, j Job, document []byte) (Job, error) {
	j.ID, j.State, j.Created = ident.New("pdf"), Waiting, s.now()
	j.Expires = j.Created.Add(2 * Life)
	for {
		if j.Key != "" {
			other, err := s.store.Keyed(ctx, j.Owner, j.Key, j.Created)
			if err == nil && other.Body != j.Body {
				err = ErrKeyReused
			}
			if !errors.Is(err, ErrNotFound) {
				return other, err
			}
		}
		credits, err := s.credits.Balance(ctx, j.Owner)
		if err == nil && credits == 0 {
			err = &credit.InsufficientError{Owner: j.Owner}
		}
		if err == nil {
			err = s.store.Add(ctx, j, document, s.config.Bounds)
		}
		if !errors.Is(err, ErrKeyTaken) {
			nudge(s.woken)
			return j, err
		}
	}
}

// CheckHook refuses addresses that no hook can have.
func (s *Service) CheckHook(address string) error { return s.post.check(address) }

// Job returns an owner's job, or [ErrNotFound].
func (s *Service) Job(ctx context.Context, owner, id string) (Job, error) {
	return s.store.Job(ctx, owner, id, s.now())
}

// Delete forgets an owner's job and all that it holds, or returns [ErrNotFound].
func (s *Service) Delete(ctx context.Context, owner, id string) error {
	return s.store.Delete(ctx, owner, id, s.now())
}

// Prune deletes what has expired.
func (s *Service) Prune(ctx context.Context) error { return s.store.Prune(ctx, s.now()) }

// File is the finished file of a job that has one.
func (s *Service) File(ctx context.Context, j Job) io.ReadSeeker {
	return &content{ctx: ctx, store: s.store, id: j.ID, part: File, size: j.Bytes, loaded: -1}
}

// Free has work go on at once that a process of this service left. Only one that is alone on its
// store may do so, when it starts.
func (s *Service) Free(ctx context.Context) error { return s.store.Free(ctx) }

func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is awake already
	}
}

// IsPDF reports whether data begins like a PDF.
func IsPDF(data []byte) bool { return pdf.Is(data) }

// Check refuses pages that cannot be read.
func (o Options) Check() error {
	_, err := job.ParsePages(o.Pages)
	return err
}

// numbers are the pages of a document of n that are asked for.
func (o Options) numbers(n int) ([]int, error) {
	asked, err := job.ParsePages(o.Pages)
	if err != nil {
		return nil, err
	}
	return asked.Of(n), nil
}
