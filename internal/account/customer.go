package account

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"unink/internal/ident"
)

// Customer is a developer who bought a package. Its domain is its slug under the service's.
type Customer struct {
	ID      string    `json:"id"`
	Slug    string    `json:"slug"`
	AppCode string    `json:"appCode"` // 10 capital letters and digits
	Email   string    `json:"email"`
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
	Revoked time.Time `json:"revoked,omitzero"` // zero: not
}

// Token is what is kept of a customer's token.
type Token struct {
	ID         string
	Hash       string
	CustomerID string
	Created    time.Time
	Ends       time.Time // zero: not yet
}

// The reasons for which [Service.Authenticate] refuses a token.
var (
	ErrSignature = errors.New("account: the token is malformed or its signature is wrong")
	ErrToken     = errors.New("account: the token is unknown, replaced or revoked")
)

const (
	appCodeLength = 10
	newSlugTries  = 5
)

var slugForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,38}[a-z0-9]$`)

// reserved are labels that mean something else in a domain.
var reserved = []string{
	"www", "api", "admin", "mail", "smtp", "imap", "pop", "pop3", "ftp", "ns1", "ns2", "mx1", "mx2",
	"dns", "vpn",
	"app", "apps", "web", "auth", "login", "sso", "account", "accounts", "billing", "pay", "payment",
	"shop", "store",
	"status", "support", "help", "docs", "blog", "static", "assets", "cdn", "img", "images", "media",
	"files",
	"test", "dev", "staging", "demo", "internal", "localhost", "local", "root", "operator", "metrics",
	"unink",
	"postmaster", "webmaster", "hostmaster", "abuse", "security", "autoconfig", "autodiscover", "wpad",
	"isatap",
}

func checkSlug(slug string) error {
	switch {
	case !slugForm.MatchString(slug), strings.HasPrefix(slug, "xn--"):
		return &InputError{"slug", "must be 3 to 40 of a-z, 0-9 and -, neither beginning nor ending " +
			"with - nor beginning with xn--"}
	case slices.Contains(reserved, slug):
		return &InputError{"slug", fmt.Sprintf("%q is reserved; take another", slug)}
	}
	return nil
}

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

// deriveSlug makes a slug of a name and a random tail.
func deriveSlug(name string) string {
	head := notSlug.ReplaceAllString(strings.ToLower(name), "-")
	head = strings.Trim(head[:min(len(head), 30)], "-")
	if head == "" || strings.HasPrefix(head, "xn--") {
		head = "customer"
	}
	return head + "-" + strings.ToLower(rand.Text()[:6])
}

const maxText = 200 // characters of a name or a reference

func checkText(field, text string) error {
	if !plain(text) || utf8.RuneCountInString(text) > maxText {
		return &InputError{field, fmt.Sprintf("must be one line of at most %d characters", maxText)}
	}
	return nil
}

// CreateCustomer returns the customer of a purchase, and whether this call made it. The same
// reference is the same purchase, and gives the same customer; another purchase with the same
// e-mail address reuses the customer unless that was revoked. Without a slug, one is made of the
// name; a slug that another customer has is [ErrExists]. Without a reference, it is no purchase.
func (s *Service) CreateCustomer(ctx context.Context, email, name, slug,
	reference string) (c Customer, created bool, err error) {
	email, err = checkEmail(email)
	if err == nil && slug != "" {
		err = checkSlug(slug)
	}
	if err := errors.Join(err, checkText("name", name),
		checkText("reference", reference)); err != nil {
		return c, false, err
	}
	// A random slug or AppCode may be taken. So may seem a given slug when the same purchase comes
	// twice at the same time; the next look finds its customer.
	for range newSlugTries {
		made := Customer{ID: ident.New("cus"), Slug: slug, AppCode: rand.Text()[:appCodeLength],
			Email: email, Name: name, Created: s.now()}
		if slug == "" {
			made.Slug = deriveSlug(name)
		}
		c, err = s.store.CreateCustomer(ctx, made, reference, s.newCustomer)
		if !errors.Is(err, ErrExists) {
			return c, err == nil && c.ID == made.ID, err
		}
	}
	return c, false, fmt.Errorf("%w: a customer with the slug %q", ErrExists, slug)
}

// Begin returns the customer of a user who bought nothing, and makes it where there is none: once
// for each person, whom an e-mail address tells as it does for [Service.Welcome]. It returns
// [ErrNotFound] for a user without a confirmed address, and [ErrTooMany] for a person who had a
// customer before, or has another user.
func (s *Service) Begin(ctx context.Context, u User) (Customer, error) {
	c, err := s.CustomerOf(ctx, u)
	if err == nil || !errors.Is(err, ErrNotFound) || !u.Verified || u.Email == "" {
		return c, err
	}
	first, err := s.Welcome(ctx, u)
	if err != nil {
		return c, err
	}
	// the shortest address with this beginning comes first
	former, err := s.store.SearchCustomers(ctx, u.Email, "", 1)
	if err != nil {
		return c, err
	}
	if !first || len(former) > 0 && former[0].Email == u.Email {
		return c, ErrTooMany
	}
	c, _, err = s.CreateCustomer(ctx, u.Email, "", "", "")
	return c, err
}

// FindCustomer returns a customer, revoked or not.
func (s *Service) FindCustomer(ctx context.Context, idOrSlugOrAppCode string) (Customer, error) {
	if !plain(idOrSlugOrAppCode) {
		return Customer{}, ErrNotFound
	}
	return s.store.FindCustomer(ctx, idOrSlugOrAppCode)
}

// CustomerAt returns the customer with a slug, revoked or not. Text that can be nobody's slug is
// not looked up.
func (s *Service) CustomerAt(ctx context.Context, slug string) (Customer, error) {
	if checkSlug(slug) != nil {
		return Customer{}, ErrNotFound
	}
	c, err := s.store.FindCustomer(ctx, slug)
	if err == nil && c.Slug != slug { // an id or an AppCode
		return Customer{}, ErrNotFound
	}
	return c, err
}

// Customers returns at most limit customers, or 1000, in the order of their making, those after an
// id.
func (s *Service) Customers(ctx context.Context, limit int, after string) ([]Customer, error) {
	return s.store.Customers(ctx, bounded(limit), after)
}

// SearchCustomers returns at most limit customers, or 1000, by address: those whose address or slug
// begins with a text, and whose id or AppCode it is.
func (s *Service) SearchCustomers(ctx context.Context, text string, limit int) ([]Customer, error) {
	if !plain(text) {
		return nil, nil
	}
	return s.store.SearchCustomers(ctx, foldEmail(text), text, bounded(limit))
}

// CustomerOf returns the living customer that bought with a user's e-mail address, which must be
// known to be the user's. It returns [ErrNotFound] where there is none.
func (s *Service) CustomerOf(ctx context.Context, u User) (Customer, error) {
	if !u.Verified || u.Email == "" {
		return Customer{}, ErrNotFound
	}
	return s.store.CustomerOf(ctx, u.Email)
}

// Rotate makes a token for a user's customer with a slug, as [Service.NewToken] does. Attempts are
// throttled by user. It returns [ErrNotFound] for a customer of somebody else.
func (s *Service) Rotate(ctx context.Context, u User, slug string,
	grace time.Duration) (token string, c Customer, err error) {
	if err := s.allow(ctx, "rotate-account:"+u.ID); err != nil {
		return "", c, err
	}
	if c, err = s.CustomerOf(ctx, u); err != nil {
		return "", c, err
	}
	if c.Slug != slug {
		return "", Customer{}, ErrNotFound
	}
	token, _, err = s.NewToken(ctx, c.ID, grace)
	return token, c, err
}

// Tokens returns a customer's tokens that are good now, the newest first, at most 100 of them.
func (s *Service) Tokens(ctx context.Context, customerID string) ([]Token, error) {
	return s.store.Tokens(ctx, customerID, s.now(), 100)
}

// RevokeCustomer ends a customer and all its tokens for good.
func (s *Service) RevokeCustomer(ctx context.Context, id string) error {
	return s.store.RevokeCustomer(ctx, id, s.now())
}

// NewToken makes a token for a customer that is not revoked. The earlier ones end after a grace
// period, at once when that is 0. The token is nowhere kept.
func (s *Service) NewToken(ctx context.Context, customerID string,
	grace time.Duration) (token, id string, err error) {
	if grace < 0 {
		return "", "", &InputError{"grace period", "must not be negative"}
	}
	c, err := s.FindCustomer(ctx, customerID)
	if err != nil {
		return "", "", err
	}
	token = s.signed(c.AppCode)
	now := s.now()
	t := Token{ID: ident.New("tok"), Hash: hashToken(token), CustomerID: c.ID, Created: now}
	if err := s.store.AddToken(ctx, t, now.Add(grace)); err != nil {
		return "", "", err
	}
	return token, t.ID, nil
}

// RevokeToken ends a token at once.
func (s *Service) RevokeToken(ctx context.Context, id string) error {
	return s.store.RevokeToken(ctx, id, s.now())
}

// A token is unk_<AppCode>_<secret>_<signature of all before>.
const (
	tokenPrefix     = "unk_"
	secretLength    = 26 // letters and digits, 130 bits
	signatureLength = 32 // hexadecimal digits, 128 bits
	signedLength    = len(tokenPrefix) + appCodeLength + 1 + secretLength
	tokenLength     = signedLength + 1 + signatureLength
)

func (s *Service) signed(appCode string) string {
	body := tokenPrefix + appCode + "_" + newToken()
	return body + "_" + keyed(s.keys.customer, body)
}

// genuine reports whether a token was made here. How long it takes says nothing of the signature.
func (s *Service) genuine(token string) bool {
	if len(token) != tokenLength || token[signedLength] != '_' {
		return false
	}
	want := keyed(s.keys.customer, token[:signedLength])
	return subtle.ConstantTimeCompare([]byte(want), []byte(token[signedLength+1:])) == 1
}

// Authenticate returns the customer whose token this is. It returns [ErrSignature], without asking
// the database, for what was never a token of this server, and [ErrToken] for one that is not good
// any more.
func (s *Service) Authenticate(ctx context.Context, token string) (Customer, error) {
	if !s.genuine(token) {
		return Customer{}, ErrSignature
	}
	hash := hashToken(token)
	t, c, err := s.store.FindToken(ctx, hash)
	switch {
	case err != nil:
		return Customer{}, orError(err, ErrToken)
	case subtle.ConstantTimeCompare([]byte(t.Hash), []byte(hash)) != 1,
		!t.Ends.IsZero() && !s.now().Before(t.Ends),
		!c.Revoked.IsZero():
		return Customer{}, ErrToken
	}
	return c, nil
}
