package account

import (
	"context"
	"errors"
	"slices"
	"time"
)

const (
	sessionIdle = 30 * 24 * time.Hour // without being used
	sessionLife = 90 * 24 * time.Hour // in all
	seenEvery   = time.Hour           // how exactly use is recorded
)

// Expires is when the session ends unless it is used before.
func (s Session) Expires() time.Time {
	if idle, end := s.Seen.Add(sessionIdle), s.Created.Add(sessionLife); idle.Before(end) {
		return idle
	}
	return s.Created.Add(sessionLife)
}

// LogIn opens a session, from a network address, and returns its token: a new one each time, which
// is nowhere kept. The agent is what its user will know the session by, such as a browser's name.
// Whatever is wrong is [ErrCredentials], found by as much work.
func (s *Service) LogIn(ctx context.Context, email, password, address,
	agent string) (string, User, error) {
	if err := s.allowLogIn(ctx, email, address); err != nil {
		return "", User{}, err
	}
	u, hash, err := s.credentials(ctx, email)
	if err != nil {
		return "", User{}, err
	}
	switch ok, err := s.passwords.matches(ctx, password, hash); {
	case err != nil:
		return "", User{}, err
	case !ok:
		return "", User{}, ErrCredentials
	}
	return s.open(ctx, u, hash, address, agent)
}

// allowLogIn counts an attempt to log in. Where the account's owner logged in before, only attempts
// at this account from there count: nobody elsewhere, and nobody's attempts at other accounts, keep
// the owner out. From elsewhere an address may try so often, and an account is slow.
func (s *Service) allowLogIn(ctx context.Context, email, address string) error {
	place, account := s.hashAddress(address), keyed(s.keys.attempt, foldEmail(email))
	familiar, err := s.familiar(ctx, email, place)
	switch {
	case err != nil:
		return err
	case familiar:
		return s.allow(ctx, "login-pair:"+place+":"+account)
	}
	if err := s.allow(ctx, "login-address:"+place); err != nil || s.throttle == nil {
		return err
	}
	return verdict(s.throttle.Slow(ctx, "login-account:"+account))
}

func (s *Service) familiar(ctx context.Context, email, place string) (bool, error) {
	email, err := checkEmail(email)
	if err != nil {
		return false, nil
	}
	return s.store.Familiar(ctx, email, place)
}

// credentials finds the user with an address and what its password is compared with, which is the
// decoy where nobody may log in.
func (s *Service) credentials(ctx context.Context, email string) (User, string, error) {
	email, err := checkEmail(email)
	if err != nil {
		return User{}, s.decoy, nil
	}
	u, hash, err := s.store.FindUser(ctx, email)
	if errors.Is(err, ErrNotFound) || err == nil && (hash == "" || !u.Verified) {
		return User{}, s.decoy, nil
	}
	return u, hash, err
}

func (s *Service) open(ctx context.Context, u User, hash, address,
	agent string) (string, User, error) {
	token := newToken()
	if err := s.store.OpenSession(ctx, hashToken(token), u.ID, hash, s.hashAddress(address), agent,
		s.now()); err != nil {
		return "", User{}, orError(err, ErrCredentials)
	}
	return token, u, nil
}

// Session returns the user whose session a token is, or [ErrNoSession]. A session ends 30 days
// after its last use and 90 days after the log-in.
func (s *Service) Session(ctx context.Context, token string) (User, error) {
	hash, now := hashToken(token), s.now()
	u, session, err := s.store.Session(ctx, hash)
	switch {
	case err != nil:
		return User{}, orError(err, ErrNoSession)
	case !now.Before(session.Expires()):
		return User{}, ErrNoSession
	case now.Sub(session.Seen) >= seenEvery:
		return u, s.store.Touch(ctx, hash, now, now.Add(-seenEvery))
	}
	return u, nil
}

// Sessions returns a user's sessions that have not ended, the oldest first.
func (s *Service) Sessions(ctx context.Context, userID string) ([]Session, error) {
	sessions, err := s.store.Sessions(ctx, userID)
	now := s.now()
	return slices.DeleteFunc(sessions, func(s Session) bool { return !now.Before(s.Expires()) }), err
}

// SessionID is how a session is named to its user: half of its token's hash, from which nobody
// finds the token.
func SessionID(token string) string { return hashToken(token)[:SessionIDLength] }

// SessionIDLength is how many characters a session's id has.
const SessionIDLength = 32

// EndSession ends a user's session, or returns [ErrNotFound] when the user has none with this id.
func (s *Service) EndSession(ctx context.Context, userID, id string) error {
	if len(id) != SessionIDLength || !plain(id) {
		return ErrNotFound
	}
	return s.store.EndSessionOf(ctx, userID, id)
}

// LogOut ends the session of a token, if there is one.
func (s *Service) LogOut(ctx context.Context, token string) error {
	return s.store.EndSession(ctx, hashToken(token))
}

// LogOutEverywhere ends all sessions of a user.
func (s *Service) LogOutEverywhere(ctx context.Context, userID string) error {
	return s.store.EndSessions(ctx, userID)
}
