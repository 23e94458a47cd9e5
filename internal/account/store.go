package account

import (
	"context"
	"time"
)

// Store keeps accounts. Every method is atomic, and decides under any concurrency as if it were
// alone. Methods that change or find one thing return [ErrNotFound] when it is not there.
type Store interface {
	UserStore
	SessionStore
	CustomerStore
}

// OneTime is a token that is good once, for one purpose.
type OneTime struct {
	Hash     string
	Purpose  string // [NoticeVerify] or [NoticeReset]
	Password string // the hash that verifying makes the user's password
	Expires  time.Time
}

// Identity is a user's at an OpenID Connect provider.
type Identity struct {
	Issuer  string    `json:"issuer"`
	Subject string    `json:"subject"`
	Linked  time.Time `json:"linked"`
}

// UserStore keeps users and their one-time tokens.
type UserStore interface {
	// SignUp adds u unless its address is known, and t unless that user is verified.
	SignUp(ctx context.Context, u User, t OneTime) (verified bool, err error)
	// CreateUser adds a verified user, or makes one of the unverified user with its address; the
	// tokens that were to verify it end. It returns [ErrExists] when that user is verified.
	CreateUser(ctx context.Context, u User, password string) (User, error)
	// FindUser returns a user and its password's hash, which may be empty.
	FindUser(ctx context.Context, idOrEmail string) (User, string, error)
	// Users returns users in the order of their ids, those after one.
	Users(ctx context.Context, limit int, after string) ([]User, error)
	// SearchUsers returns users whose address begins with a text, or with an id, by address.
	SearchUsers(ctx context.Context, prefix, id string, limit int) ([]User, error)
	SetBought(ctx context.Context, userID string) error
	// SetRole changes a registered user's role.
	SetRole(ctx context.Context, userID, role string) error
	// DeleteUser deletes a user and all that belongs to it. The person, unless that is empty, counts
	// as welcomed from then on.
	DeleteUser(ctx context.Context, userID, person string) error
	// Welcome reports whether a user is the first that a person is welcomed as, now or before.
	Welcome(ctx context.Context, person, userID string) (first bool, err error)

	// Establish adds u as the account of a device unless that has one, and returns the device's. It
	// returns [ErrTooMany] where so many were added from the network on the day, in UTC, on which u
	// was created.
	Establish(ctx context.Context, u User, device, network string, most int) (User, error)
	// UserOn returns the account of a device, and when it was last seen.
	UserOn(ctx context.Context, device string) (User, time.Time, error)
	// SetSeen writes that an anonymous account is used now.
	SetSeen(ctx context.Context, userID string, now time.Time) error
	// PruneUsers deletes at most limit users of a kind, with their first credits, who were last seen
	// no later than a time and never confirmed their address, bought something or were given other
	// credits. Signing up, asking for a reset, [UserStore.Establish] and SetSeen are being seen. It
	// leaves who came with an identity, and of whom a hold is remembered, and returns how many went.
	PruneUsers(ctx context.Context, kind Kind, before time.Time, limit int) (int, error)

	// Identify returns the user of an identity and its password's hash. An unknown identity
	// becomes that of the user with u's address, which is verified then, or else of u, a new one.
	Identify(ctx context.Context, i Identity, u User) (User, string, error)
	Identities(ctx context.Context, userID string) ([]Identity, error)

	// AddReset adds a token for the user with an address, and reports whether there is one.
	AddReset(ctx context.Context, email string, t OneTime, now time.Time) (bool, error)
	// OneTimeUser returns the user of a token that is good at a time, without using it.
	OneTimeUser(ctx context.Context, hash, purpose string, now time.Time) (User, error)
	// Verify uses a token: its user is verified and has its password. The user's others end.
	Verify(ctx context.Context, hash string, now time.Time) (User, error)
	// Reset uses a token, at a place: its user is verified and has the password. The user's other
	// tokens and all sessions end.
	Reset(ctx context.Context, hash, password, place string, now time.Time) error
	// ChangePassword replaces a password's hash if it is still the old one. The user's tokens and
	// all sessions end.
	ChangePassword(ctx context.Context, userID, old, password string) error
}

// Session is a log-in that has not ended.
type Session struct {
	ID      string    `json:"id"`              // see [SessionID]
	Agent   string    `json:"agent,omitempty"` // what it was opened with
	Created time.Time `json:"created"`
	Seen    time.Time `json:"seen"` // last, to the hour
}

// SessionStore keeps sessions by the hashes of their tokens.
type SessionStore interface {
	// OpenSession adds a session, opened at a place, if the user's password hash is still this one, so
	// that none is opened by a password that was replaced meanwhile.
	OpenSession(ctx context.Context, hash, userID, password, place, agent string, now time.Time) error
	// Familiar reports whether the user with an e-mail address opened a session, or used a token to
	// reset the password, at a place.
	Familiar(ctx context.Context, email, place string) (bool, error)
	Session(ctx context.Context, hash string) (User, Session, error)
	// Touch writes that a session was seen unless that was written after before.
	Touch(ctx context.Context, hash string, now, before time.Time) error
	Sessions(ctx context.Context, userID string) ([]Session, error)
	// EndSession ends a session; it does not mind when there is none.
	EndSession(ctx context.Context, hash string) error
	EndSessions(ctx context.Context, userID string) error
	// EndSessionOf ends a user's session with an id.
	EndSessionOf(ctx context.Context, userID, id string) error
	// Prune deletes sessions created or seen no later than these times, places where nobody logged in
	// since the first, one-time tokens that expire no later than now, and what was counted on the days
	// before.
	Prune(ctx context.Context, created, seen, now time.Time) error
}

// CustomerStore keeps developers' customers and their tokens.
type CustomerStore interface {
	// CreateCustomer returns the customer of a purchase's reference; else the living customer with
	// c's address, whose the reference is from now on; else c, which it adds. An empty reference
	// is none. It returns [ErrExists] when c's slug or AppCode is another's. With c it does what
	// also says, unless that is nil: all of it, or on an error nothing.
	CreateCustomer(ctx context.Context, c Customer, reference string,
		also func(context.Context, Customer) error) (Customer, error)
	FindCustomer(ctx context.Context, idOrSlugOrAppCode string) (Customer, error)
	// Customers returns customers in the order of their ids, those after one.
	Customers(ctx context.Context, limit int, after string) ([]Customer, error)
	// SearchCustomers returns customers whose address or slug begins with a text, or with an id or
	// AppCode, by address.
	SearchCustomers(ctx context.Context, prefix, id string, limit int) ([]Customer, error)
	// CustomerOf returns the living customer with an e-mail address.
	CustomerOf(ctx context.Context, email string) (Customer, error)
	// RevokeCustomer marks a customer as revoked at a time, unless it was before.
	RevokeCustomer(ctx context.Context, id string, now time.Time) error

	// AddToken adds a token of a customer that is not revoked. Its other tokens end at a time, or
	// when they end anyway.
	AddToken(ctx context.Context, t Token, othersEnd time.Time) error
	// Tokens returns at most limit tokens of a customer that are good at a time, the newest first.
	Tokens(ctx context.Context, customerID string, now time.Time, limit int) ([]Token, error)
	// FindToken returns a token and its customer.
	FindToken(ctx context.Context, hash string) (Token, Customer, error)
	// RevokeToken ends a token at a time, or when it ended anyway.
	RevokeToken(ctx context.Context, id string, now time.Time) error
	// PruneTokens deletes at most limit tokens that ended until a time, and returns how many.
	PruneTokens(ctx context.Context, before time.Time, limit int) (int, error)
}
