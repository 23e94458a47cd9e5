package account

import (
	"context"
	"errors"
	"time"

	"unink/internal/ident"
)

const (
	verifyFor = 24 * time.Hour
	resetFor  = time.Hour
)

// SignUp begins an account, from a network address. It succeeds alike whether the e-mail address
// is known or not, and the mail that goes there tells: how to verify it, or that it has an account
// already. The password becomes the account's when the mail that this call sent is answered, so
// that nobody chooses a password for somebody else's address.
func (s *Service) SignUp(ctx context.Context, email, password, address string) error {
	email, err := checkEmail(email)
	if err != nil {
		return err
	}
	if err := checkPassword(password, email); err != nil {
		return err
	}
	// The address comes first: whoever is refused there cannot use up what others may do.
	if err := s.allow(ctx, "mail-address:"+s.hashAddress(address),
		"sign-up-account:"+keyed(s.keys.attempt, email)); err != nil {
		return err
	}
	hash, err := s.passwords.hash(ctx, password)
	if err != nil {
		return err
	}
	token, now := newToken(), s.now()
	verified, err := s.store.SignUp(ctx, s.newUser(Registered, email),
		OneTime{Hash: hashToken(token), Purpose: NoticeVerify, Password: hash,
			Expires: now.Add(verifyFor)})
	if err != nil {
		return err
	}
	if verified {
		return s.mailer.Send(ctx, Notice{Kind: NoticeAlreadyRegistered, To: email})
	}
	return s.mailer.Send(ctx, Notice{Kind: NoticeVerify, To: email, Token: token})
}

func (s *Service) newUser(kind Kind, email string) User {
	return User{ID: ident.New("usr"), Kind: kind, Email: email, Created: s.now()}
}

// Verify confirms an e-mail address by the token that was sent there, once within 24 hours.
func (s *Service) Verify(ctx context.Context, token string) (User, error) {
	u, err := s.store.Verify(ctx, hashToken(token), s.now())
	return u, orError(err, ErrOneTimeToken)
}

// RequestReset sends a token to the e-mail address of an account, from a network address. It
// succeeds alike where there is no account, and then sends nothing. Nor does it send one where
// strangers have had many sent to the account: each of those has a token of its own, which the
// owner may use, so that nobody keeps the owner out.
func (s *Service) RequestReset(ctx context.Context, email, address string) error {
	email, err := checkEmail(email)
	if err != nil {
		return err
	}
	enough, err := s.allowReset(ctx, email, address)
	if err != nil || enough {
		return err
	}
	token, now := newToken(), s.now()
	known, err := s.store.AddReset(ctx, email,
		OneTime{Hash: hashToken(token), Purpose: NoticeReset, Expires: now.Add(resetFor)}, now)
	if err != nil || !known {
		return err
	}
	if err := s.mailer.Send(ctx, Notice{Kind: NoticeReset, To: email, Token: token}); err != nil {
		s.log.ErrorContext(ctx, "mail to reset a password", "error", err) // to return it would tell
	}
	return nil
}

// allowReset counts a wish for a reset, by the network address, and reports whether the account was
// sent enough mails at the wish of strangers. Where the account's owner logged in before, only what
// is wished there for this account counts.
func (s *Service) allowReset(ctx context.Context, email, address string) (enough bool, err error) {
	place, account := s.hashAddress(address), keyed(s.keys.attempt, email)
	familiar, err := s.familiar(ctx, email, place)
	switch {
	case err != nil:
		return false, err
	case familiar:
		return false, s.allow(ctx, "reset-pair:"+place+":"+account)
	}
	if err := s.allow(ctx, "mail-address:"+place); err != nil {
		return false, err
	}
	var throttled *ThrottledError
	err = s.allow(ctx, "reset-account:"+account)
	if errors.As(err, &throttled) {
		return true, nil
	}
	return false, err
}

// Reset gives an account a new password by the token that was sent to its e-mail address, once
// within an hour, from a network address. This verifies the e-mail address and ends all sessions.
func (s *Service) Reset(ctx context.Context, token, password, address string) (User, error) {
	now := s.now()
	u, err := s.store.OneTimeUser(ctx, hashToken(token), NoticeReset, now)
	if err != nil {
		return User{}, orError(err, ErrOneTimeToken)
	}
	if err := checkPassword(password, u.Email); err != nil {
		return User{}, err
	}
	hash, err := s.passwords.hash(ctx, password)
	if err != nil {
		return User{}, err
	}
	return u, orError(s.store.Reset(ctx, hashToken(token), hash, s.hashAddress(address), now),
		ErrOneTimeToken)
}

// ChangePassword replaces a password by another and ends all sessions, that of the caller too. A
// wrong old password is [ErrCredentials]; a user that has none gets one by [Service.RequestReset].
func (s *Service) ChangePassword(ctx context.Context, userID, old, password string) error {
	if err := s.allow(ctx, "password-account:"+userID); err != nil {
		return err
	}
	u, hash, err := s.store.FindUser(ctx, userID)
	if err != nil {
		return orError(err, ErrCredentials)
	}
	if hash == "" {
		hash = s.decoy
	}
	if err := checkPassword(password, u.Email); err != nil {
		return err
	}
	switch ok, err := s.passwords.matches(ctx, old, hash); {
	case err != nil:
		return err
	case !ok:
		return ErrCredentials
	}
	renewed, err := s.passwords.hash(ctx, password)
	if err != nil {
		return err
	}
	return orError(s.store.ChangePassword(ctx, u.ID, hash, renewed), ErrCredentials)
}

// orError says meaning where the store says not found.
func orError(err, meaning error) error {
	if errors.Is(err, ErrNotFound) {
		return meaning
	}
	return err
}
