package web

import (
	"context"
	"net/http"
	"time"

	"unink/internal/credit"
	"unink/internal/httpapi/address"
	"unink/internal/httpapi/failure"
)

// guestAnswer is what a guest may have cleaned today.
type guestAnswer struct {
	Pictures allowance `json:"pictures"`
	PDFPages allowance `json:"pdfPages"`
	Renewed  time.Time `json:"renewed"` // when all of it is there again
	Account  int       `json:"account"` // credits that a new account begins with
}

type allowance struct {
	Daily int `json:"daily"`
	Left  int `json:"left"`
}

// guestLeft is GET /api/guest. Whoever sends another device id learns of no more than an address
// has left.
func (e *Web) guestLeft(_ http.ResponseWriter, r *http.Request) (any, error) {
	device, err := e.Services.Accounts.HashDevice(r.Header.Get("X-Device-Id"))
	if err != nil {
		return nil, failure.With(err, failure.BadParameter,
			"send the header X-Device-Id, 8 to 200 printable ASCII characters")
	}
	from := e.Services.Accounts.HashAddress(address.Client(r, e.Config.TrustedProxies))
	answer := guestAnswer{Account: e.Config.AccountCredits}
	for pdf, to := range map[bool]*allowance{false: &answer.Pictures, true: &answer.PDFPages} {
		grants := e.allowances(device, from, pdf)
		answer.Renewed = grants[0].Expires
		*to = allowance{Daily: min(grants[0].Credits, grants[1].Credits)}
		if to.Left, err = e.remaining(r.Context(), grants); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

// remaining is how many more pages allowances are for, some of which may not have been granted yet.
func (e *Web) remaining(ctx context.Context, grants []credit.Grant) (int, error) {
	least := grants[0].Credits
	for _, g := range grants {
		packages, err := e.Services.Credits.Packages(ctx, g.Owner)
		if err != nil {
			return 0, err
		}
		left := g.Credits
		for _, p := range packages {
			if p.Source == g.Source {
				left = p.Usable(e.Now())
			}
		}
		least = min(least, left)
	}
	return least, nil
}
