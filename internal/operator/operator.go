// Package operator has what those who run the service do to others' accounts and credits, on the
// web or by commands. Each act is written to a log in the transaction that does it, so that neither
// is there without the other. The log is only ever added to.
package operator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"unink/internal/account"
	"unink/internal/credit"
	"unink/internal/ident"
	"unink/internal/usage"
)

// CommandLine is the actor of what commands do; others are users.
const CommandLine = "command line"

// Kind says what an act was.
type Kind string

// The kinds of acts.
const (
	Granted       Kind = "grant"          // of credits; the object is the package's source
	TookBack      Kind = "revoke"         // what was left of a package; the object is its source
	Rotated       Kind = "rotate"         // the object is the new token's id
	TokenEnded    Kind = "token.revoke"   // the object is the token's id
	Closed        Kind = "customer.close" // a customer
	CustomerAdded Kind = "customer.add"   // or sold another plan; the object is the plan's id
	UserAdded     Kind = "user.add"
	UserDeleted   Kind = "user.delete"
	RoleSet       Kind = "user.role" // the object is the role, or none
)

// Entry is a line of the log.
type Entry struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Actor   string    `json:"actor"` // user:… or [CommandLine]
	Kind    Kind      `json:"kind"`
	Target  string    `json:"target,omitempty"` // user:… or customer:…
	Object  string    `json:"object,omitempty"` // what the kind says
	Credits int       `json:"credits"`          // given; below 0: taken back
	Reason  string    `json:"reason,omitempty"`

	// What actor and target are called now: an address or a slug. Nothing of who is gone.
	ActorName  string `json:"actorName,omitempty"`
	TargetName string `json:"targetName,omitempty"`
}

// Order is who wants something done, and why.
type Order struct {
	Actor  string
	Reason string // may be empty
}

// MaxReason is how many characters a reason may have.
const MaxReason = 200

func (o Order) check() error {
	if !oneLine(o.Reason) || utf8.RuneCountInString(o.Reason) > MaxReason {
		problem := fmt.Sprintf("must be one line of at most %d characters, none of which is a control "+
			"or turns the direction of text", MaxReason)
		return &account.InputError{Field: "reason", Problem: problem}
	}
	return nil
}

// oneLine reports whether a text stands in the log as it was written: it breaks no line, and turns
// the direction of nothing beside it.
func oneLine(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
	})
}

// Store keeps the log.
type Store interface {
	// Do runs act in a transaction, in which everything is that act does with the context it is
	// given, and adds the entry that it returns: all of it, or on an error nothing. It may run act
	// again after others got in its way.
	Do(ctx context.Context, act func(context.Context) (Entry, error)) error
	// Entries returns at most limit entries with the names in them, newest first; those before an id
	// unless that is empty.
	Entries(ctx context.Context, before string, limit int) ([]Entry, error)
}

// Service does what operators want, and writes it down. It is safe for concurrent use.
type Service struct {
	store    Store
	accounts *account.Service
	credits  *credit.Service
	uses     *usage.Service
	now      func() time.Time
}

// New makes a service on the rules of accounts, credits and uses.
func New(store Store, accounts *account.Service, credits *credit.Service, uses *usage.Service,
	now func() time.Time) *Service {
	return &Service{store, accounts, credits, uses, now}
}

// errNothing ends an act that has nothing left to do: nothing is written down then.
var errNothing = errors.New("operator: nothing to do")

// Do runs an act, which says in the entry what it did to whom; on an error nothing has happened.
// The act must do everything with the context that it is given.
func (s *Service) Do(ctx context.Context, o Order, kind Kind,
	act func(context.Context, *Entry) error) error {
	if err := o.check(); err != nil {
		return err
	}
	err := s.store.Do(ctx, func(ctx context.Context) (Entry, error) {
		e := Entry{ID: ident.New("act"), At: s.now(), Actor: o.Actor, Kind: kind, Reason: o.Reason}
		err := act(ctx, &e)
		return e, err
	})
	if errors.Is(err, errNothing) {
		return nil
	}
	return err
}

const mostEntries = 1000

// Entries returns at most limit entries of the log, or 1000, newest first: those before an id, or
// the newest of all where it is empty.
func (s *Service) Entries(ctx context.Context, before string, limit int) ([]Entry, error) {
	return s.store.Entries(ctx, before, max(1, min(limit, mostEntries)))
}
