package operate

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"unink/internal/account"
	"unink/internal/credit"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/input"
	"unink/internal/httpapi/session"
	"unink/internal/httpapi/state"
	"unink/internal/operator"
)

// Bounds of what an operator gives away at once.
const (
	maxGrant       = 1_000_000 // credits
	maxGrantMonths = 120
	actsShown      = 50
)

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
	state.Token
}

// findAccounts finds users and customers for an operator.
func (a *Pages) findAccounts(_ http.ResponseWriter, r *http.Request) (any, error) {
	if _, err := a.mustOperate(r); err != nil {
		return nil, err
	}
	text, _, err := input.QueryText(r, "find")
	if err != nil {
		return nil, err
	}
	found, err := a.Services.Operator.Find(r.Context(), strings.TrimSpace(text))
	if err != nil {
		return nil, session.Failure(err)
	}
	list := foundAnswer{[]foundUser{}, []foundCustomer{}, found.More}
	for _, u := range found.Users {
		list.Users = append(list.Users, foundUser{u.User, u.Credits})
	}
	for _, c := range found.Customers {
		shown := foundCustomer{c.Customer, c.Credits, []foundToken{}}
		for _, t := range c.Tokens {
			shown.Tokens = append(shown.Tokens, foundToken{t.ID, state.Token{Created: t.Created,
				Ends: t.Ends}})
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
	To      string        `json:"to"` // the owner
	Package state.Package `json:"package"`
	Credits int           `json:"credits"` // that the owner can use now
}

// grantCredits gives credits to a user or a customer, once for an Idempotency-Key.
func (a *Pages) grantCredits(r *http.Request, o operator.Order, in gift) (any, error) {
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
	key, err := call.IdempotencyKey(r, o.Actor)
	if err != nil {
		return nil, err
	}
	if key == nil {
		return nil, failure.New(failure.BadParameter,
			"send an Idempotency-Key, so that nothing is given twice")
	}
	to, _, err := a.Services.Operator.Buyer(ctx, in.To)
	if err != nil {
		return nil, operatorFailure(err)
	}
	plan := credit.Plan{ID: "grant", Credits: in.Credits, Months: in.Months}
	p, err := a.Services.Operator.Grant(ctx, o, credit.Grant{
		Owner: to, Plan: plan.ID, Credits: plan.Credits,
		Expires: plan.Expires(a.Now()), Source: giftSource(key),
	}, false)
	if err != nil {
		return nil, operatorFailure(err)
	}
	left, err := a.Services.Credits.Balance(ctx, to)
	return given{to, a.state.Package(p), left}, err
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
func (a *Pages) rotateFor(r *http.Request, o operator.Order, in operatorRotation) (any, error) {
	o, err := withReason(o, in.Reason)
	if err == nil {
		err = state.CheckGrace(in.GraceHours)
	}
	if err != nil {
		return nil, err
	}
	grace := time.Duration(in.GraceHours) * time.Hour
	token, _, c, err := a.Services.Operator.Rotate(r.Context(), o, r.PathValue("id"), grace)
	if err != nil {
		return nil, operatorFailure(err)
	}
	return a.state.NewToken(token, c.Slug, in.GraceHours), nil
}

type reasoned struct {
	Reason string `json:"reason"`
}

// endToken ends a token of a customer.
func (a *Pages) endToken(r *http.Request, o operator.Order, in reasoned) (any, error) {
	o, err := withReason(o, in.Reason)
	if err != nil {
		return nil, err
	}
	err = a.Services.Operator.EndToken(r.Context(), o, r.PathValue("id"), r.PathValue("token"))
	return call.Done, operatorFailure(err)
}

// closeCustomer ends a customer and all its tokens.
func (a *Pages) closeCustomer(r *http.Request, o operator.Order, in reasoned) (any, error) {
	o, err := withReason(o, in.Reason)
	if err != nil {
		return nil, err
	}
	_, err = a.Services.Operator.Close(r.Context(), o, r.PathValue("id"))
	return call.Done, operatorFailure(err)
}

type actList struct {
	Acts  []operator.Entry `json:"acts"`
	Older string           `json:"older,omitempty"` // for "before" in the next call; empty at the end
}

// acts is the log of what operators did.
func (a *Pages) acts(_ http.ResponseWriter, r *http.Request) (any, error) {
	if _, err := a.mustOperate(r); err != nil {
		return nil, err
	}
	before, given, err := input.QueryText(r, "before")
	if err == nil && given && !strings.HasPrefix(before, "act_") {
		err = failure.New(failure.BadParameter, "before must be the older of an earlier answer")
	}
	if err != nil {
		return nil, err
	}
	entries, err := a.Services.Operator.Entries(r.Context(), before, actsShown+1)
	list := actList{Acts: entries}
	if len(entries) > actsShown {
		list.Acts = entries[:actsShown]
		list.Older = list.Acts[actsShown-1].ID
	}
	return list, err
}
