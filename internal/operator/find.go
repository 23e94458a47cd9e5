package operator

import (
	"context"
	"fmt"
	"unicode/utf8"

	"unink/internal/account"
)

// What a search takes and finds at most.
const (
	MinFind = 2
	MaxFind = 254 // bytes, as an address may have
	MaxHits = 20  // users, and as many customers
)

// Found is who was looked for.
type Found struct {
	Users     []User
	Customers []Customer
	More      bool // there are more users or customers than these
}

// User is a user with the credits that it can use.
type User struct {
	account.User
	Credits int
}

// Customer is a customer with the credits that it can use, and its tokens that are good.
type Customer struct {
	account.Customer
	Credits int
	Tokens  []account.Token
}

// Find returns users and customers whose address, or slug, begins with a text, or whose id, or
// AppCode, it is; at most [MaxHits] of each, in the order of their addresses.
func (s *Service) Find(ctx context.Context, text string) (f Found, err error) {
	if len(text) > MaxFind || utf8.RuneCountInString(text) < MinFind {
		problem := fmt.Sprintf("must have from %d characters to %d bytes", MinFind, MaxFind)
		return f, &account.InputError{Field: "find", Problem: problem}
	}
	users, err := s.accounts.SearchUsers(ctx, text, MaxHits+1)
	if err != nil {
		return f, err
	}
	customers, err := s.accounts.SearchCustomers(ctx, text, MaxHits+1)
	if err != nil {
		return f, err
	}
	f.More = len(users) > MaxHits || len(customers) > MaxHits
	for _, u := range users[:min(len(users), MaxHits)] {
		credits, err := s.credits.Balance(ctx, account.OwnerPrefix+u.ID)
		if err != nil {
			return f, err
		}
		f.Users = append(f.Users, User{u, credits})
	}
	for _, c := range customers[:min(len(customers), MaxHits)] {
		known, err := s.customer(ctx, c)
		if err != nil {
			return f, err
		}
		f.Customers = append(f.Customers, known)
	}
	return f, nil
}

func (s *Service) customer(ctx context.Context, c account.Customer) (Customer, error) {
	credits, err := s.credits.Balance(ctx, account.CustomerPrefix+c.ID)
	if err != nil || !c.Revoked.IsZero() {
		return Customer{c, credits, nil}, err
	}
	tokens, err := s.accounts.Tokens(ctx, c.ID)
	return Customer{c, credits, tokens}, err
}
