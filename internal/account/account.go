// Package account knows who uses the service: people with an e-mail address and a password or an
// OpenID Connect identity, apps' anonymous accounts, and developers' customers with their tokens.
//
// Nothing secret is stored as it is: passwords are argon2id hashes, random tokens SHA-256 hashes,
// device ids and network addresses keyed hashes. No answer tells whether an address has an account.
package account

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Kind tells how a user came to be.
type Kind string

// The kinds of users.
const (
	Registered Kind = "registered" // by e-mail address or OpenID Connect
	Anonymous  Kind = "anonymous"  // by an app's device
)

// Operator is the role of who runs the service; other users have none.
const Operator = "operator"

// The prefixes by which credits and uses name a user or a customer: one of these, then the id.
const (
	OwnerPrefix    = "user:"     // of who has credits and uses
	CustomerPrefix = "customer:" // the same of a customer
	WelcomePrefix  = "welcome:"  // of what gave an account its first credits
	TestPrefix     = "test:"     // of what gave a customer credits to try the service with
)

// User is somebody who has an account.
type User struct {
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	// lower case; empty for anonymous accounts and identities without one
	Email    string    `json:"email,omitempty"`
	Role     string    `json:"role,omitempty"` // "" or [Operator]
	Verified bool      `json:"verified"`       // the e-mail address is known to be the user's
	Created  time.Time `json:"created"`
	Bought   bool      `json:"bought"` // paid for something, ever
}

// The errors that callers tell apart, besides [InputError] and [ThrottledError].
var (
	ErrCredentials = errors.New(
		"account: the e-mail address or the password is wrong, or the address is not verified",
	)
	ErrNoSession      = errors.New("account: no such session, or it has ended")
	ErrOneTimeToken   = errors.New("account: the one-time token is unknown, used or expired")
	ErrNotEstablished = errors.New("account: the user is not the anonymous account of the device")
	ErrNotFound       = errors.New("account: not found")
	ErrExists         = errors.New("account: exists already")
	ErrTooMany        = errors.New("account: too many new ones")
)

// InputError says which value cannot be accepted, why, and what would be.
type InputError struct {
	Field   string // such as "password"
	Problem string // such as "must have at least 10 characters"
}

func (e *InputError) Error() string { return e.Field + " " + e.Problem }

// ThrottledError refuses an attempt because there were too many. The next may come after Wait.
type ThrottledError struct{ Wait time.Duration }

func (e *ThrottledError) Error() string {
	return fmt.Sprintf("account: too many attempts; wait %s", e.Wait)
}

// The kinds of a [Notice].
const (
	NoticeVerify = "verify" // with a token for [Service.Verify]
	// somebody signed up with an address that has an account
	NoticeAlreadyRegistered = "already-registered"
	NoticeReset             = "reset" // with a token for [Service.Reset]
)

// Notice is a mail to be written to somebody.
type Notice struct {
	Kind  string
	To    string // an e-mail address
	Token string // secret; empty where the kind has none
}

// Mailer sends notices, or keeps them durably to be sent.
type Mailer interface {
	Send(ctx context.Context, n Notice) error
}

// Throttle holds attempts that share a key back. It counts an attempt and returns 0, or refuses it
// and returns how long to wait.
type Throttle interface {
	Allow(ctx context.Context, key string) (wait time.Duration, err error)
	// Slow is Allow with short waits only, for what many may share who know nothing of each other.
	Slow(ctx context.Context, key string) (wait time.Duration, err error)
}

// Config configures a [Service].
type Config struct {
	Secret []byte // the server's, at least 32 bytes; see [LoadSecret]
	Argon  Argon  // the cost of passwords
	OIDC   OIDC   // sign-in elsewhere; the zero value is none
	// NewCustomer does what else belongs to a new customer, in the transaction that makes it and with
	// that transaction's context; nil is nothing.
	NewCustomer func(context.Context, Customer) error
}

// DefaultConfig returns a configuration that lacks only the secret.
func DefaultConfig() Config {
	return Config{Argon: Argon{Memory: 19 << 10, Passes: 2, Lanes: 1}}
}

const minSecret = 32 // bytes

// Validate says which field is out of range.
func (c Config) Validate() error {
	if len(c.Secret) < minSecret {
		return fmt.Errorf("the server's secret must have at least %d bytes, not %d", minSecret,
			len(c.Secret))
	}
	return errors.Join(c.Argon.validate(), c.OIDC.validate())
}

// Service has the rules of accounts. It is safe for concurrent use and owns no goroutine.
type Service struct {
	store     Store
	mailer    Mailer
	throttle  Throttle
	now       func() time.Time
	log       *slog.Logger
	keys      keys
	passwords passwords
	decoy     string // a password's hash that none matches
	provider  *provider

	newCustomer func(context.Context, Customer) error
}

// New makes a service. A nil throttle slows nothing down.
func New(c Config, store Store, mailer Mailer, throttle Throttle, now func() time.Time,
	log *slog.Logger) (*Service, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	keys, err := deriveKeys(c.Secret)
	if err != nil {
		return nil, err
	}
	s := &Service{
		store: store, mailer: mailer, throttle: throttle, log: log, keys: keys,
		// Databases keep microseconds; what is returned at once is what is read later.
		now:       func() time.Time { return now().UTC().Truncate(time.Microsecond) },
		passwords: newArgon(c.Argon), newCustomer: c.NewCustomer,
	}
	if c.OIDC != (OIDC{}) {
		s.provider = newProvider(c.OIDC)
	}
	s.decoy, err = s.passwords.hash(context.Background(), newToken())
	return s, err
}

// keys are the server's secret, one for each purpose, so that what is made for one says nothing
// about another.
type keys struct{ device, address, attempt, customer, signIn, person []byte }

func deriveKeys(secret []byte) (k keys, err error) {
	for label, key := range map[string]*[]byte{
		"device": &k.device, "address": &k.address, "attempt": &k.attempt,
		"customer token": &k.customer, "sign-in": &k.signIn, "person": &k.person,
	} {
		if *key, err = hkdf.Key(sha256.New, secret, nil, "unink "+label, sha256.Size); err != nil {
			return k, err
		}
	}
	return k, nil
}

// allow counts an attempt under each of the keys, until one refuses it.
func (s *Service) allow(ctx context.Context, keys ...string) error {
	if s.throttle == nil {
		return nil
	}
	for _, key := range keys {
		if err := verdict(s.throttle.Allow(ctx, key)); err != nil {
			return err
		}
	}
	return nil
}

// verdict is a throttle's answer as an error.
func verdict(wait time.Duration, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("account: throttle: %w", err)
	case wait > 0:
		return &ThrottledError{wait}
	}
	return nil
}
