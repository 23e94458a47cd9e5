// Package mail sends the service's e-mails through a durable outbox: a mail that was queued is in
// the database until a server has taken it, whatever falls over in between. It is tried again with
// growing pauses, and set aside as dead, for an operator to see, after two hours.
package mail

import (
	"context"
	"errors"
	"fmt"
	netmail "net/mail"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// What callers may want to tell apart.
var (
	// ErrMessage marks a message that the outbox does not take, because it could never be sent as it
	// is.
	ErrMessage = errors.New("mail: message refused")
	// ErrNotDead is returned for the id of no mail, or of one that is not dead.
	ErrNotDead = errors.New("mail: no dead mail has this id")
	// ErrPermanent is what a [Sender] wraps when the recipient is refused for good: to try again is of
	// no use.
	ErrPermanent = errors.New("mail: refused for good")
)

// The bounds of a message.
const (
	maxKey     = 200       // bytes
	maxAddress = 254       // bytes, RFC 5321
	maxSubject = 250       // bytes
	maxBody    = 256 << 10 // bytes, text and HTML together
)

// Message is one e-mail to one person. Its JSON leaves out what the mail says.
type Message struct {
	Key     string `json:"key"`  // what the mail is about, such as "credentials:" and a payment: the same key is queued once
	Kind    string `json:"kind"` // the template's name, for statistics
	To      string `json:"to"`   // a bare address
	Subject string `json:"-"`
	Text    string `json:"-"`
	HTML    string `json:"-"` // may be empty
}

// Validate refuses what could not be sent, or would not arrive as it was meant: a bad address, and
// line breaks where a header stands, which would add headers of somebody else's making.
func (m Message) Validate() error {
	switch {
	case m.Key == "" || len(m.Key) > maxKey:
		return fmt.Errorf("%w: the key must have 1 to %d bytes, not %d", ErrMessage, maxKey, len(m.Key))
	case len(m.To) > maxAddress || !isAddress(m.To):
		return fmt.Errorf("%w: the recipient is not an e-mail address", ErrMessage)
	case m.Subject == "" || len(m.Subject) > maxSubject || hasControl(m.Subject):
		return fmt.Errorf("%w: the subject must be one line of 1 to %d bytes", ErrMessage, maxSubject)
	case m.Text == "" || len(m.Text)+len(m.HTML) > maxBody:
		return fmt.Errorf("%w: the body must have 1 to %d bytes, not %d", ErrMessage, maxBody,
			len(m.Text)+len(m.HTML))
	}
	for _, s := range []string{m.Key, m.Kind, m.To, m.Subject, m.Text, m.HTML} {
		if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
			return fmt.Errorf("%w: the text is not UTF-8", ErrMessage)
		}
	}
	return nil
}

// isAddress accepts addresses without a name, quotes, comments or anything else around them.
func isAddress(s string) bool {
	a, err := netmail.ParseAddress(s)
	return err == nil && a.Name == "" && a.Address == s && !hasControl(s) &&
		!strings.ContainsAny(s, " \"<>,;")
}

func hasControl(s string) bool { return strings.ContainsFunc(s, unicode.IsControl) }

// State says how far a mail has come.
type State string

// The states of a mail.
const (
	Waiting State = "waiting" // to be sent, now or later
	Sent    State = "sent"    // taken by the mail server; its text is gone from the outbox
	Dead    State = "dead"    // given up; its text is kept for a time, so that it can be tried again
)

// Mail is a message in the outbox.
type Mail struct {
	Message
	ID       string    `json:"id"`
	State    State     `json:"state"`
	Attempts int       `json:"attempts"`          // claims so far; with the ID it names the claim under way
	Created  time.Time `json:"created"`           // when it was queued
	Due      time.Time `json:"due"`               // when it is tried next, or when the lease of the attempt under way ends
	Deadline time.Time `json:"deadline"`          // the first failure from here on is the last
	Finished time.Time `json:"finished,omitzero"` // when it was sent or given up; zero while it waits
	Error    string    `json:"error,omitempty"`   // why the last attempt failed
}

// Store keeps the mails. Each method is atomic, for several processes may share the store.
type Store interface {
	// Add keeps a waiting mail, unless there is one with its key; it reports whether it did.
	Add(ctx context.Context, m Mail) (bool, error)
	// Has reports whether there is a mail with a key.
	Has(ctx context.Context, key string) (bool, error)
	// Claim counts an attempt at the mail that is due longest, and makes it due again only when the
	// lease ends. It returns false when it got none: none is due, or another process was quicker.
	Claim(ctx context.Context, now, lease time.Time) (Mail, bool, error)
	// NextDue is when the next waiting mail is due; the zero time when none waits.
	NextDue(ctx context.Context) (time.Time, error)
	// Sent marks a mail as sent and blanks its subject and text.
	Sent(ctx context.Context, id string, now time.Time) error
	// Later makes a waiting mail due at a time, unless it was claimed again since this attempt.
	Later(ctx context.Context, id string, attempt int, due time.Time, why string) error
	// Bury makes a waiting mail a dead one, unless it was claimed again since this attempt.
	Bury(ctx context.Context, id string, attempt int, now time.Time, why string) error
	// Revive makes a dead mail wait again; it reports whether it was dead.
	Revive(ctx context.Context, id string, due, deadline time.Time) (bool, error)
	// Discard removes a dead mail; it reports whether it was dead.
	Discard(ctx context.Context, id string) (bool, error)
	// Count counts the waiting and the dead; oldest is when the oldest waiting one was queued.
	Count(ctx context.Context) (waiting, dead int, oldest time.Time, err error)
	// List returns the newest mails of a state, or of all when it is empty, without subject and text.
	List(ctx context.Context, state State, limit int) ([]Mail, error)
	// Prune removes the mails that came to their state, sent or dead, before a time, and returns their
	// number.
	Prune(ctx context.Context, state State, before time.Time) (int64, error)
}

// Sender hands one message to the next mail server. The id names the message: the same id may come
// again after a crash, and must then make the same message.
type Sender interface {
	Send(ctx context.Context, m Message, id string) error
}
