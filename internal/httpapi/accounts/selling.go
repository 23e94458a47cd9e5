package accounts

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"unink/internal/billing"
	"unink/internal/credit"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/setup"
)

// catalogueAnswer is what is sold, and how.
type catalogueAnswer struct {
	credit.Catalogue
	Online  bool   `json:"online"`            // POST /api/checkout sells
	Contact string `json:"contact,omitempty"` // the e-mail address of who sells otherwise
}

func (a *Accounts) catalogue(http.ResponseWriter, *http.Request) (any, error) {
	return catalogueAnswer{a.Services.Catalogue, a.Services.Selling != nil, a.Config.Contact}, nil
}

type order struct {
	Plan  string `json:"plan"`
	Email string `json:"email"`
	Name  string `json:"name"`
	Slug  string `json:"slug"`
}

type redirect struct {
	URL string `json:"url"`
}

// checkout begins a purchase at Stripe. A web pack needs a log-in, since it is for an account.
func (a *Accounts) checkout(_ http.ResponseWriter, r *http.Request, in order) (any, error) {
	if a.Services.Selling == nil {
		return nil, failure.New(failure.NotFound, "nothing is sold here online; ask the operator")
	}
	plan, known := a.Services.Catalogue.Plan(in.Plan)
	if !known {
		return nil, failure.New(failure.BadParameter,
			"there is no plan %.64q; GET /api/catalogue lists them", in.Plan)
	}
	buyer := billing.Buyer{Email: in.Email, Name: in.Name, Slug: in.Slug}
	if plan.Entry == credit.Web {
		u, err := a.sessions.User(r)
		if err != nil {
			return nil, err
		}
		buyer = billing.Buyer{Email: u.Email, UserID: u.ID}
	}
	back := setup.Pricing
	if plan.Entry == credit.Web {
		back = "/account"
	}
	url, err := a.Services.Selling.Checkout(r.Context(), plan.ID, buyer,
		a.Config.PublicURL+back+"?bought="+plan.ID, a.Config.PublicURL+setup.Pricing)
	if err != nil {
		return nil, err
	}
	return redirect{url}, nil
}

const maxWebhookBody = 1 << 20

// stripeWebhook takes Stripe's events. An error makes Stripe send the event again.
func (a *Accounts) stripeWebhook(w http.ResponseWriter, r *http.Request) (any, error) {
	if a.Services.Selling == nil {
		return nil, failure.New(failure.NotFound, "Stripe is not configured here")
	}
	var payload []byte
	err := call.ReadBody(w, r, maxWebhookBody, func() (err error) {
		payload, err = io.ReadAll(r.Body)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = a.Services.Selling.Webhook(r.Context(), payload, r.Header.Get("Stripe-Signature"))
	if errors.Is(err, billing.ErrSignature) {
		return nil, failure.With(err, failure.Unverified, "the signature is wrong or too old")
	}
	return call.Done, err
}

// pricingPage is what is sold, as people read it.
type pricingPage struct {
	Packs, Plans []offer // for the web, for developers
	Online       bool
	Contact      string
	Domain       string
}

type offer struct {
	credit.Plan
	Price, Each string // of all, and of a page
	Pages       string // the credits
}

func (a *Accounts) pricingPage() pricingPage {
	p := pricingPage{Online: a.Services.Selling != nil, Contact: a.Config.Contact,
		Domain: a.Config.Domain}
	for _, plan := range a.Services.Catalogue.Plans {
		o := offer{plan, money(plan.Currency, float64(plan.Cents)/100, 2),
			money(plan.Currency, float64(plan.Cents)/100/float64(plan.Credits), 3),
			grouped(strconv.Itoa(plan.Credits))}
		if plan.Entry == credit.Web {
			p.Packs = append(p.Packs, o)
		} else {
			p.Plans = append(p.Plans, o)
		}
	}
	return p
}

// grouped separates the thousands of a number.
func grouped(number string) string {
	whole, _, _ := strings.Cut(number, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		number = number[:at] + "," + number[at:]
	}
	return number
}

// signs are of the currencies that are sooner known by them.
var signs = map[string]string{"usd": "$", "eur": "€", "gbp": "£", "cny": "¥"}

// money writes an amount with at most so many decimals: whole ones without.
func money(currency string, amount float64, decimals int) string {
	text := fmt.Sprintf("%.*f", decimals, amount)
	if decimals > 2 {
		text = strings.TrimSuffix(text, "0")
	}
	text = grouped(strings.TrimSuffix(text, ".00"))
	if sign := signs[currency]; sign != "" {
		return sign + text
	}
	return text + " " + strings.ToUpper(currency)
}
