// Package billing sells: it delivers what was bought exactly once in effect, however often and from
// wherever it is told of the purchase, takes back what was refunded, and talks to Stripe.
package billing

import (
	"context"
	"errors"
	"time"
)

// What callers may want to tell apart.
var (
	// ErrRefused marks a purchase that must not be delivered as it stands. It needs an operator.
	ErrRefused = errors.New("billing: purchase refused")
	// ErrBusy says that another process delivers the purchase at this moment. Try again in a minute.
	ErrBusy = errors.New("billing: the purchase is being delivered")
	// ErrSlug is what [Customers] return when the name that the buyer wished for the domain cannot be
	// had.
	ErrSlug = errors.New("billing: the slug cannot be had")
	// ErrSignature marks a webhook call that is not, or no longer, to be trusted.
	ErrSignature = errors.New("billing: the webhook's signature is wrong or too old")
)

// Plan is what can be bought.
type Plan struct {
	ID        string
	Name      string
	Developer bool   // for the developer entry point; otherwise a pack for a user of the web
	Cents     int64  // the price
	Currency  string // ISO 4217, in small letters
}

// Catalogue knows the plans on sale.
type Catalogue interface {
	Plan(id string) (Plan, bool)
}

// Purchase is a plan that somebody paid for, or was granted by an operator.
type Purchase struct {
	// the payment's unique id, at most 150 bytes: the same reference is the same purchase
	Reference string
	Plan      string // the id of a plan
	Email     string // developer plans: where the credentials go
	Name      string // developer plans: who buys; may be empty
	Slug      string // developer plans: the domain wished for; may be empty
	UserID    string // web packs: who gets it
	Cents     int64  // what was paid, in hundredths of the currency; 0: an operator's grant
	Currency  string // ISO 4217, in small letters; empty: an operator's grant
}

// Delivery is what became of a purchase.
type Delivery struct {
	Again    bool     `json:"again"`    // it had been delivered before, and nothing was done; the rest is empty
	Revoked  bool     `json:"revoked"`  // it was refunded before it could be delivered, and nothing was given
	Customer Customer `json:"customer"` // of a developer plan
	Package  Package  `json:"package"`
	Token    string   `json:"-"` // of a customer who had none: the one in the mail
}

// Customer is a buyer of developer plans.
type Customer struct {
	ID      string `json:"id"`
	Slug    string `json:"slug"`
	AppCode string `json:"appCode"`
}

// Customers makes the customers of developer plans, and their tokens.
type Customers interface {
	// Customer returns the customer of a purchase, always the same one for a reference. It returns
	// [ErrSlug] when the purchase wishes for a slug that cannot be had.
	Customer(ctx context.Context, p Purchase) (Customer, error)
	// NewToken makes a token. If it is to be the only one, the customer's other tokens end at once;
	// otherwise they stay as they are.
	NewToken(ctx context.Context, customerID string, only bool) (id, token string, err error)
	// RevokeToken ends a token at once; one that has ended already is no error.
	RevokeToken(ctx context.Context, id string) error
}

// Package is the credits that a purchase gave.
type Package struct {
	Credits int64     `json:"credits"`
	Expires time.Time `json:"expires"`
	Revoked bool      `json:"revoked"` // it was revoked, perhaps before it was granted
}

// Packages keeps credits.
type Packages interface {
	// Grant gives an owner the credits of a plan, once for each source; after that, and after a
	// revocation of the source, it gives nothing and returns the package that there is.
	Grant(ctx context.Context, owner, planID, source string) (Package, error)
	// Revoke takes what is left of what a source gave, or will give.
	Revoke(ctx context.Context, source, why string) error
}

// Credentials is what a customer needs to call the developer entry point.
type Credentials struct {
	Customer Customer
	Token    string
	Plan     Plan
	Package  Package
}

// Mails queues the mail with the credentials.
type Mails interface {
	// Queued reports whether a mail with a key was queued, however far it has come since.
	Queued(ctx context.Context, key string) (bool, error)
	// Credentials queues the mail, unless one with the key was queued before; it reports whether it
	// did.
	Credentials(ctx context.Context, key, to string, c Credentials) (bool, error)
}

// Buyers remembers which users of the web bought something.
type Buyers interface {
	// Bought returns [ErrRefused] when there is no such user.
	Bought(ctx context.Context, userID string) error
}

// Record is what is remembered of a purchase.
type Record struct {
	Purchase
	Attempt   int    // with the reference it names the attempt at delivering that is under way
	Token     string // what is known of the token: "", [tokenUnsure], or its id
	Delivered bool
	Revoked   bool
}

// Parked is a payment that cannot be delivered as it is: an operator is to refund it, or to grant
// what it is worth.
type Parked struct {
	Reference string    `json:"reference"`
	Plan      string    `json:"plan"`
	Email     string    `json:"email"`
	UserID    string    `json:"userId"`
	Cents     int64     `json:"cents"`
	Currency  string    `json:"currency"`
	Why       string    `json:"why"`
	Since     time.Time `json:"since"`
}

// Revenue is what was paid in a currency on a day.
type Revenue struct {
	Day       string `json:"day"` // 2006-01-02 (UTC), of the payment
	Currency  string `json:"currency"`
	Purchases int    `json:"purchases"` // those refunded or disputed later too
	Cents     int64  `json:"cents"`
	Returned  int64  `json:"returned"` // cents of purchases that were refunded wholly or disputed
}

// Store keeps purchases and the events that were heard. Each method is atomic.
type Store interface {
	// Begin remembers a purchase when it is new, and starts an attempt at delivering it, which
	// others must not do before the lease ends. It returns what was remembered first, with Attempt 0
	// when none was started: it is delivered or revoked, or another attempt is under way.
	Begin(ctx context.Context, p Purchase, now, lease time.Time) (Record, error)
	// Find returns what is remembered of a purchase, with Attempt 0; nothing when it is not known.
	Find(ctx context.Context, reference string) (Record, error)
	// Note remembers the customer and the token of a purchase. It reports false, and changes nothing,
	// when the attempt is not the one under way or the purchase was revoked.
	Note(ctx context.Context, reference string, attempt int, customerID, token string) (bool, error)
	// Sole reports whether a customer has no other purchase that came as far as its token.
	Sole(ctx context.Context, reference, customerID string) (bool, error)
	// Finish marks a purchase as delivered, unless the attempt is not the one under way.
	Finish(ctx context.Context, reference string, attempt int, now time.Time) error
	// Abandon ends an attempt without a result, so that the next one need not wait.
	Abandon(ctx context.Context, reference string, attempt int) error
	// Revoke marks a purchase, known or not yet, as never to be delivered.
	Revoke(ctx context.Context, reference, why string, now time.Time) error
	// Park remembers a payment that cannot be delivered, and reports whether it was not parked before.
	Park(ctx context.Context, p Parked) (bool, error)
	// Unfinished returns the oldest purchases since a time that are neither delivered, revoked nor
	// parked and that no attempt is under way at, at most limit.
	Unfinished(ctx context.Context, now, since time.Time, limit int) ([]Purchase, error)

	// Heard reports whether an event was remembered.
	Heard(ctx context.Context, event string) (bool, error)
	// Hear remembers an event.
	Hear(ctx context.Context, event string, now time.Time) error
	// Forget removes the events that were remembered before a time, and returns their number.
	Forget(ctx context.Context, before time.Time) (int64, error)
}
