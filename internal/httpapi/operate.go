package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"unink/internal/account"
	"unink/internal/credit"
	"unink/internal/httpapi/failure"
	"unink/internal/operator"
)

// Bounds of what an operator gives away at once.
const (
	maxGrant       = 1_000_000 // credits
	maxGrantMonths = 120
	actsShown      = 50
)

// forOperator is an answer to a request with a JSON object as its body, of an operator only: nobody
// else's body is read.
func forOperator[T any](s *Server,
	answer func(*http.Request, operator.Order, T) (any, error)) answerer {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		u, err := s.mustOperate(r)
		if err != nil {
			return nil, err
		}
		var body T
		if err := s.readJSON(w, r, &body); err != nil {
			return nil, err
		}
		return answer(r, operator.Order{Actor: userOwner(u.ID)}, body)
	}
}

// withReason completes an order, which on the web must say why.
func withReason(o operator.Order, reason string) (operator.Order, error) {
	o.Reason = strings.TrimSpace(reason)
	if o.Reason == "" || utf8.RuneCountInString(o.Reason) > operator.MaxReason {
		return o, failure.New(failure.BadParameter, "reason must have from 1 to %d characters",
			operator.MaxReason)
	}
	return o, nil
}

type foundAnswer struct {
	Users     []foundUser     `json:"users"`
	Customers []foundCustomer `json:"customers"`
	More      bool            `json:"more"`
}

type foundUser struct {
	account.User
	Credits int `json:"credits"`
}

type foundCustomer struct {
	account.Customer
	Credits int          `json:"credits"`
	Tokens  []foundToken `json:"tokens"` // those that are good now, the newest first
}

type foundToken struct {
	ID string `json:"id"`
	tokenState
}

// findAccounts finds users and customers for an operator.
func (s *Server) findAccounts(_ http.ResponseWriter, r *http.Request) (any, error) {
	if _, err := s.mustOperate(r); err != nil {
		return nil, err
	}
	text, _, err := queryText(r, "find")
	if err != nil {
		return nil, err
	}
	found, err := s.services.Operator.Find(r.Context(), strings.TrimSpace(text))
	if err != nil {
		return nil, accountFailure(err)
	}
	list := foundAnswer{[]foundUser{}, []foundCustomer{}, found.More}
	for _, u := range found.Users {
		list.Users = append(list.Users, foundUser{u.User, u.Credits})
	}
	for _, c := range found.Customers {
		shown := foundCustomer{c.Customer, c.Credits, []foundToken{}}
		for _, t := range c.Tokens {
			shown.Tokens = append(shown.Tokens, foundToken{t.ID, tokenState{t.Created, t.Ends}})
		}
		list.Customers = append(list.Customers, shown)
	}
	return list, nil
}

type gift struct {
	To      string `json:"to"`
	Credits int    `json:"credits"`
	Months  int    `json:"months"`
	Reason  string `json:"reason"`
}

type given struct {
	To      string       `json:"to"` // the owner
	Package packageState `json:"package"`
	Credits int          `json:"credits"` // that the owner can use now
}

// grantCredits gives credits to a user or a customer, once for an Idempotency-Key.
func (s *Server) grantCredits(r *http.Request, o operator.Order, in gift) (any, error) {
	ctx := r.Context()
	o, err := withReason(o, in.Reason)
	switch {
	case err != nil:
		return nil, err
	case in.Credits < 1 || in.Credits > maxGrant:
		return nil, failure.New(failure.BadParameter, "credits must be from 1 to %d, not %d", maxGrant,
			in.Credits)
	case in.Months < 1 || in.Months > maxGrantMonths:
		return nil, failure.New(failure.BadParameter,
			"months must be from 1 to %d, not %d", maxGrantMonths, in.Months)
	}
	key, err := idempotencyKey(r, o.Actor)
	if err != nil {
		return nil, err
	}
	if key == nil {
		return nil, failure.New(failure.BadParameter,
			"send an Idempotency-Key, so that nothing is given twice")
	}
	to, _, err := s.services.Operator.Buyer(ctx, in.To)
	if err != nil {
		return nil, operatorFailure(err)
	}
	plan := credit.Plan{ID: "grant", Credits: in.Credits, Months: in.Months}
	p, err := s.services.Operator.Grant(ctx, o, credit.Grant{
		Owner: to, Plan: plan.ID, Credits: plan.Credits,
		Expires: plan.Expires(s.now()), Source: giftSource(key),
	}, false)
	if err != nil {
		return nil, operatorFailure(err)
	}
	left, err := s.services.Credits.Balance(ctx, to)
	usable := p.Revoked.IsZero() && s.now().Before(p.Expires)
	return given{to, packageState{p.Plan, p.Credits, p.Remaining, p.Expires, !usable}, left}, err
}

// giftSource is one for an operator's Idempotency-Key, for good.
func giftSource(k *credit.Key) string {
	sum := sha256.Sum256([]byte(k.Owner + "\n" + k.Key))
	return "operator:" + hex.EncodeToString(sum[:16])
}

type operatorRotation struct {
	GraceHours int    `json:"graceHours"`
	Reason     string `json:"reason"`
}

// rotateFor makes a customer's token, which the operator hands over.
func (s *Server) rotateFor(r *http.Request, o operator.Order, in operatorRotation) (any, error) {
	o, err := withReason(o, in.Reason)
	if err == nil {
		err = checkGrace(in.GraceHours)
	}
	if err != nil {
		return nil, err
	}
	grace := time.Duration(in.GraceHours) * time.Hour
	token, _, c, err := s.services.Operator.Rotate(r.Context(), o, r.PathValue("id"), grace)
	if err != nil {
		return nil, operatorFailure(err)
	}
	return newToken{token, s.summary(c, 0).URL, s.now().Add(grace).UTC(), in.GraceHours}, nil
}

type reasoned struct {
	Reason string `json:"reason"`
}

// endToken ends a token of a customer.
func (s *Server) endToken(r *http.Request, o operator.Order, in reasoned) (any, error) {
	o, err := withReason(o, in.Reason)
	if err != nil {
		return nil, err
	}
	err = s.services.Operator.EndToken(r.Context(), o, r.PathValue("id"), r.PathValue("token"))
	return done, operatorFailure(err)
}

// closeCustomer ends a customer and all its tokens.
func (s *Server) closeCustomer(r *http.Request, o operator.Order, in reasoned) (any, error) {
	o, err := withReason(o, in.Reason)
	if err != nil {
		return nil, err
	}
	_, err = s.services.Operator.Close(r.Context(), o, r.PathValue("id"))
	return done, operatorFailure(err)
}

type actList struct {
	Acts  []operator.Entry `json:"acts"`
	Older string           `json:"older,omitempty"` // for "before" in the next call; empty at the end
}

// acts is the log of what operators did.
func (s *Server) acts(_ http.ResponseWriter, r *http.Request) (any, error) {
	if _, err := s.mustOperate(r); err != nil {
		return nil, err
	}
	before, given, err := queryText(r, "before")
	if err == nil && given && !strings.HasPrefix(before, "act_") {
		err = failure.New(failure.BadParameter, "before must be the older of an earlier answer")
	}
	if err != nil {
		return nil, err
	}
	entries, err := s.services.Operator.Entries(r.Context(), before, actsShown+1)
	list := actList{Acts: entries}
	if len(entries) > actsShown {
		list.Acts = entries[:actsShown]
		list.Older = list.Acts[actsShown-1].ID
	}
	return list, err
}

// operatorFailure is what an error of an act means for the operator.
func operatorFailure(err error) error {
	switch {
	case isNotFound(err):
		return failure.With(err, failure.NotFound,
			"there is no such user, customer or token; GET /api/operator/accounts finds them")
	case errors.Is(err, credit.ErrKeyReused):
		return failure.With(err, failure.BadParameter,
			"this Idempotency-Key gave something else before; use a new key for each gift")
	}
	return accountFailure(err)
}
