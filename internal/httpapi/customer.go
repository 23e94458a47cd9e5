package httpapi

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"unink/internal/account"
	"unink/internal/httpapi/failure"
	"unink/internal/usage"
)

// customerSummary is a customer as its owner sees it in a list.
type customerSummary struct {
	Slug    string    `json:"slug"`
	AppCode string    `json:"appCode"`
	Name    string    `json:"name,omitempty"`
	URL     string    `json:"url"` // where it calls the developer entry point
	Created time.Time `json:"created"`
	Credits int       `json:"credits"`
}

// APIURL is where the customer with a slug calls the developer entry point: its own label under the
// domain, by TLS unless the service's own pages have none, as on one's own machine.
func APIURL(publicURL, domain, slug string) string {
	host := slug + "." + domain
	public, err := url.Parse(publicURL)
	if err != nil || public.Scheme != "http" {
		return "https://" + host
	}
	if port := public.Port(); port != "" {
		host = net.JoinHostPort(host, port)
	}
	return "http://" + host
}

// reached is the public URL as a caller with a Host header reaches it: on one's own machine by the
// caller's port, which may be another that is handed on, such as a container's.
func reached(publicURL, host string) string {
	public, err := url.Parse(publicURL)
	_, port, _ := net.SplitHostPort(host)
	_, none := strconv.ParseUint(port, 10, 16)
	if err != nil || none != nil || public.Scheme != "http" || public.Hostname() != "localhost" {
		return publicURL
	}
	public.Host = net.JoinHostPort("localhost", port)
	return public.String()
}

func (s *Server) summary(c account.Customer, credits int) customerSummary {
	return customerSummary{c.Slug, c.AppCode, c.Name, APIURL(s.cfg.PublicURL, s.cfg.Domain, c.Slug),
		c.Created, credits}
}

// customersOf lists what a user who is logged in bought with the same e-mail address.
func (s *Server) customersOf(_ http.ResponseWriter, r *http.Request, u account.User) (any, error) {
	list := []customerSummary{}
	c, err := s.services.Accounts.CustomerOf(r.Context(), u)
	switch {
	case err == nil:
		credits, err := s.services.Credits.Balance(r.Context(), customerOwner(c.ID))
		if err != nil {
			return nil, err
		}
		list = append(list, s.summary(c, credits))
	case !isNotFound(err):
		return nil, err
	}
	return map[string]any{"customers": list}, nil
}

// customerDetails is all that a customer's owner sees of it.
type customerDetails struct {
	customerSummary
	Packages []packageState `json:"packages"`
	Tokens   []tokenState   `json:"tokens"` // those that are good now, the newest first
	Days     []usage.Day    `json:"days"`   // of the last 30, those with uses or refusals
	useList
	Refusals []refusalAnswer `json:"refusals"` // of the last minutes with some, newest first
}

type tokenState struct {
	Created time.Time `json:"created"`
	Ends    time.Time `json:"ends,omitzero"`
}

const daysShown = 30

// customer is one customer of the user who is logged in.
func (s *Server) customer(_ http.ResponseWriter, r *http.Request) (any, error) {
	ctx := r.Context()
	c, err := s.ownCustomer(r)
	if err != nil {
		return nil, err
	}
	owner := customerOwner(c.ID)
	state, err := s.credits(ctx, owner)
	if err != nil {
		return nil, err
	}
	tokens, err := s.services.Accounts.Tokens(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	from, to := lastDays(s.now(), daysShown)
	days, err := s.services.History.Days(ctx, owner, from, to)
	if err != nil {
		return nil, err
	}
	uses, err := s.usesOf(ctx, owner, usage.Place{}, usesShown)
	if err != nil {
		return nil, err
	}
	refusals, err := s.refusalsOf(ctx, owner, usesShown)
	if err != nil {
		return nil, err
	}
	details := customerDetails{
		customerSummary: s.summary(c, state.Credits), Packages: state.Packages,
		Tokens: []tokenState{}, Days: append([]usage.Day{}, days...), useList: uses,
		Refusals: refusals,
	}
	for _, t := range tokens {
		details.Tokens = append(details.Tokens, tokenState{t.Created, t.Ends})
	}
	return details, nil
}

// ownCustomer is the customer that the path names, of the user who is logged in.
func (s *Server) ownCustomer(r *http.Request) (account.Customer, error) {
	u, err := s.user(r)
	if err != nil {
		return account.Customer{}, err
	}
	c, err := s.services.Accounts.CustomerOf(r.Context(), u)
	if err == nil && c.Slug != r.PathValue("slug") {
		err = account.ErrNotFound
	}
	if err != nil {
		return account.Customer{}, customerFailure(err)
	}
	return c, nil
}

// customerUses goes on with the uses of a customer of the user who is logged in.
func (s *Server) customerUses(_ http.ResponseWriter, r *http.Request) (any, error) {
	c, err := s.ownCustomer(r)
	if err != nil {
		return nil, err
	}
	from, err := placeAsked(r)
	if err != nil {
		return nil, err
	}
	return s.usesOf(r.Context(), customerOwner(c.ID), from, usesShown)
}

// lastDays are the last days in UTC, today included: from is inclusive, to is not.
func lastDays(now time.Time, days int) (from, to time.Time) {
	year, month, day := now.UTC().Date()
	to = time.Date(year, month, day+1, 0, 0, 0, 0, time.UTC)
	return to.AddDate(0, 0, -days), to
}

// beginCustomer makes the customer of a user who bought nothing, with credits to try the API, and
// its first token. After a failure it may be called again.
func (s *Server) beginCustomer(_ http.ResponseWriter, r *http.Request,
	u account.User) (any, error) {
	if s.cfg.TestCredits == 0 {
		return nil, failure.New(failure.NoCredits, "there are no free calls here; buy a package")
	}
	c, err := s.services.Accounts.Begin(r.Context(), u)
	if errors.Is(err, account.ErrTooMany) {
		return nil, failure.With(err, failure.NoCredits,
			"free calls are given once to each person, and you have had yours; buy a package")
	}
	if err != nil {
		return nil, customerFailure(err)
	}
	tokens, err := s.services.Accounts.Tokens(r.Context(), c.ID)
	if err != nil {
		return nil, err
	}
	if len(tokens) > 0 {
		return nil, failure.New(failure.BadParameter,
			"your account has a token; make a new one in its place")
	}
	token, c, err := s.services.Accounts.Rotate(r.Context(), u, c.Slug, 0)
	if err != nil {
		return nil, customerFailure(err)
	}
	return answered{http.StatusCreated, newToken{token, s.summary(c, 0).URL, s.now().UTC(), 0}}, nil
}

// maxGraceHours is a week.
const maxGraceHours = 168

func checkGrace(hours int) error {
	if hours < 0 || hours > maxGraceHours {
		return failure.New(failure.BadParameter, "graceHours must be from 0 to %d, not %d", maxGraceHours,
			hours)
	}
	return nil
}

type rotation struct {
	GraceHours int `json:"graceHours"`
}

// newToken is told once, and kept nowhere.
type newToken struct {
	Token      string    `json:"token"`
	URL        string    `json:"url"`
	OthersEnd  time.Time `json:"othersEnd"`
	GraceHours int       `json:"graceHours"`
}

// rotateToken makes a token of a customer's. The earlier ones end after the grace period.
func (s *Server) rotateToken(_ http.ResponseWriter, r *http.Request, in rotation) (any, error) {
	if err := checkGrace(in.GraceHours); err != nil {
		return nil, err
	}
	u, err := s.user(r)
	if err != nil {
		return nil, err
	}
	grace := time.Duration(in.GraceHours) * time.Hour
	token, c, err := s.services.Accounts.Rotate(r.Context(), u, r.PathValue("slug"), grace)
	if err != nil {
		return nil, customerFailure(err)
	}
	return newToken{token, s.summary(c, 0).URL, s.now().Add(grace).UTC(), in.GraceHours}, nil
}

func customerFailure(err error) error {
	if isNotFound(err) {
		return failure.With(err, failure.NotFound,
			"your account has no such API customer; one belongs to the "+
				"account with the e-mail address that it was bought with")
	}
	return accountFailure(err)
}
