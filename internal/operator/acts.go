package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"unink/internal/account"
	"unink/internal/credit"
)

// UnknownError says that there is nobody of a name. It is an [account.ErrNotFound].
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("there is no user and no customer %q", e.Name)
}

// Unwrap returns [account.ErrNotFound].
func (*UnknownError) Unwrap() error { return account.ErrNotFound }

// Buyer finds who is meant, a user or a customer who is there: the owner of its credits, and the
// entry point whose plans are for it.
func (s *Service) Buyer(ctx context.Context, name string) (owner, entry string, err error) {
	kind, id, named := strings.Cut(name, ":")
	if !named {
		id = name
	}
	if !named || kind == "user" {
		u, err := s.accounts.FindUser(ctx, id)
		if !errors.Is(err, account.ErrNotFound) {
			return account.OwnerPrefix + u.ID, credit.Web, err
		}
	}
	if !named || kind == "customer" {
		c, err := s.accounts.FindCustomer(ctx, id)
		if !errors.Is(err, account.ErrNotFound) {
			return account.CustomerPrefix + c.ID, credit.Developer, err
		}
	}
	return "", "", &UnknownError{name}
}

// Grant makes a package, unless the grant's source made it before; then it returns that one. A
// source that made another package is [credit.ErrKeyReused]. A user to whom something is sold has
// bought it.
func (s *Service) Grant(ctx context.Context, o Order, g credit.Grant,
	sold bool) (p credit.Package, err error) {
	g.Note = o.Reason
	err = s.Do(ctx, o, Granted, func(ctx context.Context, e *Entry) (err error) {
		e.Target, e.Object, e.Credits = g.Owner, g.Source, g.Credits
		if id, user := strings.CutPrefix(g.Owner, account.OwnerPrefix); user && sold {
			if err := s.accounts.SetBought(ctx, id); err != nil {
				return err
			}
		}
		var granted bool
		p, granted, err = s.credits.Grant(ctx, g)
		switch {
		case err != nil || granted:
			return err
		case p.Owner != g.Owner || p.Plan != g.Plan || p.Credits != g.Credits:
			return credit.ErrKeyReused
		}
		return errNothing
	})
	return p, err
}

// TakeBack takes what is left of the package that a source gave, and returns how much that was.
func (s *Service) TakeBack(ctx context.Context, o Order, source string) (revoked int, err error) {
	err = s.Do(ctx, o, TookBack, func(ctx context.Context, e *Entry) (err error) {
		p, err := s.credits.PackageFrom(ctx, source)
		if err != nil {
			return err
		}
		revoked, err = s.credits.Revoke(ctx, source, o.Reason)
		e.Target, e.Object, e.Credits = p.Owner, source, -revoked
		return err
	})
	return revoked, err
}

// Rotate makes a customer's new token, as [account.Service.NewToken] does.
func (s *Service) Rotate(ctx context.Context, o Order, customer string,
	grace time.Duration) (token, id string, c account.Customer, err error) {
	if c, err = s.accounts.FindCustomer(ctx, customer); err != nil {
		return "", "", c, err
	}
	err = s.Do(ctx, o, Rotated, func(ctx context.Context, e *Entry) (err error) {
		token, id, err = s.accounts.NewToken(ctx, c.ID, grace)
		e.Target, e.Object = account.CustomerPrefix+c.ID, id
		return err
	})
	return token, id, c, err
}

// EndToken ends one of a customer's tokens at once.
func (s *Service) EndToken(ctx context.Context, o Order, customer, token string) error {
	c, err := s.accounts.FindCustomer(ctx, customer)
	if err != nil {
		return err
	}
	return s.Do(ctx, o, TokenEnded, func(ctx context.Context, e *Entry) error {
		good, err := s.accounts.Tokens(ctx, c.ID)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(good, func(t account.Token) bool { return t.ID == token }) {
			return account.ErrNotFound
		}
		e.Target, e.Object = account.CustomerPrefix+c.ID, token
		return s.accounts.RevokeToken(ctx, token)
	})
}

// Close ends a customer and all its tokens for good, unless it is closed already.
func (s *Service) Close(ctx context.Context, o Order, customer string) (account.Customer, error) {
	c, err := s.accounts.FindCustomer(ctx, customer)
	if err != nil {
		return c, err
	}
	return c, s.Do(ctx, o, Closed, func(ctx context.Context, e *Entry) error {
		if !c.Revoked.IsZero() {
			return errNothing
		}
		e.Target = account.CustomerPrefix + c.ID
		return s.accounts.RevokeCustomer(ctx, c.ID)
	})
}

// AddUser makes a user whose address counts as confirmed, with the credits that it begins with.
func (s *Service) AddUser(ctx context.Context, o Order, email, password, role string,
	credits int) (u account.User, err error) {
	err = s.Do(ctx, o, UserAdded, func(ctx context.Context, e *Entry) (err error) {
		if u, err = s.accounts.CreateUser(ctx, email, password, role); err != nil {
			return err
		}
		e.Target, e.Object, e.Credits = account.OwnerPrefix+u.ID, role, credits
		if credits > 0 {
			_, _, err = s.credits.Grant(ctx, credit.Grant{
				Owner: e.Target, Plan: "welcome", Credits: credits,
				Expires: credit.Never, Source: account.WelcomePrefix + u.ID,
			})
		}
		return err
	})
	return u, err
}

// SetRole gives a user a role, or with "" takes it away.
func (s *Service) SetRole(ctx context.Context, o Order, user, role string) (account.User, error) {
	u, err := s.accounts.FindUser(ctx, user)
	if err != nil {
		return u, err
	}
	u.Role = role
	return u, s.Do(ctx, o, RoleSet, func(ctx context.Context, e *Entry) error {
		e.Target, e.Object = account.OwnerPrefix+u.ID, role
		return s.accounts.SetRole(ctx, u.ID, role)
	})
}

// DeleteUser deletes a user and what is known of it, and returns how many credits it had left. The
// log and the ledger go on naming it by an id that means nobody any more.
func (s *Service) DeleteUser(ctx context.Context, o Order,
	user string) (u account.User, left int, err error) {
	if u, err = s.accounts.FindUser(ctx, user); err != nil {
		return u, 0, err
	}
	owner := account.OwnerPrefix + u.ID
	err = s.Do(ctx, o, UserDeleted, func(ctx context.Context, e *Entry) (err error) {
		left, err = s.credits.RevokeOwner(ctx, owner, "account deleted by an operator")
		if err != nil {
			return err
		}
		e.Target, e.Credits = owner, -left
		if err := s.uses.Forget(ctx, owner); err != nil {
			return err
		}
		return s.accounts.Delete(ctx, u.ID)
	})
	return u, left, err
}
