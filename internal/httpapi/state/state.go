// Package state is what several entry points tell of accounts alike: credits, tokens, uses.
package state

import (
	"context"
	"time"

	"unink/internal/credit"
	"unink/internal/httpapi/address"
	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/setup"
)

// Credits are what an owner has.
type Credits struct {
	AppCode  string    `json:"appCode,omitempty"`
	Credits  int       `json:"credits"`
	Packages []Package `json:"packages"`
}

// Package is a package of credits.
type Package struct {
	Plan      string    `json:"plan"`
	Credits   int       `json:"credits"`
	Remaining int       `json:"remaining"`
	Expires   time.Time `json:"expires"`
	Expired   bool      `json:"expired"`
}

// Reader reads it.
type Reader struct{ *setup.Setup }

// Credits reads what an owner has.
func (s Reader) Credits(ctx context.Context, owner string) (Credits, error) {
	packages, err := s.Services.Credits.Packages(ctx, owner)
	if err != nil {
		return Credits{}, err
	}
	state := Credits{Packages: []Package{}}
	for _, p := range packages {
		one := s.Package(p)
		if !one.Expired {
			state.Credits += p.Remaining
		}
		state.Packages = append(state.Packages, one)
	}
	return state, nil
}

// Package is what is told of a package.
func (s Reader) Package(p credit.Package) Package {
	usable := p.Revoked.IsZero() && s.Now().Before(p.Expires)
	return Package{p.Plan, p.Credits, p.Remaining, p.Expires, !usable}
}

// Token is a token of a customer.
type Token struct {
	Created time.Time `json:"created"`
	Ends    time.Time `json:"ends,omitzero"`
}

// LastDays are the last days in UTC, today included: from is inclusive, to is not.
func LastDays(now time.Time, days int) (from, to time.Time) {
	year, month, day := now.UTC().Date()
	to = time.Date(year, month, day+1, 0, 0, 0, 0, time.UTC)
	return to.AddDate(0, 0, -days), to
}

// maxGraceHours is a week.
const maxGraceHours = 168

// CheckGrace refuses hours for which earlier tokens cannot go on.
func CheckGrace(hours int) error {
	if hours < 0 || hours > maxGraceHours {
		return failure.New(failure.BadParameter, "graceHours must be from 0 to %d, not %d", maxGraceHours,
			hours)
	}
	return nil
}

// NewToken is told once, and kept nowhere.
type NewToken struct {
	Token      string    `json:"token"`
	URL        string    `json:"url"`
	OthersEnd  time.Time `json:"othersEnd"`
	GraceHours int       `json:"graceHours"`
}

// NewToken is what is told of a token of the customer with a slug. The earlier ones end after so
// many hours.
func (s Reader) NewToken(token, slug string, graceHours int) NewToken {
	return NewToken{Token: token, URL: address.API(s.Config.PublicURL, s.Config.Domain, slug),
		OthersEnd: s.Now().Add(time.Duration(graceHours) * time.Hour).UTC(), GraceHours: graceHours}
}
