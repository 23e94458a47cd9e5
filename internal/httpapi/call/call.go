// Package call is one request from its header to its answer: whose it is, its body, what it holds
// and what is answered. It knows no route.
package call

import (
	"context"
	"crypto/rand"

	"unink/internal/account"
	"unink/internal/credit"
	"unink/internal/httpapi/admission"
	"unink/internal/httpapi/failure"
)

// Call is what is known of one request while it is answered. Images, tokens, identities and whole
// addresses are never part of its notes.
type Call struct {
	ID      string
	Failure *failure.Failure // once it failed
	Notes   []any            // for the log: alternating keys and values

	User     Asked[account.User]     // whose session the request carries
	Customer Asked[account.Customer] // whose token
	Ticket   *admission.Ticket       // while the request is inside

	// Of a request for a page.
	Caller    *Caller // once it is known
	PageSlug  string
	Bulk, PDF bool
	Key       *credit.Key
	Charged   bool               // by this request, unless it fails yet
	FreeSlot  func()             // gives the caller's slot back; nil: it holds none
	Conclude  func(cleaned bool) // settles or releases its credit; nil: it holds none
}

// Asked is what was asked for once.
type Asked[T any] struct {
	known bool
	v     T
	err   error
}

// Get asks, the first time.
func (a *Asked[T]) Get(ask func() (T, error)) (T, error) {
	if !a.known {
		a.v, a.err = ask()
		a.known = true
	}
	return a.v, a.err
}

// Note adds to what the log says of the request.
func (c *Call) Note(keysAndValues ...any) { c.Notes = append(c.Notes, keysAndValues...) }

type key struct{}

// New makes the call of a request, and the context that carries it.
func New(ctx context.Context) (*Call, context.Context) {
	c := &Call{ID: rand.Text()}
	return c, context.WithValue(ctx, key{}, c)
}

// Of returns the call that a request's context carries.
func Of(ctx context.Context) *Call { return ctx.Value(key{}).(*Call) }
