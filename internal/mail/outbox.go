package mail

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	"unink/internal/ident"
)

const (
	firstPause = 30 * time.Second
	lastPause  = 15 * time.Minute
	giveUp     = 2 * time.Hour // from the queuing of a mail, or from an operator's retry
	// how long a claimed mail is left to who claimed it; far longer than sending takes
	lease    = 5 * time.Minute
	sendTime = 45 * time.Second // the most that one attempt may take
	grace    = 10 * time.Second // what an attempt under way gets when the program stops
	poll     = 15 * time.Second // how long mails of other processes may go unseen
	keep     = 30 * 24 * time.Hour
	maxError = 500 // bytes
	maxList  = 1000
)

// Outbox queues mails and sends them. Several processes may run one each on the same database: a
// mail is claimed by one of them at a time. It is safe for concurrent use.
type Outbox struct {
	store  Store
	sender Sender
	now    func() time.Time
	log    *slog.Logger
	wake   chan struct{}
}

// New makes an outbox over a store. Nothing is sent until [Outbox.Run] runs.
func New(store Store, sender Sender, now func() time.Time, log *slog.Logger) *Outbox {
	return &Outbox{store: store, sender: sender, now: now, log: log, wake: make(chan struct{}, 1)}
}

// Enqueue keeps a message in the database, to be sent soon. It reports false when the outbox has
// had a message with the same key already, and [ErrMessage] for one that could not be sent.
func (o *Outbox) Enqueue(ctx context.Context, m Message) (queued bool, err error) {
	if err := m.Validate(); err != nil {
		return false, err
	}
	now := o.now()
	queued, err = o.store.Add(ctx, Mail{
		Message: m, ID: ident.New("mail"), State: Waiting,
		Created: now, Due: now, Deadline: now.Add(giveUp),
	})
	if queued {
		o.nudge()
	}
	return queued, err
}

// Queued reports whether a message with a key was queued, however far it has come since.
func (o *Outbox) Queued(ctx context.Context, key string) (bool, error) {
	return o.store.Has(ctx, key)
}

func (o *Outbox) nudge() {
	select {
	case o.wake <- struct{}{}:
	default: // it is awake already
	}
}

// Run sends mails as they fall due, until the context ends. An attempt under way is then given ten
// more seconds, because a mail whose sending was cut may or may not have arrived.
func (o *Outbox) Run(ctx context.Context) {
	for ctx.Err() == nil {
		wait := poll
		if next, err := o.SendDue(ctx); err != nil {
			o.log.Error("the outbox cannot be read or written", "error", err)
		} else if !next.IsZero() {
			wait = min(wait, next.Sub(o.now()))
		}
		timer := time.NewTimer(wait)
		select {
		case <-o.wake:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// SendDue makes one attempt at each mail that is due, and returns when the next one will be; the
// zero time when none waits. An error is the store's; a mail that could not be sent is none.
func (o *Outbox) SendDue(ctx context.Context) (next time.Time, err error) {
	for ctx.Err() == nil {
		now := o.now()
		m, claimed, err := o.store.Claim(ctx, now, now.Add(lease))
		if err != nil {
			return time.Time{}, err
		}
		if claimed {
			if err := o.attempt(ctx, m); err != nil {
				return time.Time{}, err
			}
			continue
		}
		next, err := o.store.NextDue(ctx)
		if err != nil || next.IsZero() || next.After(now) {
			return next, err
		}
	}
	return time.Time{}, ctx.Err()
}

// attempt sends one mail and notes how it went.
func (o *Outbox) attempt(ctx context.Context, m Mail) error {
	sending, cancel := outlive(ctx, sendTime)
	defer cancel()
	failure := o.sender.Send(sending, m.Message, m.ID)

	noting, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	log := o.log.With("mail", m.ID, "kind", m.Kind, "attempt", m.Attempts)
	now := o.now()
	if failure == nil {
		log.Info("mail sent")
		return noteSent(noting, o.store, m.ID, now)
	}
	why := reason(failure, m.To)
	if errors.Is(failure, ErrPermanent) || !now.Before(m.Deadline) {
		log.Error("mail given up; it can be retried or discarded by its id", "age", now.Sub(m.Created),
			"error", why)
		return o.store.Bury(noting, m.ID, m.Attempts, now, why)
	}
	due := now.Add(pause(m.Attempts))
	if due.After(m.Deadline) {
		due = m.Deadline // one last attempt
	}
	log.Warn("mail not sent yet", "next", due, "error", why)
	return o.store.Later(noting, m.ID, m.Attempts, due, why)
}

// noteSent insists a little: a mail that was sent and is not marked so is sent again.
func noteSent(ctx context.Context, store Store, id string, now time.Time) error {
	for {
		err := store.Sent(ctx, id, now)
		if err == nil {
			return nil
		}
		timer := time.NewTimer(time.Second)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// outlive returns a context with a deadline of its own, which ends a moment after ctx does.
func outlive(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-longer.Done():
		}
	})
	return longer, func() { stop(); cancel() }
}

// pause is how long to wait after a number of attempts: twice as long each time, up to a bound, and
// a little less by chance, so that mails that failed together do not come back together.
func pause(attempts int) time.Duration {
	most := lastPause
	if shift := attempts - 1; shift < 5 {
		most = firstPause << max(0, shift)
	}
	return most - rand.N(most/5)
}

// reason is an error's text for the log and the database: one line, bounded, without the address.
func reason(err error, to string) string {
	s := strings.ReplaceAll(err.Error(), to, "(recipient)")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }), " ")
	return strings.ToValidUTF8(s[:min(len(s), maxError)], "")
}

// Status is how the outbox fares.
type Status struct {
	Waiting int // mails that are to be sent yet
	Dead    int // mails that were given up
	// how long the oldest waiting mail has waited; dead ones are counted apart
	OldestUnsent time.Duration
}

// Status counts what is unsent.
func (o *Outbox) Status(ctx context.Context) (Status, error) {
	waiting, dead, oldest, err := o.store.Count(ctx)
	if err != nil {
		return Status{}, err
	}
	s := Status{Waiting: waiting, Dead: dead}
	if waiting > 0 {
		s.OldestUnsent = max(0, o.now().Sub(oldest))
	}
	return s, nil
}

// List returns the newest mails of a state, or of all when it is empty, at most 1,000 of them,
// without their subjects and texts.
func (o *Outbox) List(ctx context.Context, state State, limit int) ([]Mail, error) {
	return o.store.List(ctx, state, min(max(limit, 1), maxList))
}

// Retry sends a dead mail again, for two hours from now. It returns [ErrNotDead] when the id is of
// no dead mail.
func (o *Outbox) Retry(ctx context.Context, id string) error {
	now := o.now()
	revived, err := o.store.Revive(ctx, id, now, now.Add(giveUp))
	if err == nil && !revived {
		return ErrNotDead
	}
	o.nudge()
	return err
}

// Discard removes a dead mail and its text. It returns [ErrNotDead] when the id is of no dead mail.
func (o *Outbox) Discard(ctx context.Context, id string) error {
	removed, err := o.store.Discard(ctx, id)
	if err == nil && !removed {
		return ErrNotDead
	}
	return err
}

// Prune removes what is left of mails that were sent over 30 days ago, and discards those that were
// given up longer ago than keepDead. It returns how many those were together.
func (o *Outbox) Prune(ctx context.Context, keepDead time.Duration) (int64, error) {
	now := o.now()
	sent, err := o.store.Prune(ctx, Sent, now.Add(-keep))
	if err != nil {
		return sent, err
	}
	dead, err := o.store.Prune(ctx, Dead, now.Add(-keepDead))
	if dead > 0 {
		o.log.Warn("mails that had been given up were discarded; they were never sent", "mails", dead)
	}
	return sent + dead, err
}
