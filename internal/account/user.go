package account

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Anonymous returns the account of an app's device, which it makes the first time, from a network
// address that may make so many in a day, in UTC. The device's id is 8 to 200 printable ASCII
// characters, and known to the app alone.
func (s *Service) Anonymous(ctx context.Context, device, address string,
	daily int) (u User, created bool, err error) {
	hash, err := s.HashDevice(device)
	if err != nil {
		return User{}, false, err
	}
	network := s.hashAddress(address)
	if err := s.allow(ctx, "anonymous-address:"+network); err != nil {
		return User{}, false, err
	}
	made := s.newUser(Anonymous, "")
	u, err = s.store.Establish(ctx, made, hash, network, daily)
	if errors.Is(err, ErrTooMany) {
		const day = 24 * time.Hour
		return User{}, false, &ThrottledError{made.Created.Truncate(day).Add(day).Sub(made.Created)}
	}
	return u, err == nil && u.ID == made.ID, err
}

// Welcome reports whether a user may have first credits: an anonymous account always, and of the
// others the first of a person, whom an e-mail address or else an identity tells. A person whose
// account was deleted is not welcomed again.
func (s *Service) Welcome(ctx context.Context, u User) (bool, error) {
	person, err := s.person(ctx, u)
	if err != nil || person == "" {
		return err == nil, err
	}
	return s.store.Welcome(ctx, person, u.ID)
}

// person is a keyed hash of what tells a user's person from others; empty: nothing does.
func (s *Service) person(ctx context.Context, u User) (string, error) {
	if u.Email != "" {
		return keyed(s.keys.person, mailbox(u.Email)), nil
	}
	identities, err := s.store.Identities(ctx, u.ID)
	if err != nil || len(identities) == 0 {
		return "", err
	}
	return keyed(s.keys.person, identities[0].Issuer+"\x00"+identities[0].Subject), nil
}

// mailbox is an e-mail address without what follows a + in its name, which most providers deliver
// to the same person.
func mailbox(email string) string {
	at := strings.LastIndexByte(email, '@')
	name, _, _ := strings.Cut(email[:max(at, 0)], "+")
	return name + email[max(at, 0):]
}

// AnonymousOn returns the account of a device, or [ErrNotEstablished] unless it is this user.
func (s *Service) AnonymousOn(ctx context.Context, device, userID string) (User, error) {
	hash, err := s.HashDevice(device)
	if err != nil {
		return User{}, ErrNotEstablished
	}
	u, seen, err := s.store.UserOn(ctx, hash)
	now := s.now()
	switch {
	case err == nil && u.ID != userID:
		err = ErrNotFound
	case err == nil && now.Sub(seen) >= seenEvery:
		err = s.store.SetSeen(ctx, u.ID, now) // does not find one that was pruned meanwhile
	}
	if err != nil {
		return User{}, orError(err, ErrNotEstablished)
	}
	return u, nil
}

// Export is all that is known of a user here.
type Export struct {
	User       User       `json:"user"`
	Sessions   []Session  `json:"sessions"`
	Identities []Identity `json:"identities"`
}

// Export returns all that is known of a user here, but for hashes.
func (s *Service) Export(ctx context.Context, userID string) (e Export, err error) {
	if e.User, err = s.FindUser(ctx, userID); err != nil {
		return e, err
	}
	if e.Sessions, err = s.Sessions(ctx, userID); err != nil {
		return e, err
	}
	e.Identities, err = s.store.Identities(ctx, userID)
	return e, err
}

// Delete deletes a user with its sessions, one-time tokens and identities. What is left is a keyed
// hash of who had first credits.
func (s *Service) Delete(ctx context.Context, userID string) error {
	u, _, err := s.store.FindUser(ctx, userID)
	if err != nil {
		return err
	}
	person, err := s.person(ctx, u)
	if err != nil {
		return err
	}
	return s.store.DeleteUser(ctx, u.ID, person)
}

// CreateUser makes a user whose e-mail address is taken as verified. A role is "" or [Operator].
// It returns [ErrExists] when the address has a verified user.
func (s *Service) CreateUser(ctx context.Context, email, password, role string) (User, error) {
	email, err := checkEmail(email)
	if err != nil {
		return User{}, err
	}
	if err := checkPassword(password, email); err != nil {
		return User{}, err
	}
	if err := checkRole(role); err != nil {
		return User{}, err
	}
	hash, err := s.passwords.hash(ctx, password)
	if err != nil {
		return User{}, err
	}
	u := s.newUser(Registered, email)
	u.Role, u.Verified = role, true
	return s.store.CreateUser(ctx, u, hash)
}

// FindUser returns a user by id or e-mail address.
func (s *Service) FindUser(ctx context.Context, idOrEmail string) (User, error) {
	if !plain(idOrEmail) {
		return User{}, ErrNotFound
	}
	u, _, err := s.store.FindUser(ctx, foldEmail(idOrEmail))
	return u, err
}

// Users returns at most limit users, or 1000, in the order of their making, those after an id.
func (s *Service) Users(ctx context.Context, limit int, after string) ([]User, error) {
	return s.store.Users(ctx, bounded(limit), after)
}

// SearchUsers returns at most limit users, or 1000, by address: those whose address begins with a
// text, and whose id it is.
func (s *Service) SearchUsers(ctx context.Context, text string, limit int) ([]User, error) {
	if !plain(text) {
		return nil, nil
	}
	return s.store.SearchUsers(ctx, foldEmail(text), text, bounded(limit))
}

// bounded is how many of a list are read at once.
func bounded(limit int) int { return max(1, min(limit, 1000)) }

// SetBought records that a user paid for something.
func (s *Service) SetBought(ctx context.Context, userID string) error {
	return s.store.SetBought(ctx, userID)
}

// SetRole makes a registered user an [Operator], or with "" no longer one.
func (s *Service) SetRole(ctx context.Context, userID, role string) error {
	if err := checkRole(role); err != nil {
		return err
	}
	return s.store.SetRole(ctx, userID, role)
}

func checkRole(role string) error {
	if role != "" && role != Operator {
		return &InputError{"role", `must be "operator" or empty`}
	}
	return nil
}

// plain reports whether a text can be part of one line, and of a database.
func plain(text string) bool {
	if !utf8.ValidString(text) {
		return false
	}
	for _, r := range text {
		if unicode.IsControl(r) {
			return false
		}
	}
	return true
}
