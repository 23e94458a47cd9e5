// Package credit keeps what callers may still use: packages of credits with an end, an append-only
// ledger of everything that happened to them, and holds, by which a credit is reserved before the
// work, then settled when it succeeded or released when it did not.
//
// An owner of packages is a kind, a colon and an identifier, such as user:… or customer:…; guests'
// are device:… and address:… with a hash.
package credit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// What callers of this package tell apart. See also [InsufficientError].
var (
	// ErrKeyReused says that an idempotency key came before with another body.
	ErrKeyReused = errors.New("credit: idempotency key was used with another body")
	// ErrKeyBusy says that work under the same idempotency key has not ended.
	ErrKeyBusy = errors.New("credit: work under this idempotency key is still under way")
	// ErrNotHeld says that a hold has been settled or released before, or never was.
	ErrNotHeld = errors.New("credit: not held")
)

// InsufficientError says that an owner has no usable credit left.
type InsufficientError struct {
	Owner string
}

func (e *InsufficientError) Error() string { return "credit: none left for " + e.Owner }

// KeyLife is how long an idempotency key is remembered.
const KeyLife = 24 * time.Hour

// Never is when credits expire that do not.
var Never = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// AllowancePrefix begins the sources of guests' allowances. [Service.Prune] deletes them; besides,
// only what an account began with is ever deleted, with an account that nobody used.
const AllowancePrefix = "day:"

// Package is a number of credits that can be used until they end. It is usable while it is not
// revoked and Expires is in the future.
type Package struct {
	ID string `json:"id"`
	// empty for the mark that a revocation left before its grant came
	Owner     string    `json:"owner"`
	Plan      string    `json:"plan"`
	Source    string    `json:"source"` // what gave it; unique
	Credits   int       `json:"credits"`
	Remaining int       `json:"remaining"`
	Created   time.Time `json:"created"`
	Expires   time.Time `json:"expires"`
	Revoked   time.Time `json:"revoked,omitzero"` // zero while it is not
}

// Usable is how many credits of the package can be used at a moment.
func (p Package) Usable(at time.Time) int {
	if !p.Revoked.IsZero() || !p.Expires.After(at) {
		return 0
	}
	return p.Remaining
}

// Grant is a package to be made.
type Grant struct {
	Owner   string
	Plan    string
	Credits int
	Expires time.Time
	Source  string // names what gives it, such as a payment's id: the same one gives it once
	Note    string
}

// Key makes a reservation idempotent: the same key and body are charged once in [KeyLife].
type Key struct {
	Owner    string
	Key      string
	BodyHash string
}

// Reservation asks for credits before work.
type Reservation struct {
	// Owners each give one credit, or none does. Wherever the same two owners meet, they must come
	// in the same order, so that no two reservations wait for each other.
	Owners []string
	// Allowances are granted in the same transaction, where their Source is not there yet.
	Allowances []Grant
	// Lease is after how long the credits are given back unless the hold was settled: longer than
	// the work can take.
	Lease time.Duration
	// Idempotency is nil for work without a key.
	Idempotency *Key
}

// Hold is what a reservation gave.
type Hold struct {
	ID        string // empty when nothing is held
	Remaining int    // what the first owner can use after this
	Charged   bool   // false when the idempotency key was charged before, and nothing is held
}

// Kind says what a ledger's [Entry] is about.
type Kind string

// The kinds of entries and their amounts.
const (
	Granted  Kind = "grant"   // + the package's credits
	Reserved Kind = "reserve" // -1
	Settled  Kind = "settle"  // 0: what was reserved is used
	Released Kind = "release" // +1
	Revoked  Kind = "revoke"  // - what was left
)

// Entry is one line of the ledger. Lines are never changed; they are never deleted either, but for
// those of guests' allowances that ended long ago, and of what an unused account began with.
type Entry struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Package string    `json:"package"`
	Owner   string    `json:"owner"`
	Kind    Kind      `json:"kind"`
	Amount  int       `json:"amount"`
	Hold    string    `json:"hold,omitempty"`
	Note    string    `json:"note,omitempty"`
}

// Filter selects entries of the ledger.
type Filter struct {
	Owner string    // empty: everybody's
	Since time.Time // zero: from the beginning
	Limit int       // 1 to 10,000; 0: 100
}

// Discrepancy is something that does not add up.
type Discrepancy struct {
	Package string `json:"package,omitempty"`
	Hold    string `json:"hold,omitempty"`
	Problem string `json:"problem"`
}

// Outstanding counts what is open.
type Outstanding struct {
	Held     int // credits that are reserved, neither settled nor released
	Packages int // packages with usable credits
}

// Store keeps packages, holds and the ledger. Each method that changes something does it wholly or
// not at all, and holds its promises however many call it at once. [Service] documents them.
type Store interface {
	Grant(ctx context.Context, g Grant, now time.Time) (Package, bool, error)
	Reserve(ctx context.Context, r Reservation, now time.Time) (Hold, error)
	Check(ctx context.Context, r Reservation, now time.Time) error
	Settle(ctx context.Context, hold string, now time.Time) error
	Release(ctx context.Context, hold string, now time.Time) error
	// Overdue returns at most limit open holds whose lease has ended.
	Overdue(ctx context.Context, now time.Time, limit int) ([]string, error)
	// Forget deletes the idempotency keys made until keys and the holds ended until holds.
	Forget(ctx context.Context, keys, holds time.Time) error
	// Prune deletes at most limit packages whose source begins with [AllowancePrefix], which expired
	// until before and whose holds are all forgotten, with their entries. It returns how many.
	Prune(ctx context.Context, before time.Time, limit int) (int, error)
	Balance(ctx context.Context, owner string, now time.Time) (int, error)
	PackageFrom(ctx context.Context, source string) (Package, error)
	Packages(ctx context.Context, owner string) ([]Package, error)
	Revoke(ctx context.Context, source, note string, now time.Time) (int, error)
	RevokeOwner(ctx context.Context, owner, note string, now time.Time) (int, error)
	Entries(ctx context.Context, f Filter) ([]Entry, error)
	// Audit returns at most limit discrepancies.
	Audit(ctx context.Context, limit int) ([]Discrepancy, error)
	Outstanding(ctx context.Context, now time.Time) (Outstanding, error)
}

// Config tunes a [Service].
type Config struct {
	// KeepHolds is how long a hold that ended is kept; the ledger's entries of it stay.
	KeepHolds time.Duration
}

// DefaultConfig keeps ended holds for 30 days.
func DefaultConfig() Config { return Config{KeepHolds: 30 * 24 * time.Hour} }

// Validate says which field is out of range.
func (c Config) Validate() error {
	if c.KeepHolds < KeyLife {
		return fmt.Errorf("ended holds must be kept for at least %v, as long as idempotency keys, not %v",
			KeyLife, c.KeepHolds)
	}
	return nil
}

// Service has the rules of credits. It is safe for concurrent use.
type Service struct {
	store  Store
	config Config
	now    func() time.Time
}

// New makes a service on a store. now is the clock, [time.Now] but in tests.
func New(store Store, c Config, now func() time.Time) (*Service, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Service{store: store, config: c, now: now}, nil
}

// Grant makes a package, unless its Source made or revoked one before: then it returns that one,
// and false.
func (s *Service) Grant(ctx context.Context, g Grant) (p Package, granted bool, err error) {
	if err := g.validate(); err != nil {
		return Package{}, false, err
	}
	return s.store.Grant(ctx, g, s.now())
}

func (g Grant) validate() error {
	switch {
	case g.Source == "":
		return errors.New("credit: a grant must name its source")
	case g.Credits < 1:
		return fmt.Errorf("credit: grant %s: credits must be at least 1, not %d", g.Source, g.Credits)
	case g.Expires.IsZero():
		return fmt.Errorf("credit: grant %s: the end of its validity is missing", g.Source)
	}
	return validOwner(g.Owner)
}

func validOwner(owner string) error {
	if kind, id, _ := strings.Cut(owner, ":"); kind == "" || id == "" {
		return fmt.Errorf("credit: owner must be a kind, a colon and an id, not %q", owner)
	}
	return nil
}

// Reserve takes one credit from each owner, from the usable package that ends soonest, and holds
// them until [Service.Settle], [Service.Release] or the end of the lease.
//
// With an idempotency key that was charged in the last 24 hours it takes nothing and returns a
// Hold that is not Charged. A key whose hold was released, or its lease ended, is taken over.
// [ErrKeyReused] and [ErrKeyBusy] refuse a key that came with another body in that time, whatever
// became of it, and one whose work is still under way.
// [*InsufficientError] names the first owner that has no credit left; then nothing has changed.
func (s *Service) Reserve(ctx context.Context, r Reservation) (Hold, error) {
	if err := r.validate(); err != nil {
		return Hold{}, err
	}
	return s.store.Reserve(ctx, r, s.now())
}

// Check returns the error that [Service.Reserve] would return now, and changes nothing.
func (s *Service) Check(ctx context.Context, r Reservation) error {
	if err := r.validate(); err != nil {
		return err
	}
	return s.store.Check(ctx, r, s.now())
}

func (r Reservation) validate() error {
	if len(r.Owners) == 0 || r.Lease <= 0 {
		return errors.New("credit: a reservation needs an owner and a lease")
	}
	seen := map[string]bool{}
	for _, owner := range r.Owners {
		if err := validOwner(owner); err != nil {
			return err
		}
		if seen[owner] {
			return fmt.Errorf("credit: a reservation names %s twice", owner)
		}
		seen[owner] = true
	}
	for _, g := range r.Allowances {
		if err := g.validate(); err != nil {
			return err
		}
	}
	if k := r.Idempotency; k != nil && (k.Owner == "" || k.Key == "" || k.BodyHash == "") {
		return errors.New("credit: an idempotency key needs an owner, a key and a hash of the body")
	}
	return nil
}

// Settle charges what is held. It returns [ErrNotHeld] when the hold has ended, as after its lease.
func (s *Service) Settle(ctx context.Context, hold string) error {
	return s.store.Settle(ctx, hold, s.now())
}

// Release gives what is held back to the packages it came from, even those that have meanwhile
// expired or been revoked and stay unusable. It returns [ErrNotHeld] when the hold has ended.
func (s *Service) Release(ctx context.Context, hold string) error {
	return s.store.Release(ctx, hold, s.now())
}

// Balance is how many credits an owner can use now.
func (s *Service) Balance(ctx context.Context, owner string) (int, error) {
	return s.store.Balance(ctx, owner, s.now())
}

// PackageFrom returns the package that a source gave, or none: the zero value.
func (s *Service) PackageFrom(ctx context.Context, source string) (Package, error) {
	return s.store.PackageFrom(ctx, source)
}

// Packages returns an owner's packages, also those that cannot be used any more, soonest-expiring
// first: the order in which they are used.
func (s *Service) Packages(ctx context.Context, owner string) ([]Package, error) {
	return s.store.Packages(ctx, owner)
}

// Revoke takes what is left of the package that source gave, and returns how much that was. When
// there is none yet, a grant from that source will give nothing.
func (s *Service) Revoke(ctx context.Context, source, note string) (revoked int, err error) {
	if source == "" {
		return 0, errors.New("credit: a revocation must name the source")
	}
	return s.store.Revoke(ctx, source, note, s.now())
}

// RevokeOwner takes what is left of all packages that an owner has now.
func (s *Service) RevokeOwner(ctx context.Context, owner, note string) (revoked int, err error) {
	if err := validOwner(owner); err != nil {
		return 0, err
	}
	return s.store.RevokeOwner(ctx, owner, note, s.now())
}

// Entries returns entries of the ledger, newest first.
func (s *Service) Entries(ctx context.Context, f Filter) ([]Entry, error) {
	const most = 10_000
	if f.Limit == 0 {
		f.Limit = 100
	}
	if f.Limit < 1 || f.Limit > most {
		return nil, fmt.Errorf("credit: limit must be from 1 to %d, not %d", most, f.Limit)
	}
	return s.store.Entries(ctx, f)
}

// Audit compares every package with its ledger entries and every hold with what was reserved,
// settled and released under it. It returns up to 1,000 discrepancies; there should be none.
func (s *Service) Audit(ctx context.Context) ([]Discrepancy, error) {
	return s.store.Audit(ctx, 1000)
}

// Outstanding counts what is open now.
func (s *Service) Outstanding(ctx context.Context) (Outstanding, error) {
	return s.store.Outstanding(ctx, s.now())
}

// Sweep releases the holds whose lease has ended, and returns how many it released. It also forgets
// idempotency keys over 24 hours old, and holds that ended longer ago than the configuration says.
func (s *Service) Sweep(ctx context.Context) (released int, err error) {
	now := s.now()
	if released, err = s.releaseBefore(ctx, now); err != nil {
		return released, err
	}
	return released, s.store.Forget(ctx, now.Add(-KeyLife), now.Add(-s.config.KeepHolds))
}

// Prune deletes the guests' allowances that ended until a time, and the ledger's entries of them;
// it returns how many. It leaves what can still be used or is held, and that of which a hold is
// remembered, and others' packages and entries.
func (s *Service) Prune(ctx context.Context, before time.Time) (pruned int, err error) {
	if now := s.now(); before.After(now) {
		before = now
	}
	const batch = 200 // so that nobody waits long for the end of a transaction
	for {
		n, err := s.store.Prune(ctx, before, batch)
		pruned += n
		if err != nil || n < batch {
			return pruned, err
		}
	}
}

// ReleaseAll releases every hold, however long its lease goes on, and returns how many. Only a
// service that is alone on its database may do so, when it starts: whoever held them is gone.
func (s *Service) ReleaseAll(ctx context.Context) (released int, err error) {
	return s.releaseBefore(ctx, Never)
}

func (s *Service) releaseBefore(ctx context.Context, lease time.Time) (released int, err error) {
	const batch = 100
	for {
		holds, err := s.store.Overdue(ctx, lease, batch)
		if err != nil {
			return released, err
		}
		for _, hold := range holds {
			switch err := s.store.Release(ctx, hold, s.now()); {
			case err == nil:
				released++
			case !errors.Is(err, ErrNotHeld): // that it has ended is what is wanted
				return released, err
			}
		}
		if len(holds) < batch {
			return released, nil
		}
	}
}

// Run sweeps at once and then every so often, until the context ends.
func (s *Service) Run(ctx context.Context, every time.Duration, log *slog.Logger) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		released, err := s.Sweep(ctx)
		if released > 0 {
			log.Warn("credits were released whose work never ended", "holds", released)
		}
		if err != nil && ctx.Err() == nil {
			log.Error("credits could not be swept", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
